"""Prints a session of an editor with Pollux: an edit of a file with unsaved text, which the user
approves. `docs/editors.md` has the output.

    acp_transcript.py --pollux PROGRAM --client COMMAND
"""

import argparse
import difflib
import json
import shlex
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "parity"))

import acp_case
import acp_run
import normal
from scenario import PROJECT, call, chunk

FILE = f"{PROJECT}/greeting.py"
DISK = 'def greet(name):\n    return "Hello " + name\n'
UNSAVED = 'def greet(name):\n    """Greets a guest."""\n    return "Hello " + name\n'
EDIT = {
    "file_path": FILE,
    "instruction": "Use an f-string.",
    "old_string": 'return "Hello " + name',
    "new_string": 'return f"Hello {name}"',
}
SCRIPT = [
    [chunk([{"text": "I read the function first."}, call("read_file", {"file_path": FILE}, "1")], "STOP")],
    [chunk([call("replace", EDIT, "2")], "STOP")],
    [chunk([{"text": "`greet` uses an f-string now."}], "STOP")],
]
CASE = acp_case.AcpCase(
    name="transcript",
    steps=[
        acp_case.initialize(acp_case.FILES),
        acp_case.new("a"),
        acp_case.prompt("Let greet use an f-string."),
    ],
    script=SCRIPT,
    files={"greeting.py": DISK},
    buffers={FILE: UNSAVED},
    permissions=["allow_once"],
)
# Fields of an update that the transcript has, if they are there.
SHOWN = ("toolCallId", "status", "kind", "title")
WIDTH = 96


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pollux", required=True)
    parser.add_argument("--client", required=True, help="the command line of the client")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="acp-") as folder:
        client = acp_run.Client("editor", shlex.split(options.client))
        recording = acp_run.run(client, options.pollux, CASE, Path(folder, "run"))
    events = normal.text(json.dumps(recording.events), recording).replace(PROJECT, "/home/ada/guests")
    text = "\n".join(lines(json.loads(events)))
    print(text)


def lines(events):
    """Yields the lines of the transcript: `>` is sent by the editor, `<` by Pollux."""
    asked = {}
    for event in events:
        for way, message in event.items():
            sign = {"out": ">", "in": "<"}.get(way)
            if sign is None:
                continue
            if "method" in message:
                asked[way, message.get("id")] = message["method"]
                yield from shown_call(sign, message["method"], message["params"])
            else:
                method = asked[{"out": "in", "in": "out"}[way], message["id"]]
                yield from shown_answer(sign, method, message.get("result", message.get("error")))


def shown_call(sign, method, params):
    if method == "session/update":
        update = params["update"]
        kind = update["sessionUpdate"]
        content = update.get("content")
        if isinstance(content, dict):
            yield cut(f"{sign} {kind}: {content.get('text')}")
        else:
            yield cut(" ".join([sign, kind, *(f"{name}={update[name]}" for name in SHOWN if name in update)]))
            yield from diffs(update)
    elif method == "session/request_permission":
        yield f"{sign} {method}: {params['toolCall'].get('title')}"
        yield from diffs(params["toolCall"])
        for option in params["options"]:
            yield f"    [{option['optionId']}] {option['name']}"
    elif method == "session/prompt":
        yield f"{sign} {method}: {params['prompt'][0]['text']}"
    elif method.startswith("fs/"):
        yield f"{sign} {method} {params['path']}"
        yield from (f"    {line}" for line in params.get("content", "").splitlines())
    else:
        yield cut(f"{sign} {method} {json.dumps(params)}")


def shown_answer(sign, method, result):
    if method == "fs/read_text_file":
        yield f"{sign} answer"
        yield from (f"    {line}" for line in result.get("content", str(result)).splitlines())
    else:
        yield cut(f"{sign} answer {json.dumps(result)}")


def diffs(call):
    """Yields the changed lines of the diffs of a call."""
    for content in call.get("content") or []:
        if content["type"] == "diff":
            before, after = ((content.get(name) or "").splitlines() for name in ("oldText", "newText"))
            for line in list(difflib.unified_diff(before, after, lineterm="", n=1))[3:]:
                yield f"    {line}".rstrip()


def cut(line):
    return line if len(line) <= WIDTH else line[: WIDTH - 2] + " …"


if __name__ == "__main__":
    main()
