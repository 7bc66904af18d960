"""Comparison of two runs: the places where they differ."""

import itertools
import re
from dataclasses import dataclass

import normal
import sessions
import views
from views import NOTHING

# Places that are not compared, with the reason. Each other place below the root of a run is.
VOLATILE = [
    (re.compile(place), reason)
    for place, reason in [
        (r"home/\.gemini/projects\.json(\.[0-9a-f-]{36}\.tmp|\.lock/)",
         "the original leaves them behind if it ends while it writes; time decides"),
        (r"tmp/", "the harness makes the folder; files in it are compared"),
    ]
]

# Places that are compared only if the original has sent a request. It writes them in the background
# while it starts, so that they depend on time if it ends before.
AT_START = re.compile(r"\w+/\.gemini/(projects\.json|(history|tmp)/[^/]+/(\.project_root|logs/))")


@dataclass
class Difference:
    """One difference: its place, and both values as text."""

    where: str
    original: str
    pollux: str


def differences(case, original, pollux):
    """Returns all differences between the two recordings of a case."""
    found = []
    left, right = (normal.outcomes(recording) for recording in (original, pollux))
    for number, pair in enumerate(zip(left, right, strict=True), 1):
        prefix = f"step {number}: " if len(case.steps) > 1 else ""
        found += between(*_comparable(*(views.views(outcome) for outcome in pair)), prefix)
    sent = [views.sent_results(steps) for steps in (left, right)]
    different = {id for id in sent[0].keys() | sent[1].keys() if sent[0].get(id) != sent[1].get(id)}
    chats = [sessions.views(recording, results, different)
             for recording, results in zip((original, pollux), sent)]
    started = any(outcome.requests for outcome in left)
    trees = [files(recording, started) for recording in (original, pollux)]
    return found + between(*chats, "") + between(*trees, "")


def _comparable(left, right):
    """Returns the views without details that only one side has, because each of them shows in
    another view: a request in `requests`, a result in the request that has it, a declaration in
    `tools`. The final results of calls are left out if neither side has changed them."""
    both = left.keys() & right.keys()
    skipped = {name for name in left.keys() ^ right.keys() if views.DETAIL.match(name)}
    for name in both:
        first = name.removeprefix("final ")
        if first != name and all(one.get(first) == one[name] for one in (left, right)):
            skipped.add(name)
    return [{name: one[name] for name in one if name not in skipped} for one in (left, right)]


def between(left, right, prefix):
    """Returns the differences between two sets of views."""
    names = dict.fromkeys(itertools.chain(left, right))
    pairs = ((name, left.get(name, NOTHING), right.get(name, NOTHING)) for name in names)
    return [Difference(prefix + name, one, other) for name, one, other in pairs if one != other]


def files(recording, started):
    """Returns every file as text, except the session files: `file NAME` in the project, `home NAME`,
    and `root NAME` beside them."""
    found = {}
    for path, file in sorted(recording.files.items()):
        if sessions.PLACE.fullmatch(path) or any(place.fullmatch(path) for place, _ in VOLATILE):
            continue
        if AT_START.fullmatch(path) and not started:
            continue
        name = normal.name(path, recording)
        place, _, rest = name.partition("/")
        if rest.startswith(".gemini/") and place != "project":
            place = "home"
        kind = {"project": "file", "home": "home"}.get(place)
        shown = f"{kind} {rest}" if kind and rest else f"root {name}"
        # Names that differ only in what varies are numbered.
        names = itertools.chain([shown], (f"{shown} ({number})" for number in itertools.count(2)))
        found[next(name for name in names if name not in found)] = normal.shown(file, recording)
    return found
