"""Tests that the kill proof finds violations. `cargo xtask prove kill` runs this first."""

import json
import tempfile
import unittest
from pathlib import Path

import kill
import rules
from script import Step, key

OLD = Step("write_file", {"file_path": "a.txt", "content": "old"}, "a.txt", "old")
NEW = Step("write_file", {"file_path": "a.txt", "content": "new"}, "a.txt", "new")


def record(step, status):
    call = {"id": step.content, "name": step.name, "args": step.arguments, "status": status}
    return {"id": f"m{step.content}", "type": "gemini", "toolCalls": [call]}


def started(step):
    return {"$pollux": {"started": {"callId": step.content}}}


class Files(unittest.TestCase):
    """An old version that is finished, and a new one that is not started, started or finished."""

    def wrong(self, found, *records, end="\n"):
        with tempfile.TemporaryDirectory() as folder:
            project, session = Path(folder, "project"), Path(folder, "session")
            project.mkdir()
            if found is not None:
                (project / "a.txt").write_text(found)
            session.write_text("\n".join(map(json.dumps, records)) + end)
            log = kill.Log([session])
            self.torn, self.problems = log.torn, log.problems
            return kill.wrong_files({step.key(): step for step in (OLD, NEW)}, project, log)

    def test_each_state(self):
        before = [record(OLD, "executing"), started(OLD), record(OLD, "success")]
        during = [*before, record(NEW, "executing"), started(NEW)]
        after = [*during, record(NEW, "success")]
        cases = [
            (None, [], None),
            ("old", before, None),
            ("old", during, None),
            ("new", during, None),
            ("new", after, None),
            (None, before, "is missing"),
            ("ne", during, "neither old nor new"),
            ("", during, "neither old nor new"),
            ("new", before, "before the log said so"),
            ("old", after, "differs from the log"),
        ]
        for found, records, expected in cases:
            with self.subTest(found=found, records=len(records)):
                wrong = self.wrong(found, *records)
                self.assertEqual(bool(wrong), expected is not None)
                self.assertIn(expected or "", "".join(wrong))

    def test_only_the_last_line_may_be_torn(self):
        self.wrong(None, {}, end='\n{"torn')
        self.assertEqual((self.torn, self.problems), (1, []))
        self.wrong(None, {}, end='\n{"torn\n')
        self.assertEqual((self.torn, len(self.problems)), (0, 1))


class Rules(unittest.TestCase):
    def test_each_rule(self):
        call = {"functionCall": {"id": "1", "name": "a"}}
        answer = {"functionResponse": {"id": "1", "name": "a"}}
        text = {"text": "x"}

        def contents(*turns):
            return [
                {"role": "model" if number % 2 else "user", "parts": list(parts)}
                for number, parts in enumerate(turns)
            ]

        for kept in (contents([text]), contents([text], [call], [answer])):
            self.assertIsNone(rules.broken_rule(kept))
        broken = [
            ([], "no contents"),
            (contents([text], [text]), "the model speaks last"),
            (contents([]), "no parts"),
            (contents([{"text": ""}]), "an empty text"),
            (contents([text], [call], [text]), "without its response"),
            (contents([text], [call], [answer, answer]), "no open call"),
            (contents([answer]), "no open call"),
            (contents([call]), "a call by the user"),
            (contents([text])[:1] * 2, "where model must speak"),
        ]
        for turns, expected in broken:
            with self.subTest(expected):
                self.assertIn(expected, rules.broken_rule(turns) or "kept")

    def test_a_call_is_known_by_its_arguments_in_any_order(self):
        self.assertEqual(key("a", {"b": 1, "c": 2}), key("a", {"c": 2, "b": 1}))


if __name__ == "__main__":
    unittest.main()
