"""The figures of custom commands: what 500 files add to the time until the first request. Started by
`cargo xtask bench commands`.
"""

import json

import alone
import first_request
import programs
from goals import WALL_NOISE, Figure, at_most

FILES = 500
FILE = 'description = "Reviews part {0}"\nprompt = "Review part {0} with {{{{args}}}}: !{{git log -1 part{0}}}"\n'
# A folder that is trusted for one run, and one whose files the user has agreed to.
TRUSTED, PINNED = "in a trusted folder", "with pinned consent"
FIGURES = tuple(
    Figure(f"first request, added by {FILES} custom commands {kind}", "ms", None, at_most(3, WALL_NOISE), True)
    for kind in (TRUSTED, PINNED)
)


def prepare(home, count, kind):
    """Makes a home with a project that has custom commands."""
    commands = home / "project" / ".gemini" / "commands"
    commands.mkdir(parents=True)
    for number in range(count):
        (commands / f"review{number}.toml").write_text(FILE.format(number))
    if kind == PINNED:
        (home / ".gemini").mkdir()
        trusted = {str((home / "project").resolve()): "TRUST_FOLDER"}
        (home / ".gemini" / "trustedFolders.json").write_text(json.dumps(trusted))


def added(program, work, kind, runs):
    """Returns the time that the files add, for each pair of runs."""
    homes = [work / f"{kind} {count}" for count in (0, FILES)]
    for home, count in zip(homes, (0, FILES), strict=True):
        prepare(home, count, kind)
    pairs = [[first_request.of_run(program, home, trusts=kind == TRUSTED) for home in homes] for _ in range(runs + 1)]
    # The first run of a home stores the answers about its files.
    return [full - empty for empty, full in pairs[1:]]


def measurements(binary, work, is_quick):
    program = programs.Program("pollux", binary, (), True)
    for figure, kind in zip(FIGURES, (TRUSTED, PINNED), strict=True):
        yield figure, added(program, work, kind, 7 if is_quick else 25)


if __name__ == "__main__":
    alone.main(__doc__, measurements)
