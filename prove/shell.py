"""Lets the model run commands that never end by themselves, that hide or that print without end.

Started by `cargo xtask prove shell`. Python 3.11, standard library only; Linux.

Each command is tried twice: headless, where it runs over plain pipes, and in a conversation on a
terminal, where the command has a separate terminal and a user who answers all questions. For each:

- its result reaches the model within a time limit;
- the memory of Pollux stays under 40 MB, and each of its files under the limit of 100 MB;
- when Pollux has ended, no process that it started is left, including daemons.
"""

import argparse
import ctypes
import fcntl
import json
import os
import pty
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import needs
import samples

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "bench"))

import isolated
from dialects import Calls, Text
from scripted_server import ScriptedServer

MOST_MEMORY = 52 << 20
MOST_ON_DISK = 100_000_000
# Maximum time in seconds from the last result to the end of the program: SIGTERM takes 200 ms,
# SIGKILL a second at most.
FAREWELL = 3.0
LIMIT = 300
# Margin for a busy machine in seconds, added to each time limit.
SLACK = 2.0

PR_SET_CHILD_SUBREAPER = 36

# Prompts of line mode when a command waits for input, and the key that ends most input.
ASKS = (b"input> ", b"input (not shown)> ")
END_OF_INPUT = b"\x04"
QUIT = b"q\r"


@dataclass(frozen=True)
class Trial:
    """A command, its description, and the time limit of its result."""

    about: str
    command: str
    seconds: float
    # Text that the result must contain.
    output: str = ""
    # Additional arguments of the call.
    arguments: tuple = ()
    # Signal that ends Pollux while the command runs.
    signal: int = 0
    # Input of the user when the command asks.
    answer: bytes = END_OF_INPUT
    # True if the command asks on a terminal of its own, where a user at a terminal could not
    # answer.
    headless_only: bool = False
    # Alternative command in a terminal. The terminals of Linux pass on some tens of megabytes per
    # second, and only a few if the lines are short.
    command_in_terminal: str = ""

    def call(self, command):
        return ("tool", ("run_shell_command", {"command": command, **dict(self.arguments)}))


PROGRAMS = "bash sh setsid nohup sudo vim less top script stty seq yes head tr sleep".split()
STORM = "for i in $(seq 200); do {} & done; echo begun"
TREE = 'f() { if [ "$1" -gt 0 ]; then f $(($1 - 1)) & f $(($1 - 1)) & wait; else sleep 1000; fi; }; f 6'
LINES = "yes 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef | head -c 500M"
LIMITED = (("timeout_ms", 1000),)
BACKGROUND = (("is_background", True),)
CANCELLED = "exceeded the total time limit of 1.0 seconds"


def trials():
    """Returns all trials."""
    return [
        Trial("a daemon by setsid", "setsid sleep 1000 & echo begun", 1, "begun"),
        Trial("a daemon by nohup", "nohup sleep 1000 >/dev/null 2>&1 & echo begun", 1, "begun"),
        Trial("a daemon whose parent is gone", "(setsid sh -c 'sleep 1000' &); echo begun", 1, "begun"),
        Trial("a daemon that forks twice", "setsid sh -c 'setsid sleep 1000 & exit' & echo begun", 1, "begun"),
        Trial("a daemon that ignores SIGTERM", "(setsid sh -c 'trap \"\" TERM HUP; sleep 1000; sleep 1000' &); echo begun", 1, "begun"),
        Trial("a child that ignores SIGTERM", "sh -c 'trap \"\" TERM INT HUP; sleep 1000; sleep 1000' & echo begun", 1, "begun"),
        Trial("a command that ignores SIGTERM", "trap '' TERM INT HUP; while :; do sleep 0.1; done", 1, CANCELLED, LIMITED),
        Trial("yes", "yes", 1, CANCELLED, LIMITED),
        Trial("yes &", "yes & echo begun", 1, "begun"),
        Trial("sleep inf &", "sleep inf & echo begun", 1, "Background PIDs: "),
        Trial("sudo without a password", "sudo -n true", 2),
        Trial("sudo with one", "sudo true", 5),
        # vim waits for keys on its standard error, which is a pipe: only a time limit ends it.
        Trial("an editor", "vim file || vi file", 1, "", LIMITED),
        Trial("a pager", "seq 10000 | less", 5, answer=QUIT),
        Trial("top", "top", 10, answer=QUIT),
        Trial("a question on the terminal", "read answer < /dev/tty; echo got $?", 1, "got 1"),
        Trial("a question on standard input", "cat; read answer; echo got $?", 1, "got 1"),
        Trial("a question without a user", "sleep 60 | script -qc 'read answer' /dev/null", 8, "waited for input",
              headless_only=True),
        Trial("a password", "printf 'Password: '; stty -echo; read word; echo got $?", 5, "got 1"),
        Trial("a page of its own", "printf '\\033[?1049hpage'; sleep 0.5; printf '\\033[?1049l'; echo back", 2, "back"),
        Trial("closed output", "exec >&- 2>&-; sleep 0.5", 1, "Output: (empty)"),
        Trial("closed output, for ever", "exec >&- 2>&-; sleep 1000", 1, CANCELLED, LIMITED),
        Trial("a storm of 200 jobs", STORM.format("sleep 1000"), 5, "begun"),
        Trial("a storm of 200 daemons", STORM.format("setsid sleep 1000"), 5, "begun"),
        Trial("a tree of 127 forks", TREE, 1, CANCELLED, LIMITED),
        Trial("a flood of lines", "yes | head -c 2G", 60, "characters omitted", command_in_terminal=LINES),
        Trial("2 GB in one line", "head -c 2G /dev/zero | tr '\\0' x", 200, "characters omitted"),
        Trial("a flood of zeros", "head -c 2G /dev/zero", 60, "Binary output",
              command_in_terminal="head -c 500M /dev/zero"),
        Trial("a server", "while :; do echo tick; sleep 0.1; done", 0.2, "PID: ", BACKGROUND),
        Trial("a server that daemonises", "setsid sleep 1000 & exit 0", 0.2, "", BACKGROUND),
        Trial("a server that ignores SIGTERM", "trap '' TERM HUP; while :; do sleep 1; done", 0.2, "PID: ", BACKGROUND),
        Trial("a server that floods", "yes", 5, "PID: ", (*BACKGROUND, ("delay_ms", 5000))),
        Trial("SIGINT to Pollux", TREE, 1, signal=signal.SIGINT),
        Trial("SIGTERM to Pollux", "(setsid sleep 1000 &); trap '' TERM; while :; do sleep 1; done", 1, signal=signal.SIGTERM),
        Trial("SIGHUP to Pollux", "yes", 1, signal=signal.SIGHUP),
    ]


