"""Measures the memory and the cost of a turn in one conversation of many thousand turns.

Started by `cargo xtask bench soak`; writes the curve as `bench/soak.png`, and the figures of a whole
session to `bench/results.json` and `bench/RESULTS.md`.

Each turn reads a file, or runs a command, with 100 kB of output. The scripted model counts tokens
like a real one, so that the conversation is compressed whenever it has grown enough. At each
request three values are recorded: the memory of the process, the time since the last reply, and the
size of the request.

Linux, because memory is read from /proc. matplotlib draws the curve.
"""

import argparse
import os
import sys
import tempfile
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median

import matplotlib

matplotlib.use("Agg")
import goals
import programs
import report
import results
import sampling
import scenarios
from dialects import Calls, Text
from matplotlib import pyplot
from scripted_server import ScriptedServer

HERE = Path(__file__).resolve().parent
MEGABYTE = 1_000_000
OUTPUT = 100_000
FILES = 50
LINE = 64

SNAPSHOT = """<state_snapshot>
<overall_goal>Go through all files and logs, one after the other.</overall_goal>
<active_constraints>None.</active_constraints>
<key_knowledge>The project holds text files and a log.</key_knowledge>
<artifact_trail>Files were read and the log was listed; nothing was changed.</artifact_trail>
<file_system_state>As it was at the beginning.</file_system_state>
<recent_actions>The next file was read.</recent_actions>
<task_state>Go on with the next file.</task_state>
</state_snapshot>"""


class Script:
    """A long series of turns, and then an answer. No request is repeated."""

    def __init__(self, turns):
        self.turns = turns

    def __len__(self):
        return self.turns + 1

    def __getitem__(self, number):
        return partial(self._turn, number)

    def _turn(self, number, exchange):
        tokens = exchange.size // 4
        if number == self.turns:
            return Text(("Done.",), tokens)
        return Calls((_call(number),), tokens)


def _call(number):
    if number % 2:
        return "shell", f"tail -c +{number * LINE + 1} log.txt | head -c {OUTPUT}"
    start = number // (2 * FILES) + 1
    arguments = {
        "file_path": f"part{number // 2 % FILES}.txt",
        "start_line": start,
        "end_line": start + OUTPUT // LINE - 1,
    }
    return "tool", ("read_file", arguments)


