"""Tests that the ACP proof finds violations. `cargo xtask prove acp` runs this first."""

import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import acp
import acp_client
import acp_clients
import shell

HERE = Path(__file__).resolve().parent


@unittest.skipUnless(sys.platform == "linux", "the proof needs Linux")
class Detection(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        patience = mock.patch.object(acp_client, "PATIENCE", 3)
        patience.start()
        self.addCleanup(patience.stop)

    def program(self, fault):
        program = Path(self.folder.name, "agent")
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{HERE}/acp_stand_in.py" {fault}\n')
        program.chmod(0o755)
        return program

    def side_by_side(self, fault, turns=6):
        result = acp.side_by_side(self.program(fault), Path(self.folder.name, "home"), 3, 3, turns)
        return "; ".join(result.problems)

    def trial(self, fault, trial):
        stage = acp.Stage(self.program(fault), Path(self.folder.name, "home"))
        with stage:
            trial(stage)
        return "; ".join(stage.problems)

    def test_nothing_is_found_where_nothing_is_wrong(self):
        self.assertEqual(self.side_by_side("none"), "")
        for trial in (acp_clients.garbage, acp_clients.unknown_methods, acp_clients.answers_wrongly,
                      acp_clients.answers_twice, acp_clients.never_answers, acp_clients.leaves_during_command,
                      acp_clients.terminated, acp_clients.killed):
            with self.subTest(trial=trial.__name__):
                self.assertEqual(self.trial("none", trial), "")

    def test_faults_of_sessions(self):
        faults = {
            "cross_talk": "instead of",
            "late_update": "after the answer",
            "wrong_reason": "ended with refusal",
            "slow_cancel": "the cancellation took",
            "open_call": "is still in_progress",
            "no_permission": "session/request_permission: nothing",
            "writes_anyway": "instead of None",
            "broken_history": "a request breaks a rule",
            "stray": "not protocol",
            "memory": "MB of memory",
        }
        for fault, problem in faults.items():
            with self.subTest(fault=fault):
                self.assertIn(problem, self.side_by_side(fault, 10))

    def test_faults_that_bad_clients_find(self):
        faults = {
            "dies_of_garbage": (acp_clients.garbage, "the program has ended"),
            "any_method": (acp_clients.unknown_methods, "nosuch"),
            "anything_is_yes": (acp_clients.answers_wrongly, "counted as yes"),
            "stays": (acp_clients.leaves_during_answer, "still running"),
            "ignores_signals": (acp_clients.terminated, "still running"),
            "child_left": (acp_clients.leaves_during_command, "left behind: sleep 1001"),
            "not_saved": (acp_clients.killed, "session/load"),
        }
        for fault, (trial, problem) in faults.items():
            with self.subTest(fault=fault):
                self.assertIn(problem, self.trial(fault, trial))
        self.assertEqual(shell.children(), {})


if __name__ == "__main__":
    shell.adopt_orphans()
    unittest.main()
