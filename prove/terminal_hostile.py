"""Checks of hostile text: no escape sequence of a model, a tool or a file reaches the terminal, and
what is to be approved shows what could not be seen."""

import json
import re
import time

import terminal_bytes
from dialects import Parts, Text
from at_terminal import Missing
from terminal_world import DONE, QUESTION, call, check, done, shell

# Each sequence has the mark of `terminal_bytes`, or is one that Pollux never prints.
SEQUENCES = (
    "\x1b[2J", "\x1b[3J", "\x1b[H", "\x1bc", "\x1b]0;7331\x07", "\x1b]52;c;7331\x07", "\x1b[7331m", "\x1b[73;31H",
    "\x1b]8;;http://x\x1b\\", "\x9b31m", "\x9d0;7331\x9c", "\x1bP7331\x1b\\", "\x1b_7331\x1b\\", "\x08\x7f\x00\x0e",
    "\x1b[?1049h", "\x1b[?1003h", "\x1b[6n", "\x1b[21t", "\u202e\u2066", "\x1b", "\r", "\x1b[1;5r",
)
HOSTILE = "begin " + "".join(f"{number} {text}" for number, text in enumerate(SEQUENCES)) + " end-of-it"
# A file name has no line ends and no slashes.
NAME = re.sub(r"[\x00/\r\n]", "", HOSTILE)[:120] + ".txt"
# A file of TOML does not have the byte 0x7f.
COMMAND = "description = " + json.dumps(HOSTILE).replace("\x7f", "") + '\nprompt = "y"\n'
INVISIBLE = ("\u200b", "\u202e", "\u2066", "\u2060", "\u00ad", "\ufeff", "\U000e0041")
# Alternate screen and mouse, which Pollux may use itself, but not in these conversations.
NEVER = (b"\x1b[?1049h", b"\x1b[?1003h", b"\x1b[6n", b"\x1b[21t", b"\x1b[H")


def raw_hostility(output, mode="screen"):
    problems = terminal_bytes.problems(output, mode)
    return problems + [f"raw: {text!r}" for text in NEVER if text in bytes(output)]


def shows(name, script, wanted="end-of-it", keys=("go",), **more):
    """Adds a check: a conversation shows the end of a hostile text, and nothing of it acts."""
    def run(world):
        with world.talk(script, **more) as talk:
            terminal = talk.terminal
            for key in keys:
                terminal.line(key) if not key.startswith("\x00") else terminal.send(key[1:])
                time.sleep(0.1)
            try:
                terminal.wait_for(wanted, seconds=8)
            except Missing as missing:
                return [str(missing)[:300]]
            terminal.quiet(0.2)
            return raw_hostility(terminal.output, more.get("mode", "screen"))
    check(f"escape sequences in {name}")(run)


def thought(text):
    return Parts(({"text": text, "thought": True}, {"text": DONE}))


PIECES = tuple(HOSTILE[at:at + 3] for at in range(0, len(HOSTILE), 3))
for mode in ("screen", "line"):
    shows(f"an answer, mode {mode}", [Text(PIECES)], mode=mode)
    shows(f"a heading, a table, a link and code of an answer, mode {mode}", [
        Text((f"# {HOSTILE}\n\n| a | b |\n|---|---|\n| {HOSTILE} | c |\n\n[{HOSTILE}](http://a/{HOSTILE})\n\n```py\n{HOSTILE}\n```\n{DONE}",))
    ], wanted=DONE, mode=mode)
    shows(f"a thought, mode {mode}", [thought(f"**{HOSTILE}** {HOSTILE}")], wanted=DONE, mode=mode)
    shows(
        f"the output of a command, mode {mode}",
        [shell("cat hostile.txt; sleep 0.5; echo over"), done()],
        wanted=DONE, arguments=["--yolo"], files={"hostile.txt": HOSTILE + "\n"}, mode=mode,
    )
    shows(
        f"file names, mode {mode}", [call("list_directory", {"dir_path": "."}), call("glob", {"pattern": "*"}), done()],
        wanted=DONE, files={NAME: "x"}, mode=mode,
    )
    shows(
        f"a question about a command, mode {mode}", [shell(f"touch '{HOSTILE}'".replace("\x00", "")), done()],
        wanted="Allow execution", mode=mode, size=(60, 100),
    )
    shows(
        f"a question about a change, mode {mode}",
        [call("write_file", {"file_path": NAME, "content": HOSTILE + "\n"}), done()],
        wanted="Apply this change?", mode=mode, size=(60, 100),
    )
    shows(f"the name of a tool, mode {mode}", [call(HOSTILE[:60], {"x": HOSTILE}), done()], wanted=DONE, mode=mode)
    shows(
        f"the description of a command, mode {mode}", [done()], wanted="/x ", mode=mode, keys=("/help",),
        size=(200, 200),
        files={"../.gemini/commands/x.toml": COMMAND},
    )
shows("the completion of a path", [done()], wanted="see @beg", keys=("\x00see @beg", "\x00\t"), files={NAME: "x", NAME.replace("begin", "begun"): "x"})


@check("the folder of the project has an escape sequence in its name")
def hostile_folder(world):
    inside = 'mkdir -p "$1" && cd "$1" && shift && exec "$0" "$@"'
    with world.talk([done()], command=lambda words: ["sh", "-c", inside, words[0], NAME, *words[1:]]) as talk:
        talk.terminal.line("go")
        talk.terminal.wait_for(DONE)
        return raw_hostility(talk.terminal.output)


def visible(name, script, wanted, **more):
    def run(world):
        with world.talk(script, size=(60, 100), **more) as talk:
            terminal = talk.terminal
            terminal.line("go")
            terminal.wait_for(wanted)
            terminal.quiet(0.2)
            text = terminal.output.decode(errors="replace")
            shown = [letter for letter in INVISIBLE if f"\\u{{{ord(letter):x}}}" in text]
            problems = [f"not visible: U+{ord(letter):04X}" for letter in INVISIBLE if letter not in shown]
            problems += [f"raw: U+{ord(letter):04X}" for letter in INVISIBLE if letter in text]
            return problems + terminal_bytes.problems(terminal.output, more["mode"])
    check(f"invisible characters in {name}")(run)


WORDS = "".join(f"a{letter}b" for letter in INVISIBLE)
for mode in ("screen", "line"):
    visible(f"a command that is to be approved, mode {mode}", [shell(f"touch {WORDS}")], QUESTION, mode=mode)
    visible(
        f"a change that is to be approved, mode {mode}",
        [call("write_file", {"file_path": "new.txt", "content": f"{WORDS}\n"})], "Apply this change?", mode=mode,
    )
    visible(
        f"a path that is to be approved, mode {mode}",
        [call("write_file", {"file_path": f"{WORDS}.txt", "content": "x\n"})], "Apply this change?", mode=mode,
    )
