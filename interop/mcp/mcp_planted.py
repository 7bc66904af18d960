"""A stand-in for a server with a fault, for the tests of the harness.

    mcp_planted.py FAULT PROGRAM [ARGUMENT ...]

Runs the server and changes what it gets or what it says.
"""

import json
import subprocess
import sys
import threading
from pathlib import Path


def fewer_tools(message):
    message.get("result", {}).get("tools", []).pop()


def other_schema(message):
    for tool in message.get("result", {}).get("tools", []):
        tool["inputSchema"]["properties"]["added"] = {"type": "string"}


def other_result(message):
    for block in message.get("result", {}).get("content", []):
        if "text" in block:
            block["text"] += "!"


def no_error(message):
    message.get("result", {}).pop("isError", None)


def other_arguments(message):
    if message.get("method") == "tools/call":
        message["params"]["arguments"].pop("entities", None)


ANSWERS = {one.__name__: one for one in (fewer_tools, other_schema, other_result, no_error)}
REQUESTS = {"other_arguments": other_arguments}


def passed_on(source, target, change):
    """Passes on the messages, each of them changed."""
    for line in source:
        message = json.loads(line)
        if "tools" in message.get("result", {}) or change is not fewer_tools:
            change(message)
        target.write(json.dumps(message).encode() + b"\n")
        target.flush()
    target.close()


def main():
    fault, *command = sys.argv[1:]
    if fault == "file":
        Path("extra.txt").write_text("x")
    nothing = lambda message: None
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    arguments = (sys.stdin.buffer, server.stdin, REQUESTS.get(fault, nothing))
    threading.Thread(target=passed_on, args=arguments, daemon=True).start()
    passed_on(server.stdout, sys.stdout.buffer, ANSWERS.get(fault, nothing))
    server.wait()


if __name__ == "__main__":
    main()
