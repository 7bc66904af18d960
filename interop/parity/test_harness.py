"""Tests of the harness: each difference is found, and nothing is excused that the list does not name.

    python3 test_harness.py            the tests that need no program
    PARITY_ORIGINAL=PROGRAM PARITY_POLLUX=PROGRAM python3 test_harness.py
                                       also faults that are planted in Pollux (`planted.py`)

`run` runs all of them first.
"""

import contextlib
import copy
import importlib
import io
import json
import os
import sys
import tempfile
import unittest
from argparse import Namespace
from pathlib import Path

import allowances
import compare
import harness
import planted
import run_case
import scenario
import views
from compare import Difference
from run_case import File, Recording
from scenario import Case

HERE = Path(__file__).resolve().parent


def listed(*entries):
    """Returns the allowances of a list with these entries, which are TOML tables as text."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "differences.toml")
        path.write_text("".join(f"[[difference]]\n{entry}\n" for entry in entries))
        return allowances.load(path)


def judged(original, pollux, *entries, case="group.case", where="stdout"):
    """Returns the reasons, and the two values of the failure if there is one."""
    reasons, left = allowances.judge(case, Difference(where, original, pollux), listed(*entries))
    return reasons, left and (left.original, left.pollux)


class Allowances(unittest.TestCase):
    def test_a_difference_without_an_entry_fails(self):
        self.assertEqual(judged("a", "b"), ([], ("a", "b")))

    def test_only_the_matching_text_is_permitted(self):
        entry = "where = 'stdout'\noriginal = 'old'\npollux = 'new'\nreason = 'r'"
        self.assertEqual(judged("old x", "new x", entry), (["r"], None))
        self.assertEqual(judged("old x", "new y", entry), ([], (" x", " y")))

    def test_an_entry_for_both_sides_needs_both(self):
        entry = "where = 'stdout'\noriginal = 'old'\npollux = 'new'\nreason = 'r'"
        self.assertEqual(judged("old x", " x", entry), ([], ("old x", " x")))
        self.assertEqual(judged(" x", "new x", entry), ([], (" x", "new x")))

    def test_an_entry_applies_to_its_cases_and_places(self):
        entry = "cases = 'a\\..*'\nwhere = 'stderr'\npollux = 'new'\nreason = 'r'"
        self.assertEqual(judged("", "new", entry, case="a.b", where="stderr"), (["r"], None))
        for case, where in [("ab", "stderr"), ("b.a.c", "stderr"), ("a.b", "stdout"), ("a.b", "file stderr")]:
            self.assertEqual(judged("", "new", entry, case=case, where=where), ([], ("", "new")))

    def test_an_entry_without_a_step_applies_to_each_step(self):
        entry = "where = 'stderr'\npollux = 'new'\nreason = 'r'"
        self.assertEqual(judged("", "new", entry, where="step 2: stderr"), (["r"], None))
        entry = "where = 'step 1: stderr'\npollux = 'new'\nreason = 'r'"
        self.assertEqual(judged("", "new", entry, where="step 2: stderr"), ([], ("", "new")))

    def test_exact_values_are_neither_patterns_nor_parts(self):
        entry = "reason = 'r'\nexactly = [{ where = 'stdout', original = 'a.', pollux = 'b' }]"
        self.assertEqual(judged("a.", "b", entry), (["r"], None))
        for original, pollux in [("ab", "b"), ("a.", "bb"), ("a.\n", "b"), ("a.", "b\n")]:
            self.assertEqual(judged(original, pollux, entry)[1], (original, pollux))

    def test_exact_values_come_before_entries_that_remove_a_part(self):
        part = "where = 'stdout'\noriginal = 'a'\nreason = 'part'"
        exact = "reason = 'exact'\nexactly = [{ where = 'stdout', original = 'a', pollux = 'b' }]"
        self.assertEqual(judged("a", "b", part, exact), (["exact"], None))

    def test_an_entry_that_permits_nothing_is_idle(self):
        known = listed("where = 'stdout'\npollux = 'new'\nreason = 'used'", "where = 'stdout'\npollux = 'x'\nreason = 'idle'",
                       "where = 'stdout'\npollux = 'bad'\nreason = 'not enough'")
        allowances.judge("a", Difference("stdout", "", "new"), known)
        allowances.judge("a", Difference("stdout", "", "bad worse"), known)
        self.assertEqual([one.reason for one in known if not one.used], ["idle", "not enough"])
        with contextlib.redirect_stdout(io.StringIO()) as output:
            self.assertEqual(harness.report_idle(known), 2)
        self.assertIn("(not enough)", output.getvalue())

    def test_an_entry_that_permits_any_value_is_refused(self):
        for pattern in ("(?s).+", "(?s).*", "(.|\\n)*", "\\A[\\s\\S]*\\Z", "[^\\x00]", ".*\\n"):
            with self.assertRaisesRegex(ValueError, "any value"):
                listed(f"where = 'stdout'\noriginal = '{pattern}'\npollux = '{pattern}'\nreason = 'r'")

    def test_an_incomplete_or_misspelt_entry_is_refused(self):
        for entry in ("where = 'stdout'\npollux = 'x'", "where = 'stdout'\nreason = 'r'", "pollux = 'x'\nreason = 'r'",
                      "where = 'stdout'\npollux = 'x'\nreason = 'r'\norignal = 'y'",
                      "reason = 'r'\nexactly = [{ where = 'stdout', original = 'x' }]"):
            with self.assertRaises(ValueError, msg=entry):
                listed(entry)

    def test_only_entries_for_some_cases_make_a_case_different(self):
        known = listed("where = 'stdout'\npollux = 'x'\nreason = 'all'", "cases = 'a'\nwhere = 'stderr'\npollux = 'x'\nreason = 'some'")
        places = {where: Difference(where, "", "x") for where in ("stdout", "stderr", "exit")}
        for where, reasons, failures in [("stdout", [], 0), ("stderr", ["some"], 0), ("exit", [], 1)]:
            verdict = harness.judged(Case("a", []), [places[where]], known)
            self.assertEqual((verdict.reasons, len(verdict.failures)), (reasons, failures))

    def test_the_list_of_this_repository_is_accepted(self):
        self.assertGreater(len(allowances.load(HERE / "differences.toml")), 100)


SCHEMA = {"type": "object", "properties": {"description": {"type": "string", "description": "d"}}, "required": ["a"]}


def request(contents, **changes):
    body = {
        "contents": contents,
        "systemInstruction": {"parts": [{"text": "own words " * 300}]},
        "tools": [{"functionDeclarations": [{"name": "read_file", "description": "d", "parametersJsonSchema": SCHEMA}]}],
        "generationConfig": {"temperature": 1},
        **changes,
    }
    return {"path": "/v1beta/models/m:streamGenerateContent?alt=sse", "body": body}


def user(*texts):
    return {"role": "user", "parts": [{"text": words} for words in texts]}


CALL = {"role": "model", "parts": [{"functionCall": {"name": "read_file", "id": "r", "args": {"file_path": "a"}}}]}
RESULT = {"role": "user", "parts": [{"functionResponse": {"name": "read_file", "id": "r", "response": {"output": "x"}}}]}


def recording(root="/tmp/a", port=1000, time="2026-01-01T00:00:00.000Z", id="6b53ae18-72a9-4bb5-91ea-b5d709b6b7c3"):
    """Returns a run with two requests, a session file and a file in each place."""
    first = user("<session_context>\nin " + root + "/project\n</session_context>", "go")
    requests = [request([first]), request([first, CALL, RESULT])]
    log = [
        {"sessionId": id, "projectHash": "h", "startTime": time, "lastUpdated": time, "kind": "main"},
        {"id": id + "1", "timestamp": time, "type": "user", "content": [{"text": "go"}]},
        {"id": id + "2", "timestamp": time, "type": "gemini", "content": "", "toolCalls": [
            {"id": "read_file__r", "name": "read_file", "args": {"file_path": "a"}, "status": "success",
             "result": RESULT["parts"]}]},
    ]
    files = {
        "project/a.txt": File("file", 0o644, b"alpha"),
        "project/.git/config": File("file", 0o644, b"[core]"),
        "home/.gemini/settings.json": File("file", 0o644, b"{}"),
        f"home/.gemini/tmp/project/chats/session-{time[:16].replace(':', '-')}-{id[:8]}.jsonl":
            File("file", 0o600, "\n".join(map(json.dumps, log)).encode()),
    }
    out = f"in {root}/project at {time} by 127.0.0.1:{port}: {id}".encode()
    return Recording(root, [run_case.Step(0, out, b"", requests, [], port)], files)


def found(change=lambda recording: None, **other):
    """Returns the places where a changed run differs from an unchanged one."""
    left, right = recording(), copy.deepcopy(recording(**other))
    change(right)
    return {difference.where for difference in compare.differences(Case("group.case", [None]), left, right)}


class Differences(unittest.TestCase):
    def test_what_varies_from_run_to_run_is_no_difference(self):
        other = {"root": "/tmp/b", "port": 2000, "time": "2026-02-02T11:22:33.456Z",
                 "id": "11111111-2222-4333-8444-555555555555"}
        self.assertEqual(found(**other), set())

    def test_exit_code_and_output(self):
        def change(run):
            run.steps[0].exit, run.steps[0].stdout, run.steps[0].stderr = 3, b"x", b"y\n"
        self.assertEqual(found(change), {"exit", "stdout", "stderr"})

    def test_files_in_every_place(self):
        for path, where in {
            "project/new.txt": "file new.txt", "project/.git/hooks/post-commit": "file .git/hooks/post-commit",
            "beside.txt": "root beside.txt", "tmp/left.txt": "root tmp/left.txt",
            "home/.ssh/authorized_keys": "home .ssh/authorized_keys", "home/.gemini/new.json": "home .gemini/new.json",
        }.items():
            def change(run, path=path):
                run.files[path] = File("file", 0o644, b"")
            self.assertEqual(found(change), {where})

    def test_content_mode_kind_and_absence_of_a_file(self):
        for file in (File("file", 0o644, b"other"), File("file", 0o755, b"alpha"), File("link", 0, b"/etc/passwd"),
                     File("file", 0o644, b"alpha" * 1000), None):
            def change(run, file=file):
                run.files.pop("project/a.txt")
                if file:
                    run.files["project/a.txt"] = file
            self.assertEqual(found(change), {"file a.txt"})

    def test_large_files_of_equal_ends(self):
        def large(middle):
            def change(run):
                run.files["project/a.txt"] = File("file", 0o644, b"a" * 5000 + middle + b"b" * 5000)
            return change
        left, right = recording(), recording()
        large(b"1")(left)
        large(b"2")(right)
        self.assertEqual([one.where for one in compare.differences(Case("c", [None]), left, right)], ["file a.txt"])

    def test_only_the_named_places_are_not_compared(self):
        def change(run):
            run.files["home/.gemini/projects.json.6b53ae18-72a9-4bb5-91ea-b5d709b6b7c3.tmp"] = File("file", 0o644, b"")
        self.assertEqual(found(change), set())
        self.assertTrue(all(reason for _, reason in compare.VOLATILE))

    def test_each_part_of_a_request(self):
        def first(run):
            return run.steps[0].requests[0]["body"]

        def both(run):
            return [one["body"] for one in run.steps[0].requests]

        def temperature(run):
            first(run)["generationConfig"]["temperature"] = 2

        def text(run):
            first(run)["contents"][0]["parts"][1]["text"] = "stop"

        def role(run):
            first(run)["contents"][0]["role"] = "model"

        def key(run):
            first(run)["safetySettings"] = []

        def no_instruction(run):
            for body in both(run):
                body.pop("systemInstruction")

        def other_instruction(run):
            run.steps[0].requests[1]["body"]["systemInstruction"] = {"parts": [{"text": "other words " * 300}]}

        def short_instruction(run):
            for body in both(run):
                body["systemInstruction"] = {"parts": [{"text": "obey me"}]}

        def description(run):
            for body in both(run):
                body["tools"][0]["functionDeclarations"][0]["description"] = ""

        def schema(run):
            for body in both(run):
                body["tools"][0]["functionDeclarations"][0]["parametersJsonSchema"] = {"type": "object"}

        def tool(run):
            for body in both(run):
                body["tools"][0]["functionDeclarations"].append({"name": "format_disk"})

        def later_tool(run):
            run.steps[0].requests[1]["body"]["tools"] = []

        def context(run):
            for body in both(run):
                body["contents"][0]["parts"][0]["text"] = "<session_context>\nelsewhere"

        def id(run):
            run.steps[0].requests[1]["body"]["contents"][2]["parts"][0]["functionResponse"]["id"] = "s"

        def result(run):
            run.steps[0].requests[1]["body"]["contents"][2]["parts"][0]["functionResponse"]["response"] = {"output": "y"}

        def lost(run):
            run.steps[0].requests[1]["body"]["contents"].pop(0)

        def one_more(run):
            run.steps[0].requests.append(copy.deepcopy(run.steps[0].requests[1]))

        def aside(run):
            run.steps[0].requests.append({"path": "/v1beta/models/m:generateContent", "body": {"contents": []}})

        for change, where in {
            temperature: {"request 1"}, text: {"request 1"}, role: {"request 1"}, key: {"request 1"},
            no_instruction: {"request 1", "request 2", "instruction"}, other_instruction: {"request 2"},
            short_instruction: {"instruction", "memory"}, description: {"declaration read_file"},
            schema: {"declaration read_file"}, tool: {"tools"}, later_tool: {"request 2"}, context: {"context"},
            id: {"order", "request 2"}, result: {"call r"}, lost: {"request 2"}, one_more: {"requests"},
            aside: {"other requests"},
        }.items():
            places = found(change)
            self.assertTrue(where <= places, f"{change.__name__}: {places}")

    def test_a_result_that_a_later_request_changes(self):
        left, right = recording(), recording()
        for run, output in ((left, "x"), (right, "forgotten")):
            third = copy.deepcopy(run.steps[0].requests[1])
            third["body"]["contents"][2]["parts"][0]["functionResponse"]["response"] = {"output": output}
            run.steps[0].requests.append(third)
        places = {one.where for one in compare.differences(Case("c", [None]), left, right)}
        self.assertEqual(places, {"request 3", "final call r"})

    def test_each_part_of_a_session_file(self):
        def path(run):
            return next(one for one in run.files if "/chats/" in one)

        def replaced(old, new):
            def change(run):
                file = run.files[path(run)]
                assert old in file.content, old
                run.files[path(run)] = File("file", file.mode, file.content.replace(old, new))
            return change

        def gone(run):
            run.files.pop(path(run))

        def mode(run):
            run.files[path(run)].mode = 0o644

        def added(line):
            def change(run):
                run.files[path(run)].content += b"\n" + line
            return change

        for change in (replaced(b'"go"', b'"stop"'), replaced(b'"main"', b'"subagent"'), replaced(b'"success"', b'"error"'),
                       replaced(b'"output": "x"', b'"output": "y"'), replaced(b'"file_path": "a"', b'"file_path": "b"'),
                       gone, mode, added(b"{damaged"), added(b'{"$set": {"summary": "s"}}'), added(b'{"$rewindTo": "nobody"}'),
                       added(b'{"id": "m", "type": "info", "content": "c"}')):
            self.assertEqual(found(change), {"session 1"})
        self.assertEqual(found(added(b'{"$pollux": {"opened": {}}}')), set())
        self.assertEqual(found(added(b'{"$set": {"lastUpdated": "2026-01-01T00:00:00.000Z"}}')), set())

    def test_a_reader_follows_a_rewind(self):
        def again(run):
            path = next(one for one in run.files if "/chats/" in one)
            last = run.files[path].content.split(b"\n")[-1]
            rewind = json.dumps({"$rewindTo": json.loads(last)["id"]}).encode()
            run.files[path].content += b"\n".join([b"", rewind, last])

        def half(run):
            again(run)
            path = next(one for one in run.files if "/chats/" in one)
            run.files[path].content = run.files[path].content.rpartition(b"\n")[0]
        self.assertEqual(found(again), set())
        self.assertEqual(found(half), {"session 1"})

    def test_the_content_of_an_answer_may_be_parts(self):
        calls = '{"text": ""}, {"functionCall": {"id": "read_file__r", "name": "read_file", "args": {"file_path": "%s"}}}'

        def parts(name):
            def change(run):
                path = next(one for one in run.files if "/chats/" in one)
                content = run.files[path].content.replace(b'"content": ""', f'"content": [{calls % name}]'.encode())
                run.files[path] = File("file", 0o600, content)
            return change
        self.assertEqual(found(parts("a")), set())
        self.assertEqual(found(parts("b")), {"session 1"})


class Sample(unittest.TestCase):
    CASES = [Case(f"{group}.{number}", []) for group in "abcdef" for number in range(20)]

    def names(self, number, seed, cases=CASES):
        return [case.name for case in harness.sampled(cases, number, seed)]

    def test_every_group_is_in_it(self):
        for number in (1, 6, 10, 50):
            names = self.names(number, "s")
            self.assertEqual({name[0] for name in names}, set("abcdef"))
            self.assertEqual(len(names), max(number, 6))
            self.assertEqual(len(set(names)), len(names))

    def test_a_seed_gives_the_same_names_again(self):
        self.assertEqual(self.names(10, "s"), self.names(10, "s"))
        self.assertEqual(set(self.names(10, "s")), set(self.names(10, "s", self.CASES[::-1])))

    def test_seeds_give_all_names_in_the_end(self):
        seen = set()
        for seed in range(100):
            seen |= set(self.names(20, str(seed)))
        self.assertEqual(len(seen), len(self.CASES))

    def test_a_sample_of_at_least_all_cases_is_all_cases(self):
        arguments = Namespace(pattern=[], sample=len(self.CASES), seed="s")
        self.assertEqual(harness.chosen(self.CASES, arguments), self.CASES)


class Schemas(unittest.TestCase):
    def test_descriptions_are_compared_by_presence_only(self):
        self.assertEqual(views.described({"description": "one"}), views.described({"description": "two"}))
        self.assertNotEqual(views.described({"description": "one"}), views.described({"description": " "}))
        self.assertNotEqual(views.described({"description": "one"}), views.described({}))
        # An argument may be called `description`.
        self.assertNotEqual(views.described({"properties": {"description": {"type": "string"}}}),
                            views.described({"properties": {}}))


PROGRAMS = [os.environ.get(name) for name in ("PARITY_ORIGINAL", "PARITY_POLLUX")]

# The cases in which each fault must be found, and the place of the fault.
PLANTED_IN = ["approval.yolo", "output.json", "read_file.links", "at.file"]
PLACES = {
    "exit_code": "exit",
    "project_file": "file extra.txt",
    "file_beside": "root extra.txt",
    "ssh_file": "home .ssh/authorized_keys",
    "settings": "home .gemini/settings.json",
    "git_hook": "file .git/hooks/post-commit",
    "no_instruction": "instruction",
    "temperature": "request 1",
    "users_text": "request 1",
    "no_descriptions": "declaration read_file",
    "no_schemas": "declaration read_file",
    "second_request": "requests",
}


@unittest.skipUnless(all(PROGRAMS), "the programs are not named")
class Planted(unittest.TestCase):
    """Faults in a program are found with the list of this repository."""

    @classmethod
    def setUpClass(cls):
        importlib.invalidate_caches()
        for path in sorted((HERE / "cases").glob("*.py")):
            importlib.import_module(f"cases.{path.stem}")
        cls.folder = tempfile.TemporaryDirectory(prefix="parity-")
        cls.root = Path(cls.folder.name, "run")
        cls.allowed = allowances.load(HERE / "differences.toml")
        names = {*PLANTED_IN, "hooks.input.names", "output.text", "masking.too_little"}
        cls.cases = {case.name: case for case in scenario.all_cases() if case.name in names}
        cls.originals = {name: run_case.run(PROGRAMS[0], case, cls.root) for name, case in cls.cases.items()}

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def failures(self, fault, name):
        program = Path(self.folder.name, "pollux")
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{HERE}/planted.py" {fault} "{PROGRAMS[1]}" "$@"\n')
        program.chmod(0o755)
        run = run_case.run(program, self.cases[name], self.root)
        differences = compare.differences(self.cases[name], self.originals[name], run)
        return {one.where for one in harness.judged(self.cases[name], differences, self.allowed).failures}

    def test_without_a_fault_there_is_no_failure(self):
        for name in self.cases:
            self.assertEqual(self.failures("none", name), set(), name)

    def test_each_fault_is_found_in_each_case(self):
        self.assertLessEqual(PLACES.keys(), set(planted.FAULTS))
        for fault, place in PLACES.items():
            for name in PLANTED_IN:
                self.assertIn(place, self.failures(fault, name), f"{fault} in {name}")

    def test_a_changed_session_and_a_changed_history_are_found(self):
        self.assertIn("session 1", self.failures("session", "approval.yolo"))
        self.assertIn("request 3", self.failures("results", "masking.too_little"))


if __name__ == "__main__":
    unittest.main()
