"""Errors of the API, invalid answers, and invalid calls."""

import json

from scenario import GO, RIPGREP, Failure, Raw, USAGE, api_error, call, calls, case, chunk, text, turns

ONCE = {"general": {"maxAttempts": 1}}
ERRORS = {
    "400": api_error(400, "Bad thing", "INVALID_ARGUMENT"),
    "401": api_error(401, "No auth", "UNAUTHENTICATED"),
    "403": api_error(403, "Forbidden", "PERMISSION_DENIED"),
    "404": api_error(404, "model not found", "NOT_FOUND"),
    "500": api_error(500, "Internal", "INTERNAL"),
    "503": api_error(503, "Overloaded", "UNAVAILABLE"),
    "quota": api_error(429, "Quota", "RESOURCE_EXHAUSTED"),
    "quota_of_the_day": api_error(429, "Quota", "RESOURCE_EXHAUSTED", [
        {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": "GenerateRequestsPerDay"}]}]),
    "bad_key": api_error(400, "API key not valid. Please pass a valid API key.", "INVALID_ARGUMENT", [
        {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID", "domain": "googleapis.com"}]),
    "plain_text": Failure(500, "plain text body"),
    "html": Failure(400, "<html>no</html>"),
}

for name, error in ERRORS.items():
    case(f"errors.{name}", GO, settings=ONCE, script=[error])
for name in ("400", "404", "500", "quota"):
    for form in ("json", "stream-json"):
        case(f"errors.{name}_{form}", GO + ["-o", form], settings=ONCE, script=[ERRORS[name]])

A = {"a.txt": "x"}
READ = call("read_file", {"file_path": "a.txt"}, "read")
case("errors.after_a_call", GO + ["-o", "json"], settings=ONCE, files=A, script=[calls(READ), ERRORS["400"]])
case("errors.tried_again", GO + ["-o", "json"], settings={"general": {"maxAttempts": 2}}, script=[ERRORS["503"], text("ok")])

ANSWERS = {
    "empty": [chunk([{"text": ""}], "STOP")],
    "no_parts": [{"candidates": [{"content": {"role": "model"}, "finishReason": "STOP", "index": 0}], "usageMetadata": USAGE}],
    "no_candidates": [{"usageMetadata": USAGE}],
    "cut_empty": [chunk([{"text": ""}], "MAX_TOKENS")],
    "cut": [chunk([{"text": "partial"}], "MAX_TOKENS")],
    "safety": [{"candidates": [{"finishReason": "SAFETY", "index": 0}], "usageMetadata": USAGE}],
    "safety_after_text": [chunk([{"text": "par"}], "SAFETY")],
    "malformed_call": [{"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL", "index": 0}]}],
    "thought_only": [chunk([{"text": "**x** y", "thought": True}], "STOP")],
    "no_finish": [chunk([{"text": "text without end"}])],
    "blocked": [{"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": USAGE}],
}
for name, answer in ANSWERS.items():
    case(f"answers.{name}", GO + ["-o", "stream-json"], script=[answer] * 6)
case("answers.better_the_second_time", GO + ["-o", "stream-json"], script=[[chunk([{"text": "part"}])], text("good")])
case("answers.call_then_cut", GO + ["-o", "stream-json"], files=A, script=[[chunk([READ], "MAX_TOKENS")], text("x")])
case("answers.not_json", GO + ["-o", "json"], settings=ONCE, script=[Raw("data: {not json}\n\n")] * 5)
case("answers.cut_in_the_middle", GO + ["-o", "json"], settings=ONCE, script=[Raw('data: {"candidates":[')] * 5)
case("answers.no_bytes", GO + ["-o", "json"], settings=ONCE, script=[Raw("")] * 5)
case("answers.unix_line_ends", GO + ["-o", "json"], script=[Raw("data: " + json.dumps(text("hi")[0]) + "\n\n")])

case("calls.unknown_tool", script=turns(call("read_fil", {"file_path": "a"}, "close"), call("zzzzzzzzzz", {}, "far")))
case("calls.older_name", files=A, settings=RIPGREP, script=turns(call("search_file_content", {"pattern": "x"}, "older")))
case("calls.class_name", script=turns(call("ReadFile", {}, "class")))
case("calls.not_for_scripts", script=turns(call("ask_user", {}, "ask")))
case("calls.arguments_of_no_object", script=turns(call("read_file", "text", "text"), call("read_file", [1], "list")))
case("calls.no_arguments", script=turns({"functionCall": {"name": "read_file", "id": "none"}}))
case("calls.missing_arguments", script=turns(call("replace", {}, "replace"), call("list_directory", {"dir_path": None}, "null")))
case("calls.no_ids", files=A, script=[
    calls(call("read_file", {"file_path": "a.txt"}, None), call("read_file", {"file_path": "a.txt"}, None)), text("x")])
case("calls.same_id_twice", files={"a.txt": "x", "b.txt": "y"}, script=[
    calls(call("read_file", {"file_path": "a.txt"}, "same"), call("read_file", {"file_path": "b.txt"}, "same")), text("x")])
case("calls.no_name", files=A, script=turns(call("", {}, "noname")))
