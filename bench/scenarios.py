"""The scenarios: each has a script, a project to run in, and the figures to measure.

A figure is a function from the cost of a run and its exchanges with the server to a number.
"""

import json
import shutil
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median

import goals
import sampling
from dialects import Calls, Text
from goals import COUNT_NOISE, CPU_NOISE, MEMORY_NOISE, WALL_NOISE, Figure, at_most, sooner

HELLO = Text(("hello",))
MEGABYTE = 1_000_000
TREE_FILES = 50_000
MARKER = "needle_marker"


@dataclass(frozen=True)
class Scenario:
    """One kind of run. `project` fills an empty folder, and returns the folder to run in."""

    name: str
    script: list
    figures: tuple[Figure, ...]
    project: object = None
    stream: bool = False
    # Class of the sampler that watches the program, if any.
    sampler: object = None
    only_resuming: bool = False
    # True if only programs with Gemini CLI's tools can run it.
    named_tools: bool = False
    # Sections of the settings of Gemini CLI that differ from the usual ones.
    settings: dict | None = None
    # Measures the other part of a pair, right before each run of Pollux: a function from the
    # benchmark and the program to a number, or None if that cannot be measured.
    beside: object = None


def milliseconds(seconds):
    return seconds * 1000


def first_request(cost, exchanges):
    return milliseconds(exchanges[0].head - cost.started)


def processor(cost, _exchanges):
    return milliseconds(cost.cpu)


def memory(cost, _exchanges):
    return cost.memory / MEGABYTE


def gaps(exchanges, until="head"):
    """Returns the time between each reply and the next request (its head, or its last byte) in
    ms."""
    return [
        milliseconds(getattr(after, until) - before.sent) for before, after in pairwise(exchanges)
    ]


def turn(number, until="head"):
    """Returns a function for the median of the eleven turns around a turn, in milliseconds."""
    return lambda _cost, exchanges: median(gaps(exchanges, until)[number - 5 : number + 6])


def added(value):
    """Returns a function for the time that a run takes longer than the other one of the pair."""
    return lambda cost, exchanges: (
        None if cost.beside is None else value(cost, exchanges) - cost.beside
    )


def against(value):
    """Returns a function for the ratio of a run to the other part of the pair."""
    return lambda cost, exchanges: (
        None if cost.beside is None else value(cost, exchanges) / cost.beside
    )


def first_gap(_cost, exchanges):
    return gaps(exchanges)[0]


def late_against_early(turns):
    """Returns a function for the processor time of the last third of the turns, divided by that of
    the first third: sums over many turns, because one turn takes less than a millisecond."""

    def ratio(cost, _exchanges):
        spent = [sample.cpu for sample in cost.requests]
        third = turns // 3
        return (spent[turns] - spent[turns - third]) / (spent[third] - spent[0])

    return ratio


def written_per_turn(cost, _exchanges):
    """Returns the kilobytes that a program writes in a turn, at the mean; None on a file system in
    memory, for which the kernel does not count them."""
    first, last = cost.requests[0], cost.requests[-1]
    return (last.written - first.written) / (len(cost.requests) - 1) / 1000 or None


EDIT = {
    "file_path": "a0.txt",
    "instruction": "change one line",
    "old_string": "line 7000 of the file",
    "new_string": "another line",
}


def _tool(name, arguments):
    return Calls((("tool", (name, arguments)),))


def _files(count, text):
    """Creates files with the same text. No call is repeated, because programs stop a model that
    repeats calls."""

    def project(folder):
        for number in range(count):
            (folder / f"a{number}.txt").write_text(text)
        return folder

    return project


def _hooks(count):
    """Creates a project with this many hooks, of which none matches the work."""

    def project(folder):
        hook = {"type": "command", "command": "true"}
        entries = [
            {"matcher": f"tool_{number}|write_.*", "hooks": [{**hook, "name": f"hook {number}"}]}
            for number in range(count)
        ]
        settings = folder / ".gemini" / "settings.json"
        settings.parent.mkdir(exist_ok=True)
        settings.write_text(json.dumps({"hooks": {"BeforeTool": entries}}))
        return folder

    return project


