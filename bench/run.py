"""Measures Pollux and its peers, and writes `bench/RESULTS.md`. Started by `cargo xtask bench`.

Python 3.11, standard library only; Linux, because memory is read from /proc. Each figure is the
median of several runs, with the minimum and the maximum; a first run does not count. All programs
use the same scripted server on loopback, in turn, so that a busy moment of the machine affects all
of them.
"""

import argparse
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import programs
import report
import sampling
import scenarios
from scripted_server import ScriptedServer

HERE = Path(__file__).resolve().parent


class Skipped(Exception):
    """A program did not do what the script asked; the text describes the problem."""


class Bench:
    """One session: the programs, their search path, and the figures so far."""

    def __init__(self, options, work):
        self.options, self.work = options, work
        self.load = os.getloadavg()[0]
        cache = options.target / "bench"
        own = programs.Program("pollux", options.binary, (options.binary,), True)
        found = [] if options.no_peers else programs.peers(cache / "peers")
        self.rg = shutil.which("rg") or programs.bundled_ripgrep(cache / "peers")
        # A program that searches with ripgrep must find one.
        self.path = os.environ["PATH"] + (f":{Path(self.rg).parent}" if self.rg else "")
        self.skipped, self.programs, self.versions = [], [], {}
        for program in [own, *found]:
            self.admit(program)
        self.rows = []

    def admit(self, program):
        """Adds a program if it starts and can hold a conversation with the server."""
        version = program.version()
        reason = "does not start" if version is None else None
        if version is not None:
            try:
                probe = scenarios.Scenario("probe", [scenarios.HELLO], ())
                self.once(probe, program, limit=45)
            except (Skipped, sampling.Hung) as error:
                reason = str(error)
        if reason:
            if program.name == "pollux":
                raise SystemExit(f"bench: pollux {reason}")
            self.skip(program.name, "everything", reason)
            return
        self.programs.append(program)
        self.versions[program.name] = version

    def skip(self, name, what, reason):
        print(f"  {name}: {what} skipped: {reason}", flush=True)
        self.skipped.append((name, what, reason))

    def home(self, program):
        return self.work / program.name

    def once(self, scenario, program, limit=sampling.TIME_LIMIT):
        """Makes one run. Returns its cost and its exchanges with the server."""
        home = self.home(program)
        project = home / "project"
        shutil.rmtree(project, ignore_errors=True)
        project.mkdir(parents=True)
        if scenario.project:
            project = scenario.project(project)
        sampler = sampling.Memory() if scenario.sample else None
        look = (lambda _number: sampler.look()) if sampler else None
        with ScriptedServer(scenario.script, on_request=look) as server:
            program.prepare(home, server.port)
            if scenario.only_resuming:
                self.restore_session(program)
            cost = sampling.run(
                program.arguments(stream=scenario.stream, resume=scenario.only_resuming),
                project,
                program.environment(home, server.port, self.path),
                sample=scenario.sample,
                sampler=sampler,
                limit=limit,
            )
            exchanges = server.exchanges
        if cost.code != 0:
            words = cost.errors.decode(errors="replace").strip().splitlines() or [""]
            raise Skipped(f"exit code {cost.code}: {words[-1][:200]}")
        if len(exchanges) != len(scenario.script):
            raise Skipped(f"{len(exchanges)} requests where {len(scenario.script)} were expected")
        return cost, exchanges

    def restore_session(self, program):
        """Restores the 100 MB session to its state before the last run. Created on first use."""
        stored = self.home(program) / "large-session"
        origin = self.home(program) / "large-session.name"
        if not stored.exists():
            shutil.rmtree(self.home(program) / ".gemini" / "tmp", ignore_errors=True)
            self.once(scenarios.Scenario("record", [scenarios.HELLO], ()), program)
            path = scenarios.session_file(self.home(program))
            if path is None:
                raise Skipped("no session was recorded")
            scenarios.grow_session(path)
            origin.write_text(str(path))
            shutil.move(path, stored)
        path = Path(origin.read_text())
        for other in path.parent.glob("session-*"):
            other.unlink()
        shutil.copyfile(stored, path)

    def measure(self, scenario):
        """Measures all programs in turn, in all runs. Returns the rows of the scenario's
        figures."""
        print(scenario.name, flush=True)
        like_gemini = scenario.only_resuming or scenario.named_tools
        able = [p for p in self.programs if p.resumes_jsonl or not like_gemini]
        values = {program.name: [] for program in able}
        spent = dict.fromkeys(values, 0.0)
        for number in range(self.options.runs + 1):
            for program in list(able):
                if spent[program.name] > self.options.budget and number > 1:
                    continue
                begin = time.perf_counter()
                try:
                    run = self.once(scenario, program)
                    spent[program.name] += time.perf_counter() - begin
                except (Skipped, sampling.Hung) as error:
                    able.remove(program)
                    del values[program.name]
                    self.skip(program.name, scenario.name, str(error))
                    continue
                if number > 0:
                    taken = [figure.take(*run) for figure in scenario.figures]
                    values[program.name].append(taken)
        for index, figure in enumerate(scenario.figures):
            column = {
                name: [taken[index] for taken in runs] for name, runs in values.items() if runs
            }
            if scenario.ripgrep and self.rg:
                column["rg"] = self.ripgrep_alone(scenario.ripgrep)
            self.add(figure, column)

    def add(self, figure, column):
        self.rows.append((figure, column))
        print(
            "  "
            + figure.title
            + ": "
            + "; ".join(
                f"{name} {report.spread(values, figure.unit)}" for name, values in column.items()
            ),
            flush=True,
        )

    def ripgrep_alone(self, arguments):
        """Measures the same search by ripgrep itself, from start to end."""
        tree, taken = scenarios.make_tree(self.work / "tree"), []
        for _ in range(self.options.runs + 1):
            begin = time.perf_counter()
            subprocess.run([self.rg, *arguments], cwd=tree, capture_output=True, check=True)
            taken.append(scenarios.milliseconds(time.perf_counter() - begin))
        return taken[1:]

    def measure_version(self):
        goal = ("not slower than Codex", scenarios.sooner(codex=1))
        figure = scenarios.Figure("`--version`", "ms", None, *goal)
        column = {program.name: [] for program in self.programs}
        print("--version", flush=True)
        for number in range(self.options.runs + 1):
            for program in self.programs:
                environment = program.environment(self.home(program), 9, self.path)
                cost = sampling.run([str(program.binary), "--version"], self.work, environment)
                if number > 0:
                    column[program.name].append(scenarios.milliseconds(cost.wall))
        self.add(figure, column)

    def measure_size(self):
        column = {p.name: [sum(map(_size, p.weight)) / 1e6] for p in self.programs}
        goal = ("< 20", scenarios.at_most(20))
        self.add(scenarios.Figure("installed (Node.js not counted)", "MB", None, *goal), column)


