"""What a case is, and the words to write one: scripted calls, replies and failures.

A case is data. It names the files of a project, the command lines to run in it one after the other,
and what the model answers to each request. Paths are written with the markers below, which stand for
the folders of the run, so that both programs see the same text and reports do not depend on where
they ran.
"""

import base64
import itertools
from dataclasses import dataclass, field

ROOT = "<root>"
PROJECT = ROOT + "/project"
HOME = ROOT + "/home"
# In the arguments of a call: the number of the last process that the program told of.
LAST_PID = "<last pid>"
# The same for the task that the call with this id made.
TASK_OF = "<task of {}>"

FLASH = ["-m", "gemini-2.5-flash"]
YOLO = FLASH + ["--approval-mode", "yolo"]
GO = YOLO + ["-p", "go"]

USAGE = {"promptTokenCount": 100, "candidatesTokenCount": 10, "totalTokenCount": 110}

# The smallest picture: one pixel.
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)

_cases = {}


@dataclass
class Step:
    """One command line and what the model answers to its requests, in order."""

    argv: list
    script: list = field(default_factory=list)
    # What it answers to requests beside the conversation (`generateContent`), in order.
    asides: list = field(default_factory=list)
    # The web: address to page. A step that has one reaches it through a proxy.
    web: dict = field(default_factory=dict)
    stdin: object = None
    env: dict = field(default_factory=dict)


@dataclass
class Case:
    """One comparison: both programs do the steps, each in a fresh home and project."""

    name: str
    steps: list
    # Relative path to text, bytes, `LINK + target` or None for an empty folder.
    files: dict = field(default_factory=dict)
    home: dict = field(default_factory=dict)
    # Files beside the project and the home.
    beside: dict = field(default_factory=dict)
    # Merged into the base settings; a text replaces the whole file.
    settings: object = field(default_factory=dict)
    git: bool = False
    # Where the program starts, relative to the root of the run.
    folder: str = "project"
    # Further views of the requests: request, parts, context, tools, declarations, sources (what a model beside the conversation is given
    # to read), pages (what was asked of the web), final results (what the last request says of the calls).
    views: tuple = ()


LINK = "link to "


def case(name, argv=None, *, script=None, stdin=None, env=None, steps=None, asides=(), web=None, **rest):
    """Registers a case; without `steps` it has the one that the first arguments describe."""
    if name in _cases:
        raise ValueError(f"two cases are called {name}")
    if steps is None:
        answers = [text("done")] if script is None else script
        argv = GO if argv is None else argv
        steps = [Step(argv, answers, list(asides), web or {}, stdin, env or {})]
    _cases[name] = Case(name, steps, **rest)


def all_cases():
    """Every registered case, in the order of registration."""
    return list(_cases.values())


def tool_case(name, tool, calls_by_id, **rest):
    """A case that calls one tool again and again, one call a turn: id to arguments."""
    case(name, script=turns(*(call(tool, args, id) for id, args in calls_by_id.items())), **rest)


def chunk(parts, finish=None, usage=USAGE, **fields):
    """One event of a streamed response."""
    candidate = {"content": {"role": "model", "parts": parts}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    event = {"candidates": [candidate], **fields}
    if usage:
        event["usageMetadata"] = usage
    return event


def text(words, finish="STOP"):
    """A whole response that is one text."""
    return [chunk([{"text": words}], finish)]


_numbers = itertools.count(1)


def call(tool, args=None, id="", **fields):
    """A part that calls a tool. Without `id` it gets a number; with None it has no id at all."""
    function = {"name": tool, "args": {} if args is None else args}
    if id is not None:
        function["id"] = id or f"c{next(_numbers)}"
    return {"functionCall": function, **fields}


def calls(*parts, say=None):
    """A whole response that calls tools, after some words if there are any."""
    return [chunk(([{"text": say}] if say else []) + list(parts), "STOP")]


def turns(*parts):
    """A script that makes the calls one turn after the other and then ends."""
    return [calls(part) for part in parts] + [text("done")]


@dataclass
class Failure:
    """A response that is no stream: a status with a body."""

    status: int
    body: object
    headers: dict = field(default_factory=dict)


@dataclass
class Page:
    """A page of the web."""

    body: object
    kind: str | None = "text/html; charset=utf-8"
    status: int = 200
    headers: dict = field(default_factory=dict)


@dataclass
class Raw:
    """A response whose body is these very bytes."""

    body: str


def api_error(code, message, status, details=None, **headers):
    """An error as the Gemini API words it."""
    error = {"code": code, "message": message, "status": status}
    if details:
        error["details"] = details
    return Failure(code, {"error": error}, headers)
