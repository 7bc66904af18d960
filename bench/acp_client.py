"""A client of the Agent Client Protocol that can break every rule of it.

Messages are lines of JSON on the pipes of the program. Unlike the published SDKs, this client can send
anything, leave questions unanswered, and end at any moment.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import threading
import time

import isolated

# Time in seconds after which an answer is missing.
PATIENCE = 30


# The loop detection would end a session whose prompts are much alike.
SETTINGS = {
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "model": {"disableLoopDetection": True},
    "privacy": {"usageStatisticsEnabled": False},
    "general": {"enableAutoUpdate": False},
}


class Missing(Exception):
    """Something that should arrive has not arrived."""


class Home:
    """A fresh home with folders for sessions, and a way to start the program in it."""

    def __init__(self, folder, binary, sessions=1):
        self.folder, self.binary = folder, binary
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "tmp").mkdir(parents=True)
        self.projects = [folder / f"project{number}" for number in range(sessions)]
        (folder / ".gemini").mkdir()
        (folder / ".gemini" / "settings.json").write_text(json.dumps(SETTINGS))
        for project in self.projects:
            project.mkdir()
            (project / "note.txt").write_text("a note\n")

    def start(self, port, *arguments):
        """Starts the program as a client does."""
        command = [self.binary, "--acp", "--model", "gemini-2.5-flash", *arguments]
        environment = isolated.environment(self.folder, port)
        return isolated.start(command, self.folder, environment, self.folder / "errors", subprocess.PIPE)

    def errors(self):
        return (self.folder / "errors").read_text(errors="replace").strip()


class AcpClient:
    """One connection. `on_request` answers requests of the program: it gets the method and the
    parameters and returns a result, or None to leave the request unanswered."""

    def __init__(self, process, on_request=lambda method, params: {}, reading=True):
        self.process, self.on_request = process, on_request
        # Messages in the order of arrival, each with its time, and lines that are not JSON.
        self.messages, self.stray = [], []
        # Answers with their times, by the id of the request.
        self.answers = {}
        self.arrival = threading.Condition()
        self.number, self.writing = 0, threading.Lock()
        self.ended, self.refused = False, False
        self.reader = threading.Thread(target=self._read, daemon=True)
        if reading:
            self.reader.start()

    def _read(self):
        # Lines after the client has closed the pipe cannot be read.
        with contextlib.suppress(OSError, ValueError):
            for line in self.process.stdout:
                self._take(line)
        with self.arrival:
            self.ended = True
            self.arrival.notify_all()

    def _take(self, line):
        now = time.perf_counter()
        if self.refused and not line.endswith(b"\n"):
            # The client itself has cut the line off.
            return
        try:
            message = json.loads(line)
        except ValueError:
            self.stray.append(line)
            return
        with self.arrival:
            self.messages.append((now, message))
            if "method" not in message:
                self.answers[message.get("id")] = (now, message)
            self.arrival.notify_all()
        if "method" in message and "id" in message:
            # An answer of None is none; one with a code is an error.
            answer = self.on_request(message["method"], message.get("params", {}))
            if answer is not None:
                key = "error" if "code" in answer else "result"
                self.send({"id": message["id"], key: answer})

    def send(self, message):
        """Sends a message with the version of the protocol."""
        self.raw(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def raw(self, data):
        """Sends any bytes. A program that has ended reads nothing, which is not an error here."""
        with self.writing, contextlib.suppress(OSError, ValueError):
            self.process.stdin.write(data)
            self.process.stdin.flush()

    def begin(self, method, params):
        """Sends a request and returns its id."""
        with self.writing:
            self.number += 1
            number = self.number
        self.send({"id": number, "method": method, "params": params})
        return number

    def notify(self, method, params):
        self.send({"method": method, "params": params})

    def wait(self, found, what, seconds=None):
        """Waits until `found` returns something for the messages so far, and returns it."""
        seconds = seconds or PATIENCE
        end = time.perf_counter() + seconds
        with self.arrival:
            while True:
                if (value := found(self.messages)) is not None:
                    return value
                left = end - time.perf_counter()
                if self.ended or left <= 0:
                    why = "the program has ended" if self.ended else f"nothing for {seconds} s"
                    raise Missing(f"{what}: {why}")
                self.arrival.wait(left)

    def answer(self, number, what="an answer", seconds=None):
        """Waits for the answer to a request. Returns its time and the message."""
        return self.wait(lambda _: self.answers.get(number), what, seconds)

    def request(self, method, params, seconds=None):
        """Sends a request and returns the message that answers it."""
        return self.answer(self.begin(method, params), method, seconds)[1]

    def initialize(self, files=False):
        able = {"readTextFile": files, "writeTextFile": files}
        capabilities = {"fs": able, "terminal": False}
        return self.request("initialize", {"protocolVersion": 1, "clientCapabilities": capabilities})

    def new_session(self, folder):
        """Opens a session and returns its id."""
        answer = self.request("session/new", {"cwd": str(folder), "mcpServers": []})
        if "result" not in answer:
            raise Missing(f"session/new: {answer}")
        return answer["result"]["sessionId"]

    def begin_prompt(self, session, text):
        params = {"sessionId": session, "prompt": [{"type": "text", "text": text}]}
        return self.begin("session/prompt", params)

    def prompt(self, session, text, seconds=None):
        """Sends a prompt and returns the message that answers it."""
        return self.answer(self.begin_prompt(session, text), f"the answer to {text!r}", seconds)[1]

    def until_update(self, session, kind, since=0, seconds=None):
        """Waits for an update of a session and returns it."""

        def found(messages):
            return next((u for u in updates(messages[since:], session) if u["sessionUpdate"] == kind), None)

        return self.wait(found, f"{kind}", seconds)

    def until_request(self, session, method, since=0, seconds=None):
        """Waits for a request of the program about a session and returns the message."""

        def found(messages):
            asked = (m for _, m in messages[since:] if m.get("method") == method)
            return next((m for m in asked if m["params"].get("sessionId") == session), None)

        return self.wait(found, method, seconds)

    def close(self, seconds=10):
        """Ends the input, as a client that leaves. Returns the exit code; None if the program does
        not end."""
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        return self.wait_for_end(seconds)

    def wait_for_end(self, seconds=10):
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            return None
        self.drop()
        return code

    def drop(self):
        """Closes the pipes of a program that has ended."""
        if self.reader.ident:
            self.reader.join(2)
        for pipe in (self.process.stdin, self.process.stdout):
            with contextlib.suppress(OSError):
                pipe.close()

    def refuse_output(self):
        """Closes the other end of the program's output. A pipe that another thread reads cannot be
        closed in this process, but replaced."""
        self.refused = True
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, self.process.stdout.fileno())
        os.close(nothing)

    def kill(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.drop()


def updates(messages, session):
    """Returns the updates of a session among messages with their times."""
    return [
        message["params"]["update"]
        for _, message in messages
        if message.get("method") == "session/update" and message["params"].get("sessionId") == session
    ]


def text_of(found, kind="agent_message_chunk"):
    """Returns the text of the updates of one kind."""
    return "".join(one["content"]["text"] for one in found if one["sessionUpdate"] == kind)
