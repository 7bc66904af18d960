"""Runs a case with one program: a server over HTTP is started for it, and ended after it."""

import contextlib
import copy
import os
import socket
import subprocess
import time

import mcp_cases
import run_case
import views
from compare import Difference

# Longest time in seconds until a server over HTTP accepts connections.
START = 30


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def run(program, case, root, port):
    """Runs the program through the case in the folder `root`, and returns the recording."""
    case = mcp_cases.with_port(copy.deepcopy(case), port)
    with served(case.serves, port):
        return run_case.run(program, case, root)


@contextlib.contextmanager
def served(command, port):
    """Runs a server over HTTP, if the case has one."""
    if not command:
        yield
        return
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "NO_COLOR": "1"}
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    try:
        wait_for(process, port)
        yield
    finally:
        process.kill()
        process.wait()


def wait_for(process, port):
    end = time.monotonic() + START
    while time.monotonic() < end and process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.05)
    raise SystemExit(f"mcp: the server does not start: {' '.join(process.args)}")


def tools(recording):
    """Returns the names of the server's tools in the first request, in their order."""
    requests = [one for step in recording.steps for one in step.requests if "streamGenerateContent" in one["path"]]
    names = [one["name"] for request in requests[:1] for one in views.declarations(request["body"])]
    return [name for name in names if name.startswith(mcp_cases.PREFIX)]


def uncalled(case, recording):
    """Returns the tools of the server that the recording declares, and that the case neither calls nor
    names, as a difference."""
    if case.uncalled is None:
        return []
    offered = {name.removeprefix(mcp_cases.PREFIX) for name in tools(recording)}
    called = {part["functionCall"]["name"].removeprefix(mcp_cases.PREFIX) for step in case.steps for answer in step.script
              for event in answer for candidate in event["candidates"]
              for part in candidate["content"]["parts"] if "functionCall" in part}
    left = sorted(offered - called - case.uncalled.keys())
    idle = sorted(case.uncalled.keys() - offered)
    found = [Difference("tools that the case does not call", "", " ".join(left))] if left else []
    return found + ([Difference("tools that do not exist any more", "", " ".join(idle))] if idle else [])
