"""The figures of MCP servers: what they add to the first request and to a call, and what an idle one
costs. Started by `cargo xtask bench servers`.

The model and the clock are in this process; the servers tell their own times, by the same clock.
"""

import argparse
import contextlib
import json
import os
import pty
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import goals
import isolated
import programs
import report
import results
import scenarios
from acp_client import SETTINGS
from dialects import Calls, Text
from scripted_server import ScriptedServer

# Servers of a session, of which the first half is dead or slow.
SERVERS = 20
CALLS = 50
# Seconds for which an idle session is watched, after a pause in which it comes to rest.
IDLE, REST = 10, 3
LIMIT = 30

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
# The call of the tool in the peers, if it has another name.
CALLS_OF = {"codex": ("mcp__clock/look", {})}
TIMES = re.compile(r"(\d+\.\d+) (\d+\.\d+)")


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
    # The output is not read, so it must not depend on time.
    environment = {**isolated.environment(home, port), "TERM": "xterm", "POLLUX_TERMINAL": "line"}
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


def call(program, home):
    """Returns the median time from a reply with a call of a server to the next request, without the
    server's own time, in milliseconds."""
    project = home / "project"
    project.mkdir(parents=True, exist_ok=True)
    name, arguments = CALLS_OF.get(program.name, ("mcp_clock_look", {}))
    script = [Calls((("tool", (name, arguments)),))] * CALLS + [Text(("done",))]
    with ScriptedServer(script, keep_requests=True) as model:
        program.prepare(home, model.port, SETTINGS | {"mcpServers": {"clock": GOOD}})
        if program.name == "codex":
            with (home / ".codex" / "config.toml").open("a") as settings:
                settings.write(f"[mcp_servers.clock]\ncommand = {json.dumps(GOOD['command'])}\n")
                settings.write(f"args = {json.dumps(GOOD['args'])}\n")
        environment = program.environment(home, model.port, os.environ["PATH"])
        process = isolated.start(program.arguments(), project, environment, home / "errors")
        if process.wait(LIMIT) != 0:
            raise SystemExit(f"servers: {program.name}: {(home / 'errors').read_text()[-300:]}")
        exchanges = list(model.exchanges)
    # The text of each result is the two times of the server.
    own = [float(sent) - float(arrived) for arrived, sent in TIMES.findall(exchanges[-1].request.decode())]
    asked = exchanges[-CALLS - 1:]
    gaps = [after.head - before.sent for before, after in zip(asked, asked[1:])]
    return median(1000 * (gap - spent) for gap, spent in zip(gaps, own, strict=True))


def wake_ups(binary, home, servers):
    """Returns how often the threads of an idle session wake up."""
    prepare(home, servers)
    with ScriptedServer([Text(("hello",))]) as model, at_terminal(binary, home, model.port) as (process, _):
        wait_for(model.exchanges, 1)
        time.sleep(REST)
        before = switches(process.pid)
        time.sleep(IDLE)
        after = switches(process.pid)
        # Threads that nothing needs end in the meantime.
        return sum(after[thread] - count for thread, count in before.items() if thread in after)


def switches(process):
    """Returns how often each thread of a process has stopped to wait, by its number."""
    found = {}
    for status in Path(f"/proc/{process}/task").glob("*/status"):
        with contextlib.suppress(FileNotFoundError):
            line = next(line for line in status.read_text().splitlines() if line.startswith("voluntary"))
            found[status.parent.name] = int(line.split()[1])
    return found


def measure(found, work, runs):
    """Returns the values of each figure by title and program. A first run does not count."""
    half, own = SERVERS // 2, found[0].binary
    many = {f"s{number}": DEAD if number < half // 2 else SLOW if number < half else GOOD for number in range(SERVERS)}
    first, called, woken = columns = [{program.name: [] for program in found} for _ in goals.SERVERS]
    for number in range(runs + 1):
        added = first_request(own, work / "many", many) - first_request(own, work / "none", {})
        times = {program.name: call(program, work / f"call-{program.name}") for program in found}
        if number > 0:
            first["pollux"].append(added)
            for name, value in times.items():
                called[name].append(value)
    woken["pollux"].append(wake_ups(own, work / "idle", {"clock": GOOD}) - wake_ups(own, work / "none", {}))
    return dict(zip((figure.title for figure in goals.SERVERS), columns, strict=True))


def main():
    if not sys.platform.startswith("linux"):
        raise SystemExit("servers: wake-ups are read from /proc, so this runs on Linux only")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=Path, required=True, help="the pollux to measure")
    parser.add_argument("--target", type=Path, required=True, help="where the peers are installed")
    parser.add_argument("--profile", default=results.UNRECORDED, help="profile of that build")
    parser.add_argument("--quick", action="store_true", help="fewer runs, no peer and no file")
    options = parser.parse_args()
    load, binary = os.getloadavg()[0], options.binary.resolve()
    found = [programs.Program("pollux", binary, (binary,), True)]
    if not options.quick:
        found += [one for one in programs.peers(options.target / "bench" / "peers") if one.name in ("gemini", "codex")]
    runs = 3 if options.quick else 10
    with tempfile.TemporaryDirectory(prefix="pollux-servers-") as work:
        columns = measure(found, Path(work), runs)
    versions = {program.name: program.version() for program in found}
    section = results.section(results.run_of(versions, runs, load, options.profile), columns)
    for figure in goals.SERVERS:
        kept = section["figures"][figure.title]
        print(f"{figure.title}: {'; '.join(f'{name} {report.spread(values, figure.unit)}' for name, values in kept.items())}")
    if not options.quick:
        store = results.read() | {"servers": section}
        results.write(store)
        results.PAGE.write_text(report.page(store, scenarios.figures()))
    missed = results.failures({"servers": section}, [], {"servers": goals.SERVERS})
    for line in missed:
        print(line)
    raise SystemExit(1 if missed else 0)


if __name__ == "__main__":
    main()
