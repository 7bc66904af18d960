"""A client of `pollux mcp serve` that shows forms, for tests in which a user answers a server."""

import json


def prompt(running, text, answer):
    """Runs a prompt in a server that was started with pipes, and returns the result. `answer` gets the
    parameters of each form, and returns the content with which it is accepted."""

    def send(message):
        running.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        running.stdin.flush()

    capabilities = {"elicitation": {"form": {}}}
    send({"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": capabilities}})
    send({"id": 2, "method": "tools/call", "params": {"name": "pollux", "arguments": {"prompt": text}}})
    for line in running.stdout:
        message = json.loads(line)
        if message.get("method") == "elicitation/create":
            send({"id": message["id"], "result": {"action": "accept", "content": answer(message["params"])}})
        elif message.get("id") == 2:
            running.stdin.close()
            return message
    return None


def defaults(params):
    """Accepts a form as it is."""
    fields = params["requestedSchema"]["properties"]
    return {name: field["default"] for name, field in fields.items() if "default" in field}
