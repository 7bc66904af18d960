"""Views of one step: the compared values as named texts."""

import hashlib
import json
import re

# Lines on standard error about the programs themselves, not about the run.
NOISE = re.compile(
    r"\[STARTUP\]|YOLO mode is enabled|.*MaxListenersExceededWarning|.*--trace-warnings"
    r"|    at .*(file:///|node:|<anonymous>)"
)
NOTHING = "(nothing)"

# Number of characters below which a system instruction is not that of a program, but from a case's
# `system.md`.
LONGEST_OWN_INSTRUCTION = 2000

# Views of a part of what is sent, which exist if the part does.
DETAIL = re.compile(r"(side )?request \d|(final )?call |order$|declaration |context$|instruction$|memory$|tools$")

# Keys of a request whose values have a view of their own.
DETAILED = ("contents", "systemInstruction", "tools")


def views(outcome):
    """Returns a step's outcome as named texts."""
    streams = [r for r in outcome.requests if "streamGenerateContent" in r["path"]]
    others = [r for r in outcome.requests if r not in streams]
    found = {
        "exit": str(outcome.exit),
        "stdout": _ordered(outcome.stdout),
        "stderr": "\n".join(line for line in outcome.stderr.split("\n") if not NOISE.match(line)),
        "requests": str(len(streams)),
        "other requests": "\n".join(request["path"] for request in others),
        **_results(streams),
        **_requests(streams),
        **{f"final {name}": shown for name, shown in _results(streams[-1:]).items() if name != "order"},
        **{f"side request {number}": _side_request(other) for number, other in enumerate(others, 1)},
    }
    if sources := list(_sources(others)):
        found["sources"] = "\n".join(sources)
    if outcome.pages:
        # The pages of one call are fetched in parallel.
        found["pages"] = "\n".join(sorted(_shown(page) for page in outcome.pages))
    return found


def sent_results(outcomes):
    """Returns the results of calls as they were first sent to the model, by the id of the call."""
    sent = {}
    for outcome in outcomes:
        for part in _parts(outcome.requests):
            if response := part.get("functionResponse"):
                sent.setdefault(response.get("id"), response.get("response"))
    return sent


def _ordered(output):
    """Returns a JSON object with sorted keys, as their order has no meaning; other output
    unchanged."""
    try:
        value = json.loads(output) if output.startswith("{\n") else None
    except ValueError:
        value = None
    if value is None:
        return output
    return json.dumps(value, ensure_ascii=False, sort_keys=True, indent=2) + "\n"


def _parts(requests):
    for request in requests:
        for content in (request["body"] or {}).get("contents", []):
            yield from content.get("parts", [])


def _results(streams):
    """Returns the result of each call as first sent to the model, and the order of the results."""
    results = {}
    for part in _parts(streams):
        if response := part.get("functionResponse"):
            results.setdefault(f"call {response.get('id')}", _shown(_settled(response)))
    order = "\n".join(results)
    return {"order": order, **results} if results else {}


def _settled(response):
    """Returns the result of a search with sorted files, because ripgrep searches them in
    parallel."""
    output = response.get("response", {}).get("output")
    if response.get("name") != "grep_search" or not isinstance(output, str):
        return response
    head, *files = output.removesuffix("\n---").split("\n---\n")
    return {**response, "response": {"output": "\n---\n".join([head, *sorted(files)])}}


def _requests(streams):
    """Returns each request as a text with its path, settings and contents.

    Contents that the request before had, too, are counted only. The results of calls, the context
    of the session, the system instruction and the declarations of the tools have their own views;
    in later requests their place says only whether they are unchanged.
    """
    if not streams:
        return {}
    found = {}
    sent, before = {}, None
    for number, request in enumerate(streams, 1):
        body = request["body"]
        shown = [_content(content, sent) for content in body.get("contents", [])]
        lines = [request["path"], "keys: " + " ".join(body)]
        lines += [f"{key}: {_shown(body[key])}" for key in body if key not in DETAILED]
        if before is not None:
            same = ["systemInstruction", "tools"]
            lines += [f"{key}: changed" for key in same if body.get(key) != before.get(key)]
        old = _common([] if before is None else before["shown"], shown)
        lines += [f"{old} contents as before"] * bool(old)
        lines += [line for content in shown[old:] for line in content]
        found[f"request {number}"] = "\n".join(lines)
        before = {**body, "shown": shown}
    first = streams[0]["body"]
    declared = declarations(first)
    found["context"] = _context(first)
    found["instruction"] = _instruction(first)
    found["memory"] = _memory(first)
    found["tools"] = "".join(f"{one['name']}\n" for one in declared)
    found.update({f"declaration {one['name']}": _shown(described(one)) for one in declared})
    return found


