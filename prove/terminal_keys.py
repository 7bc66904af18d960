"""Checks of keys: each has its effect, and the reports of a terminal are none."""

import re
import time

import terminal_bytes
from at_terminal import Missing
from emulators import Tmux
from terminal_world import CTRL_C, DONE, READY, SPLIT, check, done

# Keys after "one two three", and what is then left and right of the cursor.
HOME, END, BACK = b"\x01", b"\x05", b"\x1bb"
KEYS = (
    ("Ctrl-A", b"\x01", "", "one two three"),
    ("Home", b"\x1b[H", "", "one two three"),
    ("Home of the keypad", b"\x1bOH", "", "one two three"),
    ("Home of vt220", b"\x1b[1~", "", "one two three"),
    ("Home of rxvt", b"\x1b[7~", "", "one two three"),
    ("Ctrl-E", HOME + b"\x05", "one two three", ""),
    ("End", HOME + b"\x1b[F", "one two three", ""),
    ("End of the keypad", HOME + b"\x1bOF", "one two three", ""),
    ("End of vt220", HOME + b"\x1b[4~", "one two three", ""),
    ("End of rxvt", HOME + b"\x1b[8~", "one two three", ""),
    ("Ctrl-B", b"\x02", "one two thre", "e"),
    ("Left", b"\x1b[D", "one two thre", "e"),
    ("Left in application mode", b"\x1bOD", "one two thre", "e"),
    ("Ctrl-F", HOME + b"\x06", "o", "ne two three"),
    ("Right", HOME + b"\x1b[C", "o", "ne two three"),
    ("Right in application mode", HOME + b"\x1bOC", "o", "ne two three"),
    ("Alt-B", b"\x1bb", "one two ", "three"),
    ("Ctrl-Left", b"\x1b[1;5D", "one two ", "three"),
    ("Alt-Left", b"\x1b[1;3D", "one two ", "three"),
    ("Alt-F", HOME + b"\x1bf", "one", " two three"),
    ("Ctrl-Right", HOME + b"\x1b[1;5C", "one", " two three"),
    ("Alt-Right", HOME + b"\x1b[1;3C", "one", " two three"),
    ("Ctrl-K", BACK + b"\x0b", "one two ", ""),
    ("Ctrl-U", BACK + b"\x15", "", "three"),
    ("Ctrl-W", b"\x17", "one two ", ""),
    ("Alt-Backspace", b"\x1b\x7f", "one two ", ""),
    ("Alt-D", HOME + b"\x1bd", "", " two three"),
    ("Ctrl-Delete", HOME + b"\x1b[3;5~", "", " two three"),
    ("Alt-Delete", HOME + b"\x1b[3;3~", "", " two three"),
    ("Backspace", b"\x7f", "one two thre", ""),
    ("Ctrl-H", b"\x08", "one two thre", ""),
    ("Delete", HOME + b"\x1b[3~", "", "ne two three"),
    ("Ctrl-D", HOME + b"\x04", "", "ne two three"),
    ("Ctrl-Y", b"\x17\x19", "one two three", ""),
    ("Ctrl-_", b"\x17\x1f", "one two three", ""),
    ("Alt-Z", b"\x17\x1bz", "one two three", ""),
    ("Ctrl-P", b"\x10", "an earlier prompt", ""),
    ("Up", b"\x1b[A", "an earlier prompt", ""),
    ("Up in application mode", b"\x1bOA", "an earlier prompt", ""),
    ("Ctrl-N", b"\x10\x0e", "one two three", ""),
    ("Down", b"\x1b[A\x1b[B", "one two three", ""),
    ("Ctrl-J", b"\x0a", "one two three\n", ""),
    ("Alt-Enter", b"\x1b\r", "one two three\n", ""),
    ("Shift-Enter of kitty", b"\x1b[13;2u", "one two three\n", ""),
    ("Ctrl-Enter of kitty", b"\x1b[13;5u", "one two three\n", ""),
    ("Shift-Enter of xterm", b"\x1b[27;2;13~", "one two three\n", ""),
    ("backslash Enter", b"\\\r", "one two three\n", ""),
    ("an unknown key", b"\x1b[99~\x1b[1;8P", "one two three", ""),
    ("F1 to F12", b"\x1bOP\x1bOQ\x1b[15~\x1b[24~", "one two three", ""),
    ("focus", b"\x1b[I\x1b[O", "one two three", ""),
    ("the mouse", b"\x1b[<0;10;10M\x1b[<0;10;10m", "one two three", ""),
    ("Esc Esc", b"\x1b", "", ""),
    ("Ctrl-C", b"\x03", "", ""),
)


