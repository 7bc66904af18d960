"""Compresses conversations of 2,000,000 tokens, with working and failing summariser models.

Started by `cargo xtask prove compress`. Python 3.11, standard library only.

- For any behaviour of the summariser model, the conversation continues: the model accepts the
  request, which is not longer than its limit and obeys the rules of the service, and which contains
  the first rule of the user verbatim.
- A rule survives twenty compressions in a row.
"""

import argparse
import http.server
import json
import os
import shutil
import subprocess
import tempfile
import threading
import time
from pathlib import Path

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


def broken_rules(contents):
    """Returns the rules of the service that a conversation breaks."""
    problems, open_calls = [], []
    for number, content in enumerate(contents):
        role = content.get("role")
        if role != ("model" if number % 2 else "user"):
            problems.append(f"content {number} is of {role}")
        if not content.get("parts"):
            problems.append(f"content {number} is empty")
        for part in content.get("parts", []):
            if "functionResponse" in part:
                key = part["functionResponse"].get("name")
                if key in open_calls:
                    open_calls.remove(key)
                else:
                    problems.append(f"content {number} answers no call")
        if role == "user" and open_calls:
            problems.append(f"content {number} leaves calls without an answer")
        if role == "model":
            open_calls = [part["functionCall"]["name"] for part in content["parts"] if "functionCall" in part]
    if open_calls or not contents or contents[-1].get("role") != "user":
        problems.append("it does not end with the user")
    return problems


class Server(http.server.ThreadingHTTPServer):
    """A model with a limited number of tokens. `converse` makes its answers from their number."""

    daemon_threads = True

    def __init__(self, summarise, converse):
        super().__init__(("127.0.0.1", 0), Handler)
        self.summarise, self.converse = summarise, converse
        self.taken, self.problems, self.summaries = [], [], 0
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        contents = json.loads(body)["contents"]
        self.server.problems += broken_rules(contents)
        if ":streamGenerateContent" in self.path:
            if len(body) / 4 > TAKES:
                message = f"The input token count exceeds the maximum number of tokens allowed ({TAKES})."
                return self.reply(error(400, message))
            self.server.taken.append(body.decode())
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


def complaints(server, ended):
    problems = list(server.problems)
    if ended.returncode != 0 or not ended.stdout.decode().rstrip().endswith("done"):
        problems.append(f"exit code {ended.returncode}: {ended.stderr.decode(errors='replace')[-300:]}")
    problems += [f"request {number} has lost the rule" for number, body in enumerate(server.taken) if RULE not in body]
    return problems


def long_history(binary, place, way, tokens):
    """Continues a conversation of this many tokens, and returns the problems."""
    server = Server(WAYS[way], lambda _number, tokens: ([{"text": "done"}], tokens))
    place.mkdir(parents=True)
    (place / "long.jsonl").write_text(history(tokens))
    settings = {"pollux": {"compression": {"timeout": 3}}, "general": {"maxAttempts": 1}}
    began = time.monotonic()
    ended = run(binary, place, server, settings, ["--session-file", str(place / "long.jsonl"), "--prompt", "go on"])
    server.shutdown()
    size = len(server.taken[-1]) // 4 if server.taken else 0
    print(f"compress: {way}: {server.summaries} summaries asked for, {size} tokens sent, {time.monotonic() - began:.1f} s", flush=True)
    return complaints(server, ended)


def twenty(binary, place):
    """Keeps a rule through twenty compressions of one run."""
    place.mkdir(parents=True)

    def converse(number, _tokens):
        if number > 44:
            return [{"text": "done"}], 10
        arguments = {"file_path": f"{number}.txt", "content": "x"}
        call = {"functionCall": {"name": "write_file", "args": arguments}}
        return [{"text": f"Step {number}."}, call], 200_000 if number % 2 else 1000

    server = Server(WAYS["a summary"], converse)
    ended = run(binary, place, server, {"model": {"compressionThreshold": 0.1}}, ["--prompt", RULE])
    server.shutdown()
    compressions = server.summaries // 2
    print(f"compress: the rule survived {compressions} compressions")
    few = [f"only {compressions} compressions"] if compressions < 20 else []
    return complaints(server, ended) + few


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=Path, required=True, help="the pollux to try")
    parser.add_argument("--tokens", type=int, default=2_000_000, help="of the long conversation")
    options = parser.parse_args()
    place, problems = Path(tempfile.mkdtemp(prefix="pollux-compress-")), []
    for number, way in enumerate(WAYS):
        found = long_history(options.binary.resolve(), place / str(number), way, options.tokens)
        problems += [f"{way}: {problem}" for problem in found]
    problems += twenty(options.binary.resolve(), place / "twenty")
    shutil.rmtree(place, ignore_errors=True)
    for problem in problems:
        print(f"compress: WRONG: {problem}")
    print(f"compress: {len(WAYS)} ways to summarise {options.tokens} tokens, {len(problems)} problems")
    if problems:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
