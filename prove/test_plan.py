"""Tests that the plan proof finds any changed file, and a mode that refuses everything.

`cargo xtask prove plan` runs this first."""

import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import plan
import plan_attempts
import samples
import stand_in

# Treats each call as the code in `deed` does.
PROGRAM = """import glob, json, os, subprocess
home = os.environ["HOME"]
plans = home + "/.gemini/tmp/project/{session}/plans"
os.makedirs(plans, exist_ok=True)
# The records of the program.
log, project = home + "/.gemini/tmp/project/chats/session-1.jsonl", os.getcwd()
os.makedirs(os.path.dirname(log), exist_ok=True)
if not os.path.exists(home + "/.gemini/projects.json"):
    open(home + "/.gemini/projects.json", "w").write(json.dumps({{"projects": {{project: "project"}}}}))
    open(home + "/.gemini/tmp/project/.project_root", "w").write(project)
def record():
    with open(log, "a") as records:
        print(json.dumps({{"a": 1}}), file=records)
record()
def treat(name, arguments):
    path = str(arguments.get("file_path", ""))
    record()
{deed}
    return "done"
stand_in.converse(treat)
"""
PLANS_ONLY = '''    if name == "write_file" and path == "plan.md":
        open(plans + "/plan.md", "w").write("x")
    if name == "read_file" and path == "a.txt":
        return "alpha"'''


# Changes that plan mode must not allow, each after the one before.
DEEDS = (
    'open("new.txt", "w")',
    'open("a.txt", "a").write("x")',
    'os.chmod("a.txt", 0o777)',
    'os.makedirs("empty", exist_ok=True)',
    'open(home + "/.gemini/GEMINI.md", "a").write("x")',
    'open(home + "/beside/b.txt", "w")',
    'open(".git/config", "a").write("\\n")',
    'open(plans + "/x.sh", "w")',
    'open(plans + "/../a.txt", "w")',
    'os.remove(plans + "/link.md")',
    'os.makedirs(home + "/.gemini/tmp/project/other/plans", exist_ok=True)',
    'open(home + "/.gemini/tmp/project/x.md", "w")',
    'os.makedirs(home + "/.gemini/pollux", exist_ok=True); open(home + "/.gemini/pollux/consent.json", "w")',
    'open(home + "/.gemini/trustedFolders.json", "w")',
    'open(home + "/.gemini/projects.json", "w").write(json.dumps({"projects": {"/": "x"}}))',
    'open(home + "/.gemini/projects.json", "a").write(" ")',
    'open(log, "a").write("not a record\\n")',
    'os.chmod(log, 0o666)',
    'open(log, "w")',
    'os.remove(log)',
)


# Executes the changed calls and the additional calls of hooks, without any check.
OBEYS_HOOKS = '''
    import json
    settings = json.load(open(home + "/.gemini/settings.json"))
    def ask(event):
        command = settings["hooks"][event][0]["hooks"][0]["command"]
        said = {"hook_event_name": event, "tool_input": arguments}
        output = subprocess.run(command, shell=True, input=json.dumps(said), capture_output=True, text=True, check=True).stdout
        return json.loads(output)["hookSpecificOutput"] if output else {}
    made = ask("BeforeTool").get("tool_input")
    tail = ask("AfterTool").get("tailToolCallRequest", {"args": None})["args"]
    for given in (made, tail):
        if given and given.get("command") == "touch new.txt":
            open("new.txt", "w")'''


@unittest.skipUnless(sys.platform == "linux", "the proof needs Linux")
class Detection(unittest.TestCase):
    def problems(self, deed, sample=samples.Sample(8), other=None):
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder, "program")
            stand_in.write(program, PROGRAM.format(deed=deed, session=plan.SESSION))
            place = Path(folder, "place")
            if other:
                return "\n".join(other(program, place, sample)[1])
            _, problems = plan.try_way(program, place, "--approval-mode plan", sample)
            return "\n".join(problems)

    def test_what_hooks_do(self):
        self.assertEqual(self.problems(PLANS_ONLY, other=plan.try_hooks), "")
        with mock.patch.multiple(plan_attempts, TARGETS=("a.txt",), COMMANDS=("touch new.txt",), odd_calls=list):
            found = self.problems(OBEYS_HOOKS + "\n" + PLANS_ONLY, sample=samples.ALL, other=plan.try_hooks)
        self.assertIn("project/new.txt after run_shell_command", found)

    def test_what_prompts_do(self):
        deed = "\n    if '@' in sys.argv[-1]: open('new.txt', 'w')"
        self.assertEqual(self.problems(PLANS_ONLY, other=plan.try_inputs), "")
        found = self.problems(PLANS_ONLY + deed, other=plan.try_inputs)
        self.assertRegex(found, r"project/new.txt after .* \(prompt .*@")

    def test_what_a_person_says(self):
        for screen, is_over, expected in (
            ("> ", False, "go\n"),
            ("text\n> ", True, "\x04"),
            ("gemini-2.5-pro> ", False, "go\n"),
            ("local/small:7b plan> ", False, "go\n"),
            ("plan > ", False, "go\n"),
            ("input> ", False, None),
            ("Choose 1-3: ", False, "1\n"),
            ("Ready to start implementation?\n  1. Yes\nChoose 1-3, or type your feedback: ", False, "3\n"),
            ("Answer: ", False, "yes, do it\n"),
            ("A number, or an answer of your own: ", False, "1\n"),
            ("working", False, None),
            ("> go\n", False, None),
        ):
            self.assertEqual(plan.reply(screen, ["go"], is_over), expected, screen)
        self.assertEqual(plan.reply("> ", [], False), "go on\n")

    def test_nothing_is_found_where_nothing_is_wrong(self):
        self.assertEqual(self.problems(PLANS_ONLY), "")

    def test_files_that_change(self):
        deed = f"    if name == 'run_shell_command':\n        exec({DEEDS!r}[int(arguments['command'])])\n{PLANS_ONLY}"
        with tempfile.TemporaryDirectory() as folder:
            program, stage = Path(folder, "program"), plan.Stage(Path(folder, "home"), {})
            stand_in.write(program, PROGRAM.format(deed=deed, session=plan.SESSION))
            self.assertEqual(plan.can_plan(program, stage, (), []), [])
            turns = [[("run_shell_command", {"command": str(number)})] for number in range(len(DEEDS))]
            changes, _ = plan.run(program, stage, (), turns)
        for number, done in enumerate(DEEDS):
            after = f'after run_shell_command {{"command": "{number}"}}'
            self.assertTrue(any(change.endswith(after) for change in changes), done)

    def test_a_link_out_of_the_plans(self):
        through = '    if path.endswith("/link.md"):\n        open(path, "w").write("x")'
        links = (f"{plan_attempts.PLANS}/link.md",)
        with mock.patch.multiple(plan_attempts, TARGETS=links, COMMANDS=(), leaving=list):
            found = self.problems(f"{PLANS_ONLY}\n{through}", sample=samples.ALL)
        self.assertIn("project/notes.md after write_file", found)

    def test_a_mode_that_refuses_everything(self):
        found = self.problems("    pass")
        self.assertIn("no plan can be written", found)
        self.assertIn("nothing can be read", found)

    def test_everything_is_tried(self):
        calls = [call for turn in plan_attempts.attempts() for call in turn]
        self.assertGreater(len(calls), 250)
        for name in ("write_file", "replace", "run_shell_command", "save_memory", "enter_plan_mode"):
            self.assertIn(name, [called for called, _ in calls])


if __name__ == "__main__":
    unittest.main()
