"""The figures of MCP servers: what they add to the first request and to a call, and what an idle one
costs. Started by `cargo xtask bench servers`.

The model and the clock are in this process; the servers tell their own times, by the same clock.
"""

import argparse
import contextlib
import json
import os
import pty
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import goals
import isolated
from acp_client import SETTINGS
from dialects import Calls, Text
from goals import COUNT_NOISE, WALL_NOISE, Figure, at_most
from scripted_server import ScriptedServer

# Servers of a session, of which the first half is dead or slow.
SERVERS = 20
CALLS = 50
# Seconds for which an idle session is watched, after a pause in which it comes to rest.
IDLE, REST = 10, 3
LIMIT = 30

FIGURES = (
    Figure("first request at a terminal, added by 20 servers of which 10 are dead or slow", "ms", None, at_most(5, WALL_NOISE), True),
    Figure("a call of a server, reply to next request, without the server's own time", "ms", None, at_most(1, WALL_NOISE), True),
    Figure("wake-ups of an idle session in 10 s, added by an idle server", "times", None, at_most(0, COUNT_NOISE), True),
)

# A server whose tool answers with the times of the arrival of the call and of the answer.
CLOCK = """
import json, sys, time
for line in sys.stdin.buffer:
    arrived, message = time.perf_counter(), json.loads(line)
    result = {
        "initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "c", "version": "1"}},
        "tools/list": {"tools": [{"name": "look", "inputSchema": {"type": "object", "properties": {}}}]},
    }.get(message["method"], {})
    if "id" in message:
        if message["method"] == "tools/call":
            result = {"content": [{"type": "text", "text": "%r %r" % (arrived, time.perf_counter())}]}
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}) + "\\n")
        sys.stdout.flush()
"""
GOOD = {"command": sys.executable, "args": ["-c", CLOCK], "trust": True}
DEAD = {"command": "/nonexistent/server"}
SLOW = {"command": "sleep", "args": ["1000"]}


def prepare(home, servers):
    """Makes a home whose settings have these servers."""
    for name in (".gemini", "tmp", "project"):
        (home / name).mkdir(parents=True, exist_ok=True)
    (home / ".gemini" / "settings.json").write_text(json.dumps({**SETTINGS, "mcpServers": servers}))


@contextlib.contextmanager
def at_terminal(binary, home, port):
    """Runs a conversation that begins with a prompt on a terminal. Yields the process and the time of
    its start."""
    master, slave = pty.openpty()
    command = [str(binary), "--model", "gemini-2.5-flash", "--prompt-interactive", "go"]
    environment = {**isolated.environment(home, port), "TERM": "xterm"}
    begin = time.perf_counter()
    process = subprocess.Popen(command, cwd=home / "project", env=environment, stdin=slave, stdout=slave, stderr=slave, start_new_session=True)
    os.close(slave)
    try:
        yield process, begin
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        os.close(master)


def wait_for(exchanges, count):
    end = time.perf_counter() + LIMIT
    while len(exchanges) < count:
        if time.perf_counter() > end:
            raise SystemExit(f"servers: {len(exchanges)} requests where {count} were expected")
        time.sleep(0.005)


def first_request(binary, home, servers):
    """Returns the time from exec to the first request at a terminal, in milliseconds."""
    prepare(home, servers)
    with ScriptedServer([Text(("hello",))]) as model, at_terminal(binary, home, model.port) as (_, begin):
        wait_for(model.exchanges, 1)
        return (model.exchanges[0].head - begin) * 1000


def call(binary, home):
    """Returns the median time from a reply with a call of a server to the next request, without the
    server's own time, in milliseconds."""
    prepare(home, {"clock": GOOD})
    script = [Calls((("tool", ("mcp_clock_look", {})),))] * CALLS + [Text(("done",))]
    command = [str(binary), "--model", "gemini-2.5-flash", "--prompt", "go"]
    with ScriptedServer(script, keep_requests=True) as model:
        process = isolated.start(command, home / "project", isolated.environment(home, model.port), home / "errors")
        if process.wait(LIMIT) != 0:
            raise SystemExit(f"servers: {(home / 'errors').read_text()[-300:]}")
        exchanges = list(model.exchanges)
    parts = [part for content in json.loads(exchanges[-1].request)["contents"] for part in content["parts"]]
    outputs = [part["functionResponse"]["response"]["output"] for part in parts if "functionResponse" in part]
    own = [float(sent) - float(arrived) for arrived, sent in (output.split("\n")[1].split() for output in outputs)]
    gaps = [after.head - before.sent for before, after in zip(exchanges, exchanges[1:])]
    return median(1000 * (gap - spent) for gap, spent in zip(gaps, own, strict=True))


def wake_ups(binary, home, servers):
    """Returns how often the threads of an idle session wake up."""
    prepare(home, servers)
    with ScriptedServer([Text(("hello",))]) as model, at_terminal(binary, home, model.port) as (process, _):
        wait_for(model.exchanges, 1)
        time.sleep(REST)
        before = switches(process.pid)
        time.sleep(IDLE)
        return switches(process.pid) - before


def switches(process):
    """Returns how often the threads of a process have stopped to wait."""
    found = 0
    for status in Path(f"/proc/{process}/task").glob("*/status"):
        line = next(line for line in status.read_text().splitlines() if line.startswith("voluntary"))
        found += int(line.split()[1])
    return found


def measure(binary, work, runs):
    """Returns the values of each figure. A first run does not count."""
    half = SERVERS // 2
    many = {f"s{number}": DEAD if number < half // 2 else SLOW if number < half else GOOD for number in range(SERVERS)}
    columns = [[] for _ in FIGURES]
    for number in range(runs + 1):
        values = [first_request(binary, work / "many", many) - first_request(binary, work / "none", {}), call(binary, work / "call")]
        if number > 0:
            for column, value in zip(columns, values):
                column.append(value)
    columns[2].append(wake_ups(binary, work / "idle", {"clock": GOOD}) - wake_ups(binary, work / "none", {}))
    return columns


def main():
    if not sys.platform.startswith("linux"):
        raise SystemExit("servers: wake-ups are read from /proc, so this runs on Linux only")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=Path, required=True, help="the pollux to measure")
    parser.add_argument("--quick", action="store_true", help="fewer runs")
    options = parser.parse_args()
    print(f"load average at the beginning {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory(prefix="pollux-servers-") as work:
        columns = measure(options.binary.resolve(), Path(work), 3 if options.quick else 10)
    missed = 0
    for figure, values in zip(FIGURES, columns, strict=True):
        verdict = figure.goal.verdict(median(values), {})
        missed += verdict == goals.MISSED
        shown = f"{median(values):.2f} {figure.unit} ({min(values):.2f}–{max(values):.2f})"
        print(f"{figure.title}: {shown}, goal {figure.goal.text()}: {verdict}")
    raise SystemExit(1 if missed else 0)


if __name__ == "__main__":
    main()
