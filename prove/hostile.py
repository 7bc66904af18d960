"""Opens hostile repositories in every possible way, and checks whether a canary is hit.

Started by `cargo xtask prove hostile`. Python 3.11, standard library only; Unix.

Each fixture is a repository with one attack (`hostile_fixtures`). It is opened

- headless, without any decision about the folder;
- in line mode, with Enter on the question about the folder;
- in line mode, with the folder trusted and a refusal of everything in it;
- headless, trusted and pinned, after one byte of an approved item has changed: the changed item
  stays off, and line mode asks about it again.

None of these may hit the canary: a file, a listener on loopback, a secret in a request, a program of
the user that does not run. The exception are fixtures that are marked so: with the user's own rule
for git, a trusted folder is enough. Then everything is accepted: an effective attack must succeed
then, because otherwise the fixture proves nothing; and an attack that no approval allows must not.
"""

import argparse
import http.server
import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import needs
import samples

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "bench"))

from dialects import Calls, Text
from hostile_fixtures import change, commit, fill, fixtures, write
from line_mode import PROMPT
from scripted_server import ScriptedServer

# A secret outside the project.
SECRET = "the-secret-of-the-person"
LIMIT = 60
# Result of a call whose tool the model was not offered, as JSON.
NOT_OFFERED = re.compile(r'Tool \\"[^"]*\\" not found')
# Answer of a discovery command.
PROBE = json.dumps([{"name": "probe", "description": "x", "parameters": {"type": "object", "properties": {}}}])


class Listener:
    """A server that records all connections and gives no useful answer."""

    def __enter__(self):
        self.heard = []
        heard = self.heard

        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self):
                heard.append(f"{self.command} {self.path}")
                self.send_error(400)

            do_GET = do_POST = do_CONNECT = do_PUT = answer

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


class Scene:
    """A home next to a hostile project, in a fresh folder."""

    def __init__(self, binary, folder, fixture, listener):
        self.binary, self.folder, self.fixture, self.listener = binary, folder, fixture, listener
        shutil.rmtree(folder, ignore_errors=True)
        self.home, self.outside = folder / "home", folder / "work" / "outside"
        self.project, self.hits = folder / "work" / "project", folder / "hits"
        for path in (self.home / ".gemini", self.project, folder / "tmp", self.hits):
            path.mkdir(parents=True)
        for version in ("v1", "v2"):
            (self.outside / version).mkdir(parents=True)
            (self.outside / version / "secret.txt").write_text(SECRET + "\n")
        self.guards = folder / "guards"
        self.guards.mkdir()
        self.words = {
            "hit": self.program("touch-canary", f"cat </dev/null >> {self.hits}/$$"),
            "guard": self.program("guard", f"cat </dev/null >> {self.guards}/$$"),
            "probe": str(folder / "probe.json"),
            "url": listener.url,
            "outside": str(self.outside),
            "project": str(self.project),
            "secret": SECRET,
        }
        (folder / "probe.json").write_text(PROBE)
        own = json.dumps(fill(fixture.settings, self.words))
        (self.home / ".gemini" / "settings.json").write_text(own)
        commit(fixture, self.project)
        write(fixture, self.project, self.words)
        listener.heard.clear()
        self.before = self.snapshot()

    def program(self, name, source):
        """Creates a program outside of the project and returns its path."""
        path = self.folder / name
        path.write_text(f"#!/bin/sh\n{source}\n")
        path.chmod(0o755)
        return str(path)

    def snapshot(self):
        return {path for root in (self.project, self.outside) for path in root.rglob("canary*")} | {
            path for path in self.outside.rglob("telemetry*")
        }

    def trust(self):
        text = json.dumps({str(self.project): "TRUST_FOLDER"})
        (self.home / ".gemini" / "trustedFolders.json").write_text(text)

    def reset(self):
        """Removes the hits so far."""
        for path in [*self.hits.iterdir(), *self.guards.iterdir()] + list(self.snapshot() - self.before):
            path.unlink()
        self.listener.heard.clear()

    def canaries(self, exchanges):
        """Returns the canaries that were hit."""
        found = [f"ran: {path.name}" for path in self.hits.iterdir()]
        found += [f"wrote: {path}" for path in self.snapshot() - self.before]
        found += [f"connected: {line}" for line in self.listener.heard]
        found += ["sent a secret to the model"] if any(SECRET.encode() in one.request for one in exchanges) else []
        if self.fixture.guarded and not any(self.guards.iterdir()):
            found.append("switched off: a program of the user")
        if self.fixture.silent_model and exchanges:
            found.append("asked the model")
        return found

    def environment(self, port):
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "TMPDIR": str(self.folder / "tmp"),
            "TERM": "xterm",
            "POLLUX_TERMINAL": "line",
            "NO_COLOR": "1",
            "GEMINI_API_KEY": "none",
            "GOOGLE_GEMINI_BASE_URL": f"http://127.0.0.1:{port}",
            "POLLUX_RETRY_BASE_MS": "1",
            "POLLUX_LOCAL_PORTS": "",
        }
        environment.update(self.fixture.environment)
        return {name: value for name, value in environment.items() if value is not None}

    def script(self):
        calls = tuple(fill(one, self.words) for one in self.fixture.calls)
        turns = [Calls((one,)) for one in calls]
        return [*turns, Text(("done",))]

    def command(self, *more):
        model = () if "--model" in self.fixture.arguments else ("--model", "gemini-2.5-pro")
        return [self.binary, *model, *self.fixture.arguments, *more]

    def headless(self, *more):
        """Runs one prompt without a user. Returns the canaries that were hit, and standard
        error."""
        with ScriptedServer(self.script(), keep_requests=True) as server:
            run = subprocess.run(
                self.command("--prompt", self.fixture.prompt, *more),
                cwd=self.project,
                env=self.environment(server.port),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=LIMIT,
                start_new_session=True,
            )
            self.results = results(server.exchanges)
            return self.canaries(server.exchanges), run.stderr.decode(errors="replace")

    def conversation(self, trusting, *more):
        """Holds a conversation in line mode. Returns the canaries that were hit, and the screen."""
        with ScriptedServer(self.script(), keep_requests=True) as server:
            talk = Talk(
                self.command(*more), self.project, self.environment(server.port), self.fixture.prompt
            )
            screen = talk.go(trusting)
            self.results = results(server.exchanges)
            return self.canaries(server.exchanges), screen


