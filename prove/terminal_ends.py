"""Checks of the ends of a conversation: the terminal is given back as it was, and nothing is left."""

import os
import re
import signal
import subprocess
import time
from pathlib import Path

import terminal_bytes
from dialects import Text
from sampling import resident, tree
from at_terminal import Missing, Terminal
from terminal_world import CTRL_C, CTRL_D, CTRL_O, DONE, QUESTION, READY, check, done, shell

# Time limit of an end, in seconds.
FAREWELL = 4.0
# Memory of a program whose output is stopped, in megabytes.
MOST_MEMORY = 100
SLOW_EDITOR = "sh -c 'sleep 60; echo'"
PACED = Text(tuple(f"- line {number}\n" for number in range(2000)), pace=0.01)
LONG_COMMAND = "sleep 61 & while :; do echo tick; sleep 0.1; done"


def at_rest(_talk):
    """The input is empty."""


def with_a_draft(talk):
    talk.terminal.send("half a prompt")
    talk.terminal.wait_for("half a prompt")


def while_text_streams(talk):
    talk.terminal.line("go")
    talk.terminal.wait_for("line 20")


def while_a_question_waits(talk):
    talk.terminal.line("go")
    talk.terminal.wait_for(QUESTION)


def while_a_command_runs(talk):
    while_a_question_waits(talk)
    time.sleep(0.7)
    talk.terminal.send("1")
    talk.terminal.wait_for("tick")


def while_the_transcript_is_open(talk):
    talk.terminal.line("go")
    talk.terminal.wait_for(DONE)
    talk.terminal.send(CTRL_O)
    talk.terminal.wait_for("transcript")


def while_the_editor_is_open(talk):
    talk.terminal.send("draft")
    talk.terminal.wait_for("draft")
    talk.terminal.send(b"\x07")
    time.sleep(0.5)


STATES = {
    at_rest: [done()],
    with_a_draft: [done()],
    while_text_streams: [PACED],
    while_a_question_waits: [shell("touch made"), done()],
    while_a_command_runs: [shell(LONG_COMMAND), done()],
    while_the_editor_is_open: [done()],
    while_the_transcript_is_open: [done()],
}


def twice(key):
    def press(talk):
        talk.terminal.send(key)
        time.sleep(0.1)
        talk.terminal.send(key)
    return press


def quit_command(talk):
    talk.terminal.line("/quit")


def by(number):
    return lambda talk: talk.terminal.signal(number)


def not_given_back(terminal, before, code, wanted):
    """Returns what a program has left changed at its terminal, after its end."""
    problems = []
    if code != wanted:
        problems.append(f"exit code {code} instead of {wanted}")
    after = terminal.modes()
    if after != before:
        changed = sorted(set(before.split()) ^ set(after.split()))
        problems.append(f"modes of the terminal that differ: {' '.join(changed)}")
    problems += [f"left on: {name}" for name in terminal_bytes.left_on(terminal.output)]
    return problems


def ending(state, end, wanted, mode):
    def run(world):
        variables = {"EDITOR": SLOW_EDITOR, "VISUAL": SLOW_EDITOR}
        with world.talk(STATES[state], mode=mode, variables=variables) as talk:
            terminal = talk.terminal
            state(talk)
            children = tree(terminal.process.pid)
            begin = time.perf_counter()
            end(talk)
            code = terminal.end(FAREWELL + 2)
            took = time.perf_counter() - begin
            problems = not_given_back(terminal, fresh_modes(), code, wanted)
            if took > FAREWELL:
                problems.append(f"the end took {took:.1f} s")
            problems += left_running(children)
            return problems + terminal_bytes.problems(terminal.output, mode)
    return run


def fresh_modes():
    """Returns the modes of a new terminal."""
    with Terminal(["sleep", "10"], "/", dict(os.environ)) as fresh:
        return fresh.modes()


def left_running(processes):
    """Returns the processes of a list that still run a second later."""
    end = time.perf_counter() + 2
    while alive := [process for process in processes if is_alive(process)]:
        if time.perf_counter() > end:
            return [f"still running: {command_line(process)}" for process in alive]
        time.sleep(0.05)
    return []


def is_alive(process):
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def command_line(process):
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")[:60]
    except OSError:
        return "a process"