def adopt_orphans():
    """Makes this program the parent of all processes that Pollux leaves behind."""
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise SystemExit("shell: orphans cannot be adopted on this system")


def children():
    """Returns the living children by process number, with their command lines. Reaps dead ones."""
    found = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            state, parent = (entry / "stat").read_text().rsplit(")", 1)[1].split()[:2]
            if int(parent) != os.getpid():
                continue
            if state in "ZX":
                os.waitpid(int(entry.name), os.WNOHANG)
            else:
                words = (entry / "cmdline").read_bytes().replace(b"\0", b" ")
                found[int(entry.name)] = words.decode(errors="replace").strip()
        except (OSError, ValueError):
            # The process has ended meanwhile.
            continue
    return found


def end(processes):
    """Ends processes that should not exist, so that they do not disturb the next trial."""
    for process in processes:
        try:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
        except OSError:
            pass


def peak_memory(process):
    """Returns the peak memory use of a process in bytes; 0 if the process is gone."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return 0
    peak = [line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(peak[0]) * 1024 if peak else 0


class Run:
    """One headless trial in a fresh home, with its result."""

    manner = "headless"

    def __init__(self, binary, folder, trial):
        self.binary, self.folder, self.trial = binary, folder, trial
        self.problems, self.took, self.memory, self.process = [], None, 0, None
        shutil.rmtree(folder, ignore_errors=True)
        for name in ("tmp", "project"):
            (folder / name).mkdir(parents=True)

    def go(self):
        """Runs the trial to its end."""
        turns = [Calls((self.trial.call(self.command()),)), Text(("done",))]
        with ScriptedServer(turns, keep_requests=True, on_request=self.look) as server:
            self.process = self.start(server.port)
            if self.trial.signal:
                self.interrupt(server)
            code = self.wait()
            exchanges = list(server.exchanges)
        ended = time.perf_counter()
        left = children()
        end(left)
        self.problems += [f"left behind: {words[:60]}" for words in left.values()]
        if self.memory > MOST_MEMORY:
            self.problems.append(f"{self.memory >> 20} MB of memory")
        self.problems += self.large_files()
        if self.trial.signal:
            self.judge_signal(code, ended)
        else:
            self.judge(code, exchanges, ended)

    def command(self):
        return self.trial.command

    def start(self, port):
        environment = isolated.environment(self.folder, port)
        command = [self.binary, "--model", "gemini-2.5-flash", "--yolo"]
        return self.launch(command, self.folder / "project", environment)

    def launch(self, command, folder, environment):
        return isolated.start([*command, "--prompt", "go"], folder, environment, self.folder / "errors")

    def look(self, _number):
        """Measures the memory before each answer, when the command has already used its memory."""
        if self.process:
            self.memory = max(self.memory, peak_memory(self.process.pid))

    def interrupt(self, server):
        while not server.exchanges and self.process.poll() is None:
            time.sleep(0.01)
        time.sleep(1)
        self.look(0)
        self.signalled = time.perf_counter()
        self.process.send_signal(self.trial.signal)

    def wait(self):
        try:
            return self.process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            self.problems.append(f"still running after {LIMIT} s")
            return None

    def judge(self, code, exchanges, ended):
        if code != 0 or len(exchanges) != 2:
            errors = (self.folder / "errors").read_text(errors="replace").strip()
            self.problems.append(f"exit code {code}, {len(exchanges)} requests: {errors[-200:]}")
            return
        self.took = exchanges[1].head - exchanges[0].sent
        if self.took > self.trial.seconds + SLACK:
            self.problems.append(f"the result took {self.took:.1f} s")
        if ended - exchanges[1].sent > FAREWELL + SLACK:
            self.problems.append(f"the end took {ended - exchanges[1].sent:.1f} s")
        result = last_result(exchanges[1].request)
        if self.trial.output not in result:
            self.problems.append(f"result: {result[:200]!r}")

    def judge_signal(self, code, ended):
        self.took = ended - self.signalled
        if code != self.code_of_signal():
            self.problems.append(f"exit code {code}")
        if self.took > self.trial.seconds + SLACK:
            self.problems.append(f"the end took {self.took:.1f} s")

    def code_of_signal(self):
        return 128 + self.trial.signal

    def large_files(self):
        files = [file for file in self.folder.rglob("*") if file.is_file()]
        large = [file for file in files if file.stat().st_size > MOST_ON_DISK]
        return [f"{file.name} has {file.stat().st_size} bytes" for file in large]


class Conversation(Run):
    """The same on a terminal, with a user who answers the command and leaves after the last
    answer."""

    manner = "in a terminal"

    def command(self):
        return self.trial.command_in_terminal or self.trial.command

    def launch(self, command, folder, environment):
        self.master, slave = pty.openpty()
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        process = subprocess.Popen(
            [*command, "--prompt-interactive", "go"],
            cwd=folder,
            env={**environment, "TERM": "xterm-256color", "POLLUX_TERMINAL": "line"},
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(slave)
        threading.Thread(target=self.converse, args=(self.master, process), daemon=True).start()
        return process

    def converse(self, master, process):
        """Reads the output of Pollux, so that it never waits, answers, and ends the
        conversation."""
        screen, done, answered = b"", None, 0.0
        with (self.folder / "errors").open("wb") as errors:
            while process.poll() is None:
                if select.select([master], [], [], 0.05)[0]:
                    try:
                        output = os.read(master, 65536)
                    except OSError:
                        break
                    errors.write(output)
                    screen = (screen + output)[-200:]
                    if screen.endswith(ASKS):
                        screen = b""
                        # A program may draw the prompt once more before it reads the answer; this
                        # is not answered again.
                        if time.perf_counter() - answered > 0.3:
                            os.write(master, self.trial.answer)
                            answered = time.perf_counter()
                # The answer is complete: the prompt is shown and waits.
                if screen.endswith(b"> ") and b"done" in screen:
                    done = done or time.perf_counter()
                    if time.perf_counter() - done > 0.1:
                        os.write(master, END_OF_INPUT)
                        done = time.perf_counter()
        os.close(master)

    def interrupt(self, server):
        super().interrupt(server)
        if self.trial.signal == signal.SIGINT:
            # The first signal stops the work, the second asks for a third, which ends the conversation.
            for _ in range(2):
                time.sleep(0.5)
                self.process.send_signal(self.trial.signal)

    def code_of_signal(self):
        return 0 if self.trial.signal == signal.SIGINT else super().code_of_signal()


def last_result(request):
    """Returns the result of the call as sent to the model."""
    parts = json.loads(request)["contents"][-1]["parts"]
    responses = [part["functionResponse"]["response"] for part in parts if "functionResponse" in part]
    return "".join(str(response.get("output", response)) for response in responses)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=Path, required=True, help="the pollux to try")
    samples.add_options(parser, "trials")
    parser.add_argument("--only", default="", help="trials whose words have this in them")
    options = parser.parse_args()
    if sys.platform != "linux":
        raise SystemExit("shell: this proof needs Linux")
    needs.programs("shell", *PROGRAMS)
    adopt_orphans()
    folder = Path(tempfile.mkdtemp(prefix="pollux-shell-proof-"))
    manners = lambda trial: (Run,) if trial.headless_only else (Run, Conversation)
    chosen = [(trial, manner) for trial in trials() for manner in manners(trial)]
    sample = samples.from_options(options)
    chosen = sample.of([pair for pair in chosen if options.only in f"{pair[0].about} {pair[1].manner}"])
    print(f"shell: {sample}: {len(chosen)} runs", flush=True)
    failures, memory = [], 0
    for trial, manner in chosen:
        run = manner(options.binary.resolve(), folder, trial)
        run.go()
        memory = max(memory, run.memory)
        failures += [f"{trial.about}: {problem}" for problem in run.problems]
        took = "-" if run.took is None else f"{run.took:.2f} s"
        verdict = "; ".join(run.problems) or "ok"
        about = f"{trial.about}, {manner.manner}"
        print(f"shell: {about}: {took}, {run.memory / (1 << 20):.1f} MB, {verdict}", flush=True)
    print(
        f"shell: {len(chosen)} runs, at most {memory / (1 << 20):.1f} MB of memory,"
        f" {len(failures)} failures"
    )
    shutil.rmtree(folder)
    if failures:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
