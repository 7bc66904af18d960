"""Normalisation of a recording: text that varies between runs of the same program gets a name."""

import hashlib
import json
import re
from dataclasses import dataclass

from scenario import HOME, PROJECT, ROOT

# Number of bytes above which a file is compared by its digest. Reports show its start and its end.
LARGE = 2000

# Text that varies between runs of the same program, and its replacement.
VARYING = [
    (re.compile(pattern), instead)
    for pattern, instead in [
        (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "<uuid>"),
        (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", "<time>"),
        (r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z", "<time>"),
        (r"(?<=Today's date is )\w+, \w+ \d+, \d{4}", "<date>"),
        (r"Process Group PGID: \d+", "Process Group PGID: <pid>"),
        (r"Background PIDs: [\d, ]+", "Background PIDs: <pid>"),
        (r"PID:? \d+(?!\d)", "PID: <pid>"),
        (r'"pid": ?\d+', '"pid": 0'),
        (r'"(totalLatencyMs|durationMs|totalDurationMs|duration_ms)(\\?)":\s*\d+', r'"\1\2": 0'),
        (r"_\d{13}_(\d+)", r"_<ms>_\1"),
        (r"-\d{13}-(\d+)", r"-<ms>-\1"),
        (r"question__[0-9a-f]{32}", "question__<id>"),
    ]
]

# Parts of file names that vary between runs, and their replacement.
VARYING_NAMES = [
    (re.compile(pattern), instead)
    for pattern, instead in [
        (r"session-\d{4}-\d\d-\d\dT\d\d-\d\d-", "session-<time>-"),
        (r"-[0-9a-f]{8}(?=\.jsonl$)", "-<id>"),
        (r"(?<=/background-)\d+(?=\.log$)", "<pid>"),
        (r"(?<=tmp/gemini-shell-)\w{6}(?=/)", "<random>"),
        (r"(tool-outputs/session-<uuid>/.*_)[0-9a-z]{4,8}(?=\.txt$)", r"\1<random>"),
    ]
]


@dataclass
class Outcome:
    """Normalised result of one step."""

    exit: int
    stdout: str
    stderr: str
    requests: list
    # Requests to the web.
    pages: list


def outcomes(recording):
    """Returns the normalised result of each step."""
    return [
        Outcome(
            step.exit,
            text(step.stdout, recording),
            text(step.stderr, recording),
            json.loads(text(json.dumps(step.requests, ensure_ascii=False), recording)),
            step.pages,
        )
        for step in recording.steps
    ]


def text(output, recording):
    """Returns the output with paths, ports, ids, times and process numbers replaced by names. Tasks
    are named by the order of their creation."""
    words = output.decode("utf-8", "replace") if isinstance(output, bytes) else output
    root = recording.root
    words = words.replace(f"{root}/project", PROJECT).replace(f"{root}/home", HOME)
    words = words.replace(root, ROOT)
    words = words.replace(hashlib.sha256(f"{root}/project".encode()).hexdigest(), "<project hash>")
    for step in recording.steps:
        words = words.replace(f"127.0.0.1:{step.port}", "<model>")
    for pattern, instead in VARYING:
        words = pattern.sub(instead, words)
    for number, task in enumerate(_tasks(recording), 1):
        words = words.replace(task, f"<task {number}>")
    return words


def _tasks(recording):
    if not hasattr(recording, "tasks"):
        requests = json.dumps([step.requests for step in recording.steps])
        recording.tasks = dict.fromkeys(re.findall(r"Created task ([0-9a-f]{6}):", requests))
    return recording.tasks


def name(path, recording):
    """Returns the path of a file with the parts replaced that vary between runs."""
    path = text(path, recording)
    for pattern, instead in VARYING_NAMES:
        path = pattern.sub(instead, path)
    return path


def shown(file, recording):
    """Returns a file as text: mode and content, or the target of a link."""
    if file.kind == "file":
        content = file.content
        try:
            content = text(content.decode(), recording).encode()
        except UnicodeDecodeError:
            # Bytes that are not text contain nothing that varies.
            pass
        if len(content) > LARGE:
            digest = hashlib.sha256(content).hexdigest()
            start, end = content[:LARGE // 10], content[-LARGE // 10:]
            return f"{file.mode:o} {start!r}…{end!r}, {len(content)} bytes, sha256 {digest}"
        return f"{file.mode:o} {content!r}"
    if file.kind == "link":
        return f"-> {text(file.content, recording)}"
    return "an empty folder" if file.kind == "folder" else f"{file.mode:o} neither file nor folder"
