"""Checks of what stays on a terminal: nothing is lost or twice, whatever its sizes."""

import re
import time
from collections import Counter

import terminal_bytes
from dialects import Text
from emulators import Screen, Tmux
from terminal_world import BUSY, CTRL_D, DONE, EARLIER, QUESTION, READY, check, done, shell

ROWS = [f"row-{number:03}" for number in range(1, 121)]
ROW = re.compile(r"row-\d{3}")
RESIZES = 8


def answer(pace=0.03):
    """Returns an answer of 120 short rows, in pieces that end inside of rows."""
    text = "\n".join(f"- {row} the quick fox jumps" for row in ROWS) + f"\n\n{DONE}"
    return Text(tuple(text[at:at + 31] for at in range(0, len(text), 31)), pace=pace)


def lost_or_doubled(rows, expected=ROWS, pattern=ROW, earlier=EARLIER):
    """Returns what is wrong with all rows of a terminal: those of the answer are there once and in
    order, and the earlier rows are above them."""
    found = [name for row in rows for name in pattern.findall(row)]
    problems = []
    counts = Counter(found)
    if missing := [name for name in expected if not counts[name]]:
        problems.append(f"lost: {len(missing)} rows, such as {missing[0]}")
    if doubled := [name for name in expected if counts[name] > 1]:
        problems.append(f"doubled: {len(doubled)} rows, such as {doubled[0]}")
    if not problems and found != list(expected):
        problems.append("the rows are not in order")
    if rows[:len(earlier)] != list(earlier):
        left = sum(line in rows for line in earlier)
        problems.append(f"{left} of the {len(earlier)} earlier rows are where they were")
    for text in (READY, BUSY):
        if any(text in row for row in rows):
            problems.append(f"left behind: {text!r}")
    if sum(row.startswith("> go") for row in rows) > 1:
        problems.append("the prompt is there more than once")
    return problems


def storm(world, terminal, narrowest, lowest):
    """Changes the size of a terminal at random moments. The rows of a window that becomes lower than
    the live rows leave its top, and no program can take them back: `lowest` prevents that. tmux
    tells a program about a new size up to 250 ms later; the pauses are longer, because what is
    drawn for the old size until then is in the wrong place."""
    for number in range(RESIZES):
        time.sleep(world.chance.uniform(0.35, 0.6))
        rows, columns = world.chance.randint(lowest, 50), world.chance.randint(narrowest, 160)
        terminal.resize(rows, columns) if number < RESIZES - 1 else terminal.resize(max(24, lowest), 80)


def leave(terminal):
    terminal.quiet(0.2)
    terminal.send(CTRL_D)
    time.sleep(0.05)
    terminal.send(CTRL_D)
    terminal.wait_for("code 0")


def idle(terminal):
    """Waits for the end of the work."""
    def is_idle():
        text = "\n".join(terminal.screen())
        return READY in text and BUSY not in text

    terminal.wait(is_idle, "the end of the work")


def stormy(at, narrowest, lowest):
    def run(world):
        with world.talk([answer()], at=at, under_shell=True) as talk:
            terminal = talk.terminal
            terminal.line("go")
            talk.sent(1)
            storm(world, terminal, narrowest, lowest)
            terminal.wait_for(DONE, 30)
            idle(terminal)
            leave(terminal)
            return lost_or_doubled(terminal.all_rows()) + terminal_bytes.problems(terminal.output)
    return run


# In a narrow window, the live rows are folded into many.
for narrowest, lowest in ((12, 28), (45, 8)):
    check(f"a storm of sizes, {narrowest} columns and more, while an answer streams, in tmux")(
        stormy(Tmux, narrowest, lowest)
    )


# screen itself loses rows when its size changes.
@check("an answer in screen")
def in_screen(world):
    with world.talk([answer(0.005)], at=Screen, under_shell=True) as talk:
        terminal = talk.terminal
        terminal.line("go")
        terminal.wait_for(DONE, 30)
        idle(terminal)
        leave(terminal)
        return lost_or_doubled(terminal.all_rows()) + terminal_bytes.problems(terminal.output)


# So only what would be Pollux's own fault is a problem: rows that are there twice, or left behind.
@check("a storm of sizes while an answer streams, in screen")
def storm_in_screen(world):
    with world.talk([answer()], at=Screen, under_shell=True) as talk:
        terminal = talk.terminal
        terminal.line("go")
        talk.sent(1)
        storm(world, terminal, 45, 24)
        terminal.wait_for(DONE, 30)
        idle(terminal)
        leave(terminal)
        found = lost_or_doubled(terminal.all_rows(), earlier=())
        problems = [problem for problem in found if not problem.startswith("lost")]
        return problems + terminal_bytes.problems(terminal.output)


