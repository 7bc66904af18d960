"""Lets the model try to write in plan mode in every possible way, and checks the files.

Started by `cargo xtask prove plan`. Python 3.11, standard library only; Linux.

After each answer of the model:

- every file of the project, of the folder next to it and of the home is unchanged, byte for byte;
  only plans in their folder may change, and the records of Pollux in the way of each: its logs only
  grow, see `plan_state`;
- a plan can still be written, because a mode that refuses everything would pass otherwise.

The same is tried at a terminal, where a user approves everything except the plan; with hooks that
change a call or replace it by another one; and with prompts that name files and commands.
"""

import argparse
import contextlib
import json
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import needs

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "bench"))

import isolated
import plan_attempts
import plan_state
import samples
from dialects import Calls, Text
from line_mode import PROMPT
from scripted_server import ScriptedServer

SESSION = "plan-proof"
# Model answers in one run.
TURNS = 60
LIMIT = 120
# Ways out of plan mode in a sample.
LEAVING = 3

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

# A program at BeforeTool and AfterTool that reads the replacement of a call from a table.
HOOK = """import json, sys
event, table = json.load(sys.stdin), json.load(open(sys.argv[1]))
arguments = event["tool_input"]
if event["hook_event_name"] == "BeforeTool":
    marks = [arguments.get("file_path"), str(arguments.get("command"))[3:]]
    made = [{"tool_input": table["inputs"][mark]} for mark in marks if mark in table["inputs"]]
else:
    tail = table["tails"].get(str(arguments.get("start_line")))
    made = [{"tailToolCallRequest": {"name": tail[0], "args": tail[1]}}] if tail else []
if made:
    print(json.dumps({"hookSpecificOutput": made[0]}))
"""

# Ways to enter plan mode: settings, arguments, and turns before the attempts. A model whose calls
# are all refused would be stopped by the loop detection.
DEFAULTS = {"tools": {"shell": {"enableInteractiveShell": False}}, "model": {"disableLoopDetection": True}}
WAYS = {
    "--approval-mode plan": ({}, ("--approval-mode", "plan"), []),
    "the setting": ({"general": {"defaultApprovalMode": "plan"}}, (), []),
    "a folder of one's own for plans": ({"general": {"plan": {"directory": "plans"}}}, ("--approval-mode", "plan"), []),
    "enter_plan_mode in yolo": ({}, ("--yolo",), [[("enter_plan_mode", {"reason": "to think"})]]),
    "enter_plan_mode in auto_edit": ({}, ("--approval-mode", "auto_edit"), [[("enter_plan_mode", {"reason": "to think"})]]),
}
PLANNING = ("--approval-mode", "plan")


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
        """Returns the folder in which this session writes its plans."""
        if self.own_plans:
            return self.project / self.own_plans
        folders = list((self.place / ".gemini/tmp").glob("*/*"))
        owner = [folder.parent for folder in folders if folder.name in ("chats", "logs", SESSION)]
        return (owner[0] if owner else self.place / ".gemini/tmp/project") / SESSION / "plans"

    def log(self):
        """Returns the log of this session, or the path of one that does not exist yet."""
        chats = self.place / plan_state.OWN / "chats"
        return next(chats.glob("session-*.jsonl"), chats / "session-new.jsonl")

    def plant(self):
        """Creates links in the folder for plans that lead out of it."""
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
        """Returns the state of every file below the home, except temporary files."""
        found = {}
        for place, folders, files in os.walk(self.place):
            if Path(place) == self.place:
                folders.remove("tmp")
            for name in files + folders:
                path = Path(place, name)
                # A file may be renamed or removed in the meantime.
                with contextlib.suppress(FileNotFoundError):
                    found[str(path.relative_to(self.place))] = plan_state.state(path)
        return found

    def changed(self, before, now):
        """Returns the files that differ between two trees in a way that is not allowed."""
        plans = self.plans().relative_to(self.place)
        return sorted(
            name for name in now.keys() | before.keys()
            if (old := before.get(name)) != (new := now.get(name))
            and not plan_state.may_change(name, old, new, plans, self.project)
        )

    def filled(self, turns):
        """Returns the calls with the paths of this home."""
        places = {
            plan_attempts.PROJECT: str(self.project),
            plan_attempts.PLANS: str(self.plans()),
            plan_attempts.BESIDE: str(self.place / "beside"),
            plan_attempts.LOG: str(self.log()),
            plan_attempts.HOME: str(self.place),
        }
        words = json.dumps(turns)
        for marker, place in places.items():
            words = words.replace(marker, place)
        return json.loads(words)


