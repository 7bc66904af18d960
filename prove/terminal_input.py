"""Checks of what is typed and pasted: every byte is understood, nothing is lost, and no key answers
a question that it was not meant for."""

import re
import threading
import time

import terminal_bytes
from dialects import Text
from sampling import resident
from at_terminal import SOON, Missing
from emulators import Tmux
from terminal_world import CTRL_C, DONE, QUESTION, READY, check, done, shell

SENTENCE = "a sentence that a program types letter by letter"
MIXED = "na\u00efve \u6f22\u5b57 e\u0301 \U0001f469\u200d\U0001f469\u200d\U0001f467 \u05e9\u05dc\u05d5\u05dd \u00df end"
PASTE, PASTE_END = b"\x1b[200~", b"\x1b[201~"
# Times between the bytes of one key, in seconds: shorter than the wait for the rest of a sequence.
SPLIT = 0.004


def held_model(world, release):
    """Returns a function that holds every answer until the event is set."""
    return lambda _number: release.wait(60)


def letters(mode, is_busy):
    def run(world):
        release = threading.Event()
        with world.talk([done()], mode=mode, on_request=held_model(world, release)) as talk:
            terminal = talk.terminal
            if is_busy:
                terminal.line("go")
                talk.sent(1)
                time.sleep(1.2)
            begin, problems = len(terminal.output), []
            for end in range(1, len(SENTENCE) + 1):
                terminal.send(SENTENCE[end - 1])
                try:
                    terminal.wait_for(SENTENCE[:end], begin, 2)
                except Missing:
                    problems.append(f"after {end} letters the prefix is not contiguous in the output")
                    break
            release.set()
            return problems + terminal_bytes.problems(terminal.output, mode)
    return run


for mode in ("screen", "line"):
    for is_busy in (False, True):
        when = "while the model is awaited" if is_busy else "at rest"
        check(f"a sentence typed letter by letter, {when}, mode {mode}")(letters(mode, is_busy))


def split_bytes(mode):
    def run(world):
        with world.talk([done()], mode=mode) as talk:
            terminal = talk.terminal
            # Keys of several bytes move to the start and back.
            data = MIXED.encode() + b"\x1b[1;5D\x1b[3~\x1b[3~\x1b[3~\x1b[H\x1b[3~\x1b[F\x1bbX"
            for byte in data:
                terminal.send(bytes([byte]))
                time.sleep(SPLIT)
            time.sleep(0.2)
            terminal.enter()
            if not talk.sent(1):
                return ["the prompt was not sent"]
            sent = talk.prompts()[0]
            good = MIXED[1:].removesuffix("end").removesuffix("\u00df ") + "X\u00df "
            return [] if sent.endswith(good) else [f"the model got {sent[-60:]!a} instead of {good!a}"]
    return run


for mode in ("screen", "line"):
    check(f"characters and keys split at every byte, mode {mode}")(split_bytes(mode))


def hostile_lines(world, size):
    """Returns bytes with escape sequences inside, and the text that they stand for."""
    pieces, text, length = [], [], 0
    number = 0
    while length < size:
        number += 1
        line = f"line {number:07} of \u6f22\u5b57 text"
        extra = world.chance.choice(
            (b"", b"\x1b[31m", b"\x1b]0;title\x07", b"\x1b[2J", b"\x1b[A", b"\x07", b"\x00", b"\x1b[200~", b"\x1bOP")
        )
        data = line.encode() + extra + b"\r"
        pieces.append(data)
        text.append(line)
        length += len(data)
    return b"".join(pieces), text


def send_in_odd_chunks(world, terminal, data):
    at = 0
    while at < len(data):
        count = world.chance.choice((1, 2, 3, 7, 63, 999, 4096, 40_000))
        terminal.send(data[at:at + count])
        at += count


@check("3 MB pasted in odd chunks, with escape sequences inside")
def large_paste(world):
    with world.talk([done(), done()]) as talk:
        terminal = talk.terminal
        data, lines = hostile_lines(world, 3_000_000)
        begin = time.perf_counter()
        terminal.send(PASTE)
        send_in_odd_chunks(world, terminal, data)
        terminal.send(PASTE_END)
        terminal.wait_for(f"[Pasted Text: {len(lines)} lines]", seconds=60)
        took = time.perf_counter() - begin
        terminal.quiet()
        terminal.enter()
        if not talk.sent(1, 30):
            return ["the pasted text was not sent"]
        sent = talk.prompts()[0]
        found = re.findall(r"line \d{7} of \u6f22\u5b57 text", sent)
        problems = [] if found == lines else [f"{len(found)} of {len(lines)} pasted lines were sent"]
        if "\x1b" in sent or "\x07" in sent or "\x00" in sent:
            problems.append("control characters were sent")
        if took > 20:
            problems.append(f"the paste took {took:.0f} s")
        terminal.wait_for(DONE)
        return problems + terminal_bytes.problems(terminal.output)


