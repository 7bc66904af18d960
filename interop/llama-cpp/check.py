"""Runs Pollux against llama.cpp's server, whose model says a script: a text, a call of a tool, and the
answer after its result.

The server builds the grammar of calls from the schemas of all tools, and separates the call from the
text by the chat template. `--plant` expects another answer, and must fail.
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
import urllib.request

# Seconds until a server answers, and until a run ends.
START, END = 60, 120
HERE = pathlib.Path(__file__).parent
# Tokens of a context that suffices, and of one that does not: the model reads one byte per token.
LARGE, SMALL = 40960, 4096
TEXT, ANSWER = "Let me look ü.\n", "There is one file."


class Server:
    """llama.cpp's server on a free port, with a context of some tokens."""

    def __init__(self, python, model, context):
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            self.port = listener.getsockname()[1]
        command = [python, HERE / "serve.py", model, str(context), str(self.port)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        until = time.monotonic() + START
        while True:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health", timeout=END).close()
                return
            except OSError:
                if time.monotonic() > until or self.process.poll() is not None:
                    raise SystemExit("llama-cpp: the server does not start") from None
                time.sleep(0.1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait(END)


def run(pollux, work, server, *arguments):
    """Runs Pollux with the server as the only one of this machine."""
    home, project = pathlib.Path(work, "home"), pathlib.Path(work, "project")
    home.mkdir(exist_ok=True)
    project.mkdir(exist_ok=True)
    (project / "one.txt").write_text("one\n")
    environment = {
        "HOME": str(home), "PATH": os.environ["PATH"], "NO_COLOR": "1",
        "POLLUX_LOCAL_PORTS": str(server.port),
    }
    return subprocess.run(
        [pollux, *arguments], cwd=project, env=environment, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=END, check=False,
    )


def ask(pollux, work, server, *more):
    return run(pollux, work, server, "--skip-trust", "-m", "local/script", "-p", "look around", *more)


def check_answer(ended, answer):
    """Yields what is wrong with the events of a run."""
    if ended.returncode != 0:
        yield f"exit code {ended.returncode}: {ended.stderr[-800:]}"
        return
    events = [json.loads(line) for line in ended.stdout.splitlines()]
    texts = [event["content"] for event in events if event.get("role") == "assistant"]
    if "".join(texts) != TEXT + answer or len(texts) < 4:
        yield f"texts {texts}"
    calls = [(event["tool_name"], event["parameters"]) for event in events if event["type"] == "tool_use"]
    if calls != [("list_directory", {"dir_path": "."})]:
        yield f"calls {calls}"
    results = [event["status"] for event in events if event["type"] == "tool_result"]
    if results != ["success"]:
        yield f"results {results}"
    stats = events[-1]["stats"]
    # The second request repeats the first one, which the server still has.
    if 3 * stats["cached"] < stats["input_tokens"] or not 0 < stats["output_tokens"] < 40:
        yield f"tokens {stats}"


def check_small(ended):
    """Yields what is wrong with a run whose request is longer than the context."""
    if ended.returncode != 1 or ended.stdout:
        yield f"small context: exit code {ended.returncode}, answer {ended.stdout!r}"
    for text in (f"{SMALL} tokens", "the context that llama.cpp gives the model"):
        if text not in ended.stderr:
            yield f"small context: no {text!r} in {ended.stderr!r}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pollux", required=True, help="program to judge")
    parser.add_argument("--python", required=True, help="Python with llama.cpp")
    parser.add_argument("--plant", action="store_true", help="expect an answer that the model does not give")
    options = parser.parse_args()
    wrong = []
    with tempfile.TemporaryDirectory() as work:
        model = pathlib.Path(work, "script.gguf")
        subprocess.run([options.python, HERE / "make_model.py", model], check=True)
        with Server(options.python, model, LARGE) as server:
            wrong += check_answer(
                ask(options.pollux, work, server, "-o", "stream-json"), ANSWER + "?" * options.plant
            )
            listed = json.loads(run(options.pollux, work, server, "models", "list", "--json").stdout)
            models = [(one["name"], one["context"]) for one in listed["models"]]
            if models != [("local/script", LARGE)]:
                wrong.append(f"models {models}")
        with Server(options.python, model, SMALL) as server:
            wrong += check_small(ask(options.pollux, work, server))
    for line in wrong:
        print(f"llama-cpp: {line}", file=sys.stderr)
    print(f"llama-cpp: a call, its answer and a small context, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
