"""The figures of the conversation at a terminal: start, memory, wake-ups, keys, output, and what is
left after resizes. Started by `cargo xtask bench tui`.

The output is that of a pseudo-terminal that answers the queries of programs as xterm does. What is
left on a terminal is read from tmux, which keeps what has left the top of its screen.
"""

import argparse
import contextlib
import json
import os
import re
import shutil
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

import goals
import programs
import report
import results
import sampling
import scenarios
from at_terminal import Missing, Terminal, answer_as_xterm
from dialects import Text
from emulators import Tmux
from scripted_server import ScriptedServer
from servers import switches

MEGABYTE = 1_000_000
# What each program shows once it takes a prompt.
READY = {"pollux": "Type your message", "gemini": "Type your message", "codex": "\u203a"}
# Seconds of rest before the figures at rest, and of the figures at rest and of a wait.
REST, IDLE, WAITED = 3, 60, 10
KEYS = 200
ROWS = [f"row-{number:03}" for number in range(1, 121)]
EARLIER = [str(number) for number in range(1001, 1061)]
SIZES = ((24, 60), (24, 120), (30, 70), (20, 100), (24, 50), (40, 80), (24, 45), (24, 80))
CLEARS = re.compile(rb"\x1b\[[23]J")
# Folders of the large tree, and files of each.
FOLDERS, FILES = 1000, 1000
DONE = "the-answer-is-complete"
LIMIT = 60


def command(program):
    """Returns the command of a conversation at a terminal."""
    if program.name == "codex":
        return [str(program.binary), "--no-alt-screen", "--dangerously-bypass-approvals-and-sandbox"]
    return [str(program.binary), "--model", programs.MODEL]


class Stage:
    """A program in a home that an earlier start has filled, and its model."""

    def __init__(self, program, work, script):
        self.program, self.home = program, work / program.name
        self.project = self.home / "project"
        self.project.mkdir(parents=True, exist_ok=True)
        self.model = ScriptedServer(script, on_request=lambda _number: self.release.wait(LIMIT))
        self.release = threading.Event()
        self.release.set()

    def __enter__(self):
        self.model.__enter__()
        self.program.prepare(self.home, self.model.port)
        if self.program.name == "codex":
            with (self.home / ".codex" / "config.toml").open("a") as settings:
                settings.write(f"[projects.{json.dumps(str(self.project))}]\ntrust_level = \"trusted\"\n")
        return self

    def __exit__(self, *_):
        self.release.set()
        self.model.__exit__()

    def environment(self):
        environment = self.program.environment(self.home, self.model.port, os.environ["PATH"])
        environment.pop("NO_COLOR", None)
        return environment | {"TERM": "xterm-256color", "LANG": "C.UTF-8", "POLLUX_TERMINAL": "screen"}

    def start(self, *arguments):
        """Starts the program at a terminal, without a wait."""
        return Terminal([*command(self.program), *arguments], self.project, self.environment(), answer=answer_as_xterm)

    @contextlib.contextmanager
    def ready(self, *arguments):
        """Yields the program at a terminal once it takes a prompt and prints nothing."""
        with self.start(*arguments) as terminal:
            terminal.wait_for(READY[self.program.name], seconds=LIMIT)
            terminal.quiet(0.5, LIMIT)
            yield terminal

    def ask(self, terminal, seconds=LIMIT):
        """Sends a prompt and waits until the model gets it."""
        count = len(self.model.exchanges) + 1
        terminal.send("go")
        time.sleep(0.2)
        terminal.send(b"\r")
        end = time.perf_counter() + seconds
        while len(self.model.exchanges) < count:
            if time.perf_counter() > end:
                raise Missing("the request of the prompt")
            time.sleep(0.01)


def cat():
    """Returns the time from exec to the first line of a shell that starts `cat`, in milliseconds."""
    line = ["sh", "-c", "echo; exec cat"]
    with Terminal(line, "/", {"PATH": os.environ["PATH"]}) as terminal:
        terminal.wait_for("\n")
        return {"cat": (terminal.at(1) - terminal.started) * 1000}


def start(stage):
    with stage.start() as terminal:
        length = terminal.wait_for(READY[stage.program.name], seconds=LIMIT)
        return {"ready": (terminal.at(length) - terminal.started) * 1000}


def rest(stage):
    """Returns memory, wake-ups and output at rest."""
    with stage.ready() as terminal:
        time.sleep(REST)
        tree = sampling.tree(terminal.process.pid)
        length, before = len(terminal.output), [switches(pid) for pid in tree]
        time.sleep(IDLE)
        after = [switches(pid) for pid in tree]
        woken = sum(now[thread] - count for old, now in zip(before, after) for thread, count in old.items() if thread in now)
        memory = sum(sampling.resident(pid)[0] for pid in sampling.tree(terminal.process.pid))
        return {"memory": memory / MEGABYTE, "woken": woken, "silent": len(terminal.output) - length}


