"""A replacement for Pollux in the tests of the proofs.

It sends requests to the scripted model as Pollux would, and treats the answers as the test
requires."""

import http.client
import json
import os
import sys
import urllib.parse
from pathlib import Path


def ask(contents, method="streamGenerateContent", **more):
    """Returns the parts of the model's answer. `more` has other fields of the request."""
    url = urllib.parse.urlsplit(os.environ["GOOGLE_GEMINI_BASE_URL"])
    connection = http.client.HTTPConnection(url.hostname, url.port)
    body = json.dumps({"contents": contents, **more})
    connection.request("POST", f"/v1beta/models/x:{method}", body, {"content-type": "application/json"})
    said = connection.getresponse().read().decode()
    events = [line[6:] for line in said.splitlines() if line.startswith("data: ")]
    answers = [json.loads(event) for event in events or [said]]
    return [part for answer in answers for part in answer["candidates"][0]["content"]["parts"]]


def text(words):
    """Returns a user message."""
    return {"role": "user", "parts": [{"text": words}]}


def results(outputs):
    """Returns the results of calls, given as pairs of a tool's name and its output."""
    parts = [{"functionResponse": {"name": name, "response": {"output": output}}} for name, output in outputs]
    return {"role": "user", "parts": parts}


def converse(treat):
    """Treats calls, by name and arguments, until the model makes no more calls."""
    contents = [text("go")]
    while True:
        parts = ask(contents)
        calls = [part["functionCall"] for part in parts if "functionCall" in part]
        if not calls:
            return
        done = [(call["name"], treat(call["name"], call["args"])) for call in calls]
        contents += [{"role": "model", "parts": parts}, results(done)]


def write(path, source):
    """Writes a program with this source, which can import this module."""
    here = str(Path(__file__).parent)
    path.write_text(f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {here!r})\nimport stand_in\n{source}")
    path.chmod(0o755)
