"""Views of session files: the conversation that a reader of the file gets, independent of how often
and in which order the records were written."""

import functools
import json
import re

import normal

# Session files, relative to the root of a run.
PLACE = re.compile(r"\w+/\.gemini/tmp/[^/]+/chats/.+\.jsonl")


def views(recording, results, different):
    """Returns each session file as a named text with one line for each message, oldest file first.

    `results` has the results of calls as they were first sent to the model, by the id of the
    call. They are compared on their own, so they are not repeated here. `different` has the ids of
    the calls whose results differ; status and texts for the user follow from the result.
    """
    files = [(path, file) for path, file in recording.files.items() if PLACE.fullmatch(path)]
    read = [(path, file, *_read(file.content or b"")) for path, file in files]
    read.sort(key=lambda one: (str(one[2].get("startTime")), one[0]))
    found = {}
    for number, (path, file, header, messages) in enumerate(read, 1):
        lines = [f"{file.mode:o} {normal.name(path.rpartition('/')[2], recording)}", _line(header)]
        for message in messages:
            is_sent = functools.partial(_is_sent, results=results, recording=recording)
            lines += _reduced(message, is_sent, different)
        found[f"session {number}"] = normal.text("\n".join(lines), recording)
    return found


def _read(content):
    """Returns the metadata and the messages of a session file."""
    header, messages = {}, {}
    for number, line in enumerate(content.decode("utf-8", "replace").split("\n"), 1):
        try:
            record = json.loads(line) if line.strip() else {}
        except ValueError:
            record = {"id": f"line {number}", "damaged": line}
        if not isinstance(record, dict):
            record = {"id": f"line {number}", "damaged": line}
        if isinstance(start := record.get("$rewindTo"), str):
            ids = list(messages)
            for old in ids[ids.index(start) if start in ids else 0:]:
                del messages[old]
        elif isinstance(record.get("id"), str):
            messages[record["id"]] = record
        elif isinstance(changes := record.get("$set"), dict):
            if isinstance(whole := changes.pop("messages", None), list):
                messages = {message["id"]: message for message in whole}
            header.update(changes)
        elif "sessionId" in record:
            header.update(record)
        elif record and record.keys() != {"$pollux"}:
            # Records of Pollux alone, which Gemini CLI skips, are left out.
            messages[f"line {number}"] = record
    return header, list(messages.values())


def _is_sent(response, results, recording):
    """Returns whether a result in the log is the one that was sent to the model."""
    sent = results.get(_model_id(response))
    return normal.text(_line(response.get("response")), recording) == _line(sent)


def _model_id(call):
    """Returns the model's id of a call. The log has the name of the tool in front of it."""
    return str(call.get("id")).removeprefix(f"{call.get('name')}__")


def _reduced(message, is_sent, different):
    """Returns the lines of a message without what is compared elsewhere: one for the message, and
    one for each call."""
    message = dict(message)
    calls = message.pop("toolCalls", None) or []
    if message.get("type") == "gemini":
        message["content"] = _text(message.get("content"), calls)
    elif isinstance(content := message.get("content"), list):
        message["content"] = [_part(part, is_sent) for part in content]
    lines = [_line(message)]
    for call in calls:
        if _model_id(call) in different:
            call = {key: call.get(key) for key in ("id", "name", "args")}
        else:
            call = _call(call, is_sent)
        lines.append(f"  call {_line(call)}")
    return lines


def _text(content, calls):
    """Returns the content of an answer as text. Readers accept it also as a list of parts, where
    the calls of `toolCalls` occur again."""
    if not isinstance(content, list):
        return content
    known = [{key: call.get(key) for key in ("id", "name", "args")} for call in calls]
    words, others = "", []
    for part in content:
        if isinstance(part, dict) and part.keys() == {"text"}:
            words += part["text"]
        elif not (isinstance(part, dict) and part.get("functionCall") in known):
            others.append(part)
    return [words, *others] if others else words


def _part(part, is_sent):
    if not isinstance(part, dict):
        return part
    if str(part.get("text", "")).startswith("<session_context>"):
        return "the session's context"
    if response := part.get("functionResponse"):
        if is_sent(response):
            return {"functionResponse": f"{response.get('name')} {response.get('id')}, as sent"}
    return part


def _call(call, is_sent):
    result = call.get("result")
    if isinstance(result, list):
        result = [_part(part, is_sent) for part in result]
    call = {**call, "result": result}
    # Gemini CLI ignores fields that it does not know.
    call.pop("$pollux", None)
    return call


def _line(value):
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
