"""Lets the model try to write in plan mode by every way that there is, and looks at the files. Started by
`cargo xtask prove plan`. Python 3.11, standard library only; Linux.

After each answer of the model:

- every file of the project, of the folder beside it and of the home is what it was, byte for byte; only the
  folder for plans and Pollux's own records may change;
- and a plan can still be written, or the mode would hold by refusing everything.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "bench"))

import plan_attempts
from dialects import Calls, Text
from scripted_server import ScriptedServer

SESSION = "plan-proof"
# Answers of one run.
TURNS = 60
LIMIT = 120
# What Pollux keeps for itself, below the home: sessions, plans and the like, and the list of projects.
RECORDS = (".gemini/tmp", ".gemini/history", ".gemini/pollux", ".gemini/projects.json")

FILES = {
    "project/a.txt": "alpha\n",
    "project/notes.md": "notes\n",
    "project/src/main.rs": "// alpha\n",
    "project/plans/kept.md": "alpha\n",
    "project/.gemini/settings.json": "{}\n",
    "beside/b.txt": "alpha\n",
    ".bashrc": "# alpha\n",
    ".gemini/GEMINI.md": "alpha\n",
}

# Ways to be in plan mode: what is set, the arguments, and turns before it.
# A model whose every call is refused is taken for one that goes round in circles.
DEFAULTS = {"tools": {"shell": {"enableInteractiveShell": False}}, "model": {"disableLoopDetection": True}}
WAYS = {
    "--approval-mode plan": ({}, ("--approval-mode", "plan"), []),
    "the setting": ({"general": {"defaultApprovalMode": "plan"}}, (), []),
    "a folder of one's own for plans": ({"general": {"plan": {"directory": "plans"}}}, ("--approval-mode", "plan"), []),
    "enter_plan_mode in yolo": ({}, ("--yolo",), [[("enter_plan_mode", {"reason": "to think"})]]),
    "enter_plan_mode in auto_edit": ({}, ("--approval-mode", "auto_edit"), [[("enter_plan_mode", {"reason": "to think"})]]),
}


class Stage:
    """A home with a project in it."""

    def __init__(self, place, settings):
        self.place, self.project, self.settings = place, place / "project", settings
        self.own_plans = settings.get("general", {}).get("plan", {}).get("directory")
        (place / "tmp").mkdir(parents=True)
        for name, content in FILES.items():
            path = place / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
        for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"]):
            subprocess.run([*git, *words], cwd=self.project, check=True, env={**os.environ, "HOME": str(place)})
        (place / ".gemini/settings.json").write_text(json.dumps(DEFAULTS | settings))

    def plans(self):
        """Where this session writes its plans."""
        if self.own_plans:
            return self.project / self.own_plans
        folders = list((self.place / ".gemini/tmp").glob("*/*"))
        owner = [folder.parent for folder in folders if folder.name in ("chats", "logs", SESSION)]
        return (owner[0] if owner else self.place / ".gemini/tmp/project") / SESSION / "plans"

    def plant(self):
        """Links in the folder for plans that lead out of it."""
        plans = self.plans()
        plans.mkdir(parents=True, exist_ok=True)
        for name, target in {
            "link.md": self.project / "notes.md",
            "LINK.md": self.project / "notes.md",
            "folder": self.project,
            "up.md": self.project / "src",
            "chain": plans / "folder",
            "gone.md": self.project / "new.md",
        }.items():
            if not (plans / name).is_symlink():
                (plans / name).symlink_to(target)

    def tree(self):
        """Every file that must stay: its kind, mode and content."""
        found = {}
        for place, folders, files in os.walk(self.place):
            folders[:] = [name for name in folders if not self.may_change(Path(place, name))]
            for name in files + folders:
                path = Path(place, name)
                if not self.may_change(path):
                    found[str(path.relative_to(self.place))] = fingerprint(path)
        return found

    def may_change(self, path):
        shown = str(path.relative_to(self.place))
        is_plans = self.own_plans and path == self.project / self.own_plans
        return bool(is_plans) or shown in ("tmp", "errors") or shown in RECORDS

    def filled(self, turns):
        """The calls with the places of this home."""
        places = {
            plan_attempts.PROJECT: str(self.project),
            plan_attempts.PLANS: str(self.plans()),
            plan_attempts.BESIDE: str(self.place / "beside"),
            plan_attempts.HOME: str(self.place),
        }
        words = json.dumps(turns)
        for marker, place in places.items():
            words = words.replace(marker, place)
        return json.loads(words)


def fingerprint(path):
    if path.is_symlink():
        return f"-> {os.readlink(path)}"
    mode = f"{path.stat().st_mode:o}"
    return mode if path.is_dir() else f"{mode} {hashlib.sha256(path.read_bytes()).hexdigest()}"


def run(binary, stage, arguments, turns):
    """Lets the model answer with these turns; what changed after which of them, and what it was told."""
    before, changes = stage.tree(), []
    filled = stage.filled(turns)

    def look(number):
        nonlocal before
        now = stage.tree()
        if changed := [name for name in now.keys() | before.keys() if now.get(name) != before.get(name)]:
            calls = turns[number - 1] if 0 < number <= len(turns) else "the start"
            changes.append(f"{', '.join(sorted(changed))} after {shown(calls)}")
        before = now

    script = [Calls(tuple(("tool", tuple(call)) for call in turn)) for turn in filled]
    with ScriptedServer([*script, Text(("done",))], keep_requests=True, on_request=look) as server:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(stage.place),
            "TMPDIR": str(stage.place / "tmp"),
            "NO_COLOR": "1",
            "GEMINI_API_KEY": "none",
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "GOOGLE_GEMINI_BASE_URL": f"http://127.0.0.1:{server.port}",
        }
        command = [binary, "--model", "gemini-2.5-flash", *arguments, "--prompt", "go"]
        ended = subprocess.run(command, cwd=stage.project, env=environment, stdin=subprocess.DEVNULL,
                               capture_output=True, timeout=LIMIT, check=False)
        requests = [json.loads(exchange.request) for exchange in server.exchanges]
    if ended.returncode != 0 or len(requests) != len(turns) + 1:
        errors = (ended.stdout + ended.stderr).decode(errors="replace")[-400:]
        raise SystemExit(f"plan: exit code {ended.returncode} after {len(requests)} of {len(turns)} answers: {errors}")
    look(len(turns) + 1)
    return changes, told(requests[-1]["contents"])


def told(contents):
    """What the model was told of each call, in order."""
    return [str(part["functionResponse"]["response"]) for content in contents
            for part in content["parts"] if "functionResponse" in part]


def shown(calls):
    return calls if isinstance(calls, str) else "; ".join(f"{name} {json.dumps(arguments)[:120]}" for name, arguments in calls)


def can_plan(binary, stage, arguments, before):
    """Writes a plan, which must be allowed, and plants the links beside it."""
    turns = [*before, [("write_file", plan_attempts.write("plan.md"))], [("read_file", {"file_path": "a.txt"})]]
    changes, answers = run(binary, stage, (*arguments, "--session-id", SESSION), turns)
    written = list(stage.plans().glob("plan.md"))
    problems = [f"before anything was tried: {change}" for change in changes]
    if not written:
        problems.append(f"no plan can be written in {stage.plans()}: {answers[-2][:200]}")
    if "alpha" not in answers[-1]:
        problems.append(f"nothing can be read: {answers[-1][:200]}")
    stage.plant()
    return problems


def try_way(binary, place, name, sample):
    """Everything that is tried in one way of being in plan mode: how many calls, and what went wrong."""
    settings, arguments, before = WAYS[name]
    stage = Stage(place / "home", settings)
    problems = can_plan(binary, stage, arguments, before)
    resumed = (*arguments, "--resume", SESSION)
    every = plan_attempts.attempts()
    chosen = every if not sample else [every[int(at * len(every) / sample)] for at in range(min(sample, len(every)))]
    count = sum(len(turn) for turn in chosen)
    for at in range(0, len(chosen), TURNS):
        changes, _ = run(binary, stage, resumed, [*before, *chosen[at : at + TURNS]])
        problems += changes
    ways_out = plan_attempts.leaving()
    for number, turns in enumerate(ways_out if not sample else ways_out[-5:-3]):
        fresh = Stage(place / f"leaving-{number}", settings)
        changes, _ = run(binary, fresh, (*arguments, "--session-id", SESSION), [*before, *turns])
        problems += changes
        count += sum(len(turn) for turn in turns)
    return count, problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=Path, required=True, help="the pollux to try")
    parser.add_argument("--sample", type=int, default=0, metavar="N", help="only about N answers in each way")
    parser.add_argument("--only", default="", help="ways whose names have this in them")
    options = parser.parse_args()
    if sys.platform != "linux":
        raise SystemExit("plan: this proof needs Linux")
    place = Path(tempfile.mkdtemp(prefix="pollux-plan-"))
    total, wrong = 0, 0
    for number, name in enumerate(name for name in WAYS if options.only in name):
        count, problems = try_way(options.binary.resolve(), place / str(number), name, options.sample)
        for problem in problems:
            print(f"plan: CHANGED in plan mode by {name}: {problem}")
        print(f"plan: {name}: {count} calls, {len(problems)} changes", flush=True)
        total, wrong = total + count, wrong + len(problems)
    shutil.rmtree(place, ignore_errors=True)
    print(f"plan: {total} calls in plan mode, {wrong} changes")
    if wrong:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
