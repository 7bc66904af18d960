"""The client of a scenario: runs Pollux so that the messages of the scenario are exchanged.

    MCP_POLLUX=PROGRAM MCP_CONFORMANCE_SCENARIO=NAME python3 driver.py ADDRESS

Signs in if the scenario is about that, and lets a scripted model call the tool of the server. The
exit code is 0 if the call has succeeded.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path += [str(HERE.parent / "parity"), str(HERE.parent / "mcp-serve")]

import run_case
import scenario
import serve_client
from model import Model

POLLUX = os.environ["MCP_POLLUX"]
SCENARIO = os.environ["MCP_CONFORMANCE_SCENARIO"]
CONTEXT = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}"))
# Tools of the servers, with their arguments; the first that a server has is called.
TOOLS = {
    "tools_call": ("add_numbers", {"a": 5, "b": 3}),
    "elicitation-sep1034-client-defaults": ("test_client_elicitation_defaults", {}),
    "sse-retry": ("test_reconnection", {}),
}
TEST_TOOL = ("test-tool", {})
# Time in seconds for one run of Pollux.
LIMIT = 20
# Number of times that the user signs in at most: a server may want more permissions for a call.
SIGN_INS = 2
# Document about the client that the authorization servers of the tests know.
CLIENT_DOCUMENT = "https://conformance-test.local/client-metadata.json"


class Failed(Exception):
    """A step of the scenario cannot be done."""


class Stage:
    """A home with the server of the scenario in its settings."""

    def __init__(self, root, address):
        entry = {"url": address, "type": "http", "timeout": LIMIT * 1000}
        if "client_id" in CONTEXT:
            entry["oauth"] = {"clientId": CONTEXT["client_id"], "clientSecret": CONTEXT.get("client_secret")}
        self.root = Path(root)
        settings = {"mcpServers": {"srv": entry}, "pollux": {"mcp": {"clientMetadataUrl": CLIENT_DOCUMENT}}}
        run_case.lay_out(scenario.Surroundings(settings=settings), self.root)

    def start(self, arguments, port=1, **streams):
        """Starts Pollux with the model at this port."""
        variables = run_case.environment(self.root, port, {"NO_BROWSER": "1"})
        return subprocess.Popen([POLLUX, *arguments], cwd=self.root / "project", env=variables, text=True, **streams)

    def sign_in(self):
        """Signs in as a user does, who opens the page and agrees."""
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        said = []
        with self.start(["mcp", "auth", "srv"], **pipes) as running, ending(running):
            for line in running.stdout:
                said.append(line)
                if re.match(r"https?://\S+\?\S*client_id=", line):
                    urllib.request.urlopen(line.strip(), timeout=LIMIT).read()
        if running.returncode:
            raise Failed(f"cannot sign in: {''.join(said)}")

    def call(self):
        """Lets a model call the tool; returns the result that it gets."""
        tool, arguments = TOOLS.get(SCENARIO, TEST_TOOL)
        script = scenario.turns(scenario.call(f"mcp_srv_{tool}", arguments))
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        return self.result(script, lambda port: self.headless(port, pipes))

    def headless(self, port, pipes):
        with self.start(scenario.GO, port, **pipes) as running, ending(running):
            return running.stdout.read()

    def result(self, script, run):
        model = Model(script)
        try:
            said = run(model.port)
        finally:
            model.close()
        requests = [one["body"] for one in model.requests if "streamGenerateContent" in one["path"]]
        if not requests:
            raise Failed(f"no request to the model: {said}")
        parts = [part for content in requests[-1]["contents"] for part in content["parts"]]
        responses = [part["functionResponse"]["response"] for part in parts if "functionResponse" in part]
        return {"response": responses[-1] if responses else None, "said": said}

    def call_with_user(self):
        """Lets a model call the tool, and accepts the form of the server as it is."""
        tool, arguments = TOOLS[SCENARIO]
        # In a conversation, the servers start in the background.
        script = scenario.turns(scenario.call("run_shell_command", {"command": "sleep 1"}),
                                scenario.call(f"mcp_srv_{tool}", arguments))
        return self.result(script, self.served)

    def served(self, port):
        """Runs a prompt by `pollux mcp serve`, as a client that shows forms."""
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        arguments = ["mcp", "serve", *scenario.YOLO]
        with self.start(arguments, port, **pipes) as running, ending(running):
            return json.dumps(serve_client.prompt(running, "go", serve_client.defaults))


class ending:
    """Ends a program that takes too long."""

    def __init__(self, running):
        self.timer = threading.Timer(LIMIT, running.kill)

    def __enter__(self):
        self.timer.start()

    def __exit__(self, *_):
        self.timer.cancel()


def main():
    with tempfile.TemporaryDirectory(prefix="mcp-conformance-") as folder:
        stage = Stage(Path(folder, "run"), sys.argv[1])
        if SCENARIO == "initialize":
            # The server has no tools.
            with stage.start(["mcp", "test", "srv"], stdin=subprocess.DEVNULL) as running, ending(running):
                return running.wait()
        if not SCENARIO.startswith("auth/"):
            with_user = SCENARIO.startswith("elicitation")
            return report(stage.call_with_user() if with_user else stage.call())
        for _ in range(SIGN_INS):
            stage.sign_in()
            result = stage.call()
            if succeeded(result):
                break
        return report(result)


def succeeded(result):
    return "output" in (result["response"] or {})


def report(result):
    if not succeeded(result):
        print(json.dumps(result), file=sys.stderr)
    return 0 if succeeded(result) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failed:
        sys.exit(str(failed))
