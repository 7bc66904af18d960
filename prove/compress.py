"""Compresses conversations of 2,000,000 tokens, with working and failing summariser models.

Started by `cargo xtask prove compress`. Python 3.11, standard library only.

- For any behaviour of the summariser model, the conversation continues: the model accepts the
  request, which is not longer than its limit and obeys the rules of the service. It has the system
  instruction, the first rule of the user verbatim, the user's latest message as the last text, the
  latest messages unchanged, and each call that it has with its own id and result. If there is a
  usable summary, it has the summary, too.
- A rule survives twenty compressions in a row, and each request has the turn before it.
"""

import argparse
import http.server
import itertools
import json
import os
import shutil
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import needs  # Checks the version of Python.
import rules
import samples

TAKES = 1_048_576
RULE = "Never touch db/, whatever happens."
LIMIT = 300


def text(words):
    return 200, {"candidates": [{"content": {"role": "model", "parts": [{"text": words}]}, "finishReason": "STOP"}]}


def error(status, message):
    return status, {"error": {"code": status, "message": message, "status": "INVALID_ARGUMENT"}}


SNAPSHOT = "<scratchpad>x</scratchpad><state_snapshot><overall_goal>Mend it.</overall_goal></state_snapshot>"
CALL = {"functionCall": {"name": "read_file", "args": {"file_path": "a"}}}
# Answers of the summariser model; None means no answer.
WAYS = {
    "a summary": lambda: text(SNAPSHOT),
    "no XML": lambda: text("We mended things, and there is more to mend."),
    "another language": lambda: text("Il reste à réparer la base. 修理してください。"),
    "nothing": lambda: text(""),
    "only thoughts": lambda: text("<scratchpad>well"),
    "calls": lambda: (200, {"candidates": [{"content": {"role": "model", "parts": [CALL]}, "finishReason": "STOP"}]}),
    "more than it got": lambda: text("<state_snapshot>" + "more words " * 900_000 + "</state_snapshot>"),
    "a refusal": lambda: error(400, "no"),
    "a broken server": lambda: error(500, "no"),
    "no JSON": lambda: (200, "<html>"),
    "silence": lambda: None,
}


# Words of each summary that is good enough to replace the older messages.
WORDS = {
    "a summary": "<overall_goal>Mend it.</overall_goal>",
    "no XML": "We mended things, and there is more to mend.",
    "another language": "Il reste à réparer la base. 修理してください。",
}
# Number of the latest messages that every request must have unchanged.
RECENT = 30


