"""Runs a case: a home and a project, a scripted model, and a client on an SDK that drives the agent."""

import copy
import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import run_case
from model import Model

HERE = Path(__file__).resolve().parent

# Time in seconds that a client waits for one thing, and time for a whole case.
PATIENCE, LIMIT = 30, 120


@dataclass
class Client:
    """A client on an SDK: its name and its command line."""

    name: str
    command: list


@dataclass
class AcpRecording:
    """What arrived: the events of the client, the requests to the model, and every file."""

    root: str
    events: list
    requests: list
    files: dict
    port: int

    @property
    def steps(self):
        """The runs of the program, as in a recording of `run_case`: there is one."""
        return [self]


class AcpModel(Model):
    """A model that has a script for each of several sessions."""

    def answer(self, path, body):
        if isinstance(self.scripts, dict) and "streamGenerateContent" in path:
            first = json.dumps(body["contents"])
            self.script = next(s for text, s in self.scripts.items() if text in first)
        return super().answer(path, body)

    def __init__(self, script):
        self.scripts = script
        super().__init__([] if isinstance(script, dict) else script)


def run(client, agent, case, root):
    """Lets the client drive the agent through the case in the folder `root`."""
    case = run_case.placed(copy.deepcopy(case), str(root))
    run_case.lay_out(case, root)
    model = AcpModel(case.script)
    script = {
        "agent": [agent, "--acp", *case.argv],
        "folder": str(root / "project"),
        "environment": run_case.environment(root, model.port, case.env),
        "steps": case.steps,
        "permissions": case.permissions,
        "elicitations": case.elicitations,
        "buffers": case.buffers,
        "seconds": PATIENCE,
    }
    try:
        done = subprocess.run(
            client.command,
            input=json.dumps(script),
            env={"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )
    finally:
        model.close()
    events = [json.loads(line) for line in done.stdout.splitlines()]
    if done.returncode or done.stderr:
        events.append({"client": f"exit code {done.returncode}: {done.stderr[-2000:]}"})
    return AcpRecording(str(root), events, model.requests, run_case.tree(root), model.port)
