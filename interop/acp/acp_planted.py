"""A stand-in for an agent with a fault, for the tests of the harness.

    acp_planted.py FAULT PROGRAM [ARGUMENT ...]

Runs the program and changes what it prints, or what it does.
"""

import json
import subprocess
import sys
import threading
from pathlib import Path


def other_text(update):
    if update["sessionUpdate"] == "agent_message_chunk":
        update["content"]["text"] += "!"


def no_final_update(update):
    return update.get("status") in ("completed", "failed")


def other_diff(update):
    for content in update.get("content") or []:
        if "newText" in content:
            content["newText"] = "something else"


def unknown_update(update):
    if update["sessionUpdate"] == "agent_message_chunk":
        update["sessionUpdate"] = "nosuch"


def no_tool_call_id(update):
    update.pop("toolCallId", None)


UPDATES = {one.__name__: one for one in (other_text, no_final_update, other_diff, unknown_update, no_tool_call_id)}


def stop_reason(message):
    if "stopReason" in message.get("result", {}):
        message["result"]["stopReason"] = "refusal"


def no_stop_reason(message):
    message.get("result", {}).pop("stopReason", None)


def fewer_options(message):
    if message.get("method") == "session/request_permission":
        message["params"]["options"].pop(0)


def other_error(message):
    if "error" in message:
        message["error"]["code"] = -1


def no_capabilities(message):
    message.get("result", {}).pop("agentCapabilities", None)


MESSAGES = {one.__name__: one for one in (stop_reason, no_stop_reason, fewer_options, other_error, no_capabilities)}
FAULTS = ["none", "stray", "exit_code", "file", *UPDATES, *MESSAGES]


def changed(message, fault):
    """Returns the messages that arrive instead of a message."""
    if fault in MESSAGES:
        MESSAGES[fault](message)
    elif fault in UPDATES and message.get("method") == "session/update":
        if UPDATES[fault](message["params"]["update"]):
            return []
    return [message]


def main():
    fault, *command = sys.argv[1:]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    threading.Thread(target=copy, args=(process.stdin,), daemon=True).start()
    if fault == "stray":
        print("Loading ...", flush=True)
    if fault == "file":
        Path("extra.txt").write_text("extra\n")
    for line in process.stdout:
        for message in changed(json.loads(line), fault):
            print(json.dumps(message), flush=True)
    code = process.wait()
    return 3 if fault == "exit_code" else code


def copy(to):
    for line in sys.stdin.buffer:
        to.write(line)
        to.flush()
    to.close()


if __name__ == "__main__":
    sys.exit(main())
