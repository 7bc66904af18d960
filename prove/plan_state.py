"""The files that may change in plan mode: plans, and the records that Pollux keeps of its work.

Each rule compares a file's state before and after an answer of the model, where None is a file that
does not exist. Everything that has no rule must stay unchanged."""

import json
import os
import stat
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import PurePath

# Folder of the session's project below that of the records of all projects.
OWN = ".gemini/tmp/project"


@dataclass(frozen=True)
class FileState:
    """A file's kind, mode, and content or target. A folder's content is in its files."""

    kind: str
    mode: int = 0
    content: bytes = b""


def state(path):
    """Returns the state of a file, folder or link."""
    if path.is_symlink():
        return FileState("link", 0, os.fsencode(os.readlink(path)))
    mode = path.stat().st_mode
    if path.is_dir():
        return FileState("folder", mode)
    # A pipe would never end.
    return FileState("file", mode, path.read_bytes()) if stat.S_ISREG(mode) else FileState("other", mode)


def folder(old, new, _):
    return old is None and new.kind == "folder"


def plan(old, new, _):
    """A plan, or a folder of plans, is new, changed or removed. Links stay as they are."""
    return all(one is None or one.kind in ("file", "folder") for one in (old, new))


def growing(old, new, _):
    """A log is new, or got complete records at its end."""
    before = old.content if old else b""
    if not new or new.kind != "file" or (old and old.mode != new.mode) or not new.content.startswith(before):
        return False
    return all(is_json(line) for line in new.content[len(before) :].split(b"\n")[:-1] if line)


def growing_list(old, new, _):
    """A JSON list is new, or got more items at its end."""
    before, after = (json.loads(one.content) if one and is_json(one.content) else [] for one in (old, new))
    return bool(new) and is_json(new.content) and after[: len(before)] == before


def created(old, new, _):
    return old is None and new.kind in ("file", "folder")


def names_the_project(old, new, project):
    return old is None and new.content.decode(errors="replace").strip() == str(project)


def registers_the_project(old, new, project):
    if old is not None or not is_json(new.content):
        return False
    return list(json.loads(new.content).get("projects", {})) == [str(project)]


def ledger(_, new, __):
    return new is not None and new.kind == "file" and is_json(new.content)


def temporary(_, new, __):
    return new is None or new.kind in ("file", "folder")


# The first pattern that matches a path below the home decides.
RULES = (
    (".gemini/tmp", folder),
    (OWN, folder),
    (f"{OWN}/.project_root", names_the_project),
    (f"{OWN}/chats", folder),
    (f"{OWN}/chats/session-*.jsonl", growing),
    (f"{OWN}/logs.json", growing_list),
    (f"{OWN}/logs.json.lock", temporary),
    (f"{OWN}/tool-outputs", folder),
    (f"{OWN}/tool-outputs/*", created),
    (".gemini/history", folder),
    (".gemini/history/project", folder),
    (".gemini/history/project/.project_root", names_the_project),
    (".gemini/pollux", folder),
    (".gemini/pollux/spending.json", ledger),
    # A new version of a record, before it replaces the old one.
    (".gemini/.pollux-*.tmp", temporary),
    (".gemini/pollux/.pollux-*.tmp", temporary),
    (f"{OWN}/.pollux-*.tmp", temporary),
    (".gemini/projects.json", registers_the_project),
)


def may_change(name, old, new, plans, project):
    """Returns true if a file may have these two states before and after an answer of the model.
    `name` and `plans` are paths below the home."""
    path = PurePath(name)
    if path in (plans, plans.parent):
        return folder(old, new, project)
    if path.is_relative_to(plans):
        is_folder = "folder" in [one.kind for one in (old, new) if one]
        return (is_folder or path.suffix.lower() == ".md") and plan(old, new, project)
    rule = next((rule for pattern, rule in RULES if fnmatch(name, pattern)), None)
    return bool(rule and rule(old, new, project))


def is_json(content):
    try:
        json.loads(content)
    except ValueError:
        return False
    return True
