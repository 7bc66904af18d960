"""Tests that the hostile proof finds violations. `cargo xtask prove hostile` runs this first."""

import tempfile
import unittest
from pathlib import Path

import hostile
import stand_in
from hostile_fixtures import Fixture, change, fixtures, settings

# Program that does something bad at a chosen moment. Without a terminal it prints the messages of
# the real program; with a terminal it asks, and continues at the prompt.
PROGRAM = """import json, os, re, subprocess
flag = "--skip-trust" in sys.argv
trusted = os.path.exists(os.path.join(os.environ["HOME"], ".gemini/trustedFolders.json"))
settings = open(".gemini/settings.json").read()
def ask(text):
    stand_in.ask([stand_in.text(text)])
canary = json.loads(settings)["canary"]["command"].split()[0]
def run():
    subprocess.run([canary])
def main():
    if not flag:
        {start}
    if "--prompt" in sys.argv:
        if flag:
            {accepted}
            run()
        elif not trusted:
            print("restricted", file=sys.stderr)
            {headless}
        elif re.search("[^a-z0-9_]v1", settings):
            print("now pinned", file=sys.stderr)
            run()
        else:
            print({message}, file=sys.stderr)
            {changed}
        return
    if not trusted:
        print("Do you trust the files in this folder?")
        answer = input("  3. Don't trust\\nChoose 1-3, Enter for 3: ")
        if answer == "":
            {enter}
        else:
            input("Allow 1? [y/N] ")
            {no}
    elif {again}:
        input("Allow 1? [y/N] ")
    if input("> "):
        try:
            input("> ")
        except EOFError:
            pass
main()
"""

FIXTURE = Fixture("a test", "", settings(canary={"command": "{hit} v1"}))


class Detection(unittest.TestCase):
    def problems(self, fixture=FIXTURE, **deeds):
        words = {"headless": "pass", "changed": "pass", "enter": "pass", "no": "pass", "again": "True", "message": "'Disabled until you approve'",
                 "start": "pass", "accepted": "pass"}
        with tempfile.TemporaryDirectory() as folder, hostile.Listener() as listener:
            program = Path(folder, "program")
            stand_in.write(program, PROGRAM.format(**{**words, **deeds}))
            trial = hostile.Trial(program, Path(folder, "scene").resolve(), fixture, listener)
            trial.go()
            return "; ".join(trial.problems)

    def test_nothing_is_found_where_nothing_is_wrong(self):
        self.assertEqual(self.problems(), "")

    def test_a_program_that_runs_at_once(self):
        self.assertIn("headless: ran", self.problems(headless="run()"))

    def test_a_program_that_runs_after_enter(self):
        self.assertIn("Enter: ran", self.problems(enter="run()"))

    def test_a_program_that_runs_after_a_no(self):
        self.assertIn("no to everything: ran", self.problems(no="run()"))

    def test_a_change_that_is_not_noticed(self):
        self.assertIn("changed: ran", self.problems(changed="run()"))
        self.assertIn("no message about the disabled items", self.problems(message="''"))
        self.assertIn("nothing was asked again", self.problems(again="False"))

    def test_a_connection(self):
        fixture = Fixture("a test", "", settings(canary={"command": "{hit} {url} v1"}))
        connect = "import urllib.request; urllib.request.urlopen(json.loads(settings)['canary']['command'].split()[1] + '/key')"
        self.assertIn("connected: GET /key", self.problems(fixture, headless=connect))

    def test_a_secret_that_is_printed(self):
        self.assertIn("sent a secret to the model", self.problems(enter=f"ask({hostile.SECRET!r})"))

    def test_a_file_that_is_written(self):
        self.assertIn("headless: wrote", self.problems(headless="open('canary.txt', 'w').write('x')"))

    def test_a_fixture_that_proves_nothing(self):
        dead = Fixture("a test", "", settings(canary={"command": "true v1"}))
        self.assertIn("canary never runs", self.problems(dead))

    def test_labels_that_do_not_hold(self):
        canary, dead = FIXTURE.files, settings(canary={"command": "true v1"})
        no, yes = {}, {"no": "run()"}
        for label, files, deeds, expected in (
            ("yes", canary, no, ""),
            ("yes", dead, no, "canary never runs"),
            ("later", dead, no, ""),
            ("later", canary, no, 'the label is "yes"'),
            ("no", dead, no, ""),
            ("no", canary, no, "accepted: ran"),
            ("trust", canary, yes, ""),
            ("trust", canary, no, 'the label is not "trust"'),
        ):
            with self.subTest(label, expected=expected):
                found = self.problems(Fixture("a test", "", files, live=label), **deeds)
                self.assertIn(expected, found)
                self.assertEqual(bool(found), bool(expected))

    def test_calls_that_did_not_run(self):
        fixture = Fixture("a test", "", FIXTURE.files, evidence="On branch main")
        self.assertIn("no evidence that the calls ran", self.problems(fixture))
        def result(words):
            return f"stand_in.ask([stand_in.text('go'), stand_in.results([('a', {words!r})])])"

        self.assertEqual(self.problems(fixture, accepted=result("On branch main")), "")
        absent = result('Tool "run_shell_command" not found. Did you mean "glob"?')
        self.assertIn("a call has no tool", self.problems(FIXTURE, accepted=absent))
        offer = Fixture("a test", "", FIXTURE.files, is_offer=True)
        self.assertEqual(self.problems(offer, accepted=absent), "")

    def test_a_program_of_the_user_that_does_not_run(self):
        fixture = Fixture("a test", "", settings(canary={"command": "true v1"}), settings={"guard": "{guard}"}, guarded=True)
        start = "subprocess.run([json.load(open(os.environ['HOME'] + '/.gemini/settings.json'))['guard']])"
        self.assertEqual(self.problems(fixture, start=start), "")
        for way in ("headless", "enter", "no", "changed"):
            off = f"subprocess.run(['rm', '-r', os.environ['HOME'] + '/../guards'])\n{' ' * 12}os.mkdir(os.environ['HOME'] + '/../guards')"
            self.assertIn("switched off: a program of the user", self.problems(fixture, start=start, **{way: off}), way)

    def test_every_fixture_can_be_written_and_most_have_a_byte_to_change(self):
        with hostile.Listener() as listener:
            for fixture in fixtures():
                with tempfile.TemporaryDirectory() as folder:
                    scene = hostile.Scene(Path("none"), Path(folder, "scene"), fixture, listener)
                    changed = change(fixture, scene.project)
                    self.assertTrue(changed or not fixture.asked, fixture.about)


if __name__ == "__main__":
    unittest.main()
