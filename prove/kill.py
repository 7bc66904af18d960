"""Kills Pollux with SIGKILL at random moments and checks the remaining files.

Started by `cargo xtask prove kill`. Python 3.11, standard library only; any Unix.

A session is killed one to three times: at any moment of its work, which includes a background
command; during a compression; and while it is being resumed. After each kill:

- the session files have only grown, and every complete line of them is JSON;
- every file is whole, and has the content of the last call that is finished in the log, or of a
  call that is started in the log: so every change was logged before it was made;
- `--resume latest` continues, and its requests obey the rules of the service. Its first request has
  everything that the server had seen before the kill, unchanged: prompts, texts, signatures of
  thoughts, calls and results. It also has every prompt, text and result that only the log has.
"""

import argparse
import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import needs

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "bench"))

import isolated
import kill_log
import kill_requests
import rules
import script
from dialects import Calls, Text
from kill_log import Log
from scripted_server import ScriptedServer

LIMIT = 60
ATTEMPTS = 20
MAXIMUM_KILLS = 3
# One in so many sessions is compressed, and killed while it is.
COMPRESSING = 3
# Time in seconds that the model takes for a summary, and latest kill after the request for it.
SUMMARISING, AFTER_SUMMARY = 0.03, 0.06
SUMMARY = (
    "<scratchpad>x</scratchpad><state_snapshot><overall_goal>Write the files.</overall_goal></state_snapshot>"
)


class Home:
    """A fresh home and project for one session."""

    def __init__(self, folder, binary):
        self.folder, self.binary = folder, binary
        self.project = folder / "project"
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "tmp").mkdir(parents=True)
        self.project.mkdir()
        (folder / ".gemini").mkdir()

    def start(self, port, *arguments, is_compressing=False):
        """Starts the program. Unless `is_compressing`, it compresses nothing, so that its requests
        have everything; the script stays within the limits of the model."""
        settings = {"model": {"compressionThreshold": 0.1 if is_compressing else 0}}
        (self.folder / ".gemini" / "settings.json").write_text(json.dumps(settings))
        command = [self.binary, "--model", "gemini-2.5-flash", "--yolo", *arguments]
        errors = self.folder / "errors"
        # `errors` returns those of the last run.
        errors.unlink(missing_ok=True)
        return isolated.start(command, self.project, isolated.environment(self.folder, port), errors)

    def errors(self):
        return (self.folder / "errors").read_text(errors="replace").strip()

    def sessions(self):
        return sorted(self.folder.glob(".gemini/tmp/*/chats/session-*.jsonl"))

    def end_background(self):
        """Ends background commands: one of a killed program continues. Returns their number."""
        file, ended = self.folder / "tmp" / "background", 0
        for group in file.read_text().split() if file.exists() else []:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(int(group), signal.SIGKILL)
                ended += 1
        return ended


@dataclass(frozen=True)
class Moment:
    """The moment of a kill: `delay` seconds after the start of the program (`event` is None), or
    after the nth request for a turn or for a summary."""

    event: str | None
    number: int
    delay: float

    def __str__(self):
        after = "the start" if self.event is None else f"{self.event} {self.number}"
        return f"{1000 * self.delay:.1f} ms after {after}"


class Session:
    """One session through all its kills: the state that each check compares with."""

    def __init__(self, home, steps):
        self.home, self.steps = home, dict(steps)
        self.files, self.torn, self.seen, self.log = {}, set(), [], Log([])
        self.problems, self.requests = [], 0

    def look(self):
        """Checks all files after a run."""
        self.log = Log(self.home.sessions(), self.torn)
        self.problems += self.log.problems
        self.problems += kill_log.rewritten(self.files, self.home.sessions())
        self.problems += kill_log.wrong_files(self.steps, self.home.project, self.log)
        self.torn |= self.log.torn
        self.files = kill_log.contents(self.home.sessions())

    def hear(self, requests, log):
        """Checks the requests of a run. `log` is the log that it continued; None for a first
        run."""
        self.problems += [rule for body in requests if (rule := rules.broken_rule(body["contents"]))]
        if not requests:
            return
        if log:
            # A response is shortened by a record that precedes the request.
            log.shortened = self.log.shortened
            self.problems += kill_requests.lost(self.seen, requests[0]["contents"], log)
        self.seen = requests[-1]["contents"]
        self.requests += len(requests)


