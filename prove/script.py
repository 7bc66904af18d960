"""The script of the kill proof: turns of writes, edits and shell commands.

For every file it also has all contents that the file may ever have."""

import base64
import json
from dataclasses import dataclass

from dialects import Parts, Text

# Turns of the first run of a session, and of each later one.
TURNS, LATER_TURNS = 50, 6
FILES = 6
# Large enough that a write takes several pages, so that a write without protection would be
# interrupted in the middle.
LINES = 2_000
# Turns between two compressions, in a session that has compressions.
COMPRESSED_EVERY = 8
# Token counts that do not, and that do lead to a compression at a threshold of 0.1.
FEW_TOKENS, MANY_TOKENS = 10, 200_000


@dataclass(frozen=True)
class Step:
    """One call, and the content of its file after the call. A call without a path changes no
    file."""

    name: str
    arguments: dict
    path: str | None
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


def steps(leg=0):
    """Returns the calls of each turn of a session's nth run, from 0. Every third turn has two
    parallel calls, and one turn of the first run starts a background command. Each run has files
    of its own, because a command may outlive a killed run."""
    contents = {}
    turns = []
    for number in range(TURNS if leg == 0 else LATER_TURNS):
        turn = [_step(contents, leg, number, number % FILES)]
        if number % 3 == 2:
            turn.append(_step(contents, leg, number, (number + 1) % FILES))
        if leg == 0 and number == 3:
            turn.append(_background())
        turns.append(turn)
    return turns


def _background():
    command = "echo $$ >> $HOME/tmp/background; echo started; sleep 60"
    return Step("run_shell_command", {"command": command, "is_background": True}, None, "")


def _step(contents, leg, number, file):
    path = f"file{leg}-{file}.txt"
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


def server_script(turns, is_compressing=False):
    """Returns the same calls in the format of the scripted server, each turn with a thought and a
    text before its calls."""
    script = []
    for number, turn in enumerate(turns):
        signature = base64.b64encode(f"turn {number}".encode()).decode()
        parts = [
            {"text": f"**Turn {number}** I think about it.", "thought": True},
            {"text": f"Now turn {number}.", "thoughtSignature": signature},
            *({"functionCall": {"name": step.name, "args": step.arguments}} for step in turn),
        ]
        is_many = is_compressing and number % COMPRESSED_EVERY == COMPRESSED_EVERY - 1
        script.append(Parts(tuple(parts), MANY_TOKENS if is_many else FEW_TOKENS))
    return [*script, Text(("all done",))]
