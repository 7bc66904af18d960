"""Uses every tool of published MCP servers with the original and with Pollux, and prints the
differences: the tools and what they declare, the results that reach the model, and the files.

    mcp_harness.py --original PROGRAM --pollux PROGRAM [--sample N] [--seed S] [PATTERN ...]

Cases, samples, the list of differences and the last line are as in `parity/harness.py`.
"""

import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "parity"))

import allowances
import compare
import harness
import mcp_cases
import mcp_run


# Places that are compared here. The parity test compares the others, which servers do not change.
# The index of Git has times of files.
COMPARED = re.compile(r"exit|stdout|requests|request \d+|order|call .*|declaration mcp_.*|file (?!\.git/(index|logs/)).*")
# Times in results.
TIMES = re.compile(r"\d+:\d\d:\d\d [AP]M|(?<=created: )\w+ [^\\]*|(?<=accessed: )\w+ [^\\]*")


def differences(case, programs, root):
    """Returns the differences between two programs, and the tools that were not used."""
    port = mcp_run.free_port()
    original, pollux = (mcp_run.run(program, case, root, port) for program in programs)
    found = [one for one in compare.differences(case, original, pollux)
             if COMPARED.fullmatch(one.where) and TIMES.sub("", one.original) != TIMES.sub("", one.pollux)]
    names = ["\n".join(mcp_run.tools(recording)) for recording in (original, pollux)]
    if names[0] != names[1]:
        found.append(compare.Difference("tools", *names))
    return found + mcp_run.uncalled(case, pollux)


def main():
    arguments = harness.parser_for("mcp_harness.py", __doc__).parse_args()

    def compared(case, root):
        return differences(case, (arguments.original, arguments.pollux), root)

    allowed = allowances.load(HERE / "differences.toml")
    return harness.compare_all("mcp", mcp_cases.all_cases(), arguments, allowed, compared, group=transport)


def transport(case):
    """Returns the group of a case: a sample has one of each transport."""
    return case.name.rpartition(".")[2]


if __name__ == "__main__":
    sys.exit(main())
