"""Measures Pollux and its peers, and writes `bench/results.json` and `bench/RESULTS.md`. Started by
`cargo xtask bench`.

Python 3.11, standard library only; Linux, because memory is read from /proc. Each figure is the
median of several runs, with the minimum and the maximum; a first run does not count. All programs
use the same scripted server on loopback, in turn, so that a busy moment of the machine affects all
of them.
"""

import argparse
import itertools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import goals
import programs
import report
import results
import sampling
import scenarios
from scripted_server import ScriptedServer

# Value of `--check` without a file.
MEASURE = Path("-")


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
        sampler = scenario.sampler() if scenario.sampler else None
        look = (lambda _number: sampler.look()) if sampler else None
        with ScriptedServer(scenario.script, on_request=look) as server:
            program.prepare(home, server.port, scenario.settings)
            if scenario.only_resuming:
                self.restore_session(program)
            cost = sampling.run(
                program.arguments(stream=scenario.stream, resume=scenario.only_resuming),
                project,
                program.environment(home, server.port, self.path),
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
        """Measures all programs in turn, in all runs, and adds the rows of the scenario's
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
                    paired = scenario.beside and program.name == "pollux"
                    beside = scenario.beside(self, program) if paired else None
                    run = self.once(scenario, program)
                    run[0].beside = beside
                    spent[program.name] += time.perf_counter() - begin
                except (Skipped, sampling.Hung) as error:
                    able.remove(program)
                    del values[program.name]
                    self.skip(program.name, scenario.name, str(error))
                    continue
                if number > 0:
                    values[program.name].append(run)
        for figure in scenario.figures:
            column = {
                name: [value for run in runs if (value := figure.take(*run)) is not None]
                for name, runs in values.items()
                if name == "pollux" or not figure.alone
            }
            self.add(figure, {name: taken for name, taken in column.items() if taken})

    def add(self, figure, column):
        self.rows.append((figure, column))
        print(
            "  "
            + figure.title
            + ": "
            + "; ".join(
                f"{name} {report.spread(results.summary(values), figure.unit)}"
                for name, values in column.items()
            ),
            flush=True,
        )

    def ripgrep(self, *arguments):
        """Measures a search by ripgrep itself, from start to end, in milliseconds; None if there is
        no ripgrep."""
        if not self.rg:
            return None
        tree = scenarios.make_tree(self.work / "tree")
        begin = time.perf_counter()
        subprocess.run([self.rg, *arguments], cwd=tree, capture_output=True, check=True)
        return scenarios.milliseconds(time.perf_counter() - begin)

    def measure_version(self):
        column = {program.name: [] for program in self.programs}
        print("--version", flush=True)
        for number in range(self.options.runs + 1):
            for program in self.programs:
                environment = program.environment(self.home(program), 9, self.path)
                cost = sampling.run([str(program.binary), "--version"], self.work, environment)
                if number > 0:
                    column[program.name].append(scenarios.milliseconds(cost.wall))
        self.add(goals.VERSION, column)

    def measure_size(self):
        column = {p.name: [sum(map(_size, p.weight)) / 1e6] for p in self.programs}
        self.add(goals.INSTALLED, column)

    def measure_confinement(self):
        """Adds the time of each level of confinement, by the example program that measures it."""
        print("confinement", flush=True)
        command = [self.options.confinement, self.options.binary]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        taken = confinement_times(done.stdout)
        for level in goals.CONFINEMENT_LEVELS:
            if level in taken:
                self.add(goals.confinement(level), {"pollux": [taken[level]]})
        if done.returncode != 0:
            print(f"  failed: {done.stderr.strip()[-300:]}", flush=True)


def confinement_times(output):
    """Returns the median difference of each level, in milliseconds, from the output of the
    example `confinement_overhead`."""
    lines = re.findall(r"^([a-z-]+): \+(-?[0-9.]+) ms at the median", output, re.MULTILINE)
    return {level: float(value) for level, value in lines}


def _size(path):
    if path.is_file():
        return path.stat().st_size
    return sum(p.stat().st_size for p in path.rglob("*") if p.is_file() and not p.is_symlink())


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=Path, help="the pollux to measure")
    parser.add_argument("--profile", default=results.UNRECORDED, help="profile of that build")
    parser.add_argument("--target", type=Path, help="where the peers are installed")
    parser.add_argument("--confinement", type=Path, help="the example `confinement_overhead`")
    parser.add_argument(
        "--quick", action="store_true", help="fewer runs, shorter sessions, no file"
    )
    parser.add_argument("--no-peers", action="store_true", help="Pollux alone")
    parser.add_argument("--only", default="", help="only the scenarios with this in their name")
    parser.add_argument(
        "--check",
        type=Path,
        nargs="?",
        const=MEASURE,
        help="compare with the goals, and write nothing; with a file, do not measure either",
    )
    parser.add_argument(
        "--page", action="store_true", help="write the page from the store, without measuring"
    )
    parser.add_argument("--runs", type=int, default=None, help="runs that count")
    parser.add_argument(
        "--budget",
        type=float,
        default=30,
        help="seconds for each program in a scenario; past them, one run that counts is enough",
    )
    options = parser.parse_args()
    options.runs = options.runs or (2 if options.quick else 5)
    measures = options.check in (None, MEASURE) and not options.page
    if measures and not (options.binary and options.target):
        parser.error("a measurement needs --binary and --target")
    return options


def measure(options):
    """Measures everything that the options select. Returns the store with the new figures, and the
    figures that were selected."""
    if not sys.platform.startswith("linux"):
        raise SystemExit("bench: memory is read from /proc, so this runs on Linux only")
    options.binary, options.target = options.binary.resolve(), options.target.resolve()
    options.target.mkdir(parents=True, exist_ok=True)
    selected = []
    with tempfile.TemporaryDirectory(prefix="pollux-bench-") as work:
        bench = Bench(options, Path(work))
        if options.only in "--version":
            bench.measure_version()
            selected.append(goals.VERSION)
        for scenario in scenarios.scenarios(bench.work, options.quick):
            if options.only in scenario.name:
                bench.measure(scenario)
                selected.extend(scenario.figures)
        if options.only in "installed":
            bench.measure_size()
            selected.append(goals.INSTALLED)
        if options.only in "confinement":
            if options.confinement:
                bench.measure_confinement()
            selected.extend(map(goals.confinement, goals.CONFINEMENT_LEVELS))
    run = results.run_of(bench.versions, options.runs, bench.load, options.profile)
    return results.measured(results.read(), run, bench.rows, bench.skipped), selected


def check(store, figures, sections):
    """Prints one line for each figure that is missing and each goal that is missed. Returns the
    exit code."""
    failures = results.failures(store, figures, sections)
    for line in failures:
        print(line)
    judged = sum(figure.goal is not None for figure in itertools.chain(figures, *sections.values()))
    print(f"{judged} goals, {len(failures)} failures")
    return 1 if failures else 0


def main():
    options = arguments()
    if options.check not in (None, MEASURE):
        if not options.check.is_file():
            raise SystemExit(f"bench: {options.check} is not a file")
        raise SystemExit(check(results.read(options.check), scenarios.figures(), goals.SECTIONS))
    if options.page:
        results.PAGE.write_text(report.page(results.read(), scenarios.figures()))
        return
    if options.check:
        options.no_peers = True
    store, figures = measure(options)
    results.write(store, options.target / "bench" / "results.json")
    if options.check:
        raise SystemExit(check(store, figures, {} if options.only else goals.SECTIONS))
    text = report.page(store, figures)
    print("\n" + text)
    if not options.quick and not options.only:
        results.write(store)
        results.PAGE.write_text(text)


if __name__ == "__main__":
    main()
