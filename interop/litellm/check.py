"""Runs Pollux against the proxy of LiteLLM, which translates to a service with OpenAI's APIs and to
one with Anthropic's.

Each case is a prompt with the answers of the service. It checks the answer, the exit code, the number
of requests that reach the service, the tokens, and the waits that the gateway asks for. `--plant`
expects other tokens, and must fail in each dialect.
"""

import argparse
import base64
import concurrent.futures
import functools
import json
import os
import pathlib
import re
import socket
import struct
import subprocess
import sys
import tempfile
import time
import urllib.request
import zlib

import upstream

# Seconds until the gateway answers, and until a run ends.
START, END = 120, 90
KEY = "sk-interop-gateway-key"
DIALECTS = {
    "chat": {"OPENAI_BASE_URL": "{url}/v1", "OPENAI_API_KEY": "{key}"},
    "responses": {"OPENAI_BASE_URL": "{url}/v1", "OPENAI_API_KEY": "{key}", "OPENAI_WIRE_API": "responses"},
    "messages": {"ANTHROPIC_BASE_URL": "{url}", "ANTHROPIC_API_KEY": "{key}"},
    "gemini": {"GOOGLE_GEMINI_BASE_URL": "{url}", "GEMINI_API_KEY": "{key}"},
}
VENDORS = {"chat": "openai", "responses": "openai", "messages": "anthropic", "gemini": "gemini"}
# The proxy leaves pictures out of requests in Gemini's dialect, so that only its refusals are checked.
TRANSLATED = ("chat", "responses", "messages")
SERVICES = {"openai": "openai/gpt-5", "anthropic": "anthropic/claude-sonnet-4-5"}
LIST, PICTURE = ("list_directory", {"dir_path": "."}), ("read_file", {"file_path": "dot.png"})


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


DOT = b"\x89PNG\r\n\x1a\n" + b"".join([
    chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)),
    chunk(b"IDAT", zlib.compress(b"\0\xff\0\0")),
    chunk(b"IEND", b""),
])


def error(status, kind, message="Sorry."):
    return status, {"type": "error", "error": {"message": message, "type": kind, "code": kind}}


# Prompt, answers of the service, exit code, answer or a part of the error, calls of tools.
CASES = [
    ("say it", [("Said it.", [])], 0, "Said it.", 0),
    ("call a tool", [("", [LIST]), ("Called.", [])], 0, "Called.", 1),
    ("call two tools", [("Look:", [LIST, PICTURE]), ("Called.", [])], 0, "Called.", 2),
    ("look at @dot.png", [("Red.", [])], 0, "Red.", 0),
    ("find a picture", [("", [PICTURE]), ("Red.", [])], 0, "Red.", 1),
    ("be limited", [error(429, "rate_limit_error"), ("Now.", [])], 0, "Now.", 0),
    ("be refused", [error(401, "authentication_error")], 1, "_API_KEY", 0),
    ("be busy", [error(503, "overloaded_error"), ("Now.", [])], 0, "Now.", 0),
    ("say too much", [error(400, "context_length_exceeded", "prompt is too long: 3 tokens > 2 maximum")], 1,
     "longer than the context", 0),
]
PICTURES = {"look at @dot.png", "find a picture", "call two tools"}


class Gateway:
    """The proxy on a free port, with one model for each dialect and service."""

    def __init__(self, program, folder, port):
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            self.port = listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = pathlib.Path(folder, "gateway.log")
        config = pathlib.Path(folder, "config.yaml")
        # JSON is YAML.
        config.write_text(json.dumps(settings(port)))
        environment = {
            "HOME": folder, "PATH": os.environ["PATH"], "LITELLM_LOCAL_MODEL_COST_MAP": "True", "NO_PROXY": "*",
        }
        command = [program, "--config", str(config), "--host", "127.0.0.1", "--port", str(self.port)]
        with self.log.open("w") as log:
            self.process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
        until = time.monotonic() + START
        while True:
            try:
                urllib.request.urlopen(f"{self.url}/health/liveliness", timeout=END).close()
                return
            except OSError:
                if time.monotonic() > until or self.process.poll() is not None:
                    raise SystemExit(f"litellm: no start:\n{self.log.read_text()[-2000:]}") from None
                time.sleep(0.2)

    def stop(self):
        self.process.terminate()
        self.process.wait(END)


def settings(port):
    """Returns the configuration of the gateway for services on a port."""
    service = f"http://127.0.0.1:{port}"
    models = [
        {
            "model_name": f"{dialect}-{name}",
            "litellm_params": {
                "model": model, "api_key": "key-of-the-service",
                "api_base": f"{service}/v1" if name == "openai" else service,
            },
        }
        for dialect in TRANSLATED
        for name, model in SERVICES.items()
    ]
    return {
        "model_list": models,
        # After an error a model is not used for a second, and the gateway asks for this wait.
        "router_settings": {"num_retries": 0, "cooldown_time": 1},
        "general_settings": {"master_key": KEY},
    }


