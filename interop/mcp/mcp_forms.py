"""Lets published servers ask the user by a form, which only Pollux supports.

    MCP_POLLUX=PROGRAM MCP_PACKAGES=FOLDER python3 mcp_forms.py

A scripted model calls a tool of the server, the form reaches a client of `pollux mcp serve`, and the
answer reaches the tool. The last line of output is `mcp forms: N servers, F failures`.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path += [str(HERE.parent / "parity"), str(HERE.parent / "mcp-serve")]

import mcp_cases
import run_case
import scenario
import serve_client
from model import Model

# Servers with the tool that asks, values of the form, and words of the result. The fields of a form have
# numbers as names.
SERVERS = {
    "everything": (mcp_cases.program(f"{mcp_cases.BIN}/mcp-server-everything"), "trigger-elicitation-request",
                   {"field_1": "Ann né"}, "Ann né"),
    "fastmcp": (mcp_cases.program(*mcp_cases.SAMPLE, "fastmcp", "stdio"), "asks", {"field_1": "Ann né", "field_2": 7}, "Ann né is 7"),
}


def answered(entry, tool, content):
    """Returns the forms that the client got, and the result that the model got."""
    forms = []

    def answer(params):
        forms.append(params)
        return {**serve_client.defaults(params), **content}

    # In a conversation, the servers start in the background.
    script = scenario.turns(scenario.call("run_shell_command", {"command": "sleep 3"}),
                            scenario.call(mcp_cases.PREFIX + tool, {}))
    model = Model(script)
    with tempfile.TemporaryDirectory(prefix="mcp-forms-") as folder:
        root = Path(folder, "run")
        run_case.lay_out(scenario.Surroundings(settings={"mcpServers": {"srv": entry}}), root)
        variables = run_case.environment(root, model.port, {})
        command = [os.environ["MCP_POLLUX"], "mcp", "serve", *scenario.YOLO]
        with subprocess.Popen(command, cwd=root / "project", env=variables, text=True, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as running:
            serve_client.prompt(running, "go", answer)
    model.close()
    return forms, json.dumps(model.requests[-1]["body"]["contents"][-1], ensure_ascii=False)


def main():
    failures = 0
    for name, (entry, tool, content, words) in SERVERS.items():
        forms, result = answered(entry, tool, content)
        if len(forms) != 1 or words not in result:
            failures += 1
            print(f"FAILED {name}: {len(forms)} forms {json.dumps(forms)}, result {result}")
    print(f"mcp forms: {len(SERVERS)} servers, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
