"""The script of the kill proof: fifty turns of writes, edits and shell commands.

For every file it also has all contents that the file may ever have."""

import json
from dataclasses import dataclass

from dialects import Calls, Text

TURNS = 50
FILES = 6
# Large enough that a write takes several pages, so that a write without protection would be
# interrupted in the middle.
LINES = 2_000


@dataclass(frozen=True)
class Step:
    """One call, and the content of its file after the call."""

    name: str
    arguments: dict
    path: str
    content: str

    def key(self):
        """Returns the key of the call in the log and in a request, where its id differs."""
        return key(self.name, self.arguments)


def key(name, arguments):
    """Returns a call's name and arguments as one text."""
    return name + json.dumps(arguments, sort_keys=True)


def text(path, version):
    """Returns one version of a whole file, which differs from any mixture of two versions."""
    line = f"{path} version {version}\n"
    return line + f"{path} filler {version % 7}\n" * LINES + "the end\n"


def steps():
    """Returns the calls of each turn. Every third turn has two parallel calls."""
    contents = {}
    turns = []
    for number in range(TURNS):
        turn = [_step(contents, number, number % FILES)]
        if number % 3 == 2:
            turn.append(_step(contents, number, (number + 1) % FILES))
        turns.append(turn)
    return turns


def _step(contents, number, file):
    path = f"file{file}.txt"
    old = contents.get(path)
    kind = (number + file) % 3
    if kind == 0 and old is not None:
        first, rest = old.split("\n", 1)
        changed = f"{path} version {number} by an edit"
        content = f"{changed}\n{rest}"
        arguments = {
            "file_path": path,
            "instruction": "Raise the version.",
            "old_string": f"{first}\n",
            "new_string": f"{changed}\n",
        }
        step = Step("replace", arguments, path, content)
    elif kind == 1:
        content = "".join(
            f"{path} by a command in turn {number}: {line}\n" for line in range(1, 501)
        )
        # The command replaces its file atomically, because the proof tests Pollux, not the shell.
        command = (
            f"next=$HOME/tmp/{path}.$$; for line in $(seq 1 500); do "
            f'echo "{path} by a command in turn {number}: $line"; done > $next && mv $next {path}'
        )
        step = Step("run_shell_command", {"command": command}, path, content)
    else:
        content = text(path, number)
        step = Step("write_file", {"file_path": path, "content": content}, path, content)
    contents[path] = step.content
    return step


def server_script(turns):
    """Returns the same calls in the format of the scripted server."""
    calls = [Calls(tuple(("tool", (step.name, step.arguments)) for step in turn)) for turn in turns]
    return [*calls, Text(("all done",))]
