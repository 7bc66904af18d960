"""Tests that the kill proof finds violations. `cargo xtask prove kill` runs this first."""

import json
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import kill
import kill_log
import kill_requests
import rules
import script
import stand_in
from script import Step, key

OLD = Step("write_file", {"file_path": "a.txt", "content": "old"}, "a.txt", "old")
NEW = Step("write_file", {"file_path": "a.txt", "content": "new"}, "a.txt", "new")


def record(step, status):
    call = {"id": step.content, "name": step.name, "args": step.arguments, "status": status}
    call["result"] = [{"functionResponse": {"response": {"output": "done"}}}]
    return {"id": f"m{step.content}", "type": "gemini", "toolCalls": [call]}


def started(step):
    return {"$pollux": {"started": {"callId": step.content}}}


class Files(unittest.TestCase):
    """An old version that is finished, and a new one that is not started, started or finished."""

    def wrong(self, found, *records, end="\n", torn=()):
        with tempfile.TemporaryDirectory() as folder:
            project, session = Path(folder, "project"), Path(folder, "session")
            project.mkdir()
            if found is not None:
                (project / "a.txt").write_text(found)
            session.write_text("\n".join(map(json.dumps, records)) + end)
            log = kill_log.Log([session], torn)
            self.torn, self.problems = log.torn, log.problems
            return kill_log.wrong_files({step.key(): step for step in (OLD, NEW)}, project, log)

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
        self.assertEqual((self.torn, self.problems), ({b'{"torn'}, []))
        self.wrong(None, {}, end='\n{"torn\n')
        self.assertEqual((self.torn, len(self.problems)), (set(), 1))
        self.wrong(None, {}, end='\n{"torn\n{}\n', torn=self.torn | {b'{"torn'})
        self.assertEqual(self.problems, [])

    def test_a_file_that_did_not_only_grow(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "session")
            for new, expected in (
                (b"one\ntwo\n", ""),
                (b"one\n", ""),
                (b"one", "was rewritten"),
                (b"two\n", "was rewritten"),
                (b"", "was rewritten"),
                (None, "is gone"),
            ):
                path.unlink(missing_ok=True)
                if new is not None:
                    path.write_bytes(new)
                found = "".join(kill_log.rewritten({path: b"one\n"}, [one for one in [path] if one.exists()]))
                self.assertEqual(bool(found), bool(expected), new)
                self.assertIn(expected, found)


CALL = {"functionCall": {"id": "1", "name": "a", "args": {}}}
ANSWER = {"functionResponse": {"id": "1", "name": "a", "response": {"output": "found"}}}
THOUGHT = {"text": "Now.", "thoughtSignature": "c2ln"}


def conversation(*turns):
    return [
        {"role": "model" if number % 2 else "user", "parts": list(parts)}
        for number, parts in enumerate(turns)
    ]


