"""Tests that the shell proof finds violations. `cargo xtask prove shell` runs this first."""

import sys
import tempfile
import unittest
from pathlib import Path

import shell
import stand_in

# Sends two requests, and does something bad between them.
PROGRAM = """import os, subprocess, time
def ask(output):
    stand_in.ask([stand_in.results([("run_shell_command", output)])])
ask("")
{deed}
ask("result")
"""


@unittest.skipUnless(sys.platform == "linux", "the proof needs Linux")
class Detection(unittest.TestCase):
    def problems(self, deed, output="result", seconds=20):
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder, "program")
            stand_in.write(program, PROGRAM.format(deed=deed))
            trial = shell.Trial("a test", "true", seconds, output)
            found = []
            for manner in (shell.Run, shell.Conversation):
                run = manner(program, Path(folder, "home"), trial)
                run.go()
                found.append("; ".join(run.problems))
            # A problem in one mode is a problem in the other one, too, except for the figures.
            self.assertEqual(bool(found[0]), bool(found[1]), found)
            return found[0]

    def test_nothing_is_found_where_nothing_is_wrong(self):
        self.assertEqual(self.problems("pass"), "")

    def test_a_process_that_is_left(self):
        deed = 'subprocess.Popen(["sleep", "1000"], start_new_session=True)'
        self.assertIn("left behind: sleep 1000", self.problems(deed))
        self.assertEqual(shell.children(), {})

    def test_a_daemon_that_is_left(self):
        deed = 'os.system("(setsid sleep 1000 >/dev/null 2>&1 &)")'
        self.assertIn("left behind: sleep 1000", self.problems(deed))

    def test_memory(self):
        deed = f"block = b'x' * {2 * shell.MOST_MEMORY}"
        self.assertIn("MB of memory", self.problems(deed))

    def test_a_late_result(self):
        deed = f"time.sleep({shell.SLACK + 0.5})"
        self.assertIn("the result took", self.problems(deed, seconds=0))

    def test_other_words(self):
        self.assertIn("result: 'result'", self.problems("pass", output="other"))

    def test_a_large_file(self):
        deed = f"open('large', 'wb').truncate({shell.MOST_ON_DISK + 1})"
        self.assertIn("large has", self.problems(deed))


if __name__ == "__main__":
    shell.adopt_orphans()
    unittest.main()