RULE = """\
[[rule]]
toolName = "run_shell_command"
commandPrefix = ["program{0} run", "program{0} test"]
decision = "allow"
priority = {0}

[[rule]]
toolName = "write_file"
argsPattern = '"file_path":"[^"]*/part{0}/'
decision = "deny"
priority = {0}
"""


def _rules_and_hooks(count):
    """The same, with as many policy files of a few rules each."""

    def project(folder):
        folder = _hooks(count)(folder)
        policies = folder / ".gemini" / "policies"
        policies.mkdir()
        for number in range(count):
            (policies / f"{number}.toml").write_text(RULE.format(number))
        return folder

    return project


def _reads(count):
    return [Calls((("read", f"a{number}.txt"),)) for number in range(count)] + [HELLO]


def _lines(number):
    """Returns 4 kB of an answer without repetitions, because programs stop a model that repeats
    text."""
    lines = range(number * 64, number * 64 + 64)
    return "".join(
        f"Line {line:05} of the answer names the number {line * 7919:09}, as new.\n"
        for line in lines
    )


def ripgrep_pair(what):
    """Returns the figures of a search that ripgrep alone makes, too."""
    return (
        Figure(
            f"{what}, ripgrep alone from start to end",
            "ms",
            lambda cost, _exchanges: cost.beside,
            alone=True,
        ),
        Figure(
            f"{what}, against ripgrep alone",
            "times",
            against(first_gap),
            at_most(1.3, CPU_NOISE),
            alone=True,
        ),
    )


def figures(quick=False):
    """Returns all figures that the benchmark yields, in the order of the page."""
    listed = [goals.VERSION]
    for scenario in scenarios(Path(), quick):
        listed.extend(scenario.figures)
    return [*listed, goals.INSTALLED, *map(goals.confinement, goals.CONFINEMENT_LEVELS)]


