"""Tests that the bypass proof finds lines that bypass a policy, and a policy that refuses
everything.

`cargo xtask prove bypass` runs this first."""

import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import bypass
import bypass_cases
import needs
import samples
import stand_in

# Treats each command as the code in `deed` does, and sends the result to the model.
PROGRAM = """import subprocess
def treat(command, folder):
{deed}
stand_in.converse(lambda _, arguments: treat(arguments["command"], arguments["dir_path"]))
"""
RUN = '    done = subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, timeout=10)\n    return (done.stdout + done.stderr).decode(errors="replace")'
REFUSE = f"    return {bypass.DENIAL!r}"
RUN_SILENTLY = f"{RUN.rpartition(chr(10))[0]}\n{REFUSE}"


@unittest.skipUnless(sys.platform == "linux", "the proof needs Linux")
class Detection(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.place = Path(temporary.name)
        self.folders = bypass.Folders(self.place)
        self.setting = bypass.settings()[0]

    def program(self, deed):
        program = self.place / "program"
        stand_in.write(program, PROGRAM.format(deed=deed))
        return program

    def attack(self, deed):
        cases = [bypass_cases.Case("f", command) for command in ("touch canary", "rm victim", "echo a")]
        return bypass.attack(self.program(deed), self.place / "home", self.folders, self.setting, cases)

    def test_nothing_is_found_where_everything_is_refused(self):
        self.assertEqual(self.attack(REFUSE), [])

    def test_lines_that_run(self):
        found = {case.command: did for case, did in self.attack(RUN)}
        self.assertEqual(found["touch canary"], "canary is there")
        self.assertEqual(found["rm victim"], "victim is gone")
        self.assertIn("ran: ", found["echo a"])

    def test_lines_that_run_behind_a_refusal(self):
        found = {case.command for case, _ in self.attack(RUN_SILENTLY)}
        self.assertEqual(found, {"touch canary", "rm victim"})

    def test_a_policy_that_refuses_everything(self):
        count, wrong = bypass.wrongly_refused(self.program(REFUSE), self.place / "home", self.folders, self.setting)
        self.assertEqual(len(wrong), count)
        count, wrong = bypass.wrongly_refused(self.program(RUN), self.place / "other", self.folders, self.setting)
        self.assertGreater(count, 20)
        self.assertEqual(wrong, [])

    def test_lines_that_do_nothing_do_not_count(self):
        cases = [bypass_cases.Case("f", command) for command in ("touch canary", "echo a", "sleep 60")]
        limit, bypass.LINE_LIMIT = bypass.LINE_LIMIT, 0.5
        self.addCleanup(setattr, bypass, "LINE_LIMIT", limit)
        works, silent = bypass.in_bash(self.place / "bash", self.folders, cases)
        self.assertEqual([case.command for case in works], ["touch canary"])
        self.assertEqual([case.command for case in silent], ["echo a", "sleep 60"])

    def test_a_corpus_of_which_only_a_part_runs(self):
        cases = [bypass_cases.Case("f", f"touch canary # {number}") for number in range(200)]
        self.assertFalse(bypass.too_few(cases, cases))
        self.assertFalse(bypass.too_few(cases, cases[:197]))
        self.assertTrue(bypass.too_few(cases, cases[:180]))
        self.assertTrue(bypass.too_few(cases, []))
        self.assertTrue(bypass.too_few([], []))

    def test_programs_that_are_missing(self):
        with mock.patch.dict("os.environ", {"PATH": str(self.place)}):
            with self.assertRaisesRegex(SystemExit, "not installed: .*awk, .*perl"):
                needs.programs("bypass", *bypass_cases.PROGRAMS)
        needs.programs("bypass", *bypass_cases.PROGRAMS)
        with mock.patch("sys.version_info", (3, 10, 2)), self.assertRaisesRegex(SystemExit, "need Python 3.11 or later, this is 3.10"):
            needs.python()

    def test_samples(self):
        cases = list(range(100))
        self.assertEqual(samples.ALL.of(cases), cases)
        self.assertEqual(samples.Sample(500, 3).of(cases), cases)
        seen = [samples.Sample(30, seed).of(cases) for seed in range(1_000_000, 1_000_004)]
        self.assertEqual({case for chosen in seen for case in chosen}, set(cases))
        for chosen in seen:
            self.assertEqual((len(chosen), chosen), (30, sorted(chosen)))
            self.assertGreater(len({later - earlier for earlier, later in zip(chosen, chosen[1:])}), 2)
        self.assertEqual(len(samples.Sample(30, 5).of(cases, 3)), 3)

    def test_the_corpus(self):
        cases = bypass_cases.all_cases()
        for against in bypass_cases.BOTH:
            self.assertGreater(sum(against in case.against for case in cases), 400)
        for setting in bypass.settings():
            self.assertTrue(setting.policy or setting.settings)


if __name__ == "__main__":
    unittest.main()
