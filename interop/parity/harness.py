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
    cases = chosen(scenario.all_cases(), arguments)
    if arguments.list:
        print("\n".join(case.name for case in cases))
        return 0
    if arguments.sample:
        print(f"parity: {len(cases)} of {len(scenario.all_cases())} cases, seed {arguments.seed}")
    allowed = allowances.load(HERE / "differences.toml")
    with tempfile.TemporaryDirectory(prefix="parity-") as folder:
        verdicts = run_all(cases, arguments, allowed, Path(folder))
    failed = sum(bool(verdict.failures) for verdict in verdicts)
    deliberate = sum(bool(verdict.reasons and not verdict.failures) for verdict in verdicts)
    if len(cases) == len(scenario.all_cases()):
        failed += report_idle(allowed)
    same = len(verdicts) - deliberate - sum(bool(verdict.failures) for verdict in verdicts)
    print(f"parity: {len(verdicts)} cases, {same} same, {deliberate} deliberate differences, "
          f"{failed} failures")
    return 1 if failed else 0


def parse():
    parser = argparse.ArgumentParser(prog="harness.py", description=__doc__.split("\n")[0])
    parser.add_argument("--original", required=True, help="the program to be compared with")
    parser.add_argument("--pollux", required=True, help="the program under test")
    parser.add_argument("--sample", type=int, metavar="N",
                        help="only N random cases, with at least one of each group")
    parser.add_argument("--seed", default="", help="another seed gives another sample")
    parser.add_argument("--list", action="store_true", help="print the names of the cases")
    parser.add_argument("pattern", nargs="*", help="only cases whose names match")
    return parser.parse_args()


def first_word(case):
    """Returns the group of a case: the first word of its name."""
    return case.name.partition(".")[0]


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


def run_all(cases, arguments, allowed, folder):
    """Runs the cases, some in parallel, and prints each result when it is ready."""
    roots = threading.local()
    numbers = iter(range(AT_ONCE))
    lock = threading.Lock()

    def run_one(case):
        with lock:
            if not hasattr(roots, "path"):
                roots.path = folder / f"run{next(numbers)}"
        original = run_case.run(arguments.original, case, roots.path)
        pollux = run_case.run(arguments.pollux, case, roots.path)
        found = compare.differences(case, original, pollux)
        with lock:
            verdict = judged(case, found, allowed)
            report(verdict)
        return verdict

    with ThreadPoolExecutor(AT_ONCE) as workers:
        return list(workers.map(run_one, cases))


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
