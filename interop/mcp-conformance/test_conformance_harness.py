"""Tests of the harness: clients that do too little fail.

    MCP_NODE=PROGRAM MCP_SUITE=FILE MCP_POLLUX=PROGRAM python3 test_conformance_harness.py

`run` runs them first.
"""

import os
import tempfile
import unittest
from pathlib import Path

import conformance_harness

SUITE = [os.environ.get("MCP_NODE", ""), os.environ.get("MCP_SUITE", "")]
VERSIONS = ["2025-11-25"]


@unittest.skipUnless(all(SUITE), "the programs are not named")
class Harness(unittest.TestCase):
    def result(self, name, driver):
        return conformance_harness.run(SUITE, name, VERSIONS, driver)

    def test_pollux_passes(self):
        self.assertTrue(self.result("tools_call", conformance_harness.DRIVER).has_passed)

    def test_a_client_that_does_nothing_fails(self):
        # The suite itself lets it pass the first one.
        for name in ("initialize", "tools_call", "auth/metadata-default"):
            with self.subTest(name=name):
                self.assertFalse(self.result(name, ["true"]).has_passed)

    def test_a_client_that_fails_after_its_messages_fails(self):
        with tempfile.TemporaryDirectory() as folder:
            script = Path(folder, "client")
            script.write_text(f"#!/bin/sh\n{' '.join(conformance_harness.DRIVER)} \"$@\"\nexit 1\n")
            script.chmod(0o755)
            failing = [str(script)]
            self.assertFalse(self.result("tools_call", failing).has_passed)

    def test_a_table_that_is_not_up_to_date_fails(self):
        results = [conformance_harness.Result("a", VERSIONS, [("c", "SUCCESS")], False, "")]
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder, "page.md")
            page.write_text(conformance_harness.BEGIN + conformance_harness.END)
            self.assertEqual(conformance_harness.check_page(page, results, False), 1)
            self.assertEqual(conformance_harness.check_page(page, results, True), 0)
            self.assertEqual(conformance_harness.check_page(page, results, False), 0)


if __name__ == "__main__":
    unittest.main()
