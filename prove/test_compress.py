"""Tests that the compression proof finds conversations that the service would refuse, and lost
rules.

`cargo xtask prove compress` runs this first."""

import types
import unittest

import compress


def said(role, *parts):
    return {"role": role, "parts": list(parts)}


WORDS = {"text": "x"}
CALL = {"functionCall": {"name": "a", "args": {}}}
ANSWER = {"functionResponse": {"name": "a", "response": {}}}


class Detection(unittest.TestCase):
    def test_rules(self):
        good = [said("user", WORDS), said("model", CALL), said("user", ANSWER)]
        self.assertEqual(compress.broken_rules(good), [])
        for bad in (
            [],
            good[:2],
            good[1:],
            [said("user", WORDS), said("model", CALL), said("user", WORDS)],
            [said("user", ANSWER)],
            [said("user", WORDS), said("model"), said("user", WORDS)],
            [*good, said("user", WORDS)],
            [said("user", WORDS), said("model", CALL), said("user", ANSWER, ANSWER)],
        ):
            self.assertNotEqual(compress.broken_rules(bad), [], bad)

    def test_a_lost_rule_and_a_failed_run(self):
        ended = types.SimpleNamespace(returncode=0, stdout=b"done\n", stderr=b"")
        server = types.SimpleNamespace(problems=[], taken=[compress.RULE])
        self.assertEqual(compress.complaints(server, ended), [])
        server.taken = ["forgotten"]
        self.assertEqual(len(compress.complaints(server, ended)), 1)
        ended.returncode = 1
        self.assertEqual(len(compress.complaints(server, ended)), 2)

    def test_the_history_is_as_long_as_it_says(self):
        self.assertGreater(len(compress.history(100_000)) / 4, 90_000)


if __name__ == "__main__":
    unittest.main()
