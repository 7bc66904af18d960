"""Tests of the harness: faults that are planted between Pollux and the server are found.

    MCP_POLLUX=PROGRAM MCP_PACKAGES=FOLDER python3 test_mcp_harness.py

`run` runs them first. Pollux is compared with itself, so that a difference is the fault.
"""

import copy
import json
import os
import sys
import tempfile
import unittest
from pathlib import Path

import mcp_harness
import mcp_cases

POLLUX = os.environ.get("MCP_POLLUX")
HERE = Path(__file__).resolve().parent

# The place at which each fault of the server is found, see `mcp_planted`.
FOUND = {
    "fewer_tools": "tools",
    "other_schema": "declaration mcp_srv_create_entities",
    "other_result": "call 1_create_entities",
    "other_arguments": "call 1_create_entities",
    "no_error": "call 4_add_observations",
    "file": "file extra.txt",
}

# Pollux whose server runs behind the program with the fault, with the settings as before at the end.
WRAPPER = """#!{python}
import json, os, pathlib, subprocess, sys
path = pathlib.Path(os.environ["HOME"], ".gemini/settings.json")
before = path.read_text()
settings = json.loads(before)
entry = settings["mcpServers"]["srv"]
command, *arguments = {planted}
entry.update(command=command, args=[*arguments, entry["command"], *entry["args"]])
path.write_text(json.dumps(settings))
code = subprocess.run([{pollux!r}, *sys.argv[1:]]).returncode
path.write_text(before)
sys.exit(code)
"""


@unittest.skipUnless(POLLUX and mcp_cases.PACKAGES, "the programs are not named")
class Planted(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="mcp-")
        self.addCleanup(self.folder.cleanup)
        self.case = copy.deepcopy(next(case for case in mcp_cases.all_cases() if case.name == "memory.stdio"))

    def places(self, fault):
        """Returns the places of the differences between a good server and one with a fault."""
        program = Path(self.folder.name, "pollux")
        planted = json.dumps([sys.executable, str(HERE / "mcp_planted.py"), fault])
        program.write_text(WRAPPER.format(python=sys.executable, planted=planted, pollux=POLLUX))
        program.chmod(0o755)
        found = mcp_harness.differences(self.case, (POLLUX, str(program)), Path(self.folder.name, "run"))
        return {one.where for one in found}

    def test_without_a_fault_there_is_no_difference(self):
        self.assertEqual(self.places("none"), set())

    def test_each_fault_is_found(self):
        for fault, place in FOUND.items():
            with self.subTest(fault=fault):
                self.assertIn(place, self.places(fault))

    def test_a_tool_that_is_not_called_is_found(self):
        step = self.case.steps[0]
        step.script = [answer for answer in step.script if '"mcp_srv_open_nodes"' not in json.dumps(answer)]
        self.assertEqual(self.places("none"), {"tools that the case does not call"})


if __name__ == "__main__":
    unittest.main()