@check("a storm of sizes while a command prints, in tmux")
def storm_of_output(world):
    command = 'for n in $(seq 60); do printf "out-%03d\\n" $n; sleep 0.07; done'
    with world.talk([shell(command), done()], at=Tmux, under_shell=True, arguments=["--yolo"]) as talk:
        terminal = talk.terminal
        terminal.line("go")
        talk.sent(1)
        storm(world, terminal, 45, 24)
        terminal.wait_for(DONE, 30)
        idle(terminal)
        leave(terminal)
        rows = terminal.all_rows()
        last = [row for row in rows if "out-060" in row]
        problems = lost_or_doubled(rows, [], ROW)
        if len(last) != 1:
            problems.append(f"the last row of the output is there {len(last)} times")
        if Counter(row for row in rows if re.match(r"\s*out-\d+", row)).most_common(1)[0][1] > 1:
            problems.append("a row of the output is there twice")
        return problems + terminal_bytes.problems(terminal.output)


@check("a storm of sizes while a question waits, in tmux")
def storm_of_question(world):
    command = "\n".join(f"echo {row}" for row in ROWS[:12]) + "\ntouch made"
    with world.talk([shell(command), done()], at=Tmux, size=(48, 80), under_shell=True) as talk:
        terminal = talk.terminal
        terminal.line("go")
        terminal.wait_for(QUESTION)
        storm(world, terminal, 60, 44)
        terminal.send(b"\x1b")
        idle(terminal)
        leave(terminal)
        rows = terminal.all_rows()
        problems = lost_or_doubled(rows, [], re.compile("x^"))
        shown = Counter(name for row in rows for name in ROW.findall(row))
        if shown and shown.most_common(1)[0][1] > 1:
            problems.append(f"{shown.most_common(1)[0][0]} of the question is left {shown.most_common(1)[0][1]} times")
        return problems + terminal_bytes.problems(terminal.output)


def sized(rows, columns):
    def run(world):
        script = [Text(tuple(f"- {row} the quick fox jumps\n" for row in ROWS[:40]), pace=0.01), shell("touch made"), done()]
        with world.talk(script, at=Tmux, size=(rows, columns), under_shell=True, wait=False) as talk:
            terminal = talk.terminal
            terminal.quiet(0.5)
            terminal.send("go")
            terminal.enter()
            if not talk.sent(1):
                return ["the prompt was not sent"]
            time.sleep(0.6)
            terminal.quiet(0.5)
            terminal.send("go on")
            terminal.enter()
            if not talk.sent(2):
                return ["the second prompt was not sent"]
            problems, made = [], talk.project / "made"
            # All parts of the question, then the approval. A window of two columns has hundreds.
            for _ in range(0 if columns < 20 else 60):
                terminal.quiet(0.15)
                if made.exists():
                    break
                terminal.send(b" ")
                terminal.quiet(0.15)
                terminal.send(b"1")
            else:
                terminal.send(b"\x1b")
                if columns >= 20:
                    problems.append("the question could not be approved")
            terminal.quiet(0.5)
            terminal.resize(24, 80)
            terminal.quiet(0.5)
            leave(terminal)
            found = Counter(name for row in terminal.all_rows() for name in ROW.findall(row))
            if columns >= 20 and found != Counter(ROWS[:40]):
                problems.append(f"rows of the answer: {len(found)} of 40, {found.total()} in all")
            return problems + terminal_bytes.problems(terminal.output)
    return run


for size in ((5, 20), (100, 300), (1, 2), (3, 300)):
    check(f"a conversation in a window of {size[1]}x{size[0]}, in tmux")(sized(*size))


@check("a line of 1 MB, in tmux")
def long_line(world):
    words = " ".join(f"w{number:06}" for number in range(125_000))
    text = Text(tuple(words[at:at + 2000] for at in range(0, len(words), 2000)) + (f"\n\n{DONE}",))
    with world.talk([text], at=Tmux, under_shell=True) as talk:
        terminal = talk.terminal
        terminal.line("go")
        terminal.wait_for(DONE, 60)
        idle(terminal)
        leave(terminal)
        found = re.findall(r"w\d{6}", " ".join(terminal.all_rows()))
        problems = [] if found == words.split() else [f"{len(found)} of 125000 words, or not in order"]
        return problems + terminal_bytes.problems(terminal.output)
