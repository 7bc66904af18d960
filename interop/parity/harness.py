"""Runs every case through the original and through Pollux and prints the differences.

    harness.py --original PROGRAM --pollux PROGRAM [--sample N] [--seed S] [--list] [PATTERN ...]

A pattern (a regular expression) selects the cases whose names contain a match. The last line of
output is `parity: N cases, S same, D deliberate differences, F failures`. A case with no other
differences than those of all cases, such as the modes of files, counts as the same. The exit code is
1 if F is not 0.
"""

import argparse
import difflib
import hashlib
import importlib
import re
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import allowances
import compare
import run_case
import scenario

HERE = Path(__file__).resolve().parent

# Number of parallel runs. The original uses a second of processor time per run.
AT_ONCE = 2

# Maximum size of a printed excerpt of a difference, in lines and in characters per line.
LINES, WIDTH = 60, 600


@dataclass
class Verdict:
    """Result of one case."""

    case: scenario.Case
    failures: list
    reasons: list


def main():
    arguments = parse()
    for path in sorted((HERE / "cases").glob("*.py")):
        importlib.import_module(f"cases.{path.stem}")
    if arguments.list:
        print("\n".join(case.name for case in chosen(scenario.all_cases(), arguments)))
        return 0

    def compared(case, root):
        original = run_case.run(arguments.original, case, root)
        pollux = run_case.run(arguments.pollux, case, root)
        return compare.differences(case, original, pollux)

    allowed = allowances.load(HERE / "differences.toml")
    return compare_all("parity", scenario.all_cases(), arguments, allowed, compared)


def parse():
    parser = parser_for("harness.py", __doc__)
    parser.add_argument("--list", action="store_true", help="print the names of the cases")
    return parser.parse_args()


def parser_for(program, description):
    """Returns a parser of the arguments that every harness has."""
    parser = argparse.ArgumentParser(prog=program, description=description.split("\n")[0])
    parser.add_argument("--original", required=True, help="the program to be compared with")
    parser.add_argument("--pollux", required=True, help="the program under test")
    parser.add_argument("--sample", type=int, metavar="N",
                        help="only N random cases, with at least one of each group")
    parser.add_argument("--seed", default="", help="another seed gives another sample")
    parser.add_argument("pattern", nargs="*", help="only cases whose names match")
    return parser


def first_word(case):
    """Returns the group of a case: the first word of its name."""
    return case.name.partition(".")[0]


def compare_all(title, all_cases, arguments, allowed, compared, *, group=first_word, clients=""):
    """Compares the chosen cases and prints the result of each and the last line. Returns the exit
    code. `compared` gets a case and a folder, and returns the differences; `clients` follows the
    title in the last line."""
    cases = chosen(all_cases, arguments, group)
    if arguments.sample:
        print(f"{title}: {len(cases)} of {len(all_cases)} cases, seed {arguments.seed}")
    with tempfile.TemporaryDirectory(prefix=f"{title}-") as folder:
        verdicts = run_all(cases, compared, allowed, Path(folder))
    failed = sum(bool(verdict.failures) for verdict in verdicts)
    deliberate = sum(bool(verdict.reasons and not verdict.failures) for verdict in verdicts)
    same = len(verdicts) - deliberate - failed
    if len(cases) == len(all_cases):
        failed += report_idle(allowed)
    print(f"{title}{clients}: {len(verdicts)} cases, {same} same, {deliberate} deliberate differences, "
          f"{failed} failures")
    return 1 if failed else 0


def chosen(cases, arguments, group=first_word):
    """Returns the cases that match the patterns, or a sample of them."""
    if arguments.pattern:
        cases = [c for c in cases if any(re.search(p, c.name) for p in arguments.pattern)]
    if not cases:
        sys.exit("harness.py: no such case")
    if arguments.sample and arguments.sample < len(cases):
        cases = sampled(cases, arguments.sample, arguments.seed, group)
    return cases


def sampled(cases, number, seed, group=first_word):
    """Returns `number` random cases, at least one of each group, in the order of the cases. The same
    seed and names give the same sample."""
    # The order of registration has no influence, and neither have cases of other groups.
    def chance(name):
        return hashlib.sha256(f"{seed} {name}".encode()).digest()

    order = sorted((case.name for case in cases), key=chance)
    groups = {case.name: group(case) for case in cases}
    first = {}
    for name in order:
        first.setdefault(groups[name], name)
    kept = set(first.values())
    kept.update([name for name in order if name not in kept][: max(number - len(kept), 0)])
    return [case for case in cases if case.name in kept]


def run_all(cases, compared, allowed, folder):
    """Compares the cases, some in parallel, and prints each result when it is ready."""
    lock = threading.Lock()

    def run_one(numbered):
        number, case = numbered
        # The folder has the same name, and its path the same length, in each run.
        found = compared(case, folder / f"{number:04}" / "run")
        with lock:
            verdict = judged(case, found, allowed)
            report(verdict)
        return verdict

    with ThreadPoolExecutor(AT_ONCE) as workers:
        return list(workers.map(run_one, enumerate(cases)))


def judged(case, found, allowed):
    verdict = Verdict(case, [], [])
    skipped = {allowance.reason for allowance in allowed if allowance.is_general()}
    for difference in found:
        reasons, left = allowances.judge(case.name, difference, allowed)
        verdict.reasons += [reason for reason in dict.fromkeys(reasons)
                            if reason not in skipped and reason not in verdict.reasons]
        if left:
            verdict.failures.append(left)
    return verdict


def report(verdict):
    if verdict.failures:
        print(f"FAILED {verdict.case.name}")
        for difference in verdict.failures:
            print(f"  {difference.where}")
            print(excerpt(difference))
    elif verdict.reasons:
        print(f"differs {verdict.case.name}: {'; '.join(verdict.reasons)}")
    sys.stdout.flush()


def excerpt(difference):
    """Returns a shortened unified diff; minus is the original, plus is Pollux."""
    left, right = (broken(text) for text in (difference.original, difference.pollux))
    lines = list(difflib.unified_diff(left, right, lineterm="", n=1))[2:]
    if len(lines) > LINES:
        lines[LINES:] = [f"… {len(lines) - LINES} lines more"]
    return "\n".join("    " + line[:WIDTH] for line in lines)


def broken(text):
    """Returns lines, also where JSON text has them escaped; the last one shows a missing line
    end."""
    return [repr(line)[1:-1] for line in text.replace("\\n", "\\n\n").split("\n")]


def report_idle(allowed):
    """Prints the entries of the list that permitted nothing, and returns their number."""
    idle = [allowance for allowance in allowed if not allowance.used]
    for allowance in idle:
        print(f"FAILED differences.toml: nothing differs like this any more: "
              f"cases {allowance.cases.pattern!r}, where {allowance.where.pattern!r} "
              f"({allowance.reason})")
    return len(idle)


if __name__ == "__main__":
    sys.exit(main())