class Requests(unittest.TestCase):
    SEEN = conversation([{"text": "hi"}], [THOUGHT, CALL], [ANSWER])

    def lost(self, asked, seen=SEEN, **logged):
        log = kill_log.Log([])
        for name, value in logged.items():
            setattr(log, name, value)
        return "; ".join(kill_requests.lost(seen, asked, log))

    def test_what_may_follow(self):
        later = [*self.SEEN, *conversation([{"text": "go on"}])]
        later[-1]["role"] = "model"
        filled = conversation([{"text": "hi"}], [THOUGHT, CALL | {"thoughtSignature": rules.NO_SIGNATURE}], [ANSWER])
        for seen, asked in ((self.SEEN, self.SEEN), (self.SEEN, later), (filled, self.SEEN), ([], self.SEEN),
                            (self.SEEN, conversation([{"text": "hi"}], [THOUGHT, CALL], [ANSWER, {"text": "go on"}]))):
            self.assertEqual(self.lost(asked, seen), "")

    def test_what_is_lost_or_another(self):
        prompt, result = {"text": "ho"}, {"functionResponse": ANSWER["functionResponse"] | {"response": {"output": "LOST"}}}
        for asked in (
            [],
            self.SEEN[:2],
            conversation([prompt], [THOUGHT, CALL], [ANSWER]),
            conversation([{"text": "hi"}], [CALL], [ANSWER]),
            conversation([{"text": "hi"}], [{"text": "Now."}, CALL], [ANSWER]),
            conversation([{"text": "hi"}], [THOUGHT, CALL], [result]),
            conversation([{"text": "hi"}], [THOUGHT, CALL, prompt], [ANSWER]),
        ):
            self.assertNotEqual(self.lost(asked), "", asked)

    def test_what_only_the_log_has(self):
        kept = {"prompts": {"1": ["hi"]}, "texts": {"2": ["Now."]}, "results": {"1": {"output": "found"}}}
        self.assertEqual(self.lost(self.SEEN, [], **kept), "")
        self.assertIn("a prompt of the log", self.lost(self.SEEN, prompts={"1": ["more"]}))
        self.assertIn("a text of the log", self.lost(self.SEEN, texts={"1": ["more"]}))
        self.assertIn("is lost: 2", self.lost(self.SEEN, results={"2": {}}))
        self.assertIn("is another one: 1", self.lost(self.SEEN, results={"1": {"output": "LOST"}}))

    def test_a_summary_replaces_what_the_server_saw(self):
        asked = conversation([{"text": "<state_snapshot>hi</state_snapshot>"}])
        self.assertEqual(self.lost(asked, summary="<state_snapshot>hi</state_snapshot>"), "")
        self.assertIn("the summary is lost", self.lost(conversation([{"text": "hi"}]), summary="<state_snapshot>"))

    def test_a_shortened_response_needs_a_record_and_a_file_with_the_whole(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "whole.txt")
            short = {"output": f"{kill_requests.MASKED}\nfo\n\nFull output available at: {file}\n</tool_output_masked>"}
            asked = conversation([{"text": "hi"}], [THOUGHT, CALL],
                                 [{"functionResponse": ANSWER["functionResponse"] | {"response": short}}])
            self.assertIn("became", self.lost(asked, shortened=[short]))
            file.write_text("found")
            self.assertEqual(self.lost(asked, shortened=[short]), "")
            self.assertIn("became", self.lost(asked))
            file.write_text("LOST")
            self.assertIn("became", self.lost(asked, shortened=[short]))


class Rules(unittest.TestCase):
    def test_each_rule(self):
        call = {"functionCall": {"id": "1", "name": "a"}}
        answer = {"functionResponse": {"id": "1", "name": "a"}}
        text = {"text": "x"}
        for kept in (conversation([text]), conversation([text], [call], [answer])):
            self.assertIsNone(rules.broken_rule(kept))
        broken = [
            ([], "no contents"),
            (conversation([text], [text]), "the model speaks last"),
            (conversation([]), "no parts"),
            (conversation([{"text": ""}]), "an empty text"),
            (conversation([text], [call], [text]), "without its response"),
            (conversation([text], [call], [answer, answer]), "no open call"),
            (conversation([text], [call], [{"functionResponse": {"id": "2", "name": "a"}}]), "no open call"),
            (conversation([answer]), "no open call"),
            (conversation([call]), "a call by the user"),
            (conversation([text])[:1] * 2, "where model must speak"),
        ]
        for turns, expected in broken:
            with self.subTest(expected):
                self.assertIn(expected, rules.broken_rule(turns) or "kept")

    def test_a_call_is_known_by_its_arguments_in_any_order(self):
        self.assertEqual(key("a", {"b": 1, "c": 2}), key("a", {"c": 2, "b": 1}))


