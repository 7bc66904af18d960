"""Runs Pollux against aimock in each dialect, and compares answers, exit codes and requests.

Each case is a prompt with the answers that the server gives, one after the other. A case of which
the server knows nothing must fail, so that a check which sees nothing is noticed.
"""

import argparse
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

# Seconds until a server answers, and until a run ends.
START, END = 60, 60
DIALECTS = {
    "chat": {"OPENAI_BASE_URL": "{url}/v1", "OPENAI_API_KEY": "x"},
    "responses": {"OPENAI_BASE_URL": "{url}/v1", "OPENAI_API_KEY": "x", "OPENAI_WIRE_API": "responses"},
    "gemini": {"GOOGLE_GEMINI_BASE_URL": "{url}", "GEMINI_API_KEY": "x"},
}
MODELS = {"chat": "openai/gpt-5", "responses": "openai/gpt-5", "gemini": "gemini-2.5-flash"}


def call(name="list_directory", arguments='{"dir_path": "."}'):
    return {"name": name, "arguments": arguments}


def error(status, code):
    return {"status": status, "error": {"message": "Sorry.", "type": code, "code": code}}


# Prompt, answers, exit code (of text mode; errors of a service have their status in JSON), answer
# of Pollux, number of requests.
CASES = [
    ("say it", [{"content": "Said."}], 0, "Said.", 1),
    ("call once", [{"toolCalls": [call()]}, {"content": "Called."}], 0, "Called.", 2),
    ("call twice", [{"content": "Look:", "toolCalls": [call(), call()]}, {"content": "Called."}], 0, "Called.", 2),
    ("think", [{"content": "Thought.", "reasoning": "**Plan** Hm."}], 0, "Thought.", 1),
    ("call nothing", [{"toolCalls": [call("no_such_tool")]}, {"content": "Sorry."}], 0, "Sorry.", 2),
    ("call badly", [{"toolCalls": [call(arguments='{"dir_path": 7}')]}, {"content": "Sorry."}], 0, "Sorry.", 2),
    ("be refused", [error(401, "invalid_api_key")], 1, "", 1),
    ("be busy", [error(503, "server_error"), {"content": "Now."}], 0, "Now.", 2),
    ("be limited", [error(429, "rate_limit_exceeded"), {"content": "Now."}], 0, "Now.", 2),
]


class Server:
    """aimock on a free port, with the answers of all cases."""

    def __init__(self, program, folder):
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            port = listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        fixtures = [
            {"match": {"userMessage": prompt, "sequenceIndex": index}, "response": answer}
            for prompt, answers, *_ in CASES
            for index, answer in enumerate(answers)
        ]
        path = pathlib.Path(folder, "fixtures.json")
        path.write_text(json.dumps({"fixtures": fixtures}))
        command = [program, "--port", str(port), "--fixtures", folder]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until = time.monotonic() + START
        while True:
            try:
                self.requests()
                return
            except OSError:
                if time.monotonic() > until or self.process.poll() is not None:
                    raise SystemExit("aimock: the server does not start") from None
                time.sleep(0.1)

    def requests(self):
        """Returns the number of requests so far."""
        with urllib.request.urlopen(f"{self.url}/__aimock/journal", timeout=END) as response:
            journal = json.loads(response.read())
        return len(journal if isinstance(journal, list) else journal["entries"])

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
            "POLLUX_RETRY_BASE_MS": "100",
        }
        command = [pollux, "--skip-trust", "-m", MODELS[dialect], "-p", prompt]
        return subprocess.run(
            command, cwd=project, env=environment, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=END, check=False,
        )


def check(pollux, server, dialect, prompt, code, answer, requests):
    """Returns what is wrong with a case."""
    before = server.requests()
    ended = run(pollux, server, dialect, prompt)
    made = server.requests() - before
    wrong = []
    if (ended.returncode == 0) != (code == 0):
        wrong.append(f"exit code {ended.returncode}, not {code}")
    if made != requests:
        wrong.append(f"{made} requests, not {requests}")
    if not ended.stdout.strip().endswith(answer):
        wrong.append(f"answer {ended.stdout!r}")
    return [f"{dialect}, {prompt}: {'; '.join(wrong)}\n{ended.stderr[-800:]}"] if wrong else []


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pollux", required=True, help="program to judge")
    parser.add_argument("--aimock", required=True, help="the server, which the package calls llmock")
    options = parser.parse_args()
    wrong = []
    for dialect in DIALECTS:
        with tempfile.TemporaryDirectory() as folder:
            server = Server(options.aimock, folder)
            try:
                for prompt, _, code, answer, requests in CASES:
                    wrong += check(options.pollux, server, dialect, prompt, code, answer, requests)
                if not check(options.pollux, server, dialect, "nobody foresaw this", 0, "Said.", 1):
                    wrong.append(f"{dialect}: an answer that nobody gave is accepted")
            finally:
                server.stop()
        print(f"aimock: {dialect}, {len(CASES)} cases")
    for line in wrong:
        print(f"aimock: {line}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