def run(pollux, gateway, dialect, model, prompt, key=KEY):
    """Runs one prompt in a fresh home and project."""
    with tempfile.TemporaryDirectory() as work:
        home, project = pathlib.Path(work, "home"), pathlib.Path(work, "project")
        home.mkdir()
        project.mkdir()
        (project / "dot.png").write_bytes(DOT)
        environment = {name: text.format(url=gateway.url, key=key) for name, text in DIALECTS[dialect].items()}
        environment |= {
            "HOME": str(home), "PATH": os.environ["PATH"], "NO_COLOR": "1", "POLLUX_LOCAL_PORTS": "",
            "POLLUX_RETRY_BASE_MS": "100",
        }
        model = f"{VENDORS[dialect]}/{model}"
        command = [pollux, "--skip-trust", "-m", model, "-o", "json", "-p", prompt]
        return subprocess.run(
            command, cwd=project, env=environment, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=END, check=False,
        )


def check(ended, case, requests, answer_tokens):
    """Returns what is wrong with the run of a case."""
    prompt, answers, code, expected, calls = case
    wrong = []
    if (ended.returncode == 0) != (code == 0):
        wrong.append(f"exit code {ended.returncode}")
    if len(requests) != len(answers):
        wrong.append(f"{len(requests)} requests, not {len(answers)}")
    if code == 0 and ended.returncode == 0:
        wrong += check_report(json.loads(ended.stdout), answers, expected, calls, answer_tokens)
    elif expected not in ended.stderr:
        wrong.append(f"no {expected!r} in the error")
    picture = base64.b64encode(DOT).decode()
    if prompt in PICTURES and requests and picture not in requests[-1]:
        wrong.append("the picture does not arrive")
    for asked, waited in waits(ended.stderr):
        if waited < asked:
            wrong.append(f"a wait of {waited} s, not {asked} s")
    return wrong


def check_report(report, answers, expected, calls, answer_tokens):
    wrong = []
    if not report["response"].endswith(expected):
        wrong.append(f"answer {report['response']!r}")
    turns = sum(1 for answer in answers if isinstance(answer[0], str))
    models = report["stats"]["models"].values()
    tokens = [sum(model["tokens"][name] for model in models) for name in ("prompt", "cached", "candidates")]
    each = [upstream.PROMPT, upstream.CACHED, answer_tokens]
    if tokens != [count * turns for count in each]:
        wrong.append(f"tokens {tokens}, not {turns} times {each}")
    tools = report["stats"]["tools"]
    if (tools["totalCalls"], tools["totalSuccess"]) != (calls, calls):
        wrong.append(f"calls {tools['totalCalls']}, of which {tools['totalSuccess']} succeed")
    return wrong


def waits(errors):
    """Returns the waits that the gateway asks for, with those of Pollux."""
    pattern = r"Try again in (\d+) seconds.*Attempt \d+ of \d+ in ([\d.]+) s"
    return [(float(asked), float(waited)) for asked, waited in re.findall(pattern, errors)]


def refused(pollux, gateway, dialect):
    """Returns what is wrong with refusals of the gateway itself."""
    wrong = []
    for model, key, expected in [
        ("no-such-model", KEY, "does not exist at 127.0.0.1"),
        ("chat-openai", "sk-wrong", f"Check {VENDORS[dialect].upper()}_API_KEY"),
    ]:
        ended = run(pollux, gateway, dialect, model, "say it", key)
        if ended.returncode == 0 or expected not in ended.stderr:
            wrong.append(f"{dialect}: exit code {ended.returncode}, no {expected!r} in {ended.stderr[-800:]}")
    return wrong


def judge(pollux, gateway, services, answer_tokens, pair):
    """Runs all cases of a pair of a dialect and a service. Returns what is wrong."""
    dialect, service = pair
    wrong, asked = [], 0
    for prompt, *rest in CASES:
        try:
            ended = run(pollux, gateway, dialect, f"{dialect}-{service}", own(prompt, dialect, service))
        except subprocess.TimeoutExpired:
            wrong.append(f"{dialect} to {service}, {prompt}: no end")
            continue
        requests = services.requests(own(prompt, dialect, service))
        found = check(ended, (prompt, *rest), requests, answer_tokens)
        asked += len(waits(ended.stderr))
        if found:
            wrong.append(f"{dialect} to {service}, {prompt}: {'; '.join(found)}\n{ended.stderr[-800:]}")
    if not asked:
        wrong.append(f"{dialect} to {service}: the gateway asks for no wait")
    return wrong


def own(prompt, dialect, service):
    """Returns the prompt of a case that no other dialect and service has."""
    return f"{prompt} ({dialect}, {service})"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pollux", required=True, help="program to judge")
    parser.add_argument("--litellm", required=True, help="program of the gateway")
    parser.add_argument("--plant", action="store_true", help="expect tokens that no service reports")
    options = parser.parse_args()
    pairs = [(dialect, service) for dialect in TRANSLATED for service in SERVICES]
    services = upstream.Upstream({own(case[0], *pair): case[1] for pair in pairs for case in CASES})
    answer_tokens = upstream.ANSWER + options.plant
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        gateway = Gateway(options.litellm, folder, services.port)
        try:
            judge_pair = functools.partial(judge, options.pollux, gateway, services, answer_tokens)
            wrong = list(pool.map(judge_pair, pairs))
            wrong += [refused(options.pollux, gateway, dialect) for dialect in DIALECTS]
        finally:
            gateway.stop()
            services.close()
    if options.plant:
        return 0 if all(wrong[: len(pairs)]) else 1
    found = [line for lines in wrong for line in lines]
    for line in found:
        print(f"litellm: {line}", file=sys.stderr)
    print(f"litellm: {len(pairs)} ways through the gateway, {len(CASES)} cases each, {len(found)} wrong")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
