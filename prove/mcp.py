"""Gives Pollux MCP servers that misbehave in every way that users report.

Started by `cargo xtask prove mcp`. Python 3.11, standard library only; Linux.

Each trial has a bad server (`mcp_faults` over standard streams, `mcp_http` over HTTP) and a good one.
In one prompt the model calls a tool of both. For each:

- the conversation goes on: the model gets a result of the bad server's tool, and that of the good
  server, in time, and the exit code is 0;
- what is wrong is named on standard error, in few words and without control characters;
- the memory of Pollux stays under a limit, and so does what is sent to the model;
- nothing is left: no process, no connection, no temporary file; and no file of Pollux is open in a
  server.

Servers over standard streams are tried again with a Pollux that is killed at a random moment: no
process of them may be left. At last, 20 servers are killed at random during one conversation
(`mcp_killing`).
"""

import argparse
import json
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import needs
import samples

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "bench"))

import isolated
import mcp_faults
import mcp_http
import mcp_killing
import mcp_server
import shell
from acp_client import SETTINGS
from dialects import Calls, Text
from hostile import Listener
from scripted_server import ScriptedServer

HERE = Path(__file__).resolve().parent
MOST_MEMORY = 48 << 20
# Most that standard error, and a request to the model, may have in bytes.
MOST_WORDS, MOST_SENT = 10_000, 1_500_000
# Longest time in seconds from a SIGKILL of Pollux to the end of all its processes, and from the end of
# Pollux to that of its connections.
GONE = 5.0
# Longest time in seconds from the last answer of the model to the end of Pollux.
FAREWELL = 3.0
# Margin for a busy machine in seconds, added to each time limit.
SLACK = 3.0
LIMIT = 120
# Characters that change a terminal, or the direction of text.
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]")
NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}")


def stdio_entry(name, wrapper=()):
    """Returns the entry of a server over standard streams."""
    command = [*wrapper, sys.executable, "-B", str(HERE / "mcp_server.py"), name]
    return {"command": command[0], "args": command[1:]}


