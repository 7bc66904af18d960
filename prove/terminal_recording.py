"""Records a conversation in tmux as text, for `docs/screen-session.md`:

    python3 -B prove/terminal_recording.py --binary POLLUX
"""

import needs

import argparse
import random
import re
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "bench"))

from dialects import Text
from emulators import Tmux
from terminal_world import BUSY, QUESTION, READY, World, call, shell

PAGE = HERE.parent / "docs" / "screen-session.md"
HEAD = """# A conversation on the screen

These are the screens of one conversation with a scripted model, in tmux with 80 columns and 30 rows,
as text. [screen.md](screen.md) describes what they show. `prove/terminal_recording.py` writes this
page.
"""
FILES = {
    "prices.csv": "item,price\nTea,3.50\nCoffee,12.00\n",
    "greet.py": 'def greet(name):\n    msg = "Hello, " + name\n    print(msg)\n    return msg\n',
}
TABLE = """The file has **two** prices:

| Item | Price | Note |
|---|---:|---|
| Tea | 3.50 | loose leaf |
| Coffee | 12.00 | whole beans |

```python
def total(prices):
    return sum(prices)  # 15.50
```
"""
STORY = "".join(f"{number}. The terminal was calm on day {number}.\n" for number in range(1, 200))
EDIT = {
    "file_path": "greet.py",
    "instruction": "Greet politely.",
    "old_string": '    msg = "Hello, " + name\n    print(msg)\n',
    "new_string": '    msg = f"Good day, {name}!"\n    print(msg, flush=True)\n',
}
SCRIPT = [
    Text(tuple(TABLE[at:at + 6] for at in range(0, len(TABLE), 6)), pace=0.02),
    call("replace", EDIT),
    Text(("The greeting is polite now.",)),
    shell("rm -rf build && make"),
    Text(tuple(STORY[at:at + 20] for at in range(0, len(STORY), 20)), pace=0.03),
    Text(("Both notes are taken.",)),
    Text(("Welcome back.",)),
]


class Recording:
    """The frames of a conversation."""

    def __init__(self, terminal):
        self.terminal, self.frames = terminal, []

    def take(self, title):
        """Takes the screen once it has stopped to change."""
        before = None
        for _ in range(20):
            rows = self.terminal.screen()
            if rows == before:
                break
            before = rows
            time.sleep(0.1)
        text = "\n".join(rows).strip("\n")
        text = re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "00000000-0000-0000-0000-000000000000", text)
        text = re.sub(r"20\d\d-\d\d-\d\d(\s+)\d\d:\d\d", r"2026-01-01\g<1>12:00", text)
        self.frames.append(f"## {title}\n\n````text\n{text}\n````\n")

    def see(self, text):
        self.terminal.wait_for(text)

    def rest(self):
        """Waits for the end of the work."""
        def is_idle():
            text = "\n".join(self.terminal.screen())
            return READY in text and BUSY not in text

        self.terminal.wait(is_idle, "the end of the work", 30)


def play(record):
    """Plays the conversation."""
    terminal = record.terminal
    record.take("Start")
    terminal.send("show me @pri")
    time.sleep(0.1)
    terminal.send(b"\t")
    record.see("@prices.csv")
    record.take("A file is named")
    terminal.enter()
    record.see("def total")
    record.take("An answer streams")
    record.rest()
    record.take("The answer is complete")
    terminal.line("greet politely")
    record.see("Apply this change?")
    time.sleep(0.7)
    record.take("A change waits for an approval")
    terminal.send("1")
    record.see("polite now")
    record.rest()
    record.take("The change is made")
    terminal.line("build it")
    record.see(QUESTION)
    time.sleep(0.7)
    record.take("A command waits for an approval")
    terminal.send(b"\x1b")
    record.rest()
    record.take("The command was denied")
    terminal.line("tell me a story")
    record.see("on day 9")
    terminal.line("a first note")
    terminal.line("a second note")
    record.see("a second note")
    record.take("Two prompts wait while an answer streams")
    terminal.send(b"\x1b")
    record.see("Request cancelled.")
    record.take("Esc stops the answer, and the prompts come back")
    terminal.enter()
    record.see("Both notes are taken.")
    record.rest()
    terminal.line("/model gemini-2.5-pro")
    record.see("gemini-2.5-pro")
    record.rest()
    record.take("Another model")
    terminal.line("/theme")
    record.see("Select Theme")
    terminal.quiet()
    terminal.send("dracula")
    terminal.quiet()
    record.take("The choice of a theme")
    terminal.enter()
    record.rest()
    record.take("The theme is changed")
    terminal.line("/clear")
    terminal.quiet()
    record.take("A new session")
    terminal.line("/resume")
    terminal.quiet()
    record.take("The choice of an earlier session")
    terminal.send("1")
    terminal.quiet()
    record.rest()
    record.take("The earlier session continues")
    terminal.line("/quit")
    record.see("code 0")
    record.take("The end")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=Path, required=True, help="the pollux to record")
    options = parser.parse_args()
    needs.programs("recording", "tmux")
    with tempfile.TemporaryDirectory(prefix="pollux-recording-") as work:
        world = World(options.binary.resolve(), Path(work), random.Random(1))
        with world.talk(SCRIPT, at=Tmux, size=(30, 80), files=FILES) as talk:
            record = Recording(talk.terminal)
            play(record)
    PAGE.write_text("\n".join([HEAD, *record.frames]))


if __name__ == "__main__":
    main()
