"""Drives Pollux as editors do, and as no editor should.

Started by `cargo xtask prove acp`. Python 3.11, standard library only; Linux.

- Ten sessions work side by side, with random cancellations (`acp_sessions`).
- A client dies, floods, sends garbage, answers wrongly or never (`acp_clients`): the program continues,
  or ends if its client has ended. Its memory stays under a limit, standard output has nothing but the
  protocol, and no process is left.
- The program is killed while sessions work, and the next one loads them.
"""

import argparse
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import needs
import samples

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "bench"))

import acp_clients
import acp_sessions
import shell
from acp_client import AcpClient, Home, Missing
from acp_model import AcpModel

# Sessions that work side by side, and turns of each.
SESSIONS, TURNS = 10, 200
MOST_MEMORY = 64 << 20
# A session may add so much to the memory of the program.
PER_SESSION = 3 << 20


class Stage:
    """A program with its model, its home and a client that has opened sessions. At its end nothing
    may be left, and the output must have been the protocol alone."""

    def __init__(self, binary, folder, sessions=1, on_request=lambda method, params: {}, files=False, arguments=()):
        self.home = Home(folder, binary, max(sessions, 1))
        self.count, self.on_request, self.files, self.arguments = sessions, on_request, files, arguments
        self.problems, self.most_memory = [], MOST_MEMORY

    def __enter__(self):
        self.model = AcpModel().__enter__()
        self.connect()
        return self

    def connect(self):
        """Starts the program, again after its end, and opens the sessions at the first time."""
        self.process = self.home.start(self.model.port, *self.arguments)
        self.client = AcpClient(self.process, self.on_request)
        self.client.initialize(self.files)
        self.sessions = [self.client.new_session(p) for p in self.home.projects[:self.count]]

    @property
    def session(self):
        return self.sessions[0]

    @property
    def project(self):
        return self.home.projects[0]

    def expect(self, holds, text):
        if not holds:
            self.problems.append(text)

    def expect_end(self, seconds=5):
        """Expects that the program ends by itself."""
        self.expect(self.client.wait_for_end(seconds) is not None, f"still running after {seconds} s")

    def expect_work(self):
        """Expects that the program still answers a prompt."""
        answer = self.client.prompt(self.session, "say well")
        self.expect(answer.get("result", {}).get("stopReason") == "end_turn", f"afterwards: {answer}")

    def __exit__(self, kind, error, _trace):
        if isinstance(error, Missing):
            self.problems.append(str(error))
        memory = shell.peak_memory(self.process.pid)
        self.memory = memory
        if memory > self.most_memory:
            self.problems.append(f"{memory >> 20} MB of memory")
        if self.process.poll() is None:
            code = self.client.close()
            self.expect(code == 0, f"exit code {code} when the client leaves")
        self.client.drop()
        left = remaining()
        shell.end(left)
        self.problems += [f"left behind: {words[:80]}" for words in left.values()]
        self.problems += [f"not protocol: {line[:80]!r}" for line in self.client.stray[:3]]
        self.model.__exit__(kind, error, None)
        return kind is None or issubclass(kind, Missing)


def remaining():
    """Returns the processes that are left. One that has just been killed gets time to end."""
    for _ in range(50):
        if not shell.children():
            break
        time.sleep(0.02)
    return shell.children()


@dataclass
class Result:
    """Result of one trial: its problems and figures for the output."""

    problems: list
    figures: str


def side_by_side(binary, folder, seed, count=SESSIONS, turns=TURNS):
    """Lets sessions work at the same time."""
    decisions = acp_sessions.Decisions()
    with Stage(binary, folder, 0, decisions) as stage:
        stage.home = Home(folder, binary, count)
        sessions = []
        for number, project in enumerate(stage.home.projects):
            sessions.append(acp_sessions.WorkingSession(number, stage.client, decisions, project, seed))
            # The first session brings what all of them share.
            before = shell.peak_memory(stage.process.pid) if number == 0 else before
        added = (shell.peak_memory(stage.process.pid) - before) / (count - 1)
        stage.expect(added < PER_SESSION, f"{added / 1024:.0f} kB for a session")
        acp_sessions.work(sessions, turns)
        stage.problems += [problem for session in sessions for problem in session.problems]
        stage.problems += acp_sessions.wrong_requests(stage.model.requests, sessions)
    cancels = sum(session.cancels for session in sessions)
    slowest = max(session.slowest for session in sessions)
    own = max(session.slowest_of_program for session in sessions)
    figures = (f"{count} sessions of {turns} turns, {cancels} cancellations, the slowest after {1000 * slowest:.0f} ms "
               f"({1000 * own:.0f} ms without the longest stall of the proof itself), "
               f"{added / (1 << 20):.2f} MB for a further session, {stage.memory >> 20} MB")
    return Result(stage.problems, figures)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=Path, required=True, help="the pollux to drive")
    samples.add_options(parser, "turns of a session and bad clients")
    parser.add_argument("--only", default="", help="trials whose names have this in them")
    options = parser.parse_args()
    if sys.platform != "linux":
        raise SystemExit("acp: this proof needs Linux")
    needs.programs("acp", "bash", "sleep")
    shell.adopt_orphans()
    sample = samples.from_options(options)
    binary, folder = options.binary.resolve(), Path(tempfile.mkdtemp(prefix="pollux-acp-proof-"))
    trials = sample.of([one for one in acp_clients.TRIALS if options.only in one.__doc__])
    print(f"acp: {sample}", flush=True)
    failures = []

    def report(name, result):
        failures.extend(f"{name}: {problem}" for problem in result.problems)
        print(f"acp: {name}: {result.figures}; {'; '.join(result.problems[:5]) or 'ok'}", flush=True)

    if options.only in side_by_side.__doc__:
        turns = min(sample.count, TURNS) or TURNS
        report("side by side", side_by_side(binary, folder / "side-by-side", sample.seed, turns=turns))
    for trial in trials:
        stage = Stage(binary, folder / trial.__name__)
        with stage:
            trial(stage)
        name = trial.__doc__.splitlines()[0].rstrip(".")
        report(name, Result(stage.problems, f"{stage.memory >> 20} MB"))
    shutil.rmtree(folder)
    print(f"acp: {len(trials)} bad clients, {len(failures)} failures")
    if failures:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