class Run:
    """One headless run in a fresh home, with its result."""

    manner = "headless"

    def __init__(self, binary, folder, fault, canary):
        self.binary, self.folder, self.fault, self.canary = binary, folder, fault, canary
        self.problems, self.memory, self.took = [], 0, 0.0
        self.process, self.result = None, ""
        shutil.rmtree(folder, ignore_errors=True)
        for name in (".gemini", "tmp", "project", "notes"):
            (folder / name).mkdir(parents=True)
        self.canary.heard.clear()

    def go(self):
        """Runs the trial to its end."""
        if self.fault.is_on_network:
            with self.fault(self.canary) as self.server:
                self.settle(self.server.entry())
                self.run()
                self.expect_closed()
        else:
            self.settle(stdio_entry(self.fault.__name__, self.fault.wrapper))
            self.run()
        left = remaining()
        shell.end(left)
        self.problems += [f"left behind: {words[:60]}" for words in left.values()]
        self.problems += [f"connected to a private address: {line}" for line in self.canary.heard]
        self.expect_files()

    def settle(self, bad):
        """Writes the settings, in which the bad server has this entry."""
        variables = {"NOTES": str(self.folder / "notes"), "CANARY": self.canary.url}
        bad = {**bad, "timeout": self.fault.timeout}
        servers = {"bad": bad, "good": stdio_entry("Server")}
        for entry in servers.values():
            if "command" in entry:
                entry["env"] = variables
        settings = {**SETTINGS, "mcpServers": servers}
        (self.folder / ".gemini" / "settings.json").write_text(json.dumps(settings))

    def script(self):
        called = [*self.fault.calls, ("mcp_good_look", {"x": "2"})]
        return [*(Calls((("tool", one),)) for one in called), Text(("the end",))]

    def run(self):
        script = self.script()
        with ScriptedServer(script, keep_requests=True, on_request=self.look) as model:
            self.process = self.start(model.port)
            began = time.perf_counter()
            code = self.wait()
            self.took = time.perf_counter() - began
            exchanges = list(model.exchanges)
        self.judge(code, exchanges, len(script))

    def start(self, port):
        command = [self.binary, "--model", "gemini-2.5-flash", "--yolo", "--prompt", "go"]
        environment = isolated.environment(self.folder, port)
        with (self.folder / "output").open("wb") as output:
            return isolated.start(command, self.folder / "project", environment, self.folder / "errors", output)

    def look(self, _number):
        """Measures the memory before each answer of the model."""
        if self.process:
            self.memory = max(self.memory, shell.peak_memory(self.process.pid))

    def wait(self):
        try:
            return self.process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            self.problems.append(f"still running after {LIMIT} s")
            return None

    def judge(self, code, exchanges, expected):
        errors = self.words("errors")
        if code != 0 or len(exchanges) != expected or "the end" not in self.words("output"):
            self.problems.append(f"exit code {code}, {len(exchanges)} requests: {errors.strip()[-300:]!r}")
            return
        ended = time.perf_counter() - exchanges[-1].sent
        if ended > FAREWELL + SLACK:
            self.problems.append(f"the end took {ended:.1f} s")
        if self.took > self.fault.seconds + SLACK:
            self.problems.append(f"the run took {self.took:.1f} s")
        if self.memory > (self.fault.memory or MOST_MEMORY):
            self.problems.append(f"{self.memory >> 20} MB of memory")
        self.judge_words(errors)
        self.judge_requests([json.loads(one.request) for one in exchanges], max(one.size for one in exchanges))
        self.fault.check(self)

    def judge_words(self, errors):
        """Checks what the user reads."""
        if not re.search(self.fault.says, errors):
            self.problems.append(f"not said: {self.fault.says!r} in {errors[-300:]!r}")
        if len(errors) > MOST_WORDS:
            self.problems.append(f"{len(errors)} characters on standard error")
        if found := CONTROLS.search(errors + self.words("output")):
            self.problems.append(f"the control character {found[0]!r} is printed")

    def judge_requests(self, requests, largest):
        """Checks what the model gets."""
        results = self.results(requests[-1])
        self.result = results.get(self.fault.calls[0][0], "")
        if not re.search(self.fault.result, self.result):
            self.problems.append(f"the result is {self.result[:300]!r}")
        if "seen" not in results.get("mcp_good_look", ""):
            self.problems.append(f"the other server's result is {results.get('mcp_good_look', '')[:200]!r}")
        names = [declared(request) for request in requests]
        mine = [name for name in names[-1] if name.startswith("mcp_bad_")]
        if self.fault.offered is not None and sorted(mine) != sorted(self.fault.offered):
            self.problems.append(f"the tools of the server are {mine[:5]}")
        wrong = [name for offered in names for name in offered if not NAME.fullmatch(name)]
        self.problems += [f"the name {name[:80]!r} is sent" for name in wrong[:2]]
        if any(len(offered) != len(set(offered)) for offered in names):
            self.problems.append("a name is sent twice")
        if largest > (self.fault.sent or MOST_SENT):
            self.problems.append(f"a request of {largest} bytes")
        read = "".join([self.words("errors"), self.words("output"), self.result, *mine])
        self.problems += [f"{word!r} is shown or sent" for word in self.fault.forbidden if word in read]

    @staticmethod
    def results(request):
        """Returns the results that a request has, by the name of the tool. A result with media, or of
        several texts, continues in the parts after it."""
        found, last = {}, None
        for content in request["contents"]:
            for part in content["parts"]:
                if "functionResponse" in part:
                    last = part["functionResponse"]["name"]
                    found[last] = found.get(last, "") + "\n".join(texts(part["functionResponse"]["response"]))
                elif content["role"] == "user" and last and "text" in part:
                    found[last] += part["text"]
        return found

    def words(self, name):
        return (self.folder / name).read_bytes().decode(errors="replace")

    def noted(self, name):
        """Returns what the bad server has noted under a name."""
        path = self.folder / "notes" / name
        return path.read_text() if path.exists() else ""

    def expect_closed(self):
        """Expects that no connection to the server is left. A handler needs a moment to notice."""
        end = time.perf_counter() + GONE
        while self.server.connections and time.perf_counter() < end:
            time.sleep(0.02)
        if self.server.connections:
            self.problems.append(f"{len(self.server.connections)} connections are left")

    def expect_files(self):
        """Expects that no temporary file is left, and that the servers have none of Pollux's files."""
        left = [path.name for path in (self.folder / "tmp").iterdir()]
        self.problems += [f"left in the folder for temporary files: {name}" for name in left[:3]]
        for path in (self.folder / "notes").glob("files-*"):
            if opened := path.read_text():
                self.problems.append(f"open in a server: {opened[:100]!r}")


