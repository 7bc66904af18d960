"""Tests of the harness: faults that are planted between the clients and Pollux are found.

    MCP_POLLUX=PROGRAM MCP_PACKAGES=FOLDER python3 test_serve_harness.py

`run` runs them first, unless it runs a sample.
"""

import os
import sys
import unittest
from pathlib import Path

import serve_harness
import serve_planted

POLLUX = os.environ.get("MCP_POLLUX")
PLANTED = str(Path(serve_harness.HERE, "serve_planted.py"))


def checked(client, fault):
    """Checks a client with a server that has the fault."""
    server = [sys.executable, "-B", PLANTED, fault, POLLUX, "mcp", "serve", *serve_harness.scenario.FLASH]
    return serve_harness.check(client, server)


@unittest.skipUnless(POLLUX and serve_harness.PACKAGES, "the programs are not named")
class Planted(unittest.TestCase):
    def test_without_a_fault_every_client_passes(self):
        for client in ("inspector", "typescript", "python"):
            with self.subTest(client=client):
                checked(client, "none")

    def test_each_fault_is_found(self):
        for fault in [*serve_planted.ANSWERS, *serve_planted.REQUESTS]:
            with self.subTest(fault=fault), self.assertRaises(serve_harness.Failed):
                checked("typescript", fault)

    def test_an_edit_without_approval_is_found(self):
        # The inspector has no forms, so that nothing may change.
        yolo = [POLLUX, "mcp", "serve", *serve_harness.scenario.YOLO]
        with self.assertRaises(serve_harness.Failed):
            serve_harness.check("inspector", yolo)


if __name__ == "__main__":
    unittest.main()