def input_of(rows):
    """Returns the text of the input on a screen; its further lines are indented."""
    at = max(number for number, row in enumerate(rows) if row.startswith(">"))
    text = [rows[at][2:]]
    for row in rows[at + 1:]:
        if not row.startswith("  "):
            break
        text.append(row[2:])
    return "\n".join(text)


@check("each key that changes the input, in tmux")
def keys(world):
    problems = []
    with world.talk([done()], at=Tmux, arguments=["--prompt-interactive", "an earlier prompt"]) as talk:
        terminal = talk.terminal
        terminal.wait_for(DONE)
        terminal.quiet()
        for name, data, before, after in KEYS:
            terminal.send("one two three")
            terminal.wait_for("one two three")
            time.sleep(0.05)
            for part in re.findall(rb"\x1b\[[0-9;<]*.|\x1bO.|\x1b.|.", data, re.DOTALL):
                terminal.send(part)
                time.sleep(0.03)
            if name == "Esc Esc":
                time.sleep(0.1)
                terminal.send(data)
                time.sleep(0.1)
            terminal.send("|")
            wanted = f"{before}|{after}"
            try:
                terminal.wait(lambda: input_of(terminal.screen()) == wanted, name, 2)
            except Missing:
                problems.append(f"{name}: the input is {input_of(terminal.screen())!r} instead of {wanted!r}")
            terminal.send(CTRL_C)
            try:
                terminal.wait_for(READY, 2)
            except Missing:
                problems.append(f"{name}: Ctrl-C does not clear the input")
                return problems
        return problems + terminal_bytes.problems(terminal.output)


def seen(terminal, text, about, seconds=3):
    try:
        terminal.wait_for(text, seconds)
    except Missing:
        return [f"{about}: {text!r} did not come: {' / '.join(row for row in terminal.screen()[-8:] if row)}"]
    return []


@check("each key that does something else, in tmux")
def other_keys(world):
    editor = "sh -c 'echo edited >> $0'"
    with world.talk(
        [done()], at=Tmux, files={"file-of-mine.txt": "x"}, variables={"EDITOR": editor, "VISUAL": editor},
        arguments=["--prompt-interactive", "an earlier prompt"],
    ) as talk:
        terminal, problems = talk.terminal, []

        def press(data):
            time.sleep(0.08)
            terminal.send(data)

        def clear():
            press("|")
            time.sleep(0.1)
            press(CTRL_C)
            terminal.wait_for(READY)

        terminal.wait_for(DONE)
        terminal.quiet()
        press("/hel")
        press(b"\t")
        problems += seen(terminal, "> /help", "Tab after a command")
        clear()
        press("see @file-of")
        press(b"\t")
        problems += seen(terminal, "> see @file-of-mine.txt", "Tab after @")
        clear()
        for mode in ("auto-accept edits", "plan", "ask before changes"):
            press(b"\x1b[Z")
            problems += seen(terminal, mode, "Shift-Tab")
        for name, data in (("Ctrl-G", b"\x07"), ("Ctrl-X Ctrl-E", b"\x18\x05")):
            press("to edit")
            press(data)
            problems += seen(terminal, "edited", name)
            clear()
        press(b"\x12")
        press("earl")
        problems += seen(terminal, "an earlier prompt", "Ctrl-R")
        press(b"\x1b")
        time.sleep(0.2)
        press("kept")
        press(b"\x0c")
        terminal.quiet()
        problems += seen(terminal, "> kept", "Ctrl-L")
        if not any(DONE in row for row in terminal.all_rows()):
            problems.append("Ctrl-L: the answer is no longer above the screen")
        clear()
        press(CTRL_C)
        problems += seen(terminal, "Press Ctrl+C again to exit.", "Ctrl-C")
        terminal.wait(lambda: "Press Ctrl+C" not in "\n".join(terminal.screen()), "the end of the hint", 6)
        press(b"\x04")
        problems += seen(terminal, "Press Ctrl+D again to exit.", "Ctrl-D")
        return problems + terminal_bytes.problems(terminal.output)


def unsolicited(name, data, mode="screen"):
    """Sends what terminals answer to queries, whole and split, to a program that waits for a key."""
    def run(world):
        with world.talk([done()], mode=mode) as talk:
            terminal = talk.terminal
            terminal.send("one")
            terminal.send(data)
            time.sleep(0.3)
            for byte in data:
                terminal.send(bytes([byte]))
                time.sleep(SPLIT)
            time.sleep(0.3)
            terminal.send("two")
            terminal.wait_for("two")
            terminal.enter()
            if not talk.sent(1):
                return ["the prompt was not sent"]
            sent = talk.prompts()[0]
            return [] if sent.endswith("onetwo") else [f"it became input: {sent[-60:]!r}"]
    return run


