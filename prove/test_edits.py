"""Tests that the edit proof finds each kind of damage."""

import tempfile
import unittest
from pathlib import Path

import edit_cases
import edits


class Damage(unittest.TestCase):
    def problems(self, case, after, answer):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, case.path)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(after)
            return list(edits.wrong(case, Path(folder), {case.path: answer}))

    def test_bytes_around_the_place(self):
        case = edit_cases.Case("c", "c.txt", b"a\r\nb\r\n", edit_cases.edit("c.txt", "b", "x"),
                               prefix=b"a\r\n", suffix=b"\r\n", middle="x")
        done = {"output": "done"}
        self.assertEqual(self.problems(case, b"a\r\nx\r\n", done), [])
        for after in (b"a\nx\r\n", b"a\r\nx\n", b"a\r\ny\r\n", b"\xef\xbb\xbfa\r\nx\r\n", b""):
            self.assertNotEqual(self.problems(case, after, done), [], after)
        self.assertNotEqual(self.problems(case, b"a\r\nx\r\n", {"error": "no"}), [])

    def test_what_must_not_be_made(self):
        case = edit_cases.Case("c", "c.txt", b"a\na\n", edit_cases.edit("c.txt", "a", "x"), words=("2",))
        self.assertEqual(self.problems(case, b"a\na\n", {"error": "found 2"}), [])
        self.assertNotEqual(self.problems(case, b"x\na\n", {"error": "found 2"}), [])
        self.assertNotEqual(self.problems(case, b"a\na\n", {"output": "found 2"}), [])
        self.assertNotEqual(self.problems(case, b"a\na\n", {"error": "no"}), [])

    def test_what_the_edit_does_not_name(self):
        cases = {case.name: case for case in edit_cases.all_cases()}
        case = cases["misquoted_four_two_lf_inserted_moved.py"]
        done, right = {"output": "done"}, case.prefix + case.middle.encode() + case.suffix
        self.assertEqual(self.problems(case, right, done), [])
        for damage in ((b"  = 1000", b" = 1000"), (b"a  b", b"a b"), (b"')  \n", b"')\n"),
                       (b"        if late", b"    if late"), (b"            wait", b"          wait")):
            self.assertNotEqual(self.problems(case, right.replace(*damage), done), [], damage)
        case = cases["misquoted_number_four_two_lf_moved.py"]
        refused = {"error": "Could not find an exact match: 100 is not 1000"}
        self.assertEqual(self.problems(case, case.before, refused), [])
        self.assertNotEqual(self.problems(case, case.before.replace(b"1000", b"100"), refused), [])

    def test_every_case_looks_at_its_file(self):
        for case in edit_cases.all_cases():
            words = " ".join(case.words)
            answer = {"error": words} if case.middle is None else {"output": words}
            for damage in (case.before + b"damage", b"damage" + case.before, case.before[:-1]):
                if damage != case.before:
                    self.assertNotEqual(self.problems(case, damage, answer), [], case.name)


if __name__ == "__main__":
    unittest.main()