@check("12 MB pasted, which is too much")
def too_large_paste(world):
    with world.talk([done()]) as talk:
        terminal = talk.terminal
        data, _ = hostile_lines(world, 12_000_000)
        terminal.send(PASTE)
        send_in_odd_chunks(world, terminal, data)
        terminal.send(PASTE_END)
        terminal.wait_for("The pasted text is longer than 8 MiB and was not taken.", seconds=60)
        problems = []
        memory = resident(terminal.process.pid)[1] >> 20
        if memory > 120:
            problems.append(f"{memory} MB of memory")
        time.sleep(0.2)
        terminal.line("go")
        if not talk.sent(1):
            problems.append("the next prompt was not sent")
        elif not talk.prompts()[0].endswith("go"):
            problems.append("the next prompt has the pasted text")
        return problems + terminal_bytes.problems(terminal.output)


@check("a pasted text with the end mark and the Enter key inside")
def paste_with_end_mark(world):
    with world.talk([done(), done()]) as talk:
        terminal = talk.terminal
        terminal.send(PASTE + b"harmless" + PASTE_END + b"\rtouch x\r" + PASTE_END)
        time.sleep(0.5)
        return ["a pasted line was sent"] if talk.server.exchanges else []


@check("50 lines pasted without marks")
def paste_without_marks(world):
    with world.talk([done(), done()]) as talk:
        terminal = talk.terminal
        lines = [f"line {number} of a paste" for number in range(50)]
        for line in lines:
            terminal.send(f"{line}\r")
        time.sleep(0.5)
        if talk.server.exchanges:
            return ["a pasted line was sent"]
        terminal.enter()
        if not talk.sent(1):
            return ["the text was not sent"]
        sent = talk.prompts()[0]
        return [] if "\n".join(lines) in sent else [f"the text that was sent is {sent[:80]!r}"]


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


def typed_at_start(pause):
    def run(world):
        with world.talk([done(), done()], wait=False) as talk:
            terminal = talk.terminal
            for letter in "typed early\r" + SENTENCE:
                time.sleep(0.3 if letter == "\r" else pause)
                terminal.send(letter)
            try:
                terminal.wait_for(SENTENCE, seconds=SOON)
            except Missing:
                return [f"the rest of the input is not shown: {bytes(terminal.output[-200:])!r}"]
            if not talk.sent(1):
                return ["the line that was typed early was not sent"]
            sent = talk.prompts()[0]
            return [] if sent.endswith("typed early") else [f"what was sent is {sent[-40:]!r}"]
    return run


for pause in (0.0, 0.003, 0.02):
    check(f"keys before the prompt is ready, {pause * 1000:.0f} ms apart")(typed_at_start(pause))


def impatient(keys):
    """Types before a question is shown, and on for a second after that; then nothing may be decided."""
    def run(world):
        release = threading.Event()
        script = [shell("touch made"), done(), done()]
        with world.talk(script, on_request=held_model(world, release)) as talk:
            terminal = talk.terminal
            terminal.line("go")
            talk.sent(1)
            stop = threading.Event()

            def type_on():
                while not stop.is_set():
                    terminal.send(keys)
                    time.sleep(0.03)

            typist = threading.Thread(target=type_on)
            typist.start()
            time.sleep(0.3)
            release.set()
            time.sleep(1.5)
            stop.set()
            typist.join()
            problems = []
            if (talk.project / "made").exists() or talk.sent(2, 0.5):
                problems.append("a key that was pressed before the question was shown has answered it")
            else:
                time.sleep(0.7)
                terminal.wait_for("1. Allow once")
                terminal.send("1")
                if not talk.sent(2, 5):
                    problems.append("the question cannot be answered any more")
            return problems
    return run


for name, keys in (("1", b"1"), ("y", b"y"), ("letters and Enter", b"x\r"), ("Enter", b"\r"), ("Down", b"\x1b[B"), ("a paste", PASTE + b"1\r" + PASTE_END)):
    check(f"{name} typed on while a question appears")(impatient(keys))


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