def texts(value):
    """Returns all texts in a value."""
    if isinstance(value, str):
        return [value]
    values = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for one in values for text in texts(one)]


def declared(request):
    """Returns the names of the tools that a request declares."""
    return [one["name"] for tool in request.get("tools", []) for one in tool.get("functionDeclarations", [])]


def remaining():
    """Returns the processes that are left. One that has just been killed gets time to end."""
    end = time.perf_counter() + GONE
    while shell.children() and time.perf_counter() < end:
        time.sleep(0.02)
    return shell.children()


class Killed(Run):
    """The same with a Pollux that is killed at a random moment."""

    manner = "killed"
    # The longest time from the start to the SIGKILL, in seconds.
    LATEST = 1.2

    def script(self):
        def hold(_exchange):
            time.sleep(2 * self.LATEST)
            return Text(("never",))

        return [*super().script()[:-1], hold]

    def wait(self):
        moment = random.Random(f"{self.fault.__name__} {self.seed}").uniform(0.02, self.LATEST)
        deadline = time.perf_counter() + moment
        while self.process.poll() is None and time.perf_counter() < deadline:
            time.sleep(0.005)
        self.look(0)
        if self.process.poll() is not None:
            self.problems.append(f"exit code {self.process.returncode} before the end: {self.words('errors')[-300:]!r}")
        self.process.kill()
        return self.process.wait()

    def judge(self, code, exchanges, expected):
        """Nothing but the end matters."""

    def expect_files(self):
        """A program that is killed cannot remove its files."""


def trials(sample, only):
    """Returns the chosen trials as pairs of a fault and a manner."""
    pairs = [(fault, Run) for fault in [*mcp_faults.FAULTS, *mcp_http.FAULTS]]
    pairs += [(fault, Killed) for fault in [mcp_server.Server, *mcp_faults.FAULTS]]
    return sample.of([pair for pair in pairs if only in f"{pair[0].about()}, {pair[1].manner}"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=Path, required=True, help="the pollux to try")
    samples.add_options(parser, "trials")
    parser.add_argument("--only", default="", help="trials whose names have this in them")
    options = parser.parse_args()
    if sys.platform != "linux":
        raise SystemExit("mcp: this proof needs Linux")
    needs.programs("mcp", "sh", "sleep", "setsid", "nohup")
    shell.adopt_orphans()
    sample = samples.from_options(options)
    binary, folder = options.binary.resolve(), Path(tempfile.mkdtemp(prefix="pollux-mcp-proof-"))
    chosen = trials(sample, options.only)
    print(f"mcp: {sample}: {len(chosen)} trials", flush=True)
    failures = []

    def report(name, problems, figures):
        failures.extend(f"{name}: {problem}" for problem in problems)
        print(f"mcp: {name}: {figures}; {'; '.join(problems[:5]) or 'ok'}", flush=True)

    with Listener() as canary:
        for fault, manner in chosen:
            run = manner(binary, folder, fault, canary)
            run.seed = sample.seed
            run.go()
            report(f"{fault.about()}, {manner.manner}", run.problems, f"{run.took:.2f} s, {run.memory / (1 << 20):.1f} MB")
    count = 0
    for ending in sample.of(mcp_killing.ENDINGS, 1):
        if options.only in ending.about:
            count += 1
            turns = min(mcp_killing.TURNS, 5 * sample.count) or mcp_killing.TURNS
            report(ending.about, *mcp_killing.go(binary, folder, sample.seed, turns, ending, stdio_entry("Server")))
    shutil.rmtree(folder)
    print(f"mcp: {len(chosen) + count} trials, {len(failures)} failures")
    if failures:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
