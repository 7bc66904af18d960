"""Comparison of two runs: the compared values, and the places where they differ."""

import itertools
import json
import re
from dataclasses import dataclass

# Lines on standard error about the programs themselves, not about the run.
NOISE = re.compile(
    r"\[STARTUP\]|YOLO mode is enabled|.*MaxListenersExceededWarning|.*--trace-warnings"
    r"|    at .*(file:///|node:|<anonymous>)"
)
NOTHING = "(nothing)"

# Number of characters below which a system instruction is not that of a program, but from a case's
# `system.md`.
LONGEST_OWN_INSTRUCTION = 2000


@dataclass
class Difference:
    """One difference: its place, and both values as text."""

    where: str
    original: str
    pollux: str


def differences(case, original, pollux):
    """Returns all differences between the two runs of a case."""
    found = []
    (left_steps, left_tree), (right_steps, right_tree) = original, pollux
    for number, (left, right) in enumerate(zip(left_steps, right_steps, strict=True), 1):
        prefix = f"step {number}: " if len(case.steps) > 1 else ""
        found += _between(_views(case, left), _views(case, right), prefix)
    files = [{f"file {name}": shown for name, shown in tree.items()}
             for tree in (left_tree, right_tree)]
    return found + _between(*files, "")


def _between(left, right, prefix):
    names = dict.fromkeys(itertools.chain(left, right))
    pairs = ((name, left.get(name, NOTHING), right.get(name, NOTHING)) for name in names)
    return [Difference(prefix + name, one, other) for name, one, other in pairs if one != other]


def _views(case, outcome):
    """Returns a step's outcome as named texts."""
    streams = [r for r in outcome.requests if "streamGenerateContent" in r["path"]]
    others = [r["path"] for r in outcome.requests if r not in streams]
    views = {
        "exit": str(outcome.exit),
        "stdout": _ordered(outcome.stdout),
        "stderr": "\n".join(line for line in outcome.stderr.split("\n") if not NOISE.match(line)),
        "requests": str(len(streams)),
        "other requests": "\n".join(others),
        **_results(streams),
    }
    if not streams:
        return views
    if "request" in case.views:
        views["first request"] = _layout(streams[0])
        views["last request"] = _layout(streams[-1])
    if "parts" in case.views:
        parts = streams[-1]["body"]["contents"][0]["parts"][1:]
        views["parts"] = "\n".join(_shown(part) for part in parts)
    if "context" in case.views:
        views["context"] = streams[-1]["body"]["contents"][0]["parts"][0].get("text", NOTHING)
        views["memory"] = _memory(streams[-1]["body"])
    if "sources" in case.views:
        views["sources"] = "\n".join(_sources(outcome.requests))
    if "pages" in case.views:
        # The pages of one call are fetched in parallel.
        views["pages"] = "\n".join(sorted(_shown(page) for page in outcome.pages))
    if "final results" in case.views:
        views.update({f"final {name}": shown for name, shown in _results(streams[-1:]).items()})
    if "declarations" in case.views:
        views.update(_declarations(streams[0]["body"]))
    if "tools" in case.views:
        views["tools"] = "".join(f"{name}\n" for name in _tools(streams[0]["body"]))
    return views


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


def _results(streams):
    """Returns the result of each call as sent to the model, and the order of the results."""
    results = {}
    for request in streams:
        for content in request["body"].get("contents", []):
            for part in content.get("parts", []):
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


def _layout(request):
    """Returns the form of a request: its path, keys, settings and parts, without the prompt
    texts."""
    body = request["body"]
    lines = [request["path"], "keys: " + " ".join(body)]
    lines.append("config: " + _shown(body.get("generationConfig")))
    for content in body.get("contents", []):
        lines += [f"{content.get('role')}: {_part(part)}" for part in content.get("parts", [])]
    return "\n".join(lines)


def _part(part):
    if part.get("text", "").startswith("<session_context>"):
        return "the session's context"
    if response := part.get("functionResponse"):
        return f"the result of {response.get('name')} {response.get('id')}"
    if "inlineData" in part:
        return f"{' '.join(part)} {part['inlineData'].get('mimeType')}"
    return _shown(part)


def _memory(body):
    """Returns the part of the system instruction that comes from the user's own files."""
    parts = body.get("systemInstruction", {}).get("parts", [])
    words = "".join(part.get("text", "") for part in parts)
    start = words.find("<loaded_context>")
    if start < 0 and len(words) < LONGEST_OWN_INSTRUCTION:
        start = 0
    return words[start:].strip() if start >= 0 else NOTHING


def _sources(requests):
    """Yields the pages that a utility model gets for its answer."""
    for request in requests:
        if request["path"].endswith(":generateContent"):
            for part in request["body"]["contents"][-1]["parts"]:
                yield from re.findall(r"(?s)<source .*?</source>", part.get("text", ""))


def _tools(body):
    return [f["name"] for tool in body.get("tools", []) for f in tool["functionDeclarations"]]


def _declarations(body):
    """Returns the declarations of each tool's arguments for the model, without the texts."""
    declared = (f for tool in body.get("tools", []) for f in tool["functionDeclarations"])
    return {f"declaration {f['name']}": _shown(_wordless(f.get("parametersJsonSchema"))) for f in declared}


def _wordless(schema):
    if isinstance(schema, list):
        return [_wordless(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {key: _wordless(value) for key, value in schema.items()
            if key != "description" or not isinstance(value, str)}


def _shown(value):
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
