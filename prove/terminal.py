"""Attacks the conversation at a terminal: sizes that change, keys in odd pieces, ends of every kind,
and hostile text.

Started by `cargo xtask prove terminal`. Python 3.11, standard library only; Linux, with tmux and
screen.

Pollux runs with a scripted model in a pseudo-terminal, whose raw output is read, and in real
terminals (tmux, and GNU screen) that keep what has left the top of the screen. The checks are in
`terminal_scrollback.py`, `terminal_transcript.py`, `terminal_input.py`, `terminal_keys.py`,
`terminal_ends.py` and `terminal_hostile.py`.
"""

import needs

import argparse
import random
import sys
import tempfile
from pathlib import Path

import samples

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "bench"))

from at_terminal import Missing

# Each of these modules adds its checks.
import terminal_ends
import terminal_hostile
import terminal_input
import terminal_keys
import terminal_scrollback
import terminal_transcript
from terminal_world import CHECKS, World

PROGRAMS = "tmux screen sh stty seq sleep mkdir".split()


def problems_of(check, world):
    """Returns the problems of one check. What does not come in time is a problem."""
    try:
        return check.run(world)
    except Missing as missing:
        return [str(missing)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=Path, required=True, help="the pollux to check")
    samples.add_options(parser, "checks")
    parser.add_argument("--only", default="", help="checks whose words have this in them")
    options = parser.parse_args()
    if sys.platform != "linux":
        raise SystemExit("terminal: this proof needs Linux")
    needs.programs("terminal", *PROGRAMS)
    sample = samples.from_options(options)
    chosen = sample.of([check for check in CHECKS if options.only in check.about])
    chance = str(sample) if sample.count else f"{sample}, seed {sample.seed}"
    print(f"terminal: {chance}: {len(chosen)} checks", flush=True)
    failures = 0
    with tempfile.TemporaryDirectory(prefix="pollux-terminal-") as work:
        for check in chosen:
            world = World(options.binary.resolve(), Path(work), random.Random(f"{sample.seed} {check.about}"))
            problems = problems_of(check, world)
            failures += bool(problems)
            print(f"terminal: {check.about}: {'; '.join(problems) or 'ok'}", flush=True)
    print(f"terminal: {len(chosen)} checks, {failures} failures")
    raise SystemExit(1 if failures else 0)


if __name__ == "__main__":
    main()
