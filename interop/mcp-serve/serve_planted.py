"""A stand-in for Pollux with a fault, for the tests of the harness.

    serve_planted.py FAULT PROGRAM [ARGUMENT ...]

Runs the server and changes what it gets or what it says. A message that becomes None is dropped.
"""

import json
import subprocess
import sys
import threading


def fewer_tools(message):
    message.get("result", {}).get("tools", []).pop()
    return message


def other_answer(message):
    for block in message.get("result", {}).get("content", []):
        block["text"] += "!"
    return message


def other_session(message):
    message.get("result", {}).get("structuredContent", {})["session_id"] = "none"
    return message


def fewer_choices(message):
    if message.get("method") == "elicitation/create":
        message["params"]["requestedSchema"]["properties"]["choice"]["oneOf"].pop()
    return message


def no_progress(message):
    return None if message.get("method") == "notifications/progress" and "a.txt" in json.dumps(message) else message


def text_on_stdout(message):
    print("Log: a message", flush=True)
    return message


def no_approval(message):
    if message.get("result", {}).get("action") == "accept":
        message["result"] = {"action": "decline"}
    return message


def no_cancellation(message):
    return None if message.get("method") == "notifications/cancelled" else message


def ends_early(message):
    if message.get("method") == "tools/call":
        sys.exit()
    return message


ANSWERS = {one.__name__: one for one in (fewer_tools, other_answer, other_session, fewer_choices, no_progress,
                                         text_on_stdout)}
REQUESTS = {one.__name__: one for one in (no_approval, no_cancellation, ends_early)}


def passed_on(source, target, change):
    """Passes on the messages, each of them changed."""
    for line in source:
        message = json.loads(line)
        if "tools" in message.get("result", {}) or change is not fewer_tools:
            message = change(message)
        if message is not None:
            target.write(json.dumps(message).encode() + b"\n")
            target.flush()
    target.close()


def main():
    fault, *command = sys.argv[1:]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    answers = (server.stdout, sys.stdout.buffer, ANSWERS.get(fault, lambda message: message))
    threading.Thread(target=passed_on, args=answers, daemon=True).start()
    passed_on(sys.stdin.buffer, server.stdin, REQUESTS.get(fault, lambda message: message))
    server.wait()


if __name__ == "__main__":
    main()
