"""Lets a client on a published SDK drive the original and Pollux through every case, and prints the
differences.

    acp_harness.py --original PROGRAM --pollux PROGRAM --client NAME=COMMAND [--sample N] [PATTERN ...]

Cases, samples, the list of differences and the last line are as in `parity/harness.py`.
"""

import argparse
import importlib
import shlex
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "parity"))

import acp_case
import acp_run
import acp_views
import allowances
import harness


def main():
    arguments = parse()
    load_cases()
    cases = harness.chosen(acp_case.all_cases(), arguments, lambda case: case.group)
    name, _, command = arguments.client.partition("=")
    client = acp_run.Client(name, shlex.split(command))
    if arguments.sample:
        print(f"acp: {len(cases)} of {len(acp_case.all_cases())} cases, seed {arguments.seed}")
    allowed = allowances.load(HERE / "differences.toml")
    with tempfile.TemporaryDirectory(prefix="acp-") as folder:
        verdicts = run_all(client, cases, arguments, allowed, Path(folder))
    failed = sum(bool(verdict.failures) for verdict in verdicts)
    deliberate = sum(bool(verdict.reasons and not verdict.failures) for verdict in verdicts)
    same = len(verdicts) - deliberate - failed
    if len(cases) == len(acp_case.all_cases()):
        failed += harness.report_idle(allowed)
    print(f"acp, {client.name} client: {len(verdicts)} cases, {same} same, "
          f"{deliberate} deliberate differences, {failed} failures")
    return 1 if failed else 0


def parse():
    parser = argparse.ArgumentParser(prog="acp_harness.py", description=__doc__.split("\n")[0])
    parser.add_argument("--original", required=True, help="the program to be compared with")
    parser.add_argument("--pollux", required=True, help="the program under test")
    parser.add_argument("--client", required=True, metavar="NAME=COMMAND",
                        help="the client: a name for the output, and a command line")
    parser.add_argument("--sample", type=int, metavar="N",
                        help="only N random cases, with at least one of each group")
    parser.add_argument("--seed", default="", help="another seed gives another sample")
    parser.add_argument("pattern", nargs="*", help="only cases whose names match")
    return parser.parse_args()


def load_cases():
    for path in sorted((HERE / "acp_cases").glob("*.py")):
        importlib.import_module(f"acp_cases.{path.stem}")
        acp_case.group_new_cases(path.stem)


def run_all(client, cases, arguments, allowed, folder):
    """Runs the cases, some in parallel, and prints each result when it is ready."""
    lock = threading.Lock()

    def run_one(numbered):
        number, case = numbered
        # The folder has the same name, and its path the same length, in each run.
        root = folder / f"{number:04}" / "run"
        original, pollux = (acp_run.run(client, agent, case, root)
                            for agent in (arguments.original, arguments.pollux))
        found = acp_views.differences(original, pollux)
        with lock:
            verdict = harness.judged(case, found, allowed)
            harness.report(verdict)
        return verdict

    with ThreadPoolExecutor(harness.AT_ONCE) as workers:
        return list(workers.map(run_one, enumerate(cases)))


if __name__ == "__main__":
    sys.exit(main())