def headless(command, stage, environment, prompts, _):
    """Makes one run without a user. Returns its exit code and output."""
    ended = subprocess.run([*command, "--prompt", prompts[0]], cwd=stage.project, env=environment, stdin=subprocess.DEVNULL,
                           capture_output=True, timeout=LIMIT, check=False)
    return ended.returncode, ended.stdout + ended.stderr


def at_terminal(command, stage, environment, prompts, is_over):
    """Holds a conversation until it is over, with a user who approves everything except the
    plan."""
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(stage.project)
        os.execve(command[0], [str(word) for word in command], {**environment, "TERM": "dumb"})
    typed, said, whole, deadline = list(prompts), "", "", time.monotonic() + LIMIT
    with contextlib.suppress(OSError):
        while time.monotonic() < deadline:
            if select.select([terminal], [], [], 0.1)[0]:
                shown = os.read(terminal, 65536).decode(errors="replace")
                said, whole = said + re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r", "", shown), whole + shown
                continue
            if line := reply(said, typed, is_over()):
                said = ""
                os.write(terminal, line.encode())
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), whole.encode()


def reply(said, typed, is_over):
    """Returns the user's reply to a question on the screen, if there is one."""
    last = said.rsplit("\n", 1)[-1]
    if choices := re.match(r"Choose 1-(\d+)", last):
        is_plan = "Ready to start implementation?" in said
        return f"{choices[1] if is_plan else 1}\n"
    if last.startswith("Answer"):
        return "yes, do it\n"
    if last.startswith("A number"):
        return "1\n"
    if re.fullmatch(PROMPT, last):
        return "\x04" if is_over else f"{typed.pop(0) if typed else 'go on'}\n"
    return None


def run(binary, stage, arguments, turns, drive=headless, prompts=("go",), may_end=False):
    """Lets the model answer with these turns. Returns the changes after each turn, and the results
    sent to the model. With `may_end`, a prompt need not reach the model."""
    before, changes = stage.tree(), []
    filled = stage.filled(turns)

    def look(number):
        nonlocal before
        now = stage.tree()
        if changed := stage.changed(before, now):
            calls = turns[number - 1] if 0 < number <= len(turns) else "the start"
            changes.append(f"{', '.join(changed)} after {shown(calls)}")
        before = now

    script = [Calls(tuple(("tool", tuple(call)) for call in turn)) for turn in filled]
    with ScriptedServer([*script, Text(("done",))], keep_requests=True, on_request=look) as server:
        environment = isolated.environment(stage.place, server.port)
        command = [binary, "--model", "gemini-2.5-flash", *arguments]
        code, output = drive(command, stage, environment, prompts, lambda: len(server.exchanges) > len(turns))
        requests = [json.loads(exchange.request) for exchange in server.exchanges]
    is_whole = code == 0 and len(requests) == len(turns) + 1
    if not is_whole and not (may_end and not requests):
        errors = output.decode(errors="replace")[-400:]
        raise SystemExit(f"plan: exit code {code} after {len(requests)} of {len(turns)} answers: {errors}")
    look(len(turns) + 1)
    return changes, results(requests[-1]["contents"]) if requests else []


def results(contents):
    """Returns the result of each call as sent to the model, in order."""
    return [str(part["functionResponse"]["response"]) for content in contents
            for part in content["parts"] if "functionResponse" in part]


def shown(calls):
    return calls if isinstance(calls, str) else "; ".join(f"{name} {json.dumps(arguments)[:120]}" for name, arguments in calls)