def _size(path):
    if path.is_file():
        return path.stat().st_size
    return sum(p.stat().st_size for p in path.rglob("*") if p.is_file() and not p.is_symlink())


def machine():
    """Returns a description of the machine, without its name."""
    memory = next(
        line for line in Path("/proc/meminfo").read_text().splitlines() if "MemTotal" in line
    )
    gigabytes = int(memory.split()[1]) / 1e6
    return f"{os.cpu_count()} cores, {gigabytes:.0f} GB of memory, {platform.system()} {platform.machine()}"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=Path, required=True, help="the pollux to measure")
    parser.add_argument("--target", type=Path, required=True, help="where the peers are installed")
    parser.add_argument(
        "--quick", action="store_true", help="fewer runs, shorter sessions, no file"
    )
    parser.add_argument("--no-peers", action="store_true", help="Pollux alone")
    parser.add_argument("--only", default="", help="only the scenarios with this in their name")
    parser.add_argument("--runs", type=int, default=None, help="runs that count")
    parser.add_argument(
        "--budget",
        type=float,
        default=30,
        help="seconds for each program in a scenario; past them, one run that counts is enough",
    )
    options = parser.parse_args()
    options.runs = options.runs or (2 if options.quick else 5)
    options.binary, options.target = options.binary.resolve(), options.target.resolve()
    return options


def main():
    if not sys.platform.startswith("linux"):
        raise SystemExit("bench: memory is read from /proc, so this runs on Linux only")
    options = arguments()
    options.target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="pollux-bench-") as work:
        bench = Bench(options, Path(work))
        if options.only in "--version":
            bench.measure_version()
        for scenario in scenarios.scenarios(bench.work, options.quick):
            if options.only in scenario.name:
                bench.measure(scenario)
        bench.measure_size()
    text = report.write(bench, machine(), options.runs)
    print("\n" + text)
    if not options.quick and not options.only and not options.no_peers:
        (HERE / "RESULTS.md").write_text(text)


if __name__ == "__main__":
    main()
