"""What a program may send to a terminal, and what it must have undone at its end."""

import re

# Escape sequences, and control characters outside of them.
SEQUENCES = re.compile(
    rb"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[ -/]*[0-~]|[\x00-\x1f\x7f]|\xc2[\x80-\x9f]"
)
# Line ends, styles, movement inside of the live rows, changes of rows, modes, and queries.
ALLOWED = re.compile(
    rb"\r|\n|\x1b\[[0-9;:]*m|\x1b\[\d*[ABCDGKLM]|\x1b\[0?J"
    rb"|\x1b\[H|\x1b\[\?(?:25|1004|1047|1049|2004|2026|2027|2031)[hl]|\x1b\[[<>=][\d;]*u|\x1b\[>4(?:;\d)?m"
    # The end of reports of the mouse, which a killed program may have switched on.
    rb"|\x1b\[\?100[06]l"
    rb"|\x1b\[\?4m|\x1b\[\??[\d;]*[ncu]|\x1b\[>[\d;]*q|\x1b\[\d* q|\x1b\[22;[012]t|\x1b\[23;[012]t"
    rb"|\x1b\](?:0|2|8|9|10|11|52|133|777);[^\x07\x1b]*(?:\x07|\x1b\\)|\x07"
)
CLEARS = re.compile(rb"\x1b\[[23]J|\x1bc")
# Characters that change the direction of writing.
DIRECTIONS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
# A number in all hostile sequences, so that they differ from those of the program.
MARK = b"7331"
MODE = re.compile(rb"\x1b\[\?([\d;]+)([hl])")
SYNCHRONISED = b"2026"
# The whole screen, and the mode by which a start ends it without a move of the cursor.
FULL_SCREEN, FULL_SCREEN_END = b"1049", b"1047"
CURSOR = b"25"


def problems(output, mode="screen"):
    """Returns what is wrong with the whole output of a program. Line mode moves back by backspaces."""
    found = []
    output = bytes(output)
    if clear := CLEARS.search(output):
        found.append(f"a full clear: {clear[0]!r}")
    for sequence in {match[0] for match in SEQUENCES.finditer(output)}:
        if CLEARS.fullmatch(sequence) or mode == "line" and sequence == b"\b":
            continue
        is_link = sequence.startswith(b"\x1b]8;")
        if not ALLOWED.fullmatch(sequence) or MARK in sequence and not is_link:
            found.append(f"a foreign sequence: {sequence[:40]!r}")
    text = output.decode(errors="replace")
    if direction := DIRECTIONS.search(text):
        found.append(f"a change of the direction of writing: {direction[0]!a}")
    return found


def left_on(output):
    """Returns the modes that the output has switched on and not off again."""
    on = {}
    output = bytes(output)
    for names, what in MODE.findall(output):
        for name in names.split(b";"):
            # The cursor is on at the start.
            name = FULL_SCREEN if name == FULL_SCREEN_END else name
            on[name] = (what == b"l") if name == CURSOR else (what == b"h")
    found = [name.decode() for name, is_on in on.items() if is_on]
    if output.rfind(b"\x1b[>1u") > output.rfind(b"\x1b[<") and b"\x1b[>1u" in output:
        found.append("keyboard protocol")
    if re.search(rb"\x1b\[>4;[12]m(?!.*\x1b\[>4(;0)?m)", output, re.DOTALL):
        found.append("modifyOtherKeys")
    styles = re.findall(rb"\x1b\[([\d;:]*)m", output)
    if styles and styles[-1] not in (b"", b"0", b"39", b"22", b"39;49"):
        found.append(f"style {styles[-1].decode()}")
    return found
