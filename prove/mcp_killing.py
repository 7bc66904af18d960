"""Servers that are killed at random during one conversation over the Agent Client Protocol.

Each turn calls a tool of a random server, and before some turns another server is killed. The model
gets a result each time: that of the tool, or what happened. In the end the program has as much memory
and as many open files as after the first turns, and no process of a server is left, however the program
ends.
"""

import json
import os
import random
import signal
import time
from dataclasses import dataclass
from pathlib import Path

import shell
from acp_client import SETTINGS, AcpClient, Home
from acp_model import AcpModel

SERVERS, TURNS = 20, 200
# A server is started again at once when its first connections break; later it takes longer, and a call
# waits for it.
KILLS_OF_EACH = 2
# What the program may have more at the end than after the first turns.
MORE_MEMORY, MORE_FILES = 6 << 20, 4
# Turns after which the memory is that of a working session.
SETTLED = 20
# Longest time in seconds of a turn whose server is being started again.
LONGEST_TURN = 15.0
GONE = 5.0
DIED = ("the server ended during the call", "is not connected")


@dataclass(frozen=True)
class Ending:
    """How the program ends: by its client, or by a signal."""

    about: str
    signal: int = 0


ENDINGS = (
    Ending(f"{SERVERS} servers, some killed, and the client leaves"),
    Ending(f"{SERVERS} servers, some killed, and SIGTERM", signal.SIGTERM),
    Ending(f"{SERVERS} servers, some killed, and SIGKILL", signal.SIGKILL),
)


class Conversation:
    """One program with its servers."""

    def __init__(self, binary, folder, seed, entry):
        self.home, self.random, self.problems = Home(folder / "killing", binary), random.Random(seed), []
        self.notes = self.home.folder / "notes"
        self.killed = {}
        servers = {}
        for number in range(SERVERS):
            (self.notes / str(number)).mkdir(parents=True)
            servers[f"s{number}"] = {**entry, "trust": True, "env": {"NOTES": str(self.notes / str(number)), "CANARY": ""}}
        settings = {**SETTINGS, "mcpServers": servers}
        (self.home.folder / ".gemini" / "settings.json").write_text(json.dumps(settings))

    def hold(self, turns, ending):
        """Makes the turns, and ends the program. Returns the figures."""
        with AcpModel() as model:
            self.process = self.home.start(model.port)
            self.client = AcpClient(self.process)
            self.client.initialize()
            self.session = self.client.new_session(self.home.projects[0])
            self.wait_for_servers()
            before, slowest = None, 0.0
            for turn in range(turns):
                slowest = max(slowest, self.turn())
                if turn + 1 == min(SETTLED, turns // 2):
                    # A server that is being started again has no open files.
                    self.wait_for_servers()
                    before = resources(self.process.pid)
                if len(self.problems) >= 3:
                    break
            self.wait_for_servers()
            after = resources(self.process.pid)
            self.judge(model.requests, turns)
            self.end(ending)
        if before:
            self.expect_flat(before, after)
        kills = sum(self.killed.values())
        memory, files = after
        return f"{turns} turns, {kills} servers killed, the slowest turn {slowest:.1f} s, {memory / (1 << 20):.1f} MB, {files} files"

    def wait_for_servers(self):
        """Waits until all servers run, and have been asked for their tools."""
        end = time.perf_counter() + 30
        while time.perf_counter() < end:
            if all(self.process_of(number) for number in range(SERVERS)):
                # A tool exists as soon as the list has arrived.
                time.sleep(0.5)
                return
            time.sleep(0.05)
        missing = [number for number in range(SERVERS) if not self.process_of(number)]
        self.problems.append(f"the servers {missing} are not started again")

    def process_of(self, number):
        """Returns the process of a server; None if none runs."""
        for path in (self.notes / str(number)).glob("files-*"):
            if path.suffix == ".part":
                continue
            process = int(path.name.removeprefix("files-"))
            try:
                state = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0]
            except OSError:
                continue
            if state not in "ZX":
                return process
        return None

    def turn(self):
        """Makes one turn. Returns its time in seconds."""
        if self.random.random() < 0.2:
            self.kill(self.random.randrange(SERVERS))
        number = self.random.randrange(SERVERS)
        began = time.perf_counter()
        answer = self.client.prompt(self.session, f"call mcp_s{number}_look", LONGEST_TURN + 15)
        took = time.perf_counter() - began
        if answer.get("result", {}).get("stopReason") != "end_turn":
            self.problems.append(f"a turn ended with {str(answer)[:200]}")
        if took > LONGEST_TURN:
            self.problems.append(f"a turn took {took:.1f} s")
        return took

    def kill(self, number):
        process = self.process_of(number)
        if process and self.killed.get(number, 0) < KILLS_OF_EACH:
            self.killed[number] = self.killed.get(number, 0) + 1
            os.kill(process, signal.SIGKILL)

    def judge(self, requests, turns):
        """Expects a result of each call: the tool's, or one that says what happened."""
        found = [json.dumps(part["functionResponse"]["response"]) for content in requests[-1] for part in content["parts"]
                 if "functionResponse" in part]
        good = sum("seen" in one for one in found)
        if wrong := [one for one in found if "seen" not in one and not any(words in one for words in DIED)]:
            self.problems.append(f"{len(wrong)} results such as {wrong[0][:200]}")
        if len(found) != turns:
            self.problems.append(f"{len(found)} results in {turns} turns")
        if good < turns * 0.8:
            self.problems.append(f"only {good} of {turns} calls reached a server")

    def end(self, ending):
        if ending.signal:
            self.process.send_signal(ending.signal)
            code = self.client.wait_for_end()
        else:
            code = self.client.close()
        expected = {0: 0, signal.SIGTERM: 143, signal.SIGKILL: -signal.SIGKILL}[ending.signal]
        if code != expected:
            self.problems.append(f"exit code {code}")

    def expect_flat(self, before, after):
        (memory, files), (more_memory, more_files) = before, after
        if more_memory - memory > MORE_MEMORY:
            self.problems.append(f"the memory has grown by {(more_memory - memory) / (1 << 20):.1f} MB")
        if more_files - files > MORE_FILES:
            self.problems.append(f"{more_files - files} more files are open")


def resources(process):
    """Returns the memory of a process in bytes, and the number of its open files."""
    status = Path(f"/proc/{process}/status").read_text()
    resident = next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS:"))
    return int(resident) * 1024, len(os.listdir(f"/proc/{process}/fd"))


def go(binary, folder, seed, turns, ending, entry):
    """Holds one conversation. Returns its problems and figures."""
    conversation = Conversation(binary, folder, f"{seed} {ending.about}", entry)
    figures = conversation.hold(turns, ending)
    end = time.perf_counter() + GONE
    while shell.children() and time.perf_counter() < end:
        time.sleep(0.02)
    left = shell.children()
    shell.end(left)
    return [*conversation.problems, *(f"left behind: {words[:60]}" for words in left.values())], figures