for name, data in (
    ("the position of the cursor", b"\x1b[12;40R"),
    ("its type", b"\x1b[?62;22c\x1b[>41;390;0c"),
    ("its keyboard protocol", b"\x1b[?1u\x1b[>4;2m"),
    ("its background colour", b"\x1b]11;rgb:1e1e/1e1e/1e1e\x07\x1b]10;rgb:ffff/ffff/ffff\x1b\\"),
    ("its name", b"\x1bP>|XTerm(390)\x1b\\"),
    ("its colour scheme", b"\x1b[?997;1n"),
    ("a mode", b"\x1b[?2026;2$y"),
):
    check(f"a terminal that reports {name} late")(unsolicited(name, data))


@check("a terminal that answers queries with garbage")
def garbage(world):
    def answer(data, terminal):
        if re.search(rb"\x1b\[[?>]?\d*[nucq]|\x1b\][\d;]+\?", data):
            terminal.send(b"\x1b]11;" + bytes(world.chance.choices(b"rgb:/0123456789abcdefz\xff", k=300)) + b"\x07")
            terminal.send(b"\x1b[" + b"9" * 200 + b"c\x1bP" + b"\x80" * 50 + b"\x1b\\")

    with world.talk([done()], answer=answer) as talk:
        terminal = talk.terminal
        time.sleep(0.3)
        terminal.send("go")
        time.sleep(0.3)
        terminal.enter()
        if not talk.sent(1):
            return ["the prompt was not sent"]
        sent = talk.prompts()[0]
        return [] if sent.endswith("go") else [f"garbage became input: {sent[-80:]!r}"]


def speaks(protocol):
    """Returns the answers of a terminal that knows a protocol for keys with modifiers."""
    query, answer = {"kitty": (rb"\x1b\[\?u", b"\x1b[?0u"), "xterm": (rb"\x1b\[\?4m", b"\x1b[>4;0m")}[protocol]

    def reply(data, terminal):
        if re.search(query, data):
            terminal.send(answer)
    return reply


def reported_keys(protocol, begin, end, shift_enter, ctrl_c):
    def run(world):
        with world.talk([done()], answer=speaks(protocol)) as talk:
            terminal, problems = talk.terminal, []
            terminal.wait(lambda: begin in terminal.output, "the begin of the protocol", 5)
            terminal.send("one")
            time.sleep(0.1)
            terminal.send(shift_enter)
            time.sleep(0.1)
            terminal.send("two")
            terminal.wait_for("two")
            terminal.enter()
            if not talk.sent(1) or not talk.prompts()[0].endswith("one\ntwo"):
                problems.append(f"Shift-Enter: {talk.prompts()}")
            terminal.wait_for(DONE)
            # The whole screen has its own state of the protocol.
            for key in (b"\x0f", b"q"):
                terminal.send(key)
                terminal.quiet(0.2)
            for _ in range(2):
                terminal.send(ctrl_c)
                time.sleep(0.1)
            if terminal.end() != 0:
                problems.append("Ctrl-C twice did not end the program")
            if terminal.output.count(begin) != terminal.output.count(end):
                problems.append("the protocol is not ended as often as it was begun")
            return problems + terminal_bytes.problems(terminal.output)
    return run


for arguments in (
    ("kitty", b"\x1b[>1u", b"\x1b[<u", b"\x1b[13;2u", b"\x1b[99;5u"),
    ("xterm", b"\x1b[>4;2m", b"\x1b[>4m", b"\x1b[27;2;13~", b"\x1b[27;5;99~"),
):
    check(f"keys of a terminal that knows the protocol of {arguments[0]}")(reported_keys(*arguments))


@check("keys that the user has bound, shell mode and the keys of vi, in tmux")
def own_keys(world):
    bindings = (
        '[{"command": "input.newline", "key": "f5"},\n // mine\n {"command": "-app.showFullTodos", "key": "ctrl+t"},\n'
        ' {"command": "no.such", "key": "f6"}]'
    )
    files = {"../.gemini/keybindings.json": bindings}
    with world.talk([done()], at=Tmux, files=files) as talk:
        terminal = talk.terminal
        problems = seen(terminal, "keybindings.json, line 4", "the message about a binding")
        for keys, wanted in (
            ("one", "> one"), (b"\x1b[15~", "> one"), ("two", "  two"), (CTRL_C, READY),
            ("!", "Type your shell command"), ("echo s$((40+2))", "! echo"), ("\r", "s42"),
            (b"\x7f", READY), ("/vim", "/vim"), ("\r", "[INSERT]"), ("abc def", "abc def"),
            (b"\x1b", "[NORMAL]"), ("bdw", "> abc"), ("0x", "> bc"), ("ccnew", "> new"),
        ):
            time.sleep(0.15)
            terminal.send(keys)
            problems += seen(terminal, wanted, f"{keys!r}")
        return problems + terminal_bytes.problems(terminal.output)
