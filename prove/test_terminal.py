"""Tests that the terminal proof finds violations. `cargo xtask prove terminal` runs this first."""

import needs

import random
import sys
import tempfile
import unittest
from pathlib import Path

import stand_in

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "bench"))

import terminal
import terminal_bytes
import terminal_hostile
import terminal_keys
import terminal_scrollback
from terminal_world import CHECKS, World

# A plain conversation at a terminal: the keys of a line, one request per line, and the end. FAULT is
# the name of what it does wrong.
PROGRAM = '''
import os, re, signal, termios
FAULT = {fault!r}
READY = "Type your message or @path/to/file"
original = termios.tcgetattr(0)
def out(text):
    os.write(1, text.encode())
def leave(code):
    if FAULT != "modes":
        termios.tcsetattr(0, termios.TCSANOW, original)
    out("\\x1b[?2004h" if FAULT == "paste mode" else "\\x1b[?2004l")
    os._exit(code)
for number in (signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, lambda number, _: leave(1 if FAULT == "code" else 128 + number))
if FAULT == "early keys":
    import time
    time.sleep(1.0)
    termios.tcflush(0, termios.TCIFLUSH)
modes = termios.tcgetattr(0)
modes[0] &= ~termios.ICRNL
modes[3] &= ~(termios.ICANON | termios.ECHO | termios.IEXTEN | termios.ISIG)
termios.tcsetattr(0, termios.TCSANOW, modes)
def clean(text):
    text = re.sub("\\x1b(\\\\[[0-?]*[ -/]*[@-~]|[\\\\]P_][^\\x07\\x1b]*(\\x07|\\x1b\\\\\\\\)?)", "", text)
    return re.sub("[\\x00-\\x09\\x0b-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]", "", text)
def answer(line):
    said = "".join(part.get("text", "") for part in stand_in.ask([stand_in.text(line)]))
    if FAULT != "raw":
        said = clean(said)
    rows = said.split("\\n")
    if FAULT == "lost":
        del rows[40]
    if FAULT == "doubled":
        rows.insert(40, rows[40])
    if FAULT == "clear":
        out("\\x1b[3J")
    if FAULT == "left":
        out("> " + READY + "\\n")
    out("\\n".join(rows) + "\\n")
line, held = "", b""
def prompt():
    out("\\r> " + (line or "  " + READY) + "\\x1b[K")
out("\\x1b[?2004h")
prompt()
while True:
    try:
        data = os.read(0, 1 if FAULT == "bytes" else 1000)
    except OSError:
        if FAULT == "stays":
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            __import__("time").sleep(60)
        os._exit(129)
    if FAULT == "bytes":
        data = data.decode(errors="replace").encode()
    held += data
    if held.endswith(b"\\x1b") or re.search(rb"\\x1b(\\[[0-?]*|[\\]P][^\\x07\\x1b]*)$", held):
        continue
    try:
        text, held = held.decode(), b""
    except UnicodeDecodeError:
        continue
    if FAULT != "answers":
        text = re.sub("\\x1b(\\\\[[0-?]*[ -/]*[@-~]|[\\\\]P][^\\x07\\x1b]*(\\x07|\\x1b\\\\\\\\))", "", text)
    # Keys before the start have the line ends of the terminal.
    for letter in text:
        if letter == "\\x04" and not line or line == "/quit" and letter == "\\r":
            out("\\r\\x1b[K")
            leave(0)
        elif letter in "\\r\\n":
            out("\\n")
            answer(line)
            line = ""
        elif letter >= " ":
            line += letter
        if FAULT != "letters":
            prompt()
    if FAULT == "letters":
        for letter in line:
            out(letter + "\\x1b[0m")
        prompt() if not line else None
'''


def named(words):
    """Returns the check with this description."""
    return next(check for check in CHECKS if check.about == words)


