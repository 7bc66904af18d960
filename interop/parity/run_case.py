"""Creates the home and the project of a case, runs one program through its steps, and records."""

import copy
import json
import os
import shutil
import signal
import stat
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
    # Without this setting, Pollux offers the shell tool in headless runs, too.
    "pollux": {"policy": {"headlessReads": False}},
}

# Modification time of all project files, so that the order by time is the same in each run.
LAID_OUT = 1_700_000_000


@dataclass
class Step:
    """Recording of one step, as the program left it."""

    exit: int
    stdout: bytes
    stderr: bytes
    requests: list
    # Requests to the web.
    pages: list
    # Port of the model's server.
    port: int


@dataclass
class File:
    """One file, link or empty folder. The content of a folder is None; of a link, its target."""

    kind: str
    mode: int
    content: bytes | None


@dataclass
class Recording:
    """Recording of one program's run through a case, with every file below the root."""

    root: str
    steps: list
    files: dict


def run(program, case, root):
    """Runs the program through the case in the folder `root`, and returns the recording."""
    case = placed(copy.deepcopy(case), str(root))
    lay_out(case, root)
    steps = [_run_step(program, case, step, root) for step in case.steps]
    return Recording(str(root), steps, tree(root))


def placed(value, root):
    """Returns the same value with the marker of the root replaced by its path, including keys."""
    if isinstance(value, str):
        return value.replace(ROOT, root)
    if isinstance(value, (list, tuple)):
        return type(value)(placed(item, root) for item in value)
    if isinstance(value, dict):
        return {placed(key, root): placed(item, root) for key, item in value.items()}
    if hasattr(value, "__dataclass_fields__"):
        for name in value.__dataclass_fields__:
            setattr(value, name, placed(getattr(value, name), root))
    return value


def lay_out(case, root):
    """Makes the home and the project of a case in the folder `root`, which is emptied."""
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
    web_address = {"HTTPS_PROXY": web.address, "NO_PROXY": "127.0.0.1"} if web else {}
    variables = environment(root, model.port, {**web_address, **step.env})
    stdin = step.stdin.encode() if isinstance(step.stdin, str) else step.stdin
    try:
        status, out, err = _program([program, *step.argv], root / case.folder, variables, stdin)
    finally:
        model.close()
        if web:
            web.close()
    return Step(status, out, err, model.requests, web.requests if web else [], model.port)


def environment(root, port, changes):
    """Returns the environment of a program in the folder `root`. A change to None removes a
    variable."""
    variables = {
        "PATH": os.environ["PATH"],
        "HOME": str(root / "home"),
        "TMPDIR": str(root / "tmp"),
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "NO_COLOR": "1",
        "GEMINI_API_KEY": "k",
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
        "GEMINI_CLI_NO_RELAUNCH": "true",
        "GOOGLE_GEMINI_BASE_URL": f"http://127.0.0.1:{port}",
        "POLLUX_RETRY_BASE_MS": "50",
        **changes,
    }
    return {name: value for name, value in variables.items() if value is not None}


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


def tree(folder):
    """Returns every file, link and empty folder below a folder, by path."""
    found = {}
    for place, folders, files in os.walk(folder):
        for name in files + folders:
            path = Path(place, name)
            mode = path.lstat().st_mode
            shown = str(path.relative_to(folder))
            if path.is_symlink():
                found[shown] = File("link", 0, os.readlink(path).encode())
            elif path.is_dir():
                if not os.listdir(path):
                    found[shown + "/"] = File("folder", mode & 0o777, None)
            elif stat.S_ISREG(mode):
                found[shown] = File("file", mode & 0o777, path.read_bytes())
            else:
                found[shown] = File("special", mode & 0o777, None)
    return found