def _side_request(request):
    """Returns the form of a request to a utility model. The texts of such requests are our own."""
    body = request["body"] or {}
    lines = [request["path"], "keys: " + " ".join(body)]
    lines += [f"{key}: {_shown(described(body[key]))}" for key in body if key not in DETAILED]
    lines += [f"instruction: {_instruction(body)}"]
    lines += [_shown(tool) for tool in body.get("tools", [])]
    for content in body.get("contents", []):
        for part in content.get("parts", []):
            lines.append(f"{content.get('role')}: {'a text' if part.keys() == {'text'} else _part(part, {})}")
    return "\n".join(lines)


def _common(before, now):
    """Returns the number of contents at the start that both requests have."""
    count = 0
    while count < min(len(before), len(now)) and before[count] == now[count]:
        count += 1
    return count


def _content(content, sent):
    """Returns the lines of one content; `sent` has the results of calls of former requests."""
    rest = {key: value for key, value in content.items() if key not in ("role", "parts")}
    extra = f" {_shown(rest)}" if rest else ""
    return [f"{content.get('role')}{extra}: {_part(part, sent)}" for part in content.get("parts", [])]


def _part(part, sent):
    if part.get("text", "").startswith("<session_context>"):
        return "the session's context"
    if response := part.get("functionResponse"):
        value = _shown(part)
        first = sent.setdefault((response.get("name"), response.get("id")), value)
        changed = "" if first == value else ", changed"
        return f"the result of {response.get('name')} {response.get('id')}{changed}"
    if data := part.get("inlineData"):
        digest = hashlib.sha256(str(data.get("data")).encode()).hexdigest()[:12]
        return _shown({**part, "inlineData": {**data, "data": f"sha256 {digest}"}})
    return _shown(part)


def _context(body):
    """Returns the session's context."""
    parts = [part for content in body.get("contents", [])[:1] for part in content.get("parts", [])]
    texts = [part["text"] for part in parts if "text" in part]
    return next((one for one in texts if one.startswith("<session_context>")), NOTHING)


def _instruction_text(body):
    parts = body.get("systemInstruction", {}).get("parts", [])
    return "".join(part.get("text", "") for part in parts)


def _instruction(body):
    """Returns whether there is a system instruction. The texts of the programs are their own."""
    words = _instruction_text(body)
    if not words.strip():
        return NOTHING
    return "of the case" if len(words) < LONGEST_OWN_INSTRUCTION else "of the program"


def _memory(body):
    """Returns the part of the system instruction that comes from the user's own files."""
    words = _instruction_text(body)
    start = words.find("<loaded_context>")
    if start < 0 and len(words) < LONGEST_OWN_INSTRUCTION:
        start = 0
    return words[start:].strip() if start >= 0 else NOTHING


def _sources(requests):
    """Yields the pages that a utility model gets for its answer."""
    for request in requests:
        if request["path"].endswith(":generateContent"):
            for content in request["body"].get("contents", [])[-1:]:
                for part in content.get("parts", []):
                    yield from re.findall(r"(?s)<source .*?</source>", part.get("text", ""))


def declarations(body):
    return [f for tool in body.get("tools", []) for f in tool.get("functionDeclarations", [tool])]


def described(value):
    """Returns a declaration with "present" in place of each description. The texts are our own."""
    if isinstance(value, list):
        return [described(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: ("present" if text.strip() else "") if key == "description" and isinstance(text, str)
        else described(text)
        for key, text in value.items()
    }


def _shown(value):
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