def fill(project, turns):
    """Creates a log and files of lines that all differ, long enough for every turn."""
    reach = OUTPUT // LINE + turns // (2 * FILES) + 2
    for number in range(FILES):
        _write(project / f"part{number}.txt", number * 1_000_000, reach)
    _write(project / "log.txt", 900_000_000, turns + OUTPUT // LINE + 2)


def _write(path, first, count):
    with path.open("w") as file:
        for number in range(first, first + count):
            file.write(f"{number:012} {number * 2654435761 % 10**16:016}".ljust(LINE - 1, ".") + "\n")


@dataclass
class Curve:
    """Values recorded at each request."""

    memory: list = field(default_factory=list)
    size: list = field(default_factory=list)
    gap: list = field(default_factory=list)

    def part(self, values, fifth):
        """Returns one fifth of the session, counted from 0. The first turn has no reply before
        it."""
        length = len(values) // 5
        return values[max(1, fifth * length) : (fifth + 1) * length]


def soak(binary, turns, work):
    """Runs the session. Returns its curve, its cost and the number of bytes written."""
    home, project = work / "home", work / "project"
    project.mkdir(parents=True)
    fill(project, turns)
    program = programs.Program("pollux", binary, (binary,), True)
    curve, sampler = Curve(), sampling.Requests()

    def look(number):
        sampler.look()
        curve.memory.append(sampler.requests[-1].memory / MEGABYTE)
        if number % 500 == 0:
            print(f"  turn {number:,}: {curve.memory[-1]:.1f} MB", flush=True)

    with ScriptedServer(Script(turns), on_request=look, side_text=SNAPSHOT) as server:
        model = {"maxSessionTurns": turns + 10, "disableLoopDetection": True}
        program.prepare(home, server.port, {"model": model})
        cost = sampling.run(
            program.arguments(),
            project,
            program.environment(home, server.port, os.environ["PATH"]),
            sampler=sampler,
            limit=max(120, turns),
        )
        exchanges = server.exchanges
    if cost.code != 0 or len(exchanges) != turns + 1:
        words = cost.errors.decode(errors="replace").strip()[-500:]
        raise SystemExit(f"soak: exit code {cost.code} after {len(exchanges)} requests: {words}")
    curve.size = [exchange.size / MEGABYTE for exchange in exchanges]
    curve.gap = [0.0] + [
        (after.head - before.sent) * 1000
        for before, after in zip(exchanges, exchanges[1:], strict=False)
    ]
    return curve, cost, sampler.requests[-1].written


def values(curve, written):
    """Returns the values of the figures `goals.SOAK`, in their order."""
    # Every other turn runs a command, which includes the cost of its process.
    reads, commands = curve.gap[1::2], curve.gap[2::2]
    growth = [
        take(curve.part(parts, 4)) / take(curve.part(parts, 1))
        for parts, take in ((curve.memory, max), (reads, median), (commands, median))
    ]
    turns = len(curve.memory) - 1
    return [max(curve.memory), *growth, written / turns / 1000, compressions(curve)]


def compressions(curve):
    """Returns how many times a request was less than half as large as the one before."""
    pairs = zip(curve.size, curve.size[1:], strict=False)
    return sum(after < before / 2 for before, after in pairs)


def draw(curve, path):
    """Draws memory, time and size over the turns, one below the other."""
    turns = range(len(curve.memory))
    figure, axes = pyplot.subplots(3, 1, sharex=True, figsize=(9, 7), dpi=110)
    for axis, values, title in (
        (axes[0], curve.memory, "resident memory, MB"),
        (axes[1], curve.gap, "reply to next request, ms"),
        (axes[2], curve.size, "request, MB"),
    ):
        axis.plot(turns, values[: len(turns)], ".", markersize=1.5)
        axis.set_ylabel(title)
        axis.grid(alpha=0.3)
    axes[0].set_ylim(bottom=0)
    axes[1].set_ylim(0, 3 * sorted(curve.gap)[len(curve.gap) * 95 // 100])
    axes[2].set_xlabel("turn")
    figure.suptitle(f"One session of {len(turns) - 1:,} turns with {OUTPUT // 1000} kB of output each")
    figure.tight_layout()
    figure.savefig(path)


def main():
    if not sys.platform.startswith("linux"):
        raise SystemExit("soak: memory is read from /proc, so this runs on Linux only")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=Path, required=True, help="the pollux to measure")
    parser.add_argument("--turns", type=int, default=10_000, help="turns of the session")
    parser.add_argument("--png", type=Path, default=HERE / "soak.png", help="where the curve goes")
    parser.add_argument("--profile", default=results.UNRECORDED, help="profile of that build")
    options = parser.parse_args()
    load = os.getloadavg()[0]
    version = programs.Program("pollux", options.binary, (), True).version()
    with tempfile.TemporaryDirectory(prefix="pollux-soak-") as work:
        curve, cost, written = soak(options.binary.resolve(), options.turns, Path(work))
    draw(curve, options.png)
    columns = {}
    for figure, value in zip(goals.SOAK, values(curve, written), strict=True):
        columns[figure.title] = {"pollux": [value]}
    versions = {"pollux": version}
    section = results.section(results.run_of(versions, 1, load, options.profile), columns)
    if options.turns == goals.SOAK_TURNS:
        store = results.read() | {"soak": section}
        results.write(store)
        results.PAGE.write_text(report.page(store, scenarios.figures()))
    for figure in goals.SOAK:
        kept = section["figures"][figure.title]["pollux"]
        print(f"{figure.title}: {report.spread(kept, figure.unit)}")
    print(
        f"{options.turns:,} turns, {options.turns * OUTPUT / 1e9:.2f} GB of output, {cost.wall:.0f} s, "
        f"{cost.cpu:.0f} s of processor time with the commands' own, {written / 1e9:.2f} GB written"
    )
    missed = results.failures({"soak": section}, [], {"soak": goals.SOAK})
    for line in missed:
        print(line)
    raise SystemExit(1 if missed else 0)


if __name__ == "__main__":
    main()
