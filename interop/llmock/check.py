"""Runs Pollux against llmock, one fault after the other, in each dialect.

Each case checks the exit code, the answer and the number of requests. At the end, llmock's own report
must contain no failure, and no warning but the one about a stall that ended. Before that, a client
that accepts everything must fail in the report, so that a report which sees nothing is noticed.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

ANSWER = "alpha beta gamma delta epsilon zeta"
# Seconds until a server answers, and until a run ends.
START, END = 60, 60
DIALECTS = {
    "chat": {"OPENAI_BASE_URL": "{url}/v1", "OPENAI_API_KEY": "x"},
    "responses": {"OPENAI_BASE_URL": "{url}/v1", "OPENAI_API_KEY": "x", "OPENAI_WIRE_API": "responses"},
    "messages": {"ANTHROPIC_BASE_URL": "{url}/anthropic", "ANTHROPIC_API_KEY": "x"},
    "gemini": {"GOOGLE_GEMINI_BASE_URL": "{url}/gemini", "GEMINI_API_KEY": "x"},
}
MODELS = {
    "chat": "openai/gpt-4o-mini",
    "responses": "openai/gpt-4o-mini",
    "messages": "anthropic/claude-sonnet-4-6",
    "gemini": "gemini-2.5-flash",
}
CALL = {"type": "reply", "tool_calls": [{"name": "list_directory", "arguments": {"dir_path": "."}}]}


def failure(status, times=1, **more):
    return {"type": "fail", "status": status, "times": times, **more}


def stream(kind, chunks=2, **more):
    return {"type": "stream_fault", "kind": kind, "after_chunks": chunks, **more}


# Name, faults, exit code, number of requests. Every fault ends, so that a run which retries succeeds.
CASES = [
    ("answer", [], 0, 1),
    ("call", [CALL], 0, 2),
    ("429 with a wait", [failure(429, 2, retry_after=1)], 0, 3),
    ("429 without a wait", [failure(429, 2)], 0, 3),
    *[(f"{status}", [failure(status)], 0, 2) for status in (500, 502, 503, 504, 529)],
    *[(f"{status}", [failure(status)], 1, 1) for status in (400, 401, 403, 404, 422)],
    ("disconnect", [stream("disconnect")], 0, 2),
    ("disconnect at once", [stream("disconnect", 0)], 0, 2),
    ("disconnect twice", [stream("disconnect", times=2)], 0, 3),
    ("truncate", [stream("truncate")], 0, 2),
    ("truncate at once", [stream("truncate", 0)], 0, 2),
    ("truncate in a call", [CALL | {"times": 2}, stream("truncate", 1)], 0, 3),
    ("malformed", [stream("malformed")], 0, 2),
    ("stall", [stream("stall", stall_seconds=2)], 0, 1),
    ("delay", [{"type": "delay", "seconds": 1}], 0, 1),
    ("slow first token", [{"type": "slow_first_token", "seconds": 1}], 0, 1),
    ("arguments that are no JSON", [{"type": "tool_fault", "kind": "malformed_arguments"}], 0, 2),
    ("tool that does not exist", [{"type": "tool_fault", "kind": "unknown_tool"}], 0, 2),
]
# Warnings that are no faults: a stream may be silent for minutes, until the idle limit.
ACCEPTED = {"no_read_timeout"}


class Server:
    """llmock on a free port."""

    def __init__(self, program, *options):
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            self.port = listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        command = [program, "serve", "--port", str(self.port), "--log-level", "error", *options]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        until = time.monotonic() + START
        while True:
            try:
                self.ask("GET", "scenario")
                return
            except OSError:
                if time.monotonic() > until or self.process.poll() is not None:
                    raise SystemExit("llmock: the server does not start") from None
                time.sleep(0.1)

    def ask(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}/_llmock/{path}", data, method=method)
        with urllib.request.urlopen(request, timeout=END) as response:
            return json.loads(response.read())

    def script(self, behaviors):
        self.ask("DELETE", "scenario")
        self.ask("POST", "scenario", {"behaviors": behaviors})

    def requests(self):
        """Returns the number of model requests so far."""
        return self.ask("GET", "requests")["count"]

    def stop(self):
        self.process.terminate()
        self.process.wait(END)


def run(pollux, server, dialect, prompt):
    """Runs one prompt in a fresh home and project."""
    with tempfile.TemporaryDirectory() as work:
        home, project = pathlib.Path(work, "home"), pathlib.Path(work, "project")
        home.mkdir()
        project.mkdir()
        environment = {name: text.format(url=server.url) for name, text in DIALECTS[dialect].items()}
        environment |= {
            "HOME": str(home),
            "PATH": os.environ["PATH"],
            "NO_COLOR": "1",
            "POLLUX_LOCAL_PORTS": "",
            "POLLUX_RETRY_BASE_MS": "200",
        }
        command = [pollux, "--skip-trust", "-m", MODELS[dialect], "-p", prompt]
        return subprocess.run(
            command, cwd=project, env=environment, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=END, check=False,
        )


def check(pollux, server, dialect, name, faults, code, requests):
    """Returns what is wrong with a case."""
    prompt = f"{dialect}: {name}"
    scripted = [fault for fault in faults if fault["type"] == "reply"]
    others = [fault for fault in faults if fault["type"] != "reply"]
    server.script([*others, *scripted, {"type": "reply", "text": ANSWER, "times": None}])
    before = server.requests()
    ended = run(pollux, server, dialect, prompt)
    made = server.requests() - before
    wrong = []
    if ended.returncode != code:
        wrong.append(f"exit code {ended.returncode}, not {code}")
    if made != requests:
        wrong.append(f"{made} requests, not {requests}")
    answer = ended.stdout.strip()
    # A request with a faulty call has the answer, too.
    if code == 0 and set(answer.splitlines()) != {ANSWER}:
        wrong.append(f"answer {answer!r}")
    if code != 0 and (answer or not ended.stderr.strip()):
        wrong.append(f"answer {answer!r}, standard error {ended.stderr!r}")
    return [f"{dialect}, {name}: {'; '.join(wrong)}\n{ended.stderr[-800:]}"] if wrong else []


def credulous(server):
    """Reads a truncated answer and is content with it."""
    server.script([stream("truncate", times=1), {"type": "reply", "text": ANSWER, "times": None}])
    body = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "credulous"}]}
    request = urllib.request.Request(
        f"{server.url}/v1/chat/completions", json.dumps(body).encode(),
        {"authorization": "Bearer x", "content-type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=END) as response:
        response.read()


def judge(pollux, program, dialect):
    """Runs all cases of a dialect. Returns the report and what is wrong."""
    # With pauses, the server notices that a client has stopped reading.
    server = Server(program, "--tool-mode", "off", "--stream-chunk-delay-ms", "40")
    try:
        credulous(server)
        wrong = []
        if not any(f["code"] == "truncated_stream_accepted" for f in server.ask("GET", "verdict")["findings"]):
            wrong.append("llmock does not notice a client that accepts a truncated answer")
        server.ask("POST", "reset")
        for case in CASES:
            wrong += check(pollux, server, dialect, *case)
        report = subprocess.run(
            [program, "report", "--url", server.url], capture_output=True, text=True, timeout=END, check=False,
        )
        if report.returncode != 0:
            wrong.append(f"{dialect}: llmock reports a failure")
        codes = {finding["code"] for finding in server.ask("GET", "verdict")["findings"]}
        if codes - ACCEPTED:
            wrong.append(f"{dialect}: llmock reports {', '.join(sorted(codes - ACCEPTED))}")
        return report.stdout, wrong
    finally:
        server.stop()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pollux", required=True, help="program to judge")
    parser.add_argument("--llmock", required=True, help="program of llmock")
    options = parser.parse_args()
    with concurrent.futures.ThreadPoolExecutor() as pool:
        judged = [pool.submit(judge, options.pollux, options.llmock, dialect) for dialect in DIALECTS]
        results = [future.result() for future in judged]
    wrong = []
    for dialect, (report, found) in zip(DIALECTS, results):
        print(f"llmock: {dialect}, {len(CASES)} cases\n{report}")
        wrong += found
    for line in wrong:
        print(f"llmock: {line}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
