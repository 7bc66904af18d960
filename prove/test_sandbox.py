"""Tests of `sandbox.py`: it must find a level that does not hold."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
LEVELS = [{"level": level, "holds": True, "reason": None} for level in ("inspect", "workspace-write", "protect")]
STATUS = f"#!/bin/bash\nif [ $2 = status ]; then echo '{json.dumps({'levels': LEVELS})}'; exit; fi\n"
# Runs the command without any confinement.
OPEN = STATUS + 'while [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n'
# Runs nothing at all.
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

    def test_an_attempt_that_never_works_is_found(self):
        run = self.proved(CLOSED, "read .netrc")
        self.assertEqual(run.returncode, 1, run.stdout)
        self.assertIn("PROVES NOTHING", run.stdout)


if __name__ == "__main__":
    unittest.main()
