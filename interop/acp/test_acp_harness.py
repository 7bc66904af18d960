"""Tests of the harness: faults that are planted in an agent are found.

    ACP_ORIGINAL=PROGRAM ACP_POLLUX=PROGRAM ACP_NPM=COMMAND python3 test_acp_harness.py

`run` runs them first. The agent with the fault is Pollux, and it is compared with itself, so that a
difference is the fault.
"""

import os
import shlex
import sys
import tempfile
import unittest
from pathlib import Path

import acp_harness
import acp_case
import acp_planted
import acp_run
import acp_views

# The case that shows each fault, and the view that has it.
FOUND = {
    "stray": ("prompt.text", "connection"),
    "exit_code": ("prompt.text", "connection"),
    "file": ("prompt.text", "file extra.txt"),
    "other_text": ("prompt.text", "session 1"),
    "no_final_update": ("permission.edit_allow_once", "session 1"),
    "other_diff": ("permission.edit_allow_once", "session 1"),
    "unknown_update": ("prompt.text", "connection"),
    "no_tool_call_id": ("permission.edit_allow_once", "connection"),
    "stop_reason": ("prompt.text", "session 1"),
    "no_stop_reason": ("prompt.text", "session 1"),
    "fewer_options": ("permission.edit_allow_once", "session 1"),
    "other_error": ("errors.method", "connection"),
    "no_capabilities": ("connection.initialize", "initialize"),
}
POLLUX, CLIENT = os.environ.get("ACP_POLLUX"), os.environ.get("ACP_NPM")


@unittest.skipUnless(POLLUX and CLIENT, "the programs are not named")
class Planted(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        acp_harness.load_cases()
        cls.cases = {case.name: case for case in acp_case.all_cases()}
        cls.folder = tempfile.TemporaryDirectory(prefix="acp-")
        cls.client = acp_run.Client("npm", shlex.split(CLIENT))
        cls.runs = {name: cls.run_case(POLLUX, name) for name in {case for case, _ in FOUND.values()}}

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def run_case(cls, agent, name):
        return acp_run.run(cls.client, agent, cls.cases[name], Path(cls.folder.name, "run"))

    def places(self, fault, name):
        agent = Path(self.folder.name, "agent")
        here = Path(acp_planted.__file__)
        agent.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{here}" {fault} "{POLLUX}" "$@"\n')
        agent.chmod(0o755)
        run = self.run_case(str(agent), name)
        return {one.where for one in acp_views.differences(self.runs[name], run)}

    def test_without_a_fault_there_is_no_difference(self):
        for name in self.runs:
            self.assertEqual(self.places("none", name), set(), name)

    def test_each_fault_is_found(self):
        self.assertEqual({"none", *FOUND}, set(acp_planted.FAULTS))
        for fault, (name, place) in FOUND.items():
            with self.subTest(fault=fault):
                self.assertIn(place, self.places(fault, name))


if __name__ == "__main__":
    unittest.main()
