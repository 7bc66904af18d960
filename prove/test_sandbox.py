"""Tests that `sandbox.py` finds a broken level, and a level at which a job does not work."""

import contextlib
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import sandbox
import sandbox_jobs

FOLDER = Path(__file__).resolve().parent
LEVELS = [{"level": level, "holds": True, "reason": None} for level in ("inspect", "workspace-write", "protect")]
STATUS = f"#!/bin/bash\nif [ $2 = status ]; then echo '{json.dumps({'levels': LEVELS})}'; exit; fi\n"
# Runs the command without any confinement.
OPEN = STATUS + 'while [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n'
# The same, but at protect no repository can be written, and files created at workspace-write are
# reported as reverted.
NARROW = OPEN.replace(
    "while",
    'case "$*" in\n*" protect "*) chmod -R a-w .git/objects; exec 2> /dev/null; cd /;;\n'
    '*" workspace-write "*) echo "x is new, and protected; moved to y" >&2;;\nesac\nwhile',
    1,
)
# Runs no command.
CLOSED = STATUS + "exit 1\n"


class Proof(unittest.TestCase):
    def proved(self, program, only):
        with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
            Path(folder).chmod(0o755)
            binary = Path(folder) / "pollux"
            binary.write_text(program)
            binary.chmod(0o755)
            command = [sys.executable, FOLDER / "sandbox.py", "--binary", binary, "--only", only]
            return subprocess.run(command, capture_output=True, text=True, timeout=60)

    def test_a_level_that_does_not_hold_is_found(self):
        for only in ("read .netrc", "append to .bashrc", "a pair of datagram sockets"):
            run = self.proved(OPEN, only)
            self.assertEqual(run.returncode, 1, run.stdout)
            self.assertIn("escaped", run.stdout)

    def test_a_level_that_the_system_lacks_is_not_passed(self):
        self.assertEqual(self.proved(OPEN, "git commit --amend").returncode, 0)
        run = self.proved(OPEN.replace('"holds": true', '"holds": false', 1), "git commit --amend")
        self.assertEqual(run.returncode, 1, run.stdout)
        self.assertIn("inspect IS NOT TRIED here", run.stdout)

    def test_an_attempt_that_never_works_is_found(self):
        run = self.proved(CLOSED, "read .netrc")
        self.assertEqual(run.returncode, 1, run.stdout)
        self.assertIn("PROVES NOTHING", run.stdout)

    def test_a_level_at_which_a_job_does_not_work_is_found(self):
        run = self.proved(NARROW, "git commit --amend")
        self.assertEqual(run.returncode, 1, run.stdout)
        self.assertIn("protect: FAILS; workspace-write: FAILS", run.stdout)
        self.assertIn("undone: x is new", run.stdout)
        self.assertIn("fails: 2", run.stdout)
        self.assertEqual(self.proved(OPEN, "git commit --amend").returncode, 0)

    def test_a_job_that_never_works_is_found(self):
        run = self.proved(CLOSED, "git commit --amend")
        self.assertEqual(run.returncode, 1, run.stdout)
        self.assertIn("none: FAILS", run.stdout)
        self.assertIn("proves nothing: 1", run.stdout)

    def test_a_job_whose_program_is_missing_is_named(self):
        users = [None]
        with contextlib.closing(sandbox.Workshop("/bin/false", users, with_pytest=False)) as workshop:
            job = sandbox_jobs.Job("x", ("true",), needs=("no-such-program",))
            results, shown = workshop.row(["protect"], job)
        self.assertEqual(results, ["not tried", "tried by nobody"])
        self.assertIn("NOT TRIED, no no-such-program", shown)

    def test_a_job_that_nobody_can_do_is_found(self):
        with contextlib.closing(sandbox.Workshop("/bin/false", [None, sandbox.OTHER_USER], with_pytest=False)) as workshop:
            workshop.lacks = lambda user, _: user is None
            workshop.fault = lambda *_: None
            results, _ = workshop.row(["protect"], sandbox_jobs.Job("x", ("true",)))
            self.assertEqual(results, ["not tried", "works"])
            workshop.lacks = lambda *_: True
            results, _ = workshop.row(["protect"], sandbox_jobs.Job("x", ("true",)))
            self.assertIn("tried by nobody", results)

    def test_there_are_enough_jobs_with_names_of_their_own(self):
        names = [job.name for job in sandbox_jobs.JOBS]
        self.assertGreaterEqual(len(names), 40)
        self.assertEqual(len(names), len(set(names)))


if __name__ == "__main__":
    unittest.main()
