"""Conversations of Pollux with a scripted model at a terminal, for the checks of `terminal.py`."""

import contextlib
import json
import random
import shutil
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import isolated
from dialects import Calls, Text
from scripted_server import ScriptedServer
from at_terminal import Terminal

MODEL = "gemini-2.5-flash"
# Text of an empty input on the screen. Programs wait for it.
READY = "Type your message or @path/to/file"
# Text while there is work.
BUSY = "\u00b7 Esc stops"
QUESTION = "Allow execution of"
# Short enough for one row of the narrowest window.
DONE = "it-is-done"
# Lines that a shell has printed before Pollux started.
EARLIER = [str(number) for number in range(1001, 1061)]
UNDER_SHELL = 'seq 1001 1060; "$0" "$@"'
CTRL_C, CTRL_D, CTRL_O = b"\x03", b"\x04", b"\x0f"
# Times between the bytes of one key, in seconds: shorter than the wait for the rest of a sequence.
SPLIT = 0.004

CHECKS = []


@dataclass(frozen=True)
class Check:
    """One check: its description, and the function from a world to a list of problems."""

    about: str
    run: object


def check(about):
    """Adds a function to the checks."""
    return lambda run: CHECKS.append(Check(about, run)) or run


def call(name, arguments):
    return Calls((("tool", (name, arguments)),))


def shell(command):
    return call("run_shell_command", {"command": command})


def done():
    return Text((DONE,))


@dataclass
class Talk:
    """A running conversation."""

    terminal: object
    server: ScriptedServer
    project: Path
    home: Path

    def prompts(self):
        """Returns the text of the last prompt of each request."""
        found = []
        for exchange in self.server.exchanges:
            last = json.loads(exchange.request)["contents"][-1]
            found.append("".join(part.get("text", "") for part in last["parts"]))
        return found

    def sent(self, count, seconds=15):
        """Waits until the model got a number of requests."""
        end = time.perf_counter() + seconds
        while len(self.server.exchanges) < count:
            if time.perf_counter() > end:
                return False
            time.sleep(0.01)
        return True


@dataclass
class World:
    """The program that is checked, a folder for its homes, and a source of chance."""

    binary: Path
    work: Path
    chance: random.Random = field(default_factory=random.Random)

    @contextlib.contextmanager
    def talk(
        self, script, *, at=Terminal, mode="screen", size=(24, 80), arguments=(), settings=None, files=None,
        under_shell=False, variables=None, on_request=None, wait=True, command=None, **more,
    ):
        """Starts a conversation whose model follows a script, and yields it once its input is
        ready. `at` is the kind of terminal, `command` a function that wraps the command."""
        home = Path(tempfile.mkdtemp(prefix="home-", dir=self.work))
        project = home / "project"
        for folder in (project, home / "tmp", home / ".gemini"):
            folder.mkdir(parents=True)
        (home / ".gemini" / "settings.json").write_text(json.dumps(settings or {}))
        for name, content in (files or {}).items():
            (project / name).parent.mkdir(parents=True, exist_ok=True)
            (project / name).write_text(content)
        words = [str(self.binary), "--model", MODEL, *arguments]
        if under_shell:
            words = ["sh", "-c", UNDER_SHELL, *words]
        if command:
            words = command(words)
        with ScriptedServer(script, keep_requests=True, on_request=on_request) as server:
            environment = isolated.environment(home, server.port)
            environment.pop("NO_COLOR")
            environment |= {"TERM": "xterm-256color", "POLLUX_TERMINAL": mode, "LANG": "C.UTF-8"} | (variables or {})
            if at is not Terminal:
                more["work"] = self.work
            with at(words, project, environment, size=size, **more) as terminal:
                if wait:
                    terminal.wait_for(READY if mode == "screen" else "> ")
                    terminal.quiet(0.1)
                yield Talk(terminal, server, project, home)
        shutil.rmtree(home, ignore_errors=True)
