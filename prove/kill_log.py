"""The session files of the kill proof: their records, and their agreement with the other files."""

import json

import script

FINAL = ("success", "error", "cancelled")


class Log:
    """Content of the session files: complete lines, the calls that started and finished, and what
    the next request must contain. `torn` has the lines that earlier kills cut off."""

    def __init__(self, paths, torn=()):
        self.problems, self.started, self.statuses = [], set(), {}
        self.has_prompt, self.torn = False, set(torn)
        # Since the last compression: prompts, texts of the model, and results by call id.
        self.prompts, self.texts, self.results = {}, {}, {}
        # Summary of the last compression, and responses that were shortened.
        self.summary, self.shortened = None, []
        for path in paths:
            self._read(path)

    def _read(self, path):
        calls = {}
        *lines, last = path.read_bytes().split(b"\n")
        for number, line in enumerate(lines, 1):
            try:
                record = json.loads(line)
            except ValueError:
                if line not in self.torn:
                    problem = f"line {number} of the session is not JSON: {line[:80]!r}"
                    self.problems.append(problem)
                continue
            self._take(record, calls)
        if last:
            self.torn.add(last)

    def _take(self, record, calls):
        own = record.get("$pollux") or {}
        if record.get("type") == "user":
            self.has_prompt = True
            self.prompts[record["id"]] = texts_of(record["content"])
        if record.get("type") == "gemini":
            self.texts[record["id"]] = texts_of(record.get("content", ""))
        for call in [*record.get("toolCalls", []), *([own["call"]] if "call" in own else [])]:
            calls[call["id"]] = script.key(call["name"], call["args"])
            if call.get("status") in FINAL:
                self.statuses[calls[call["id"]]] = call["status"]
                response = call["result"][0]["functionResponse"]["response"]
                self.results[call["id"].removeprefix(f"{call['name']}__")] = response
        if "started" in own:
            self.started.add(calls.get(own["started"]["callId"]))
        compressed = own.get("compressed", {})
        self.shortened += [short["response"] for short in compressed.get("shortened", [])]
        if "summary" in compressed:
            self.summary = compressed["summary"]["words"]
            self.prompts, self.texts, self.results = {}, {}, {}


def texts_of(content):
    """Returns the texts of a message, which is one text or a list of parts."""
    if isinstance(content, str):
        return [content] if content else []
    return [part["text"] for part in content if part.get("text")]


def contents(paths):
    """Returns the bytes of each session file."""
    return {path: path.read_bytes() for path in paths}


def rewritten(before, paths):
    """Describes the session files that did not only grow since `before`."""
    now = contents(paths)
    wrong = []
    for path, old in before.items():
        new = now.get(path)
        if new is None:
            wrong.append(f"the session file {path.name} is gone")
        elif not new.startswith(old):
            same = next((at for at, (a, b) in enumerate(zip(old, new)) if a != b), len(new))
            wrong.append(
                f"the session file {path.name} was rewritten: {len(old)} bytes before,"
                f" {len(new)} after, different from byte {same}: {new[same : same + 60]!r}"
            )
    return wrong


def wrong_files(steps, project, log):
    """Describes the files with the content of neither the last finished call nor of a started
    call."""
    wrong = []
    for path in sorted({step.path for step in steps.values() if step.path}):
        last, possible = None, set()
        for key, step in steps.items():
            if step.path != path:
                continue
            if log.statuses.get(key) == "success":
                last, possible = step.content, set()
            elif key in log.started:
                possible.add(step.content)
        file = project / path
        found = file.read_bytes().decode(errors="replace") if file.exists() else None
        if found != last and found not in possible:
            versions = {
                key for key, step in steps.items() if (step.path, step.content) == (path, found)
            }
            wrong.append(f"{path} {_difference(found, versions, log)}")
    return wrong


def _difference(found, versions, log):
    """Describes the error of a file. `versions` are the calls that result in its content."""
    if found is None:
        return "is missing"
    if not versions:
        return f"is neither old nor new: {len(found)} characters, {found[:60]!r}"
    if not versions & log.started:
        return f"changed before the log said so: {found[:60]!r}"
    return f"differs from the log: {found[:60]!r}"