def keys(stage):
    """Returns the delay and the output of keys, after an answer of 10,000 rows."""
    with stage.ready() as terminal:
        stage.ask(terminal)
        terminal.wait_for(DONE, seconds=LIMIT)
        terminal.quiet(1.0, LIMIT)
        delays, sizes = [], []
        for number in range(KEYS):
            length = len(terminal.output)
            begin = time.perf_counter()
            # A line of 50 letters, then the same again after Ctrl-U.
            terminal.send("abcdefghij"[number % 10] if number % 50 else b"\x15a")
            terminal.wait(lambda length=length: len(terminal.output) > length, "the output of a key")
            delays.append((terminal.at(length + 1) - begin) * 1000)
            time.sleep(0.03)
            sizes.append(len(terminal.output) - length)
        return {"key": sorted(delays)[KEYS * 99 // 100 - 1], "bytes": sorted(sizes)[KEYS // 2]}


def waiting(stage):
    stage.release.clear()
    with stage.ready() as terminal:
        stage.ask(terminal)
        time.sleep(2)
        length = len(terminal.output)
        time.sleep(WAITED)
        waited = (len(terminal.output) - length) / WAITED
    stage.release.set()
    return {"waiting": waited}


def streaming(stage, text):
    """Returns the output per byte of text, without that of the prompt and of the wait."""
    with stage.ready() as terminal:
        stage.ask(terminal)
        terminal.wait_for("row-001", seconds=LIMIT)
        length = len(terminal.output)
        terminal.wait_for(DONE, length, LIMIT)
        terminal.quiet(1.0, LIMIT)
        return {"streaming": (len(terminal.output) - length) / len(text)}


def resizes(stage, work):
    """Returns what eight resizes of a streaming answer have doubled, lost and erased."""
    program = [*command(stage.program)]
    shell = ["sh", "-c", 'seq 1001 1060; exec "$0" "$@"', *program]
    with Tmux(shell, stage.project, stage.environment(), work=work) as terminal:
        terminal.wait_for(READY[stage.program.name], LIMIT)
        terminal.quiet(0.5, LIMIT)
        stage.ask(terminal)
        for size in SIZES:
            time.sleep(0.3)
            terminal.resize(*size)
        terminal.wait_for(DONE, LIMIT)
        terminal.quiet(1.0, LIMIT)
        rows = terminal.all_rows()
        counts = Counter(name for row in rows for name in re.findall(r"row-\d{3}", row))
        return {
            "clears": len(CLEARS.findall(terminal.output)),
            "doubled": sum(counts[row] > 1 for row in ROWS),
            "lost": sum(not counts[row] for row in ROWS),
            "erased": sum(line not in rows for line in EARLIER),
        }


def listed(pace=0.0, size=31):
    """Returns an answer of 120 rows in pieces, and its text."""
    text = "\n".join(f"- {row} the quick fox jumps" for row in ROWS) + f"\n\n{DONE}"
    return Text(tuple(text[at:at + size] for at in range(0, len(text), size)), pace=pace), text


def rows_of(count):
    rows = [f"- item {number} of a long answer\n" for number in range(count)]
    return Text((*("".join(rows[at:at + 50]) for at in range(0, count, 50)), f"\n{DONE}"))


def markdown(is_coloured):
    """Returns 2 MB of Markdown in pieces of about 100 bytes; a fifth of it is code."""
    language = "python" if is_coloured else "text"
    section = (
        "## A heading of section {0}\n\nSome **bold** text, `code` and a [link](https://example.com/{0}) in a "
        "paragraph that is longer than one row of the terminal, so that it is broken between its words.\n\n"
        "- an item of a list\n- another one with *emphasis*\n  1. a nested item\n- [x] a task\n\n"
        "| name | value |\n|---|---:|\n| first | {0} |\n| second | 2 |\n\n> a quotation of one line\n\n"
    )
    code = "def function_{0}(argument):\n    # a comment\n    return [item for item in range({0}) if item % 2]\n"
    text, number = [], 0
    length = 0
    while length < 2 * MEGABYTE:
        piece = section.format(number) + f"```{language}\n{code.format(number)}```\n\n"
        text.append(piece)
        length += len(piece)
        number += 1
    whole = "".join(text) + DONE
    return Text(tuple(whole[at:at + 100] for at in range(0, len(whole), 100)))


def processor(stage, name):
    """Returns the processor time of an answer."""
    with stage.ready() as terminal:
        pids = sampling.tree(terminal.process.pid)
        before = sum(map(sampling.processor, pids))
        stage.ask(terminal)
        terminal.wait_for(DONE, seconds=LIMIT)
        terminal.quiet(0.5, LIMIT)
        return {name: sum(map(sampling.processor, pids)) - before}


def resumed(stage):
    """Returns the time from exec to the prompt of a session of 100 MB."""
    chats = stage.home / ".gemini" / "tmp"
    if not list(chats.glob("*/chats/*.large")):
        with stage.ready() as terminal:
            stage.ask(terminal)
            terminal.wait_for(DONE)
            terminal.quiet()
        path = scenarios.session_file(stage.home)
        scenarios.grow_session(path)
        path.with_suffix(".large").touch()
    with stage.start("--resume", "latest") as terminal:
        length = terminal.wait_for(READY["pollux"], seconds=LIMIT)
        return {"resumed": (terminal.at(length) - terminal.started) * 1000}


def found(stage):
    """Returns the time from the keys to the first results of `@` in a large tree, once it was read."""
    for number in range(FOLDERS):
        folder = stage.project / f"folder{number:03}"
        if not folder.exists():
            folder.mkdir()
            for file in range(FILES):
                os.close(os.open(folder / f"file{file:03}.txt", os.O_CREAT | os.O_WRONLY, 0o644))
    with stage.ready() as terminal:
        values = []
        # No name at the top contains them, so that the whole tree is searched.
        for name in ("file777", "file778", "file779"):
            length, begin = len(terminal.output), time.perf_counter()
            terminal.send(f"@{name}")
            end = terminal.wait_for(f"/{name}", length, LIMIT)
            values.append((terminal.at(end) - begin) * 1000)
            terminal.quiet()
            terminal.send(b"\x1b")
            time.sleep(0.2)
            terminal.send(b"\x15")
            terminal.quiet()
        # The first search reads the folders of the tree from the disk.
        return {"found": min(values)}


def runs_of(program, work, is_quick):
    """Returns the measurements of a program: a function each, and how often it is measured."""
    many, few = (3, 1) if is_quick else (20, 3)
    stage = lambda script: Stage(program, work, script)
    paced, text = listed(0.05, 10)
    common = [
        (many, lambda: measured(stage([Text((DONE,))]), start)),
        (1, lambda: measured(stage([Text((DONE,))]), rest)),
        (few, lambda: measured(stage([rows_of(10_000)]), keys)),
        (1, lambda: measured(stage([Text((DONE,))]), waiting)),
        (1, lambda: measured(stage([paced]), lambda one: streaming(one, text))),
        (few, lambda: measured(stage([listed(0.02)[0]]), lambda one: resizes(one, work))),
    ]
    if program.name != "pollux":
        return common
    return common + [
        (many, cat),
        (few, lambda: measured(stage([markdown(False)]), lambda one: processor(one, "markdown"))),
        (few, lambda: measured(stage([markdown(True)]), lambda one: processor(one, "code"))),
        (few, lambda: measured(Stage(program, work / "resumed", [Text((DONE,))]), resumed)),
        (1, lambda: measured(Stage(program, work / "tree", [Text((DONE,))]), found)),
    ]


def measured(stage, measure):
    with stage:
        return measure(stage)


def measure(found_programs, work, is_quick, only=""):
    """Returns the values of all figures by title and program, and what could not be measured."""
    columns = {figure.title: {} for figure in goals.TUI.values()}
    skipped = []
    for program in found_programs:
        for count, run in runs_of(program, work, is_quick):
            for _ in range(count):
                try:
                    values = run()
                except Missing as missing:
                    skipped.append((program.name, "a figure", str(missing)[:120]))
                    print(f"tui: {program.name}: {missing}", flush=True)
                    break
                for name, value in values.items():
                    columns[goals.TUI[name].title].setdefault(program.name, []).append(value)
            print(f"tui: {program.name}: {', '.join(values)}", flush=True)
    return columns, skipped


def main():
    if not sys.platform.startswith("linux"):
        raise SystemExit("tui: memory is read from /proc, so this runs on Linux only")
    if not shutil.which("tmux"):
        raise SystemExit("tui: tmux is missing")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=Path, required=True, help="the pollux to measure")
    parser.add_argument("--target", type=Path, required=True, help="where the peers are installed")
    parser.add_argument("--profile", default=results.UNRECORDED, help="profile of that build")
    parser.add_argument("--quick", action="store_true", help="fewer runs, no peer and no file")
    options = parser.parse_args()
    load, binary = os.getloadavg()[0], options.binary.resolve()
    compared = [programs.Program("pollux", binary, (binary,), True)]
    if not options.quick:
        compared += [one for one in programs.peers(options.target / "bench" / "peers") if one.name in ("gemini", "codex")]
    # Codex leaves a process behind, which may still write.
    with tempfile.TemporaryDirectory(prefix="pollux-tui-", ignore_cleanup_errors=True) as work:
        columns, skipped = measure(compared, Path(work), options.quick)
    versions = {program.name: program.version() for program in compared}
    section = results.section(results.run_of(versions, 3, load, options.profile), columns, skipped)
    for figure in goals.TUI.values():
        kept = section["figures"][figure.title]
        print(f"{figure.title}: {'; '.join(f'{name} {report.spread(values, figure.unit)}' for name, values in kept.items())}")
    store = results.read()
    if not options.quick:
        store |= {"tui": section}
        results.write(store)
        results.PAGE.write_text(report.page(store, scenarios.figures()))
    missed = results.failures(store | {"tui": section}, [], {"tui": goals.SECTIONS["tui"]})
    for line in missed:
        print(line)
    raise SystemExit(1 if missed else 0)


if __name__ == "__main__":
    main()
