"""Runs the conformance tests of the Model Context Protocol with Pollux as the client.

    conformance_harness.py --suite FILE --page FILE [--write] [PATTERN ...]

`--suite` is the program of the conformance tests. Without patterns, every scenario runs, and the
table in the page must say what was found; `--write` writes it. A scenario passes if all its checks
do, there are some, and the call of the tool has succeeded. Scenarios of drafts and extensions are
not required. The last line of output is `mcp-conformance: N scenarios, P passed, F failures`. The
exit code is 1 if F is not 0.
"""

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
DRIVER = [sys.executable, "-B", str(HERE / "driver.py")]
# Versions that are no published version of the protocol.
OPTIONAL = {"draft", "extension"}
# Scenarios in which the server never gives what the client wants.
REFUSING = {"auth/scope-retry-limit", "auth/resource-mismatch"}
# Number of scenarios at the same time, and time in seconds for one.
AT_ONCE, LIMIT = 2, 90
BEGIN, END = "<!-- results -->\n", "<!-- end of the results -->\n"


@dataclass
class Result:
    """Result of a scenario."""

    name: str
    versions: list
    # Names of the checks, with their states.
    checks: list
    client_failed: bool
    output: str

    @property
    def is_required(self):
        return not OPTIONAL.intersection(self.versions)

    @property
    def failed_checks(self):
        return [name for name, state in self.checks if state not in ("SUCCESS", "INFO", "SKIPPED")]

    @property
    def has_passed(self):
        works = not self.client_failed or self.name in REFUSING
        return works and not self.failed_checks and any(state == "SUCCESS" for _, state in self.checks)

    def row(self):
        passed = sum(state == "SUCCESS" for _, state in self.checks)
        counted = sum(state in ("SUCCESS", "FAILURE", "WARNING") for _, state in self.checks)
        state = "passed" if self.has_passed else "failed" if self.is_required else "not supported"
        return f"| `{self.name}` | {', '.join(self.versions)} | {state} | {passed} of {counted} |\n"


def scenarios(suite):
    """Returns the names and the versions of all scenarios for clients."""
    listed = subprocess.run([*suite, "list", "--client"], capture_output=True, text=True, check=True).stdout
    found = re.findall(r"^  - (\S+) \[(.*)\]$", listed, re.MULTILINE)
    if not found:
        sys.exit(f"mcp-conformance: no scenarios in:\n{listed}")
    return [(name, versions.split(",")) for name, versions in found]


def run(suite, name, versions, driver=DRIVER):
    """Runs a scenario."""
    arguments = ["client", "--command", shlex.join(driver), "--scenario", name, "--verbose",
                 "--timeout", str(LIMIT * 1000)]
    done = subprocess.run([*suite, *arguments], capture_output=True, text=True, check=False, timeout=2 * LIMIT)
    begin = done.stdout.find("[")
    checks = json.loads(done.stdout[begin:]) if begin >= 0 else []
    # Each message is also listed, as a check without a result.
    states = [(check["name"], check["status"]) for check in checks if not check["id"].startswith(("incoming-", "outgoing-"))]
    return Result(name, versions, states, "Client exited with code" in done.stderr, done.stderr)


def table(results):
    head = "| Scenario | Version of the protocol | Result | Checks passed |\n|---|---|---|---|\n"
    return head + "".join(result.row() for result in results)


def check_page(page, results, write):
    """Compares the table of the page with the results. Returns the number of failures."""
    before, begin, rest = page.read_text().partition(BEGIN)
    old, end, after = rest.partition(END)
    new = "\n" + table(results) + "\n"
    if write:
        page.write_text(before + BEGIN + new + END + after)
    elif not (begin and end) or old != new:
        print(f"FAILED {page.name}: the table is not up to date; run with --write")
        return 1
    return 0


def main():
    parser = argparse.ArgumentParser(prog="conformance_harness.py", description=__doc__.split("\n")[0])
    parser.add_argument("--suite", required=True, help="the program of the conformance tests")
    parser.add_argument("--page", required=True, type=Path, help="the page with the table of results")
    parser.add_argument("--write", action="store_true", help="write the table")
    parser.add_argument("pattern", nargs="*", help="only scenarios whose names match")
    arguments = parser.parse_args()
    suite = [os.environ.get("MCP_NODE", "node"), arguments.suite]
    patterns = arguments.pattern or [""]
    chosen = [one for one in scenarios(suite) if any(re.search(pattern, one[0]) for pattern in patterns)]
    if not chosen:
        sys.exit("mcp-conformance: no such scenario")
    with ThreadPoolExecutor(AT_ONCE) as workers:
        results = list(workers.map(lambda one: run(suite, *one), chosen))
    failures = 0
    for result in results:
        print(result.row(), end="")
        if not result.has_passed and result.is_required:
            failures += 1
            print(f"FAILED {result.name}: {', '.join(result.failed_checks)}\n{result.output}")
    if not arguments.pattern:
        failures += check_page(arguments.page, results, arguments.write)
    passed = sum(result.has_passed for result in results)
    print(f"mcp-conformance: {len(results)} scenarios, {passed} passed, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
