"""Checks of the transcript on the whole screen."""

import time

import terminal_bytes
from dialects import Text
from emulators import Tmux
from terminal_scrollback import answer, idle, leave, lost_or_doubled
from terminal_world import CTRL_O, DONE, READY, check, done, shell


@check("the transcript while an answer streams, with other sizes, in tmux")
def transcript(world):
    with world.talk([done(), answer()], at=Tmux, under_shell=True) as talk:
        terminal, problems = talk.terminal, []
        terminal.line("first")
        terminal.wait_for(DONE)
        idle(terminal)
        terminal.line("go")
        talk.sent(2)
        terminal.wait_for("row-0")
        terminal.send(CTRL_O)
        terminal.wait_for("transcript")
        if any("row-0" in row for row in terminal.screen()):
            problems.append("rows of the conversation are on the screen of the transcript")
        for rows, columns in ((40, 120), (12, 45), (24, 80)):
            terminal.resize(rows, columns)
            time.sleep(0.4)
            if not any("> go" in row for row in terminal.screen()):
                problems.append(f"the prompt is not shown on {columns}x{rows}")
        terminal.wait_for("row-120", 30)
        terminal.send("q")
        terminal.wait_for(READY)
        idle(terminal)
        leave(terminal)
        return problems + lost_or_doubled(terminal.all_rows()) + terminal_bytes.problems(terminal.output)


@check("the transcript shows what the rows of a call leave out, and finds it, in tmux")
def whole_output(world):
    # The call keeps the last 300 lines.
    script = [shell("seq 5001 5400"), done(), Text(("later",))]
    with world.talk(script, at=Tmux, arguments=["--yolo"]) as talk:
        terminal, problems = talk.terminal, []
        for prompt, end in (("go", DONE), ("more", "later")):
            terminal.line(prompt)
            terminal.wait_for(end)
            idle(terminal)
        if any("5103" in row for row in terminal.screen()):
            problems.append("the call is shown whole, so nothing is checked")
        terminal.send(CTRL_O)
        terminal.wait_for("transcript")
        for keys, wanted in (("[", "> more"), ("/5103", "/5103"), ("\r", "    5103"), ("g", "> go")):
            terminal.send(keys)
            terminal.wait_for(wanted)
        terminal.send(b"\x1b")
        terminal.wait_for(READY)
        return problems + terminal_bytes.problems(terminal.output)