class Server(http.server.ThreadingHTTPServer):
    """A model with a limited number of tokens. `converse` makes its answers from their number."""

    daemon_threads = True

    def __init__(self, summarise, converse):
        super().__init__(("127.0.0.1", 0), Handler)
        self.summarise, self.converse = summarise, converse
        self.taken, self.problems, self.summaries = [], [], 0
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def close(self):
        self.shutdown()
        self.server_close()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        contents = json.loads(body)["contents"]
        if rule := rules.broken_rule(contents):
            self.server.problems.append(rule)
        if ":streamGenerateContent" in self.path:
            if len(body) / 4 > TAKES:
                message = f"The input token count exceeds the maximum number of tokens allowed ({TAKES})."
                return self.reply(error(400, message))
            self.server.taken.append(json.loads(body))
            parts, tokens = self.server.converse(len(self.server.taken), len(body) // 4)
            usage = {"promptTokenCount": tokens, "candidatesTokenCount": 1, "totalTokenCount": tokens + 1}
            candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}
            event = json.dumps({"candidates": [candidate], "usageMetadata": usage})
            return self.send(200, "text/event-stream", f"data: {event}\n\n")
        self.server.summaries += 1
        answer = self.server.summarise()
        if answer is None:
            time.sleep(LIMIT)
            self.close_connection = True
            return None
        return self.reply(answer)

    def reply(self, answer):
        status, body = answer
        self.send(status, "application/json", body if isinstance(body, str) else json.dumps(body))

    def send(self, status, kind, body):
        data = body.encode()
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def history(tokens):
    """Returns the lines of a session of about this many tokens."""
    lines = [{"sessionId": "long", "projectHash": "x", "startTime": "2026-01-01T00:00:00.000Z",
              "lastUpdated": "2026-01-01T00:00:00.000Z", "kind": "main"}]
    words = "the quick brown fox reads a file and finds what is wrong there; " * 60
    for number in range(tokens // (len(words) // 2)):
        said = RULE if number == 0 else f"Go on with part {number}."
        call = {"id": f"c{number}", "name": "read_file", "args": {"file_path": f"{number}.rs"}, "status": "success",
                "result": [{"functionResponse": {"id": f"c{number}", "name": "read_file", "response": {"output": words}}}]}
        stamp = {"timestamp": "2026-01-01T00:00:00.000Z"}
        lines += [
            {"id": f"u{number}", **stamp, "type": "user", "content": [{"text": said}]},
            {"id": f"m{number}", **stamp, "type": "gemini", "content": "I look.", "toolCalls": [call]},
            {"id": f"n{number}", **stamp, "type": "gemini", "content": words},
        ]
    return "\n".join(json.dumps(line) for line in lines) + "\n"


def run(binary, place, server, settings, arguments):
    (place / ".gemini").mkdir(parents=True)
    (place / "project").mkdir()
    (place / ".gemini/settings.json").write_text(json.dumps(settings))
    environment = {"PATH": os.environ["PATH"], "HOME": str(place), "NO_COLOR": "1", "GEMINI_API_KEY": "none",
                   "POLLUX_RETRY_BASE_MS": "1", "GEMINI_CLI_TRUST_WORKSPACE": "true",
                   "GOOGLE_GEMINI_BASE_URL": f"http://127.0.0.1:{server.server_address[1]}"}
    command = [binary, "--model", "gemini-2.5-flash", "--yolo", *arguments]
    return subprocess.run(command, cwd=place / "project", env=environment, stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=LIMIT, check=False)


@dataclass
class Expected:
    """What each request of a conversation must have."""

    # Last text of the user; None if only the rule must be there.
    latest: str | None = None
    # Words of the summary; None if there is none.
    summary: str | None = None
    # Parts that must follow each other unchanged.
    recent: list = field(default_factory=list)
    # Every call of the conversation and its response, by id.
    calls: dict = field(default_factory=dict)
    responses: dict = field(default_factory=dict)


def forgotten(body, expected):
    """Yields what is missing or different in a request."""
    contents = rules.plain(body["contents"])
    parts = [part for content in contents for part in content["parts"]]
    said = [part["text"] for content in contents if content["role"] == "user"
            for part in content["parts"] if "text" in part]
    if not any(part.get("text") for part in body.get("systemInstruction", {}).get("parts", [])):
        yield "there is no system instruction"
    if not any(RULE in text for text in said):
        yield "the rule is lost"
    if expected.latest and contents[-1]["parts"][-1] != {"text": expected.latest}:
        yield f"the latest message is lost: the last part is {json.dumps(contents[-1]['parts'][-1])[:80]}"
    if expected.summary and not any(expected.summary in text for text in said):
        yield "the summary is lost"
    at = parts.index(expected.recent[0]) if expected.recent and expected.recent[0] in parts else 0
    different = [part for part, found in itertools.zip_longest(expected.recent, parts[at : at + len(expected.recent)])
                 if part != found]
    if different:
        yield f"{len(different)} of the latest {len(expected.recent)} parts are lost, first {json.dumps(different[0])[:80]}"
    for part in parts:
        for kind, known in (("functionCall", expected.calls), ("functionResponse", expected.responses)):
            if known and kind in part and not is_known(part[kind], known):
                yield f"a {kind} that nobody made: {json.dumps(part[kind])[:80]}"
                return


def is_known(part, known):
    """Returns true for a call or response of the conversation. The output of an older response may
    differ, because it may be shortened."""
    made = known.get(part.get("id"))
    return made is not None and all(made.get(name) == part.get(name) for name in ("name", "args"))


def complaints(server, ended, expected):
    problems = list(server.problems)
    if ended.returncode != 0 or not ended.stdout.decode().rstrip().endswith("done"):
        problems.append(f"exit code {ended.returncode}: {ended.stderr.decode(errors='replace')[-300:]}")
    if not server.taken:
        problems.append("no request was accepted")
    for number, body in enumerate(server.taken):
        problems += [f"request {number}: {what}" for what in forgotten(body, expected(number))]
    return problems


def of_history(lines, way):
    """Returns what a request that continues a session must have."""
    messages, expected = [json.loads(line) for line in lines.splitlines()[1:]], Expected("go on", WORDS.get(way))
    for message in messages:
        for call in message.get("toolCalls", []):
            made = {name: call[name] for name in ("id", "name", "args")}
            expected.calls[call["id"]] = made
            expected.responses[call["id"]] = call["result"][0]["functionResponse"]
    for message in messages[-RECENT:]:
        content = message["content"]
        expected.recent += [{"text": content}] if isinstance(content, str) else content
        for call in message.get("toolCalls", []):
            expected.recent += [{"functionCall": expected.calls[call["id"]]}, call["result"][0]]
    return expected


def long_history(binary, place, way, tokens):
    """Continues a conversation of this many tokens, and returns the problems."""
    server = Server(WAYS[way], lambda _number, tokens: ([{"text": "done"}], tokens))
    place.mkdir(parents=True)
    lines = history(tokens)
    (place / "long.jsonl").write_text(lines)
    settings = {"pollux": {"compression": {"timeout": 3}}, "general": {"maxAttempts": 1}}
    began = time.monotonic()
    ended = run(binary, place, server, settings, ["--session-file", str(place / "long.jsonl"), "--prompt", "go on"])
    server.close()
    size = len(json.dumps(server.taken[-1])) // 4 if server.taken else 0
    print(f"compress: {way}: {server.summaries} summaries asked for, {size} tokens sent, {time.monotonic() - began:.1f} s", flush=True)
    expected = of_history(lines, way)
    return complaints(server, ended, lambda _: expected)


def twenty(binary, place):
    """Keeps a rule through twenty compressions of one run."""
    place.mkdir(parents=True)

    def converse(number, _tokens):
        if number > 44:
            return [{"text": "done"}], 10
        return step(number), 200_000 if number % 2 else 1000

    server = Server(WAYS["a summary"], converse)
    ended = run(binary, place, server, {"model": {"compressionThreshold": 0.1}}, ["--prompt", RULE])
    server.close()
    compressions = server.summaries // 2
    print(f"compress: the rule survived {compressions} compressions")
    few = [f"only {compressions} compressions"] if compressions < 20 else []
    return complaints(server, ended, of_step) + few


def step(number):
    """Returns the parts of the model's nth answer."""
    arguments = {"file_path": f"{number}.txt", "content": "x"}
    call = {"id": f"step-{number}", "name": "write_file", "args": arguments}
    return [{"text": f"Step {number}."}, {"functionCall": call}]


def of_step(number):
    """Returns what the nth request must have after as many answers."""
    calls = {call["id"]: call for _, part in map(step, range(1, number + 1)) for call in part.values()}
    responses = {id: {"name": call["name"]} for id, call in calls.items()}
    summary = WORDS["a summary"] if number > 2 else None
    return Expected(None, summary, step(number) if number else [], calls, responses)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=Path, required=True, help="the pollux to try")
    samples.add_options(parser, "ways to summarise")
    parser.add_argument("--tokens", type=int, default=2_000_000, help="of the long conversation")
    options = parser.parse_args()
    place, problems = Path(tempfile.mkdtemp(prefix="pollux-compress-")), []
    sample = samples.from_options(options)
    ways = sample.of(list(WAYS))
    print(f"compress: {sample}: {len(ways)} ways to summarise", flush=True)
    for number, way in enumerate(ways):
        found = long_history(options.binary.resolve(), place / str(number), way, options.tokens)
        problems += [f"{way}: {problem}" for problem in found]
    problems += twenty(options.binary.resolve(), place / "twenty")
    shutil.rmtree(place, ignore_errors=True)
    for problem in problems:
        print(f"compress: WRONG: {problem}")
    print(f"compress: {len(ways)} ways to summarise {options.tokens} tokens, {len(problems)} problems")
    if problems:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
