"""Kills Pollux with SIGKILL at random moments and checks the remaining files.

Started by `cargo xtask prove kill`. Python 3.11, standard library only; any Unix.

After each kill:

- every complete line of every session file is JSON;
- every file is whole, and has the content of the last call that is finished in the log, or of a
  call that is started in the log: so every change was logged before it was made;
- `--resume latest` continues: exit code 0, requests that obey the rules of the service, and in them
  every call that had finished.
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "bench"))

import rules
import script
from dialects import Calls, Text
from scripted_server import ScriptedServer

FINAL = ("success", "error", "cancelled")
LIMIT = 60
ATTEMPTS = 20


class Home:
    """A fresh home and project for one run."""

    def __init__(self, folder, binary):
        self.folder, self.binary = folder, binary
        self.project = folder / "project"
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "tmp").mkdir(parents=True)
        self.project.mkdir()
        # The calls are searched in the request itself, not in a summary, so compression is off. The
        # script stays within the limits of the model.
        settings = folder / ".gemini" / "settings.json"
        settings.parent.mkdir()
        settings.write_text(json.dumps({"model": {"compressionThreshold": 0}}))

    def start(self, port, *arguments):
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "TMPDIR": str(self.folder / "tmp"),
            "NO_COLOR": "1",
            "GEMINI_API_KEY": "none",
            "GOOGLE_GEMINI_BASE_URL": f"http://127.0.0.1:{port}",
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
        }
        command = [self.binary, "--model", "gemini-2.5-flash", "--yolo", *arguments]
        with (self.folder / "errors").open("wb") as errors:
            return subprocess.Popen(
                command,
                cwd=self.project,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                start_new_session=True,
            )

    def errors(self):
        return (self.folder / "errors").read_text(errors="replace").strip()

    def sessions(self):
        return sorted(self.folder.glob(".gemini/tmp/*/chats/session-*.jsonl"))


class Log:
    """Content of the session files: complete lines, and the calls that started and finished."""

    def __init__(self, paths):
        self.problems, self.started, self.statuses = [], set(), {}
        self.torn, self.has_prompt = 0, False
        for path in paths:
            self._read(path)

    def _read(self, path):
        calls = {}
        *lines, last = path.read_bytes().split(b"\n")
        self.torn += bool(last)
        for number, line in enumerate(lines, 1):
            try:
                record = json.loads(line)
            except ValueError:
                self.problems.append(f"line {number} of the session is not JSON: {line[:80]!r}")
                continue
            self.has_prompt |= record.get("type") == "user"
            own = record.get("$pollux") or {}
            for call in [*record.get("toolCalls", []), *([own["call"]] if "call" in own else [])]:
                calls[call["id"]] = script.key(call["name"], call["args"])
                if call.get("status") in FINAL:
                    self.statuses[calls[call["id"]]] = call["status"]
            if "started" in own:
                self.started.add(calls.get(own["started"]["callId"]))


def wrong_files(steps, project, log):
    """Describes the files with the content of neither the last finished call nor of a started
    call."""
    wrong = []
    for path in sorted({step.path for step in steps.values()}):
        last, possible = None, set()
        for key, step in steps.items():
            if step.path != path:
                continue
            if log.statuses.get(key) == "success":
                last, possible = step.content, set()
            elif key in log.started:
                possible.add(step.content)
        file = project / path
        found = file.read_bytes().decode(errors="replace") if file.exists() else None
        if found != last and found not in possible:
            versions = {
                key for key, step in steps.items() if (step.path, step.content) == (path, found)
            }
            wrong.append(f"{path} {_difference(found, versions, log)}")
    return wrong


def _difference(found, versions, log):
    """Describes the error of a file. `versions` are the calls that result in its content."""
    if found is None:
        return "is missing"
    if not versions:
        return f"is neither old nor new: {len(found)} characters, {found[:60]!r}"
    if not versions & log.started:
        return f"changed before the log said so: {found[:60]!r}"
    return f"differs from the log: {found[:60]!r}"


class Proof:
    """All runs and their results."""

    def __init__(self, binary, folder, seed):
        self.binary, self.folder = binary, folder
        self.random = random.Random(seed)
        self.turns = script.steps()
        self.steps = {step.key(): step for turn in self.turns for step in turn}
        self.counts = dict.fromkeys(
            (
                "too early to resume",
                "between calls",
                "inside a call",
                "torn last lines",
                "temporary files left",
                "files looked at",
                "ended before the kill, tried again",
            ),
            0,
        )
        self.failures = []
        self.seconds_per_turn = self.whole_run() / script.TURNS

    def whole_run(self):
        """Makes one run without a kill, to check the script. Returns its duration in seconds."""
        home = Home(self.folder / "whole", self.binary)
        begin = time.perf_counter()
        with ScriptedServer(script.server_script(self.turns)) as server:
            code = home.start(server.port, "--prompt", "hi").wait(LIMIT)
        took = time.perf_counter() - begin
        log = Log(home.sessions())
        failed = [key[:60] for key, status in log.statuses.items() if status != "success"]
        if code != 0 or failed or len(log.statuses) != len(self.steps):
            raise SystemExit(
                f"kill: the script does not run: exit code {code}, {failed[:3]}, {home.errors()[-300:]}"
            )
        problems = log.problems + self.look_at_files(home, log)
        if problems:
            raise SystemExit(f"kill: without a kill: {problems[0]}")
        return took

    def run(self, number):
        """Makes one kill and checks the conditions after it."""
        # Near the end the program can be faster than the kill: then another moment is tried.
        for _ in range(ATTEMPTS):
            home = Home(self.folder / f"run{number}", self.binary)
            turn = self.random.randrange(-1, script.TURNS)
            delay = self.random.uniform(0, 1.5) * self.seconds_per_turn
            if self.kill(home, turn, delay):
                break
            self.counts["ended before the kill, tried again"] += 1
        else:
            raise SystemExit("kill: the program always ends before it is killed")
        problems = []
        log = Log(home.sessions())
        problems += log.problems + self.look_at_files(home, log)
        self.counts["torn last lines"] += log.torn
        unfinished = log.started - log.statuses.keys()
        self.counts["inside a call" if unfinished else "between calls"] += 1
        if log.has_prompt:
            problems += self.resume(home, log)
        else:
            self.counts["too early to resume"] += 1
        if problems:
            moment = f"run {number}, {1000 * delay:.1f} ms after turn {turn}"
            self.failures += [f"{moment}: {problem}" for problem in problems]
        else:
            shutil.rmtree(home.folder)

    def kill(self, home, turn, delay):
        """Runs the script and kills the program `delay` seconds after a turn's request (-1: after
        its start). Returns true if the kill came before the program's end."""
        process = None
        with ScriptedServer(script.server_script(self.turns)) as server:
            process = home.start(server.port, "--prompt", "hi")
            end = time.perf_counter() + LIMIT
            while (
                len(server.exchanges) <= turn
                and time.perf_counter() < end
                and process.poll() is None
            ):
                time.sleep(0.0002)
            time.sleep(delay)
            process.send_signal(signal.SIGKILL)
            return process.wait() == -signal.SIGKILL

    def look_at_files(self, home, log):
        """Returns the problems with the files of a run, and counts the temporary files."""
        self.counts["files looked at"] += len({step.path for step in self.steps.values()})
        self.counts["temporary files left"] += len(list(home.project.glob(".pollux-*.tmp")))
        return wrong_files(self.steps, home.project, log)

    def resume(self, home, log):
        """Resumes the killed session and returns the problems."""
        arguments = {"file_path": "resumed.txt", "content": "resumed\n"}
        answers = [Calls((("tool", ("write_file", arguments)),)), Text(("done",))]
        with ScriptedServer(answers, keep_requests=True) as server:
            process = home.start(server.port, "--resume", "latest", "--prompt", "go on")
            try:
                code = process.wait(LIMIT)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                return ["the resumed session hangs"]
            requests = [json.loads(exchange.request) for exchange in server.exchanges]
        if code != 0:
            return [f"resuming ends with exit code {code}: {home.errors()[-200:]}"]
        if len(requests) != len(answers):
            return [f"the resumed session sent {len(requests)} requests"]
        problems = [rule for body in requests if (rule := rules.broken_rule(body["contents"]))]
        parts = [part for content in requests[0]["contents"] for part in content["parts"]]
        told = {
            script.key(c["name"], c["args"]) for part in parts if (c := part.get("functionCall"))
        }
        lost = [key for key in log.statuses if key not in told]
        problems += [f"{len(lost)} finished calls are lost, first {lost[0][:80]}"] if lost else []
        if not (home.project / "resumed.txt").exists():
            problems.append("the resumed session did not do its work")
        after = Log(home.sessions())
        # A line that was cut off by the kill stays in the file, closed by a line feed.
        return problems + after.problems[log.torn :]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=Path, required=True, help="the pollux to kill")
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument(
        "--seed", type=int, default=None, help="repeats the moments of an earlier proof"
    )
    options = parser.parse_args()
    seed = random.randrange(1 << 32) if options.seed is None else options.seed
    folder = Path(tempfile.mkdtemp(prefix="pollux-kill-"))
    proof = Proof(options.binary.resolve(), folder, seed)
    for number in range(options.runs):
        proof.run(number)
    details = ", ".join(f"{count} {what}" for what, count in proof.counts.items())
    for failure in proof.failures[:20]:
        print(f"kill: {failure}")
    print(
        f"kill: {options.runs} runs of {script.TURNS} turns, seed {seed}: {details}, {len(proof.failures)} failures"
    )
    if proof.failures:
        print(f"kill: the homes of the failed runs are in {folder}")
        raise SystemExit(1)
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
