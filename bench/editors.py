"""The figures of a connection to an editor (`--acp`): start, memory of a session, cost of streamed
text, and how long sessions delay each other. Started by `cargo xtask bench editors`.

The client, the model and the clock are in this process, so a difference between two parts of the same
run is the program's, and not theirs.
"""

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import goals
import programs
import report
import results
import sampling
import scenarios
from acp_client import AcpClient, Missing, updates
from acp_model import AcpModel

MEGABYTE = 1_000_000
# Sessions whose memory is measured, after a first one that has everything that all of them share.
SESSIONS = 20
STREAMED = 2 * MEGABYTE
# Sessions that receive text while another one asks, the pieces of text in all and the time between
# two of them in milliseconds, and the number of prompts that are measured.
BUSY, PIECES, PACE, ASKED = 9, 200, 20, 15
# Limit of one answer in seconds: Gemini CLI needs some seconds to start.
LIMIT = 60


@contextlib.contextmanager
def connected(program, work):
    """Starts a program, and yields its process, the time of its start, the client and the model."""
    home = work / program.name
    project = home / "project"
    project.mkdir(parents=True, exist_ok=True)
    with AcpModel() as model:
        program.prepare(home, model.port, {"model": {"disableLoopDetection": True}})
        begin = time.perf_counter()
        command = [str(program.binary), "--acp", "--model", "gemini-2.5-flash"]
        process = subprocess.Popen(
            command,
            cwd=project,
            env=program.environment(home, model.port, os.environ["PATH"]),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        client = AcpClient(process)
        try:
            yield begin, process, client, model
        finally:
            client.close()


def start(program, work):
    """Returns the time from exec to the answer to `initialize`, in milliseconds."""
    with connected(program, work) as (begin, _, client, _):
        number = client.begin("initialize", {"protocolVersion": 1, "clientCapabilities": {}})
        answered, _ = client.answer(number, "initialize", LIMIT)
        return (answered - begin) * 1000


def rest(program, work):
    """Makes one run. Returns the values of all figures but the first, in their order."""
    with connected(program, work) as (_, process, client, model):
        project = work / program.name / "project"
        client.initialize()
        first = client.new_session(project)
        client.prompt(first, "say hello", LIMIT)
        before = memory(process)
        others = [client.new_session(project) for _ in range(SESSIONS)]
        for session in others:
            client.prompt(session, "say hello", LIMIT)
        added = (memory(process) - before) / SESSIONS / MEGABYTE
        streamed = processor(process, client, first, f"flood {STREAMED}")
        streamed -= processor(process, client, first, "say hello")
        return added, streamed * 1000, delay(client, model, first, others)


def memory(process):
    """Returns the memory of a program with its children, in bytes."""
    return sum(sampling.resident(pid)[0] for pid in sampling.tree(process.pid))


def processor(process, client, session, text):
    """Returns the processor time of a prompt, in seconds."""
    pids = sampling.tree(process.pid)
    before = sum(map(sampling.processor, pids))
    client.prompt(session, text, LIMIT)
    return sum(map(sampling.processor, pids)) - before


def delay(client, model, session, others):
    """Returns how much later the first text of a session arrives while others receive text, in
    milliseconds."""
    alone = median(first_text(client, model, session) for _ in range(ASKED))
    busy = [client.begin_prompt(other, f"pace {PIECES} {PACE}") for other in others[:BUSY]]
    for other in others[:BUSY]:
        client.until_update(other, "agent_message_chunk", seconds=LIMIT)
    together = median(first_text(client, model, session) for _ in range(ASKED))
    if any(number in client.answers for number in busy):
        raise Missing("the other sessions have ended before the measurement")
    return together - alone


def first_text(client, model, session):
    """Returns the time from the model's first byte to the client's first text, in milliseconds."""
    seen = len(client.messages)
    client.prompt(session, "say hello", LIMIT)
    arrived = next(at for at, message in client.messages[seen:] if updates([(at, message)], session))
    return (arrived - model.sent[session_prompt(model)]) * 1000


def session_prompt(model):
    """Returns the number of the last request that was answered with a word."""
    return max(number for number, word in model.words.items() if word == "say")


def measure(found, work, runs):
    """Returns the values of all figures by title and program. A first run does not count."""
    columns = {figure.title: {program.name: [] for program in found} for figure in goals.EDITORS}
    for number in range(runs + 1):
        for program in found:
            values = (start(program, work), *rest(program, work))
            if number > 0:
                for column, value in zip(columns.values(), values, strict=True):
                    column[program.name].append(value)
    return columns


def main():
    if not sys.platform.startswith("linux"):
        raise SystemExit("editors: memory is read from /proc, so this runs on Linux only")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=Path, required=True, help="the pollux to measure")
    parser.add_argument("--target", type=Path, required=True, help="where the peers are installed")
    parser.add_argument("--profile", default=results.UNRECORDED, help="profile of that build")
    parser.add_argument("--quick", action="store_true", help="fewer runs, no peer and no file")
    options = parser.parse_args()
    load, binary = os.getloadavg()[0], options.binary.resolve()
    found = [programs.Program("pollux", binary, (binary,), True)]
    if not options.quick:
        found += [one for one in programs.peers(options.target / "bench" / "peers") if one.name == "gemini"]
    runs = 2 if options.quick else 5
    with tempfile.TemporaryDirectory(prefix="pollux-editors-") as work:
        columns = measure(found, Path(work), runs)
    versions = {program.name: program.version() for program in found}
    section = results.section(results.run_of(versions, runs, load, options.profile), columns)
    for figure in goals.EDITORS:
        kept = section["figures"][figure.title]
        shown = (f"{name} {report.spread(values, figure.unit)}" for name, values in kept.items())
        print(f"{figure.title}: {'; '.join(shown)}")
    if not options.quick:
        store = results.read() | {"editors": section}
        results.write(store)
        results.PAGE.write_text(report.page(store, scenarios.figures()))
    missed = results.failures({"editors": section}, [], {"editors": goals.EDITORS})
    for line in missed:
        print(line)
    raise SystemExit(1 if missed else 0)


if __name__ == "__main__":
    main()