def scenarios(work, quick):
    """Returns all scenarios; `quick` makes the long ones shorter."""
    turns, pieces = (60, 2_000) if quick else (150, 20_000)
    late = turns - 10
    small = _files(20, "hello\n" * 10)
    twenty = _files(turns, ("x" * 79 + "\n") * 250)
    many = Text(tuple(f"word{n} " for n in range(pieces)))
    large = Text(tuple(_lines(number) for number in range(500)))
    tree = work / "tree"
    ageing = (
        Figure("turn 10 of a long session, reply to next request", "ms", turn(10)),
        Figure(f"turn {late}, reply to next request", "ms", turn(late)),
        Figure(
            f"processor time of the last {turns // 3} of {turns} turns against the first {turns // 3}",
            "times",
            late_against_early(turns),
            at_most(1.3, CPU_NOISE),
        ),
        Figure("turn 10 with writing the request", "ms", turn(10, "body")),
        Figure(f"turn {late} with writing the request", "ms", turn(late, "body")),
        Figure(
            f"request after {turns} turns with 20 kB results",
            "kB",
            lambda _c, e: e[-1].size / 1000,
            at_most(500, COUNT_NOISE),
        ),
        Figure(
            "bytes written per turn with a 20 kB result",
            "kB",
            written_per_turn,
            at_most(50, 0.1),
            alone=True,
        ),
    )
    one_shot = Scenario(
        "one-shot",
        [HELLO],
        (
            Figure(
                "exec to first request",
                "ms",
                first_request,
                sooner(WALL_NOISE, gemini=100, codex=10),
            ),
            Figure(
                "one-shot, processor time",
                "ms",
                processor,
                sooner(CPU_NOISE, gemini=100, codex=10),
            ),
            Figure("one-shot, wall time", "ms", lambda c, _e: milliseconds(c.wall)),
        ),
        small,
    )
    yield one_shot
    for what, project in (
        ("50 hooks that do not run", _hooks(50)),
        ("50 policy files and 50 hooks", _rules_and_hooks(50)),
    ):
        yield Scenario(
            f"one-shot with {what}",
            [HELLO],
            (
                Figure(f"exec to first request with {what}", "ms", first_request),
                Figure(
                    f"exec to first request, added by {what}",
                    "ms",
                    added(first_request),
                    # The difference of two times of several milliseconds.
                    at_most(3, 2 * WALL_NOISE),
                    alone=True,
                ),
            ),
            project,
            named_tools=True,
            beside=lambda bench, program: first_request(*bench.once(one_shot, program)),
        )
    yield Scenario(
        "one-shot memory",
        [HELLO],
        (Figure("one-shot, peak memory", "MB", memory, at_most(20, MEMORY_NOISE)),),
        small,
        sampler=sampling.Memory,
    )
    yield Scenario(
        "20 file reads",
        _reads(20),
        (
            Figure(
                "a turn that reads a small file",
                "ms",
                lambda _c, e: median(gaps(e, "body")),
                at_most(1.5, WALL_NOISE),
            ),
        ),
        small,
    )
    yield Scenario(
        f"{turns} turns", _reads(turns), ageing, twenty, sampler=sampling.Requests
    )
    yield Scenario(
        f"{turns} turns, memory",
        _reads(turns),
        (
            Figure(
                f"peak memory of {turns} turns with 20 kB results",
                "MB",
                memory,
                at_most(40, MEMORY_NOISE),
            ),
        ),
        twenty,
        sampler=sampling.Memory,
    )
    yield Scenario(
        "10 parallel commands",
        [Calls(tuple(("shell", "sleep 0.3" + "0" * number) for number in range(10))), HELLO],
        (Figure("10 parallel `sleep 0.3`", "ms", first_gap, at_most(330, 0.05)),),
    )
    for reply, what, limit in (
        (many, f"a reply of {pieces:,} chunks", 100),
        (large, "a 2 MB reply in 500 chunks", 60),
    ):
        for stream in (False, True):
            form = f"{what}, {'stream-json' if stream else 'text'}"
            figure = Figure(f"{form}, processor time", "ms", processor, at_most(limit, CPU_NOISE))
            yield Scenario(form, [reply], (figure,), stream=stream)
    form = "a 2 MB reply in 500 chunks, text, without the loop guard"
    yield Scenario(
        form,
        [large],
        (Figure(f"{form}, processor time", "ms", processor),),
        named_tools=True,
        settings={"model": {"disableLoopDetection": True}},
    )
    yield Scenario(
        "search",
        [Calls((("grep", MARKER),)), HELLO],
        (
            Figure(f"search {TREE_FILES:,} files, reply to next request", "ms", first_gap),
            *ripgrep_pair(f"search {TREE_FILES:,} files"),
        ),
        lambda _folder: make_tree(tree),
        beside=lambda bench, _program: bench.ripgrep("-n", MARKER, "."),
    )
    yield Scenario(
        "names",
        [_tool("glob", {"pattern": "**/*7.rs"}), HELLO],
        (
            Figure(f"find names among {TREE_FILES:,} files, reply to next request", "ms", first_gap),
            *ripgrep_pair(f"find names among {TREE_FILES:,} files"),
        ),
        lambda _folder: make_tree(tree),
        named_tools=True,
        beside=lambda bench, _program: bench.ripgrep("--files", "-g", "*7.rs", "."),
    )
    yield Scenario(
        "edit",
        [_tool("replace", EDIT), HELLO],
        (
            Figure(
                "an edit in a file of 10,000 lines, reply to next request",
                "ms",
                first_gap,
                at_most(20, WALL_NOISE),
            ),
        ),
        _files(1, "".join(f"line {number} of the file\n" for number in range(10_000))),
        named_tools=True,
    )
    yield Scenario(
        "50 reads",
        [Calls(tuple(("read", f"a{number}.txt") for number in range(50))), HELLO],
        (
            Figure(
                "50 small reads at once, reply to next request",
                "ms",
                first_gap,
                at_most(10, WALL_NOISE),
            ),
        ),
        _files(50, "hello\n" * 10),
        named_tools=True,
    )
    yield Scenario(
        "20 MB file",
        [Calls((("read", "a0.txt"),)), HELLO],
        (Figure("reading a file of 20 MB, peak memory", "MB", memory, at_most(50, MEMORY_NOISE)),),
        _files(1, ("z" * 79 + "\n") * 249_000),
        named_tools=True,
        sampler=sampling.Memory,
    )
    yield Scenario(
        "resume",
        [HELLO],
        (
            Figure(
                "resume a 100 MB session, exec to first request",
                "ms",
                first_request,
                at_most(300, WALL_NOISE),
            ),
        ),
        only_resuming=True,
    )
    yield Scenario(
        "resume, memory",
        [HELLO],
        (Figure("resume a 100 MB session, peak memory", "MB", memory, at_most(80, MEMORY_NOISE)),),
        only_resuming=True,
        sampler=sampling.Memory,
    )


