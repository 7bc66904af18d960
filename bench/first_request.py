"""The time until the first request of one headless run."""

import os

import sampling
import scenarios
from scripted_server import ScriptedServer


def of_run(program, home, trusts=True):
    """Runs a prompt in the folder `project` of a home. Returns the time until the first request in
    milliseconds. If `trusts` is false, the home decides whether the folder is trusted."""
    folder = home / "project"
    folder.mkdir(parents=True, exist_ok=True)
    with ScriptedServer([scenarios.HELLO]) as server:
        program.prepare(home, server.port)
        environment = program.environment(home, server.port, os.environ["PATH"])
        if not trusts:
            del environment["GEMINI_CLI_TRUST_WORKSPACE"]
        cost = sampling.run(program.arguments(), folder, environment)
        if cost.code != 0:
            raise SystemExit(f"the run failed: {cost.errors.decode(errors='replace')[-300:]}")
        return scenarios.first_request(cost, server.exchanges)
