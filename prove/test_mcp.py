"""Tests that the MCP proof finds violations. `cargo xtask prove mcp` runs this first."""

import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import hostile
import mcp
import mcp_ends
import mcp_messages
import mcp_offers
import mcp_http
import mcp_killing
import mcp_server
import shell

HERE = Path(__file__).resolve().parent


@unittest.skipUnless(sys.platform == "linux", "the proof needs Linux")
class Detection(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        # The stand-in is fast, so that the limits may be short.
        short = {"GONE": 0.5, "SLACK": 0.5}
        for patch in (mock.patch.multiple(mcp, **short), mock.patch.object(mcp_messages.LogsOnOutput, "seconds", 1.0)):
            patch.start()
            self.addCleanup(patch.stop)

    def problems(self, planted, fault, manner=mcp.Run):
        """Returns what the proof finds in a program with a planted fault and this bad server."""
        program = Path(self.folder.name, "program")
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -B "{HERE}/mcp_stand_in.py" {planted}\n')
        program.chmod(0o755)
        with hostile.Listener() as canary:
            run = manner(program, Path(self.folder.name, "home"), fault, canary)
            run.seed = 1
            run.go()
        self.assertEqual(shell.children(), {})
        return "; ".join(run.problems)

    def test_nothing_is_found_where_nothing_is_wrong(self):
        for fault in (mcp_messages.LogsOnOutput, mcp_messages.DuplicateIds, mcp_ends.HangAtStart, mcp_ends.CrashAtCall,
                      mcp_http.Redirects, mcp_http.HttpServer):
            with self.subTest(fault=fault.__name__):
                self.assertEqual(self.problems("none", fault), "")
        self.assertEqual(self.problems("none", mcp_server.Server, mcp.Killed), "")

    def test_each_violation_is_found(self):
        for planted, fault, problem in (
            ("gives_up", mcp_ends.HangAtStart, "exit code 1"),
            ("stops", mcp_messages.LogsOnOutput, "exit code 0, 1 requests"),
            ("silent", mcp_ends.HangAtStart, "not said: "),
            ("silent", mcp_ends.CrashAtCall, "not said: "),
            ("many_words", mcp_ends.HangAtStart, "characters on standard error"),
            ("controls", mcp_ends.HangAtStart, "the control character '\\x1b' is printed"),
            ("memory", mcp_messages.LogsOnOutput, "MB of memory"),
            ("slow", mcp_messages.LogsOnOutput, "the run took"),
            ("last_answer", mcp_messages.DuplicateIds, "'twice' is shown or sent"),
            ("one_server", mcp_messages.LogsOnOutput, "the other server's result is"),
            ("wrong_name", mcp_messages.LogsOnOutput, f"the name 'mcp_bad_{'n' * 72}' is sent"),
            ("wrong_name", mcp_messages.LogsOnOutput, "the tools of the server are"),
            ("name_twice", mcp_messages.LogsOnOutput, "a name is sent twice"),
            ("whole_result", mcp_offers.LargeText, "a request of"),
            ("whole_result", mcp_offers.LargeText, "the result is"),
            ("process_left", mcp_ends.Stays, "left behind: "),
            ("open_file", mcp_messages.LogsOnOutput, "open in a server: '/etc/hostname'"),
            ("temporary_file", mcp_messages.LogsOnOutput, "left in the folder for temporary files: left"),
            ("redirect", mcp_http.Redirects, "connected to a private address: POST /private"),
            ("connection_left", mcp_http.HttpServer, "connections are left"),
        ):
            with self.subTest(planted=planted, fault=fault.__name__):
                self.assertIn(problem, self.problems(planted, fault))

    def test_a_server_that_outlives_a_killed_program_is_found(self):
        # Nothing ends a server of the stand-in that ignores the end of its input.
        class Early(mcp.Killed):
            LATEST = 0.1

            def wait(self):
                while not list((self.folder / "notes").glob("files-*")):
                    pass
                return super().wait()

        self.assertIn("left behind: ", self.problems("none", mcp_ends.Stays, Early))


class Killing(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.conversation = mcp_killing.Conversation(Path("/bin/true"), Path(folder.name), 1, {"command": "true"})

    def judged(self, outputs, turns):
        parts = [{"functionResponse": {"response": {"output": one}}} for one in outputs]
        self.conversation.judge([[{"parts": parts}]], turns)
        return "; ".join(self.conversation.problems)

    def test_results_that_say_what_happened_are_right(self):
        died = "MCP tool 'look' of server 's1' failed: the server ended during the call"
        self.assertEqual(self.judged(["seen"] * 9 + [died], 10), "")

    def test_a_lost_result_is_found(self):
        self.assertIn("9 results in 10 turns", self.judged(["seen"] * 9, 10))

    def test_another_result_is_found(self):
        self.assertIn("1 results such as", self.judged(["seen"] * 9 + ["who knows"], 10))

    def test_servers_that_stay_away_are_found(self):
        self.assertIn("only 5 of 10 calls", self.judged(["seen"] * 5 + ["the server is not connected"] * 5, 10))

    def test_growth_is_found(self):
        self.conversation.expect_flat((10 << 20, 50), (17 << 20, 60))
        self.assertEqual(self.conversation.problems, ["the memory has grown by 7.0 MB", "10 more files are open"])
        self.conversation.problems = []
        self.conversation.expect_flat((10 << 20, 50), (11 << 20, 52))
        self.assertEqual(self.conversation.problems, [])


if __name__ == "__main__":
    shell.adopt_orphans()
    unittest.main()