def make_tree(folder):
    """Creates 50,000 files of about 1 kB in 500 folders, once. One file in a thousand has the
    marker."""
    done = folder.with_suffix(".done")
    if not done.exists():
        shutil.rmtree(folder, ignore_errors=True)
        filler = "fn some_function(argument: usize) -> usize { argument + 1 }\n" * 17
        for number in range(TREE_FILES):
            path = folder / f"d{number % 25:02}" / f"e{number // 25 % 20:02}" / f"file{number}.rs"
            if number < 500:
                path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(filler + (f"// {MARKER}\n" if number % 1000 == 7 else ""))
        done.touch()
    return folder


def session_file(home):
    """Returns the only session file of a home, after a session was recorded in it."""
    found = sorted(Path(home, ".gemini", "tmp").glob("*/chats/session-*.json*"))
    return found[-1] if found else None


def grow_session(path, size=100 * MEGABYTE):
    """Makes a recorded session one of 100 MB whose last checkpoint is small, like that of a user
    who has worked for weeks and has just compressed the conversation."""
    lines = path.read_text().splitlines()
    header = json.loads(lines[0])
    stamp = header["startTime"]

    def message(number, kind, content, **more):
        base = {"id": f"m{number}", "timestamp": stamp, "type": kind, "content": content}
        return json.dumps(base | more)

    with path.open("w") as file:
        file.write(lines[0] + "\n")
        number = 0
        while file.tell() < size:
            call, result = f"call{number}", ("y" * 79 + "\n") * 250
            response = {
                "functionResponse": {
                    "id": call,
                    "name": "read_file",
                    "response": {"output": result},
                }
            }
            calls = [
                {
                    "id": call,
                    "name": "read_file",
                    "args": {"file_path": "a.txt"},
                    "result": [response],
                    "status": "success",
                    "timestamp": stamp,
                }
            ]
            file.write(message(f"{number}u", "user", [{"text": f"question {number}"}]) + "\n")
            file.write(
                message(
                    f"{number}g",
                    "gemini",
                    "",
                    toolCalls=calls,
                    thoughts=[],
                    model="gemini-2.5-flash",
                )
                + "\n"
            )
            number += 1
        kept = [
            json.loads(message("k1", "user", [{"text": "what is left of the conversation"}])),
            json.loads(message("k2", "gemini", "an answer")),
        ]
        file.write(json.dumps({"$set": {"messages": kept, "lastUpdated": stamp}}) + "\n")
        file.write(message("k3", "user", [{"text": "one more question"}]) + "\n")
        file.write(message("k4", "gemini", "one more answer") + "\n")