@unittest.skipUnless(sys.platform == "linux", "the proof needs Linux")
class Detection(unittest.TestCase):
    def problems(self, words, fault=""):
        """Returns the problems of a check with a program that has this fault."""
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder, "program")
            stand_in.write(program, PROGRAM.format(fault=fault))
            return "; ".join(terminal.problems_of(named(words), World(program, Path(folder), random.Random(1))))

    def finds(self, words, fault, problem):
        self.assertEqual(self.problems(words), "")
        self.assertIn(problem, self.problems(words, fault))

    def test_keys(self):
        self.finds("a sentence typed letter by letter, at rest, mode screen", "letters", "not contiguous")
        self.finds("keys before the prompt is ready, 3 ms apart", "early keys", "was not sent")
        late = "a terminal that reports its background colour late"
        self.finds(late, "answers", "it became input")

    def test_ends(self):
        self.finds("the end by SIGTERM at rest, mode screen", "modes", "modes of the terminal that differ")
        self.finds("the end by SIGTERM at rest, mode screen", "code", "exit code 1 instead of 143")
        self.finds("the end by SIGHUP at rest, mode screen", "paste mode", "left on: 2004")

    def test_hostile_text(self):
        self.finds("escape sequences in an answer, mode screen", "raw", "a full clear")
        self.finds("escape sequences in an answer, mode screen", "raw", "a foreign sequence")


class Judgement(unittest.TestCase):
    """The judgements on rows and bytes, with one fault each."""

    def rows(self):
        return [*terminal_scrollback.EARLIER, "Pollux", "> go", *(f"- {row} text" for row in terminal_scrollback.ROWS), ""]

    def assertFinds(self, rows, problem):
        self.assertIn(problem, "; ".join(terminal_scrollback.lost_or_doubled(rows)))

    def test_rows(self):
        self.assertEqual(terminal_scrollback.lost_or_doubled(self.rows()), [])
        for at, problem in ((100, "lost: 1 rows"), (3, "59 of the 60 earlier rows")):
            rows = self.rows()
            del rows[at]
            self.assertFinds(rows, problem)
        rows = self.rows()
        self.assertFinds([*rows[:90], rows[80], *rows[90:]], "doubled: 1 rows, such as row-019")
        self.assertFinds([*rows[:90], rows[91], rows[90], *rows[92:]], "the rows are not in order")
        self.assertFinds([*rows, f"> {terminal_scrollback.READY}"], "left behind")
        self.assertFinds([*rows, "> go"], "the prompt is there more than once")

    def test_sequences(self):
        good = b"\x1b[?2026h\x1b[2A\r\x1b[36m> \x1b[0mtext\x1b[K\r\n\x1b[J\x1b[?2026l\x1b]0;ready\x07"
        self.assertEqual(terminal_bytes.problems(good), [])
        self.assertEqual(terminal_bytes.left_on(good), [])
        for bad in (b"\x1b[2J", b"\x1b[3J", b"\x1bc"):
            self.assertIn("a full clear", "; ".join(terminal_bytes.problems(good + bad)))
        for text in terminal_hostile.SEQUENCES:
            bad = text.encode()
            if text not in ("\r", "\x1b[?1049h", "\x1b[6n", "\x1b]8;;http://x\x1b\\"):
                self.assertNotEqual(terminal_hostile.raw_hostility(good + bad + b" "), [], bad)
        self.assertEqual(terminal_bytes.left_on(good + b"\x1b[?2004h\x1b[?25l"), ["2004", "25"])
        self.assertEqual(terminal_bytes.left_on(good + b"\x1b[>1u"), ["keyboard protocol"])
        self.assertEqual(terminal_bytes.left_on(good + b"\x1b[>4;2m"), ["modifyOtherKeys"])
        self.assertEqual(terminal_bytes.left_on(good + b"\x1b[31m"), ["style 31"])

    def test_input(self):
        screen = ["> an earlier prompt", "", "an answer", "", "> one", "  two", "ask before changes"]
        self.assertEqual(terminal_keys.input_of(screen), "one\ntwo")


if __name__ == "__main__":
    unittest.main()