for mode in ("screen", "line"):
    for name, press in (("/quit", quit_command), ("Ctrl-D", twice(CTRL_D)), ("Ctrl-C", twice(CTRL_C))):
        if mode == "line" and name == "Ctrl-D":
            # The first one ends line mode.
            press = lambda talk: talk.terminal.send(CTRL_D)
        check(f"the end by {name}, mode {mode}")(ending(at_rest, press, 0, mode))
    for number in (signal.SIGTERM, signal.SIGHUP):
        for state in STATES:
            if mode == "line" and state is while_a_question_waits:
                continue
            about = state.__name__.replace("_", " ")
            if mode == "line" and state in (while_a_command_runs, while_text_streams, while_the_transcript_is_open):
                continue
            check(f"the end by {number.name} {about}, mode {mode}")(ending(state, by(number), 128 + number, mode))


@check("the end by SIGTERM while output is stopped")
def stopped_output(world):
    flood = Text(tuple("x" * 99 + "\n" for _ in range(60_000)))
    with world.talk([flood]) as talk:
        terminal = talk.terminal
        terminal.line("go")
        talk.sent(1)
        terminal.hold()
        time.sleep(3)
        memory = resident(terminal.process.pid)[0] >> 20
        terminal.signal(signal.SIGTERM)
        try:
            terminal.process.wait(FAREWELL)
        except subprocess.TimeoutExpired:
            return [f"still running {FAREWELL:.0f} s after SIGTERM"]
        problems = [f"{memory} MB of memory"] if memory > MOST_MEMORY else []
        if terminal.process.returncode != 128 + signal.SIGTERM:
            problems.append(f"exit code {terminal.process.returncode}")
        return problems


def lost(state, mode):
    def run(world):
        variables = {"EDITOR": SLOW_EDITOR, "VISUAL": SLOW_EDITOR}
        with world.talk(STATES[state], mode=mode, variables=variables) as talk:
            state(talk)
            process = talk.terminal.process
            children = tree(process.pid)
            talk.terminal.hang_up()
            try:
                process.wait(FAREWELL)
            except subprocess.TimeoutExpired:
                return [f"still running {FAREWELL:.0f} s after its terminal was lost"]
            return left_running(children)
    return run


for state in STATES:
    check(f"the terminal is lost {state.__name__.replace('_', ' ')}")(lost(state, "screen"))
check("the terminal is lost at rest, mode line")(lost(at_rest, "line"))


def killed(state):
    """After SIGKILL, the next Pollux at this terminal gives it back as it was before the first one."""
    def run(world):
        twice_in_a_row = lambda words: ["sh", "-c", '"$0" "$@"; sleep 0.2; "$0" "$@"; echo code $?', *words]
        with world.talk([*STATES[state], done()], command=twice_in_a_row) as talk:
            terminal = talk.terminal
            state(talk)
            pollux = child_of(terminal.process.pid)
            begin = len(terminal.output)
            os.kill(pollux, signal.SIGKILL)
            terminal.wait_for(READY, begin)
            terminal.quiet(0.2)
            quit_command(talk)
            terminal.wait_for("code 0", begin)
            code = terminal.end()
            return not_given_back(terminal, fresh_modes(), code, 0) + terminal_bytes.problems(terminal.output)
    return run


def child_of(process):
    """Returns the first child of a process."""
    end = time.perf_counter() + 5
    while time.perf_counter() < end:
        for entry in Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1]) == process:
                    return int(entry.name)
            except OSError:
                continue
        time.sleep(0.02)
    raise Missing("the child of the shell")


for state in (at_rest, while_text_streams, while_a_question_waits, while_the_transcript_is_open):
    check(f"the end by SIGKILL {state.__name__.replace('_', ' ')}, and the next start")(killed(state))


def closed(stream):
    def run(world):
        wrapped = lambda words: ["sh", "-c", f'"$0" "$@" {stream}; echo code $?', *words]
        with world.talk([done()], command=wrapped, wait=False) as talk:
            terminal = talk.terminal
            time.sleep(1)
            for _ in range(3):
                if terminal.process.poll() is None:
                    terminal.send(CTRL_D)
                    time.sleep(0.3)
            code = terminal.end(FAREWELL)
            text = bytes(terminal.output)
            problems = not_given_back(terminal, fresh_modes(), code, 0)
            if not re.search(rb"code (0|1|2|42)\r", text):
                problems.append(f"the end is {text[-60:]!r}")
            return problems
    return run


for stream in (">&-", "2>&-", "<&-", ">/dev/full"):
    check(f"a start with {stream}")(closed(stream))
