"""Tests that the compression proof finds conversations that the service would refuse, and programs
that forget what they must keep.

`cargo xtask prove compress` runs this first."""

import tempfile
import types
import unittest
from pathlib import Path

import compress
import stand_in

# Replaces all but the latest messages of a session by a summary, with a fault.
PROGRAM = """import json
fault, rule, recent = {fault!r}, {rule!r}, {recent}
def conversation(messages):
    for message in messages:
        content = message["content"]
        parts = [{{"text": content}}] if isinstance(content, str) else content
        calls = message.get("toolCalls", [])
        parts += [{{"functionCall": {{name: call[name] for name in ("id", "name", "args")}}}} for call in calls]
        yield {{"role": "user" if message["type"] == "user" else "model", "parts": parts}}
        if calls:
            yield {{"role": "user", "parts": [part for call in calls for part in call["result"]]}}
lines = open(sys.argv[sys.argv.index("--session-file") + 1]).read().splitlines()[1:]
messages = [json.loads(line) for line in lines]
summary = stand_in.ask([stand_in.text("Summarise.")], "generateContent")[0]["text"]
first = rule if fault == "no summary" else summary + rule
contents = [stand_in.text(first), {{"role": "model", "parts": [{{"text": "Understood."}}]}}]
if fault != "no recent turns":
    contents += conversation(messages[-recent:])
contents += [stand_in.text("hm" if fault == "another message" else sys.argv[-1])]
calls = [part[kind] for content in contents for part in content["parts"] for kind in part if kind.startswith("function")]
for number, call in enumerate(calls):
    if fault == "other ids":
        call["id"] += "-renamed"
    if fault == "other ids of responses" and "response" in call:
        call["id"] += "-renamed"
    if fault == "other arguments" and "args" in call:
        call["args"] = {{}}
if fault == "only the rule":
    contents = [stand_in.text(rule)]
more = {{}} if fault in ("no instruction", "only the rule") else {{"systemInstruction": {{"parts": [{{"text": "Help."}}]}}}}
print(stand_in.ask(contents, **more)[0]["text"])
"""


class Detection(unittest.TestCase):
    def problems(self, fault):
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder, "program")
            words = {"fault": fault, "rule": compress.RULE, "recent": compress.RECENT}
            stand_in.write(program, PROGRAM.format(**words))
            return "; ".join(compress.long_history(program, Path(folder, "home"), "a summary", 40_000))

    def test_nothing_is_found_where_nothing_is_forgotten(self):
        self.assertEqual(self.problems("none"), "")

    def test_each_thing_that_is_forgotten(self):
        for fault, expected in (
            ("only the rule", "there is no system instruction"),
            ("only the rule", "the latest message is lost"),
            ("only the rule", "the summary is lost"),
            ("only the rule", "of the latest"),
            ("no instruction", "there is no system instruction"),
            ("another message", "the latest message is lost"),
            ("no summary", "the summary is lost"),
            ("no recent turns", "of the latest"),
            ("other ids", "a functionCall that nobody made"),
            ("other ids of responses", "a response to no open call"),
            ("other arguments", "a functionCall that nobody made"),
        ):
            with self.subTest(fault):
                self.assertIn(expected, self.problems(fault))

    def test_the_steps_of_one_run(self):
        def body(*parts):
            roles = ("user", "model")
            contents = [{"role": roles[at % 2], "parts": list(part)} for at, part in enumerate(parts)]
            return {"contents": contents, "systemInstruction": {"parts": [{"text": "Help."}]}}

        start = {"text": f"{compress.WORDS['a summary']} {compress.RULE}"}
        answer = {"functionResponse": {"id": "step-3", "name": "write_file", "response": {"output": "done"}}}
        expected = compress.of_step(3)
        self.assertEqual(list(compress.forgotten(body([start], compress.step(3), [answer]), expected)), [])
        for forgetful in (
            body([start]),
            body([{"text": compress.RULE}], compress.step(3), [answer]),
            body([start], compress.step(2), [answer]),
            body([start], compress.step(3)[1:], [answer]),
            body([start], compress.step(3), [answer], compress.step(4)),
        ):
            self.assertNotEqual(list(compress.forgotten(forgetful, expected)), [])

    def test_a_failed_run(self):
        ended = types.SimpleNamespace(returncode=1, stdout=b"done\n", stderr=b"")
        body = {"contents": [stand_in.text(compress.RULE)], "systemInstruction": {"parts": [{"text": "Help."}]}}
        server = types.SimpleNamespace(problems=[], taken=[body])
        found = compress.complaints(server, ended, lambda _: compress.Expected())
        self.assertEqual(found, ["exit code 1: "])
        server.taken = []
        self.assertIn("no request was accepted", compress.complaints(server, ended, lambda _: compress.Expected()))

    def test_the_history_is_as_long_as_it_says(self):
        self.assertGreater(len(compress.history(100_000)) / 4, 90_000)


if __name__ == "__main__":
    unittest.main()
