"""Uses Pollux as a server with published clients, and checks what each of them saw.

    serve_harness.py --pollux PROGRAM [CLIENT ...]

The clients are `inspector`, `typescript` and `python`; all of them without a name. The last line of
output is `mcp-serve: N clients, F failures`. The exit code is 1 if F is not 0.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "parity"))

import run_case
import scenario
from model import Model

# The folder with the installed packages.
PACKAGES = os.environ.get("MCP_PACKAGES", "")
SDK = f"{PACKAGES}/node_modules/@modelcontextprotocol/sdk"
TOOLS = ["pollux", "pollux-reply"]
CHOICES = ["proceed_once", "proceed_always", "cancel"]
# Time in seconds for one client.
LIMIT = 30
# Milliseconds from a cancellation to the answer to the next prompt: the promise is 100 for the first
# part alone, and the machine may be busy.
PROMPT = 3000

CONVERSATION = [
    scenario.calls(scenario.call("write_file", {"file_path": "a.txt", "content": "new\n"})),
    scenario.text("edited"),
    scenario.text("continued"),
    scenario.Held([]),
    scenario.text("after the cancel"),
]
CLIENTS = {
    "typescript": ["node", str(HERE / "client.mjs"), SDK],
    "python": [f"{PACKAGES}/venv/bin/python", "-B", str(HERE / "client.py")],
}
INSPECTOR = ["node", f"{PACKAGES}/node_modules/.bin/mcp-inspector", "--cli"]


class Failed(Exception):
    """What a client saw is not as it should be."""


def expect(what, found, wanted):
    if found != wanted:
        raise Failed(f"{what}: {found!r} instead of {wanted!r}")


class Stage:
    """A home, a project and a scripted model."""

    def __init__(self, root, script):
        self.root = Path(root)
        run_case.lay_out(scenario.Surroundings(), self.root)
        self.model = Model(script)
        self.project = self.root / "project"
        variables = run_case.environment(self.root, self.model.port, {})
        self.environment = {**variables, "PYTHONDONTWRITEBYTECODE": "1"}

    def run(self, command):
        """Runs a client to its end, and returns what it prints."""
        try:
            done = subprocess.run(command, cwd=self.project, env=self.environment, stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, timeout=LIMIT, check=False)
        except subprocess.TimeoutExpired as expired:
            raise Failed(f"the client does not end within {LIMIT} s") from expired
        if done.returncode:
            raise Failed(f"exit code {done.returncode}\n{done.stdout}{done.stderr}")
        return json.loads(done.stdout)


def check_sdk(stage, client, server):
    """Runs a prompt with an edit that is approved by a form, continues the session, and cancels a call."""
    facts = stage.run([*client, *server])
    expect("name of the server", facts["server"], "pollux")
    expect("errors", facts["errors"], [])
    expect("tools", facts["tools"], TOOLS)
    expect("number of forms", len(facts["forms"]), 1)
    expect("choices", facts["forms"][0]["choices"], CHOICES)
    if "a.txt" not in facts["forms"][0]["message"]:
        raise Failed(f"the form does not name the file: {facts['forms'][0]['message']}")
    path = stage.project / "a.txt"
    expect("the file", path.read_text() if path.exists() else None, "new\n")
    session = check_result("first", facts["first"], "edited")
    expect("calls in the statistics", facts["first"]["structuredContent"]["stats"]["tools"]["totalCalls"], 1)
    expect("session of the reply", check_result("second", facts["second"], "continued"), session)
    expect("first progress", facts["progress"][0], f"Session ID: {session}")
    if not any("a.txt" in message for message in facts["progress"]):
        raise Failed(f"no progress about the call: {facts['progress']}")
    expect("the call is cancelled", facts["cancelled"], True)
    check_result("third", facts["third"], "after the cancel")
    if facts["milliseconds"] > PROMPT:
        raise Failed(f"the session continues {facts['milliseconds']:.0f} ms after the cancellation")
    last = json.dumps(stage.model.requests[-1]["body"]["contents"])
    expect("the session has the prompt that was cancelled", '"hold"' in last, True)
    return f"the session continued {facts['milliseconds']:.0f} ms after the cancellation"


def check_inspector(stage, server):
    """Lists the tools and runs a prompt; the inspector has no forms."""
    separated = [*INSPECTOR, *server]
    listed = stage.run([*separated, "--method", "tools/list"])
    expect("tools", [tool["name"] for tool in listed["tools"]], TOOLS)
    called = [*separated, "--method", "tools/call", "--tool-name", "pollux", "--tool-arg", "prompt=edit"]
    check_result("first", stage.run(called), "edited")
    expect("the file", (stage.project / "a.txt").exists(), False)
    return "without forms the edit is denied"


def check_result(what, result, response):
    """Checks a result of a tool; returns the id of its session."""
    expect(f"{what}: error", result.get("isError", False), False)
    expect(f"{what}: text", result["content"][0]["text"], response)
    expect(f"{what}: response", result["structuredContent"]["response"], response)
    return result["structuredContent"]["session_id"]


def check(name, server):
    """Checks one client. Returns a remark."""
    with tempfile.TemporaryDirectory(prefix="mcp-serve-") as folder:
        stage = Stage(Path(folder, "run"), CONVERSATION)
        try:
            if name == "inspector":
                return check_inspector(stage, server)
            return check_sdk(stage, CLIENTS[name], server)
        finally:
            stage.model.close()


def main():
    parser = argparse.ArgumentParser(prog="serve_harness.py", description=__doc__.split("\n")[0])
    parser.add_argument("--pollux", required=True, help="the program under test")
    parser.add_argument("client", nargs="*", help="only these clients")
    arguments = parser.parse_args()
    names = arguments.client or ["inspector", *CLIENTS]
    failures = 0
    for name in names:
        try:
            print(f"{name}: {check(name, [arguments.pollux, 'mcp', 'serve', *scenario.FLASH])}", flush=True)
        except (Failed, KeyError, json.JSONDecodeError) as failed:
            failures += 1
            print(f"FAILED {name}: {failed}")
    print(f"mcp-serve: {len(names)} clients, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
