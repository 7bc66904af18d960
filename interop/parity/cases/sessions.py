"""Sessions: recording, listing, resuming, deleting, and scripted responses from a file."""

import json

from scenario import GO, YOLO, Step, call, calls, case, text

LIST = ["--list-sessions"]


def prompt(words, *more):
    return YOLO + ["-p", words, "-o", "json", *more]


READ = [calls(call("read_file", {"file_path": "a.txt"}, "read"), say="before"), text("first answer")]

case("sessions.none", LIST)
case("sessions.resume_latest", files={"a.txt": "q\n"},
     steps=[Step(prompt("first"), READ), Step(prompt("second", "--resume", "latest"), [text("second answer")])])
case("sessions.resume_by_number", files={"a.txt": "q\n"},
     steps=[Step(prompt("first"), READ), Step(prompt("second", "--resume", "1"), [text("second answer")])])
case("sessions.resume_stream_json",
     steps=[Step(GO + ["-o", "stream-json"], [text("x")]), Step(GO + ["-o", "stream-json", "-r", "latest"], [text("y")])])
case("sessions.list", steps=[Step(prompt("first"), [text("x")]), Step(LIST)])
case("sessions.list_long_prompt", steps=[Step(prompt("é long " + "word " * 40 + "\nline two"), [text("x")]), Step(LIST)])
case("sessions.delete", steps=[Step(prompt("first"), [text("x")]), Step(["--delete-session", "1"]), Step(LIST)])
case("sessions.delete_unknown", steps=[Step(prompt("first"), [text("x")]), Step(["--delete-session", "99"]), Step(["--delete-session", "zz"])])
case("sessions.given_id",
     steps=[Step(prompt("first", "--session-id", "my-id_1"), [text("x")]), Step(prompt("again", "--session-id", "my-id_1"), [text("x")]),
            Step(prompt("second", "--resume", "my-id_1"), [text("y")])])
case("sessions.resume_unknown", steps=[Step(prompt("first"), [text("x")]), Step(prompt("y", "--resume", "nope")), Step(prompt("y", "--resume", "7")),
                                       Step(prompt("y", "--resume", "0"))])
case("sessions.resume_none", prompt("x", "--resume", "latest"))
case("sessions.id_empty", ["--session-id", "", "-p", "x"])
case("sessions.id_invalid", ["--session-id", "a b", "-p", "x"])
case("sessions.id_and_resume", ["--resume", "1", "--session-id", "a", "-p", "x"])
case("sessions.file_missing", ["--session-file", "nofile.json", "-p", "x"])

_times = {"startTime": "2026-01-01T00:00:00.000Z", "lastUpdated": "2026-01-01T00:00:00.000Z"}
_cut = "\n".join([
    json.dumps({"sessionId": "aaaaaaaa-1", "projectHash": "h", "kind": "main", **_times}),
    json.dumps({"id": "m1", "timestamp": "2026-01-01T00:00:00.000Z", "type": "user", "content": [{"text": "old words"}]}),
    json.dumps({"id": "m2", "timestamp": "2026-01-01T00:00:01.000Z", "type": "gemini", "content": "hi"}),
    '{"id":"m3","ty',
])
case("sessions.cut_short", home={".gemini/tmp/project/chats/session-2026-01-01T00-00-aaaaaaaa.jsonl": _cut},
     steps=[Step(prompt("next", "--resume", "aaaaaaaa-1"), [text("x")])])

_recorded = json.dumps({"method": "generateContentStream", "response": text("scripted")}) + "\n"
_other = json.dumps({"method": "generateContent", "response": {}}) + "\n"
case("scripted.answer", GO + ["--fake-responses", "f.jsonl"], files={"f.jsonl": _recorded})
case("scripted.other_method", GO + ["--fake-responses", "f.jsonl"], files={"f.jsonl": _other + _recorded})
case("scripted.not_strict", GO + ["--fake-responses-non-strict", "f.jsonl"], files={"f.jsonl": _other + _recorded})
case("scripted.exhausted", GO + ["--fake-responses", "f.jsonl"], files={"f.jsonl": ""})
case("scripted.missing", GO + ["--fake-responses", "f.jsonl"])
case("scripted.recorded", GO + ["--record-responses", "r.jsonl"], script=[text("recorded")])

case("sessions.id_after_failure", steps=[
    Step(YOLO + ["--session-id", "build-1"], stdin=""), Step(prompt("first", "--session-id", "build-1"), [text("x")])])
case("scripted.unknown_method", GO + ["--fake-responses", "f.jsonl"], files={"f.jsonl": _recorded + '{"method":"nope","response":{}}\n'})