def results(exchanges):
    """Returns the results that the model received, as one text."""
    contents = json.loads(exchanges[-1].request)["contents"] if exchanges else []
    return "".join(json.dumps(part["functionResponse"]["response"]) for content in contents
                   for part in content["parts"] if "functionResponse" in part)


class Talk:
    """The program in a terminal."""

    def __init__(self, command, folder, environment, prompt):
        self.screen, self.answered, self.prompt = "", 0, prompt
        self.process, self.master = pty.fork()
        if self.process == 0:
            os.chdir(folder)
            os.execve(command[0], command, environment)

    def read(self, seconds):
        """Reads the output that arrives within some seconds. Returns False at the end."""
        ready, _, _ = select.select([self.master], [], [], seconds)
        if not ready:
            return True
        try:
            data = os.read(self.master, 1 << 16)
        except OSError:
            data = b""
        self.screen += data.decode(errors="replace").replace("\r", "")
        return bool(data)

    def open_question(self):
        """Returns the question that the program waits for, from the end of the screen."""
        tail = self.screen[self.answered:]
        tail = re.sub(r"\x1b\[\?2004[hl]", "", tail)
        if match := re.search(r"Choose 1-(\d+)[^\n]*: $", tail):
            return ("choice", match.group(1))
        if re.search(r"\[y/N\] $", tail):
            return ("item", "")
        if re.search(rf"(^|\n){PROMPT}$", tail):
            return ("prompt", "")
        return None

    def say(self, text):
        self.answered = len(self.screen)
        os.write(self.master, text.encode())

    def go(self, trusting):
        """Answers every question with no, and the question about the folder with Enter or, if
        `trusting`, with yes. Sends one prompt and leaves after its answer."""
        ended, prompts, folder_answered = False, 0, False
        deadline = time.monotonic() + LIMIT
        while not ended and time.monotonic() < deadline:
            ended = not self.read(0.2)
            question = self.open_question()
            if ended or question is None:
                continue
            kind, last = question
            if kind == "choice" and not folder_answered and "Don't trust" in self.screen:
                folder_answered = True
                self.say("1\n" if trusting else "\n")
            elif kind == "choice":
                self.say(f"{last}\n")
            elif kind == "item":
                self.say("\n")
            elif prompts == 0:
                prompts += 1
                self.say(f"{self.prompt}\r")
            else:
                self.say("\x04")
        if not ended:
            os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
        os.close(self.master)
        if not ended:
            raise SystemExit(f"hostile: the conversation does not end:\n{self.screen}")
        return self.screen


