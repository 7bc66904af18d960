"""The requests of the kill proof: everything that the server has seen, and everything that the log
has, must be in the first request of a resumed session."""

import json
from itertools import zip_longest
from pathlib import Path

import rules

MASKED = "<tool_output_masked>"
# Maximum number of problems that one request is reported with.
SHOWN = 3


def lost(seen, asked, log):
    """Describes what a resumed session's first request `asked` lacks, or has in another form:
    `seen` are the contents of the last request before the kill; empty if there was none."""
    seen, asked = rules.plain(seen), rules.plain(asked)
    texts = {role: [part["text"] for part in parts(asked, role) if "text" in part]
             for role in ("user", "model")}
    problems = []
    if log.summary and not any(log.summary in part.get("text", "") for part in parts(seen, "user")):
        # The session was compressed after that request.
        if not any(log.summary in text for text in texts["user"]):
            problems.append(f"the summary is lost: {log.summary[:80]!r}")
    else:
        problems += changed(seen, asked, log)
    for what, role, logged in (("prompt", "user", log.prompts), ("text", "model", log.texts)):
        for text in (text for message in logged.values() for text in message):
            if text not in texts[role]:
                problems.append(f"a {what} of the log is not in the request: {text[:80]!r}")
    sent = {part["functionResponse"].get("id"): part["functionResponse"]["response"]
            for part in parts(asked, "user") if "functionResponse" in part}
    for call, response in log.results.items():
        if call not in sent:
            problems.append(f"the result of a finished call is lost: {call}")
        elif not is_same_response(response, sent[call], log):
            problems.append(f"the result of a finished call is another one: {call},"
                            f" {shown(response)} became {shown(sent[call])}")
    return problems[:SHOWN]


def changed(seen, asked, log):
    """Describes the parts of earlier contents that a later request has in another form. Only the
    last of the earlier contents may have got more parts."""
    problems = []
    for number, (before, after) in enumerate(zip_longest(seen, asked)):
        if number == len(seen):
            break
        where = f"contents[{number}]"
        if after is None or after["role"] != before["role"]:
            return [*problems, f"{where} of {before['role']} is lost: {shown(before['parts'][0])}"]
        old, new = before["parts"], after["parts"]
        if len(new) < len(old) or (len(new) > len(old) and number < len(seen) - 1):
            problems.append(f"{where} has {len(new)} parts instead of {len(old)}")
        problems += [f"{where}: {shown(one)} became {shown(other)}"
                     for one, other in zip(old, new) if not is_same(one, other, log)]
    return problems


def parts(contents, role):
    return [part for content in contents if content["role"] == role for part in content["parts"]]


def is_same(one, other, log):
    if one == other:
        return True
    if "functionResponse" not in one or "functionResponse" not in other:
        return False
    one, other = one["functionResponse"], other["functionResponse"]
    names = ("id", "name")
    is_one_call = [one.get(name) for name in names] == [other.get(name) for name in names]
    return is_one_call and is_same_response(one["response"], other["response"], log)


def is_same_response(one, other, log):
    """Returns true if a response is unchanged, or was shortened by a record of the log and its
    whole text is in the file that the short form names."""
    if one == other:
        return True
    short, whole = other.get("output", ""), one.get("output")
    if other not in log.shortened or not short.startswith(MASKED) or whole is None:
        return False
    file = Path(short.removesuffix(f"\n</{MASKED[1:]}").rpartition(": ")[2])
    return file.is_file() and file.read_text() == whole


def shown(value):
    return json.dumps(value)[:100]