# A small agent with a session log, and a fault in one of its steps.
PROGRAM = """import glob, json, os, subprocess, time
home = os.environ["HOME"]
chats = home + "/.gemini/tmp/project/chats"
os.makedirs(chats, exist_ok=True)
path, fault, late = chats + "/session-1.jsonl", {fault!r}, []
def append(*records):
    global late
    if fault == "a record late":
        records, late = [*late, *records[:-1]], [*records[-1:]]
    with open(path, "a") as log:
        for record in records:
            log.write(json.dumps(record) + "\\n")
contents, calls = [], {{}}
def say(role, parts):
    contents.append({{"role": role, "parts": parts}})
    return {{"entry": contents[-1]}}
if "--resume" in sys.argv:
    lines = open(path).read().split("\\n")
    if fault == "half the log":
        open(path, "w").write("\\n".join(lines[:len(lines) // 2]) + "\\n")
        lines = lines[:len(lines) // 2]
    elif lines[-1]:
        open(path, "a").write("\\n")
    for line in lines:
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if "entry" in record:
            contents.append(record["entry"])
        own = record.get("$pollux", {{}}).get("call")
        if own:
            calls[own["id"]] = own["result"][0]
    last = contents[-1]["parts"]
    if contents[-1]["role"] == "model":
        unknown = {{"error": "interrupted"}}
        repaired = say("user", [calls.get(part["functionCall"]["id"], {{"functionResponse": {{**part["functionCall"], "response": unknown}}}})
                     for part in last if "functionCall" in part] or [{{"text": "[none]"}}])
        for part in contents[-1]["parts"]:
            part.get("functionResponse", {{}}).pop("args", None)
        append(repaired)
    append(say("model", [{{"text": "[interrupted]"}}]))
    for part in [part for content in contents for part in content["parts"]]:
        if fault == "a result" and "functionResponse" in part:
            part["functionResponse"]["response"] = {{"output": "LOST"}}
    if fault == "a prompt":
        contents[0]["parts"] = [{{"text": "other words"}}]
    if fault == "a thought":
        for content in contents:
            content["parts"] = [part for part in content["parts"] if "thoughtSignature" not in part] or [{{"text": "[none]"}}]
    if fault == "a log in place":
        text = open(path).read()
        open(path, "w").write(text.replace("done", "DONE"))
parts = [{{"text": sys.argv[-1]}}]
if fault != "a prompt that is not logged":
    append({{"type": "user", "id": str(time.time()), "content": parts, **say("user", parts)}})
else:
    say("user", parts)
number = 0
def treat(call):
    name, arguments = call["name"], call["args"]
    if name == "write_file":
        replace(arguments["file_path"], arguments["content"])
    elif name == "replace":
        old = open(arguments["file_path"]).read()
        replace(arguments["file_path"], old.replace(arguments["old_string"], arguments["new_string"], 1))
    elif not arguments.get("is_background"):
        subprocess.run(arguments["command"], shell=True, check=True)
def replace(path, text):
    open(path + ".new", "w").write(text)
    os.replace(path + ".new", path)
while True:
    parts = [part for part in stand_in.ask(contents) if not part.get("thought")]
    made = [part["functionCall"] for part in parts if "functionCall" in part]
    for call in made:
        number += 1
        call["id"] = f"{{time.time()}}-{{number}}"
    open_calls = [{{**call, "status": "executing"}} for call in made]
    append({{"type": "gemini", "id": str(time.time()), "content": parts, "toolCalls": open_calls, **say("model", parts)}})
    if not made:
        append({{}})
        break
    results = []
    for call in made:
        append({{"$pollux": {{"started": {{"callId": call["id"]}}}}}})
        treat(call)
        time.sleep(0.05 * (fault == "a record late"))
        results.append({{"functionResponse": {{"id": call["id"], "name": call["name"], "response": {{"output": "done " + call["id"]}}}}}})
        append({{"$pollux": {{"call": {{**call, "status": "success", "result": [results[-1]]}}}}}})
    append(say("user", results))
"""


class Detection(unittest.TestCase):
    """Faulty programs are found, and a correct one is not."""

    def failures(self, fault, sessions=5):
        with (
            tempfile.TemporaryDirectory() as folder,
            mock.patch.multiple(script, TURNS=6, LINES=5, LATER_TURNS=2),
            mock.patch.object(kill, "COMPRESSING", 1_000_000),
        ):
            program = Path(folder, "program")
            stand_in.write(program, PROGRAM.format(fault=fault))
            proof = kill.Proof(program, Path(folder, "homes"), 1)
            for number in range(sessions):
                proof.run(number)
            return "\n".join(proof.failures)

    def test_nothing_is_found_where_nothing_is_wrong(self):
        self.assertEqual(self.failures("none", sessions=8), "")

    def test_what_a_resumed_session_has_changed(self):
        for fault, expected in (
            ("a result", "LOST"),
            ("a prompt", "other words"),
            ("a thought", "parts instead of"),
            ("a prompt that is not logged", "the server has the prompt and the log has not"),
        ):
            with self.subTest(fault):
                self.assertIn(expected, self.failures(fault))

    def test_logs_that_did_not_only_grow(self):
        for fault in ("a log in place", "half the log"):
            with self.subTest(fault):
                self.assertIn("was rewritten", self.failures(fault))

    def test_a_log_that_is_late(self):
        self.assertIn("changed before the log said so", self.failures("a record late", sessions=8))


if __name__ == "__main__":
    unittest.main()