class Trial:
    """One fixture, opened in all ways, with the results."""

    def __init__(self, binary, folder, fixture, listener):
        self.make = lambda: Scene(binary, folder, fixture, listener)
        self.fixture, self.problems, self.opened, self.live = fixture, [], 0, False

    def go(self):
        hits, said = self.make().headless()
        self.judge("headless", hits)
        if not said and not self.fixture.silent_model:
            self.problems.append("headless: no message about the restricted folder")
        hits, screen = self.make().conversation(trusting=False)
        self.judge("Enter", hits)
        if "Do you trust the files in this folder?" not in screen:
            self.problems.append("Enter: the folder was not asked about")
        hits, _ = self.make().conversation(trusting=True)
        if self.fixture.live != "trust":
            self.judge("no to everything", hits)
        elif not hits:
            self.problems.append("no to everything: the canary never runs: trust is not enough, so the label is not \"trust\"")
        self.changed()
        self.accepted()

    def judge(self, way, hits):
        self.opened += 1
        self.problems += [f"{way}: {hit}" for hit in hits]

    def changed(self):
        """Pins the items, changes a byte, and checks again."""
        if not self.fixture.asked:
            return
        scene = self.make()
        scene.trust()
        _, said = scene.headless()
        if "now pinned" not in said:
            self.problems.append(f"pinning: nothing was pinned: {said[-200:]!r}")
        if change(self.fixture, scene.project) == 0:
            self.problems.append("changed: the fixture has no byte to change")
        scene.reset()
        hits, said = scene.headless()
        self.judge("changed", hits)
        # A command is read when it is called.
        if not re.search("Disabled until you approve|has changed since you allowed it", said):
            self.problems.append(f"changed: no message about the disabled items: {said[-200:]!r}")
        hits, screen = scene.conversation(trusting=False)
        self.judge("changed, at the terminal", hits)
        if "[y/N]" not in screen and "Question: Consent" not in screen:
            self.problems.append("changed, at the terminal: nothing was asked again")

    def accepted(self):
        """Accepts everything. A canary must be hit then if the fixture says so, and only then; and
        the calls must have run. Otherwise the fixture proves nothing, or its label is wrong."""
        scene = self.make()
        if self.fixture.at_terminal:
            hits, said = scene.conversation(True, "--skip-trust")
        else:
            hits, said = scene.headless("--skip-trust")
        self.live = bool(hits)
        if self.fixture.live in ("yes", "trust") and not hits:
            self.problems.append(f"accepted: the canary never runs: {said[-300:]!r}")
        if self.fixture.live == "later" and hits:
            self.problems.append(f"accepted: {hits[0]}: this version supports the feature, so the label is \"yes\"")
        if self.fixture.live == "no":
            self.judge("accepted", hits)
        if NOT_OFFERED.search(scene.results) and not self.fixture.is_offer:
            self.problems.append(f"accepted: a call has no tool, so it proves nothing: {scene.results[-300:]!r}")
        if self.fixture.evidence not in scene.results:
            self.problems.append(f"accepted: no evidence that the calls ran: {scene.results[-300:]!r}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=Path, required=True, help="the pollux to try")
    samples.add_options(parser, "ways in")
    parser.add_argument("--only", default="", help="fixtures whose words have this in them")
    options = parser.parse_args()
    needs.programs("hostile", "git", "sh", "cat", "head", "true")
    folder = Path(tempfile.mkdtemp(prefix="pollux-hostile-")).resolve()
    sample = samples.from_options(options)
    chosen = sample.of([fixture for fixture in fixtures() if options.only in fixture.about])
    print(f"hostile: {sample}: {len(chosen)} ways in", flush=True)
    failures, opened, live = [], 0, 0
    with Listener() as listener:
        for fixture in chosen:
            trial = Trial(options.binary.resolve(), folder / "scene", fixture, listener)
            trial.go()
            opened, live = opened + trial.opened, live + trial.live
            failures += [f"{fixture.about}: {problem}" for problem in trial.problems]
            verdict = "; ".join(trial.problems) or "ok"
            state = "hit once accepted" if trial.live else f"never hit ({fixture.live})"
            print(f"hostile: {fixture.about}: {verdict}; {state}", flush=True)
    print(
        f"hostile: {len(chosen)} ways in, opened {opened} times without a yes, {live} work once accepted,"
        f" {len(failures)} failures"
    )
    shutil.rmtree(folder, ignore_errors=True)
    if failures:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
