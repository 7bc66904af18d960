"""Lets a client on a published SDK drive the original and Pollux through every case, and prints the
differences.

    acp_harness.py --original PROGRAM --pollux PROGRAM --client NAME=COMMAND [--sample N] [PATTERN ...]

Cases, samples, the list of differences and the last line are as in `parity/harness.py`.
"""

import importlib
import shlex
import sys
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
    name, _, command = arguments.client.partition("=")
    client = acp_run.Client(name, shlex.split(command))

    def compared(case, root):
        original, pollux = (acp_run.run(client, agent, case, root)
                            for agent in (arguments.original, arguments.pollux))
        return acp_views.differences(original, pollux)

    allowed = allowances.load(HERE / "differences.toml")
    return harness.compare_all("acp", acp_case.all_cases(), arguments, allowed, compared,
                               group=lambda case: case.group, clients=f", {client.name} client")


def parse():
    parser = harness.parser_for("acp_harness.py", __doc__)
    parser.add_argument("--client", required=True, metavar="NAME=COMMAND",
                        help="the client: a name for the output, and a command line")
    return parser.parse_args()


def load_cases():
    for path in sorted((HERE / "acp_cases").glob("*.py")):
        importlib.import_module(f"acp_cases.{path.stem}")
        acp_case.group_new_cases(path.stem)


if __name__ == "__main__":
    sys.exit(main())