class Proof:
    """All sessions and their results."""

    def __init__(self, binary, folder, seed):
        self.binary, self.folder = binary, folder
        self.random = random.Random(seed)
        self.turns = script.steps()
        self.counts = dict.fromkeys(
            (
                "kills",
                "too early to resume",
                "between calls",
                "inside a call",
                "during a compression",
                "during a resume",
                "with a background command",
                "torn last lines",
                "temporary files left",
                "files looked at",
                "ended before the kill",
            ),
            0,
        )
        self.failures = []
        self.seconds_per_turn = self.seconds_to_start = 0
        self.whole_run()

    def whole_run(self):
        """Makes one run without a kill, to check the script and to measure it."""
        session = self.fresh("whole")
        begin = time.perf_counter()
        with ScriptedServer(script.server_script(self.turns)) as server:
            code = session.home.start(server.port, "--prompt", "hi").wait(LIMIT)
            start = server.exchanges[0].head if server.exchanges else begin
        self.seconds_to_start = start - begin
        self.seconds_per_turn = (time.perf_counter() - start) / len(self.turns)
        session.look()
        statuses = session.log.statuses
        failed = [key[:60] for key, status in statuses.items() if status != "success"]
        if code != 0 or failed or len(statuses) != len(session.steps):
            errors = session.home.errors()[-300:]
            raise SystemExit(
                f"kill: the script does not run: exit code {code}, {failed[:3]}, {errors}"
            )
        if session.problems:
            raise SystemExit(f"kill: without a kill: {session.problems[0]}")

    def fresh(self, name):
        return Session(Home(self.folder / name, self.binary), keyed(self.turns))

    def run(self, number):
        """Kills one session as often as chance decides, and resumes it at the end."""
        is_compressing = self.random.randrange(COMPRESSING) == 0
        # Near the end the program can be faster than the kill: then another moment is tried.
        for _ in range(ATTEMPTS):
            session = self.fresh(f"run{number}")
            moment = self.first_moment(is_compressing)
            if self.kill(session, moment, 0, is_compressing):
                break
            session.home.end_background()
            self.counts["ended before the kill"] += 1
        else:
            raise SystemExit("kill: the program always ends before it is killed")
        moments = [f"{moment}, compressing" if is_compressing else str(moment)]
        if session.log.has_prompt:
            for leg in range(1, self.random.randint(1, MAXIMUM_KILLS)):
                moment = self.later_moment()
                moments.append(str(moment))
                if not self.kill(session, moment, leg):
                    self.counts["ended before the kill"] += 1
            self.resume(session)
        elif session.requests:
            session.problems.append("the server has the prompt and the log has not")
        else:
            self.counts["too early to resume"] += 1
        self.counts["torn last lines"] += len(session.torn)
        self.counts["files looked at"] += len({step.path for step in session.steps.values()})
        self.counts["temporary files left"] += len(list(session.home.project.glob(".pollux-*.tmp")))
        self.counts["with a background command"] += session.home.end_background()
        if session.problems:
            about = f"run {number}, {'; '.join(moments)}"
            self.failures += [f"{about}: {problem}" for problem in session.problems]
        else:
            shutil.rmtree(session.home.folder)

    def first_moment(self, is_compressing):
        count = len(self.turns)
        if is_compressing:
            # Two requests for each summary: the summary, and its examination.
            summaries = 2 * (count // script.COMPRESSED_EVERY)
            number = self.random.randrange(summaries)
            return Moment("summary", number, self.random.uniform(0, AFTER_SUMMARY))
        turn = self.random.randrange(-1, count)
        if turn < 0:
            return Moment(None, 0, self.random.uniform(0, 1.2) * self.seconds_to_start)
        return Moment("turn", turn, self.random.uniform(0, 1.5) * self.seconds_per_turn)

    def later_moment(self):
        """Returns a moment while a session is being resumed, or of the first turns after that."""
        if self.random.randrange(2):
            return Moment(None, 0, self.random.uniform(0, 1.2) * self.seconds_to_start)
        turn = self.random.randrange(script.LATER_TURNS)
        return Moment("turn", turn, self.random.uniform(0, 1.5) * self.seconds_per_turn)

    def kill(self, session, moment, leg, is_compressing=False):
        """Runs a session's script for this leg, kills the program, and checks everything. Returns
        true if the kill came before the program's end."""
        turns = self.turns if leg == 0 else script.steps(leg)
        session.steps |= keyed(turns)
        summaries = []

        def on_summary():
            summaries.append(time.perf_counter())
            time.sleep(SUMMARISING)

        log, prompt = (None, "hi") if leg == 0 else (session.log, f"go on, {leg}")
        arguments = ("--prompt", prompt) if leg == 0 else ("--resume", "latest", "--prompt", prompt)
        answers = script.server_script(turns, is_compressing)
        with ScriptedServer(
            answers, keep_requests=True, side_text=SUMMARY, on_side_call=on_summary
        ) as server:
            events = {None: [None], "turn": server.exchanges, "summary": summaries}[moment.event]
            process = session.home.start(server.port, *arguments, is_compressing=is_compressing)
            end = time.perf_counter() + LIMIT
            while len(events) <= moment.number and time.perf_counter() < end and process.poll() is None:
                time.sleep(0.0002)
            time.sleep(moment.delay)
            process.send_signal(signal.SIGKILL)
            is_killed = process.wait() == -signal.SIGKILL
            requests = [json.loads(one.request) for one in server.exchanges]
        session.look()
        session.hear(requests, log)
        if is_killed:
            self.count(session, moment, leg, len(requests))
        return is_killed

    def count(self, session, moment, leg, requests):
        self.counts["kills"] += 1
        unfinished = session.log.started - session.log.statuses.keys()
        self.counts["inside a call" if unfinished else "between calls"] += 1
        self.counts["during a compression"] += moment.event == "summary"
        self.counts["during a resume"] += leg > 0 and requests == 0

    def resume(self, session):
        """Resumes the killed session to its end."""
        arguments = {"file_path": "resumed.txt", "content": "resumed\n"}
        answers = [Calls((("tool", ("write_file", arguments)),)), Text(("done",))]
        log = session.log
        with ScriptedServer(answers, keep_requests=True) as server:
            process = session.home.start(server.port, "--resume", "latest", "--prompt", "go on")
            try:
                code = process.wait(LIMIT)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                session.problems.append("the resumed session hangs")
                return
            requests = [json.loads(exchange.request) for exchange in server.exchanges]
        if code != 0:
            errors = session.home.errors()[-200:]
            session.problems.append(f"resuming ends with exit code {code}: {errors}")
        elif len(requests) != len(answers):
            session.problems.append(f"the resumed session sent {len(requests)} requests")
        session.look()
        session.hear(requests, log)
        if not (session.home.project / "resumed.txt").exists():
            session.problems.append("the resumed session did not do its work")


def keyed(turns):
    return {step.key(): step for turn in turns for step in turn}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=Path, required=True, help="the pollux to kill")
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument(
        "--seed", type=int, default=None, help="repeats the moments of an earlier proof"
    )
    options = parser.parse_args()
    needs.programs("kill", "bash", "seq", "mv", "sleep")
    seed = random.randrange(1 << 32) if options.seed is None else options.seed
    folder = Path(tempfile.mkdtemp(prefix="pollux-kill-"))
    proof = Proof(options.binary.resolve(), folder, seed)
    for number in range(options.runs):
        proof.run(number)
    details = ", ".join(f"{count} {what}" for what, count in proof.counts.items())
    for failure in proof.failures[:20]:
        print(f"kill: {failure}")
    print(
        f"kill: {options.runs} sessions, seed {seed}: {details}, {len(proof.failures)} failures"
    )
    if proof.failures:
        print(f"kill: the homes of the failed runs are in {folder}")
        raise SystemExit(1)
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
