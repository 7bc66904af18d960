"""Creates the home and the project of a case, runs one program through its steps, and records."""

import copy
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

from model import Model
from scenario import HOME, LINK, PROJECT, ROOT
from web import Web

# Time in seconds after which a program counts as hanging.
PATIENCE = 90

# Settings against variation from run to run and against network access by the original.
BASE_SETTINGS = {
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "tools": {"shell": {"enableInteractiveShell": False}, "useRipgrep": False},
    "privacy": {"usageStatisticsEnabled": False},
    "general": {"enableAutoUpdate": False, "topicUpdateNarration": False},
    "ui": {"showCompatibilityWarnings": False},
    "model": {"disableLoopDetection": True},
    # Without this setting, Pollux reads AGENTS.md, too.
    "context": {"fileName": ["GEMINI.md"]},
}

# Modification time of all project files, so that the order by time is the same in each run.
LAID_OUT = 1_700_000_000


@dataclass
class Outcome:
    """Result of one step."""

    exit: int
    stdout: str
    stderr: str
    requests: list
    # Requests to the web.
    pages: list


def run(program, case, root):
    """Runs the program through the case in the folder `root`. Returns its outcomes and the
    project's files."""
    case = _placed(copy.deepcopy(case), str(root))
    _lay_out(case, root)
    outcomes = []
    for step in case.steps:
        outcomes.append(_run_step(program, case, step, root))
    return outcomes, tree(root / "project")


def _placed(value, root):
    """Returns the same value with the marker of the root replaced by its path, including keys."""
    if isinstance(value, str):
        return value.replace(ROOT, root)
    if isinstance(value, (list, tuple)):
        return type(value)(_placed(item, root) for item in value)
    if isinstance(value, dict):
        return {_placed(key, root): _placed(item, root) for key, item in value.items()}
    if hasattr(value, "__dataclass_fields__"):
        for name in value.__dataclass_fields__:
            setattr(value, name, _placed(getattr(value, name), root))
    return value


def _lay_out(case, root):
    shutil.rmtree(root, ignore_errors=True)
    project, home = root / "project", root / "home"
    for folder in (project, home / ".gemini", root / "tmp"):
        folder.mkdir(parents=True)
    settings = case.settings
    if not isinstance(settings, str):
        settings = json.dumps(_merged(BASE_SETTINGS, settings))
    _write(home, {".gemini/settings.json": settings, **case.home})
    _write(project, case.files)
    _write(root, case.beside)
    if case.git:
        environment = {"PATH": os.environ["PATH"], "HOME": str(home)}
        subprocess.run(["git", "init", "--quiet", project], check=True, env=environment)
    for folder, folders, files in os.walk(project):
        for name in folders + files:
            path = os.path.join(folder, name)
            os.utime(path, (LAID_OUT, LAID_OUT), follow_symlinks=False)


def _merged(base, changes):
    merged = dict(base)
    for key, value in changes.items():
        both = isinstance(value, dict) and isinstance(base.get(key), dict)
        merged[key] = _merged(base[key], value) if both else value
    return merged


def _write(folder, files):
    for name, content in files.items():
        path = Path(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        if content is None:
            path.mkdir(exist_ok=True)
        elif isinstance(content, bytes):
            path.write_bytes(content)
        elif content.startswith(LINK):
            path.symlink_to(content.removeprefix(LINK))
        else:
            path.write_bytes(content.encode())
            if content.startswith("#!"):
                path.chmod(0o755)


def _run_step(program, case, step, root):
    model = Model(step.script, step.asides)
    web = Web(step.web) if step.web else None
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(root / "home"),
        "TMPDIR": str(root / "tmp"),
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "NO_COLOR": "1",
        "GEMINI_API_KEY": "k",
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
        "GEMINI_CLI_NO_RELAUNCH": "true",
        "GOOGLE_GEMINI_BASE_URL": f"http://127.0.0.1:{model.port}",
        "POLLUX_RETRY_BASE_MS": "50",
        **({"HTTPS_PROXY": web.address, "NO_PROXY": "127.0.0.1"} if web else {}),
        **step.env,
    }
    environment = {name: value for name, value in environment.items() if value is not None}
    stdin = step.stdin.encode() if isinstance(step.stdin, str) else step.stdin
    try:
        status, out, err = _program([program, *step.argv], root / case.folder, environment, stdin)
    finally:
        model.close()
        if web:
            web.close()
    requests = json.dumps(model.requests, ensure_ascii=False)
    tasks = dict.fromkeys(re.findall(r"Created task ([0-9a-f]{6}):", requests))
    out, err, requests = (_normal(words, root, model, tasks) for words in (out, err, requests))
    return Outcome(status, out, err, json.loads(requests), web.requests if web else [])


def _program(argv, folder, environment, stdin):
    process = subprocess.Popen(
        argv,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        out, err = process.communicate(stdin, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        err += b"\nstill running after %d s" % PATIENCE
    return process.returncode, out, err


# Text that varies between runs of the same program, and its replacement.
VARYING = [
    (re.compile(pattern), instead)
    for pattern, instead in [
        (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "<uuid>"),
        (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", "<time>"),
        (r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z", "<time>"),
        (r"Process Group PGID: \d+", "Process Group PGID: <pid>"),
        (r"Background PIDs: [\d, ]+", "Background PIDs: <pid>"),
        (r"PID:? \d+(?!\d)", "PID: <pid>"),
        (r'"(totalLatencyMs|durationMs|totalDurationMs|duration_ms)(\\?)":\s*\d+', r'"\1\2": 0'),
        (r"_\d{13}_(\d+)", r"_<ms>_\1"),
    ]
]


def _normal(output, root, model, tasks):
    """Returns the output with paths, ports, ids, times and process numbers replaced by names. Tasks
    are named by the order of their creation."""
    words = output.decode("utf-8", "replace") if isinstance(output, bytes) else output
    words = words.replace(str(root / "project"), PROJECT).replace(str(root / "home"), HOME)
    words = words.replace(str(root), ROOT).replace(f"127.0.0.1:{model.port}", "<model>")
    for pattern, instead in VARYING:
        words = pattern.sub(instead, words)
    for number, task in enumerate(tasks, 1):
        words = words.replace(task, f"<task {number}>")
    return words


def tree(folder):
    """Returns every file below a folder, except those in .git: mode and content, or the target of a
    link, by path."""
    found = {}
    for place, folders, files in os.walk(folder):
        if place == str(folder) and ".git" in folders:
            folders.remove(".git")
        for name in files + folders:
            path = Path(place, name)
            shown = str(path.relative_to(folder))
            if path.is_symlink():
                found[shown] = f"-> {os.readlink(path)}"
            elif path.is_dir():
                if not any(path.iterdir()):
                    found[shown + "/"] = "an empty folder"
            else:
                content = path.read_bytes()
                if len(content) > 2000:
                    content = hashlib.sha256(content).hexdigest()
                found[shown] = f"{path.stat().st_mode & 0o777:o} {content!r}"
    return found