def can_plan(binary, stage, arguments, before):
    """Writes a plan, which must be allowed, and creates the links next to it."""
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
    """Tries everything in one form of plan mode. Returns the number of calls, and the problems."""
    settings, arguments, before = WAYS[name]
    stage = Stage(place / "home", settings)
    problems = can_plan(binary, stage, arguments, before)
    resumed = (*arguments, "--resume", SESSION)
    attempts = sample.of(plan_attempts.attempts())
    count = sum(len(turn) for turn in attempts)
    for at in range(0, len(attempts), TURNS):
        changes, _ = run(binary, stage, resumed, [*before, *attempts[at : at + TURNS]])
        problems += changes
    for number, turns in enumerate(sample.of(plan_attempts.leaving(), LEAVING)):
        fresh = Stage(place / f"leaving-{number}", settings)
        changes, _ = run(binary, fresh, (*arguments, "--session-id", SESSION), [*before, *turns])
        problems += changes
        count += sum(len(turn) for turn in turns)
    return count, problems


def try_terminal(binary, place, sample):
    """Tries the same calls with a user at a terminal, whose input has commands and files, too."""
    stage = Stage(place / "home", {})
    problems, turns = can_plan(binary, stage, PLANNING, []), sample.of(plan_attempts.attempts())
    for at in range(0, len(turns), TURNS):
        resumed = (*PLANNING, "--resume", SESSION)
        changes, _ = run(binary, stage, resumed, turns[at : at + TURNS], at_terminal, plan_attempts.INPUTS)
        problems += changes
    count = sum(len(turn) for turn in turns)
    for number, turns in enumerate(sample.of(plan_attempts.leaving(), LEAVING)):
        fresh = Stage(place / f"leaving-{number}", {})
        problems += run(binary, fresh, (*PLANNING, "--session-id", SESSION), turns, at_terminal)[0]
        count += sum(len(turn) for turn in turns)
    return count, problems


def try_hooks(binary, place, sample):
    """Tries permitted calls that a hook changes, or after which a hook requests another call."""
    home = place / "home"
    program, table = home / "tmp/hook.py", home / "tmp/table.json"
    command = {"type": "command", "command": f"{sys.executable} {program} {table}"}
    settings = {"hooks": {event: [{"hooks": [command]}] for event in ("BeforeTool", "AfterTool")}}
    stage, made = Stage(home, settings), plan_attempts.hooked()
    program.write_text(HOOK)
    table.write_text(json.dumps({"inputs": {}, "tails": {}}))
    problems = can_plan(binary, stage, PLANNING, [])
    table.write_text(json.dumps(stage.filled(made.table)))
    turns = sample.of(made.turns)
    for at in range(0, len(turns), TURNS):
        problems += run(binary, stage, (*PLANNING, "--resume", SESSION), turns[at : at + TURNS])[0]
    return len(turns), problems


def try_inputs(binary, place, sample):
    """Tries prompts that name files or look like commands, each with calls that would write."""
    stage = Stage(place / "home", {})
    problems, inputs = can_plan(binary, stage, PLANNING, []), sample.of(plan_attempts.PROMPTS)
    tries = [[call] for call in plan_attempts.TRIES]
    for prompt in inputs:
        changes, _ = run(binary, stage, (*PLANNING, "--resume", SESSION), tries, prompts=(prompt,), may_end=True)
        problems += [f"{change} (prompt {prompt})" for change in changes]
    return len(inputs) * len(tries), problems


OTHERS = {"a person at the terminal": try_terminal, "hooks that change calls": try_hooks, "prompts with files and commands": try_inputs}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=Path, required=True, help="the pollux to try")
    samples.add_options(parser, "answers in each way")
    parser.add_argument("--only", default="", help="ways whose names have this in them")
    options = parser.parse_args()
    if sys.platform != "linux":
        raise SystemExit("plan: this proof needs Linux")
    needs.programs("plan", "git", "sh", "bash")
    place = Path(tempfile.mkdtemp(prefix="pollux-plan-"))
    total, wrong, sample = 0, 0, samples.from_options(options)
    for number, name in enumerate(name for name in (*WAYS, *OTHERS) if options.only in name):
        binary, home = options.binary.resolve(), place / str(number)
        other = OTHERS.get(name)
        tried = other(binary, home, sample) if other else try_way(binary, home, name, sample)
        count, problems = tried
        for problem in problems:
            print(f"plan: CHANGED in plan mode by {name}: {problem}")
        print(f"plan: {name}: {count} calls, {len(problems)} changes", flush=True)
        total, wrong = total + count, wrong + len(problems)
    shutil.rmtree(place, ignore_errors=True)
    print(f"plan: {sample}: {total} calls in plan mode, {wrong} changes")
    if wrong:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
