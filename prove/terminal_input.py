"""Checks of what is typed and pasted: nothing is lost, and no key answers a question that it was not
meant for."""

import re
import threading
import time

import terminal_bytes
from sampling import resident
from at_terminal import SOON, Missing
from terminal_world import DONE, SPLIT, check, done, shell

SENTENCE = "a sentence that a program types letter by letter"
MIXED = "na\u00efve \u6f22\u5b57 e\u0301 \U0001f469\u200d\U0001f469\u200d\U0001f467 \u05e9\u05dc\u05d5\u05dd \u00df end"
PASTE, PASTE_END = b"\x1b[200~", b"\x1b[201~"


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


for name, typed in (("1", b"1"), ("y", b"y"), ("letters and Enter", b"x\r"), ("Enter", b"\r"), ("Down", b"\x1b[B"), ("a paste", PASTE + b"1\r" + PASTE_END)):
    check(f"{name} typed on while a question appears")(impatient(typed))
