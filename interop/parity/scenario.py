"""The definition of a case, and functions to write one: scripted calls, replies and failures.

A case is data. It has the files of a project, the command lines to run in it one after the other,
and the model's answer to each request. Paths are written with the markers below, which stand for
the folders of the run, so that both programs see the same text and reports do not depend on the
place of the run.
"""

import base64
import itertools
from dataclasses import dataclass, field

ROOT = "<root>"
PROJECT = ROOT + "/project"
HOME = ROOT + "/home"
# In the arguments of a call: the last process number that the program has printed.
LAST_PID = "<last pid>"
# In the arguments of a call: the task that the call with this id created.
TASK_OF = "<task of {}>"

FLASH = ["-m", "gemini-2.5-flash"]
YOLO = FLASH + ["--approval-mode", "yolo"]
GO = YOLO + ["-p", "go"]

# Settings with which the original searches with ripgrep, as Pollux always does.
RIPGREP = {"tools": {"useRipgrep": True}}

USAGE = {"promptTokenCount": 100, "candidatesTokenCount": 10, "totalTokenCount": 110}

# The smallest image: one pixel.
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)


class Cases:
    """The registered cases, by name."""

    def __init__(self):
        self._by_name = {}

    def add(self, case):
        if case.name in self._by_name:
            raise ValueError(f"two cases are called {case.name}")
        self._by_name[case.name] = case

    def all(self):
        """Returns every registered case, in the order of registration."""
        return list(self._by_name.values())


_cases = Cases()


@dataclass
class Step:
    """One command line and the model's answers to its requests, in order."""

    argv: list
    script: list = field(default_factory=list)
    # Answers to side calls (`generateContent`), in order.
    asides: list = field(default_factory=list)
    # Web pages by address. A step with pages reaches them through a proxy.
    web: dict = field(default_factory=dict)
    stdin: object = None
    env: dict = field(default_factory=dict)


@dataclass(kw_only=True)
class Surroundings:
    """What a program finds in its fresh home and project."""

    # Content by relative path: text, bytes, `LINK + target`, or None for an empty folder.
    files: dict = field(default_factory=dict)
    home: dict = field(default_factory=dict)
    # Files next to the project and the home.
    beside: dict = field(default_factory=dict)
    # Settings that are merged into the base settings; a text replaces the whole file.
    settings: object = field(default_factory=dict)
    git: bool = False


@dataclass
class Case(Surroundings):
    """One comparison: both programs run the steps, each in a fresh home and project."""

    name: str
    steps: list
    # Working directory of the program, relative to the root of the run.
    folder: str = "project"


LINK = "link to "


def case(name, argv=None, *, script=None, stdin=None, env=None, steps=None, asides=(), web=None, **rest):
    """Registers a case; without `steps` it has a single step, made from the first arguments."""
    if steps is None:
        answers = [text("done")] if script is None else script
        argv = GO if argv is None else argv
        steps = [Step(argv, answers, list(asides), web or {}, stdin, env or {})]
    _cases.add(Case(name, steps, **rest))


def all_cases():
    """Returns every registered case, in the order of registration."""
    return _cases.all()


def tool_case(name, tool, calls_by_id, **rest):
    """Registers a case that calls one tool repeatedly, one call per turn: arguments by id."""
    case(name, script=turns(*(call(tool, args, id) for id, args in calls_by_id.items())), **rest)


def chunk(parts, finish=None, usage=USAGE, **fields):
    """Returns one event of a streamed response."""
    candidate = {"content": {"role": "model", "parts": parts}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    event = {"candidates": [candidate], **fields}
    if usage:
        event["usageMetadata"] = usage
    return event


def text(words, finish="STOP"):
    """Returns a whole response with a single text."""
    return [chunk([{"text": words}], finish)]


_numbers = itertools.count(1)


def call(tool, args=None, id="", **fields):
    """Returns a part that calls a tool. Without `id` it gets a number; with None it has no id."""
    function = {"name": tool, "args": {} if args is None else args}
    if id is not None:
        function["id"] = id or f"c{next(_numbers)}"
    return {"functionCall": function, **fields}


def calls(*parts, say=None):
    """Returns a whole response that calls tools, after a text if there is one."""
    return [chunk(([{"text": say}] if say else []) + list(parts), "STOP")]


def turns(*parts):
    """Returns a script that makes the calls one turn after the other and then ends."""
    return [calls(part) for part in parts] + [text("done")]


@dataclass
class Failure:
    """A response that is not a stream: a status with a body."""

    status: int
    body: object
    headers: dict = field(default_factory=dict)


@dataclass
class Page:
    """A web page."""

    body: object
    kind: str | None = "text/html; charset=utf-8"
    status: int = 200
    headers: dict = field(default_factory=dict)


@dataclass
class Held:
    """A stream that goes no further after these events, until the program closes it."""

    events: list


@dataclass
class Raw:
    """A response with exactly this body."""

    body: str


def api_error(code, message, status, details=None, **headers):
    """Returns an error in the format of the Gemini API."""
    error = {"code": code, "message": message, "status": status}
    if details:
        error["details"] = details
    return Failure(code, {"error": error}, headers)
