"""Makes every edit of a corpus through the program and compares the bytes.

Started by `cargo xtask prove edits`. Python 3.11, standard library only.

For each case:

- the bytes before and after the intended place are unchanged, for any encoding and line ends;
- the new text is between them, in the file's encoding;
- an edit that must not be made leaves the file unchanged, and the model gets the reason.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import needs  # Checks the version of Python.

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "bench"))

import edit_cases
import isolated
from dialects import Calls, Text
from scripted_server import ScriptedServer

# Calls in one turn, and turns in one run.
AT_ONCE, TURNS = 10, 6
LIMIT = 120


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", required=True)
    arguments = parser.parse_args()
    cases = edit_cases.all_cases()
    problems = []
    size = AT_ONCE * TURNS
    with tempfile.TemporaryDirectory(prefix="pollux-edits-") as folder:
        for start in range(0, len(cases), size):
            chunk = cases[start : start + size]
            home = Path(folder, str(start))
            results = make(arguments.binary, home, chunk)
            for case in chunk:
                problems += [f"{case.name}: {problem}" for problem in wrong(case, home / "project", results)]
    for problem in problems:
        print(problem)
    print(f"prove edits: {len(cases)} cases, {len(problems)} failures")
    return 1 if problems else 0


def make(binary, home, cases):
    """Creates the files, makes the edits, and returns the result sent to the model for each
    path."""
    project = home / "project"
    for case in cases:
        if case.exists:
            path = project / case.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(case.before)
    (home / "tmp").mkdir(parents=True)
    calls = [("tool", ("replace", case.arguments)) for case in cases]
    turns = [Calls(tuple(calls[at : at + AT_ONCE])) for at in range(0, len(calls), AT_ONCE)]
    with ScriptedServer([*turns, Text(("done",))], keep_requests=True) as server:
        environment = isolated.environment(home, server.port)
        command = [binary, "--model", "gemini-2.5-flash", "--yolo", "--prompt", "go"]
        run = subprocess.run(command, cwd=project, env=environment, capture_output=True, timeout=LIMIT, check=False)
        requests = [json.loads(exchange.request) for exchange in server.exchanges]
    if run.returncode != 0 or len(requests) != len(turns) + 1:
        raise SystemExit(f"edits: exit code {run.returncode} after {len(requests)} requests: {run.stderr[-400:]}")
    return by_path(requests[-1]["contents"])


def by_path(contents):
    """Returns by path the output or error of each call as sent to the model, in the order of the
    calls."""
    paths, results = [], {}
    for content in contents:
        for part in content["parts"]:
            if call := part.get("functionCall"):
                paths.append((call.get("id"), call["args"]["file_path"]))
            if response := part.get("functionResponse"):
                results[response.get("id")] = response["response"]
    return {path: results.get(id, {}) for id, path in paths}


def wrong(case, project, results):
    """Yields the problems after one edit."""
    path = project / case.path
    answer = results[case.arguments["file_path"]]
    words = answer.get("output", "") + answer.get("error", "")
    missing = [word for word in case.words if word not in words]
    if missing:
        yield f"the model received not {missing[0]!r} but {words[:200]!r}"
    if case.middle is None:
        if not case.exists:
            if path.exists():
                yield "a file was made"
        elif path.read_bytes() != case.before:
            yield "the file has changed"
        elif "error" not in answer:
            yield f"the edit counts as made: {words[:200]!r}"
        return
    if "error" in answer:
        yield f"the edit failed: {words[:300]!r}"
        return
    after = path.read_bytes()
    if not after.startswith(case.prefix):
        yield "bytes before the place have changed"
    if not after.endswith(case.suffix) or len(after) < len(case.prefix) + len(case.suffix):
        yield f"bytes after the place have changed: {after[-60:]!r}"
        return
    middle = after[len(case.prefix) : len(after) - len(case.suffix)]
    text = middle.decode(case.codec, "replace").replace("\r\n", "\n")
    if text != case.middle:
        yield f"the file contains {text[:200]!r} and not {case.middle[:200]!r}"


if __name__ == "__main__":
    sys.exit(main())
