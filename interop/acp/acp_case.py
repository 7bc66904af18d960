"""The definition of a case: what a client does with an agent, and what the model answers.

A case is data, so that clients on different SDKs follow the same script. A step is one of these:

    {"method": M, "params": P}            a request; the step ends with its response
    {... "save": {"a": "sessionId"}}      and keeps a field of the result: `$a` in later parameters
    {... "background": "p"}               a request that continues during the next steps
    {"finish": "p"}                       waits for its response
    {"method": M, "params": P, "notify": true}
    {"until": MESSAGE, "count": N}        waits for messages of the agent that contain these fields
    {"restart": COMMAND}                  ends the agent, runs a shell command, and starts it again
    {"pause": MILLISECONDS}               waits, so that a message that should not come has time to

`until` may follow a request in the same step; then it looks at messages since the step began.
"""

from dataclasses import dataclass, field

from scenario import FLASH, HOME, PROJECT, Cases, Surroundings

# Capabilities of a client without files and terminals.
NOTHING = {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False}
FILES = {"fs": {"readTextFile": True, "writeTextFile": True}, "terminal": False}
# A client that can show forms.
FORMS = {**NOTHING, "elicitation": {"form": {}}}

_cases = Cases()


@dataclass
class AcpCase(Surroundings):
    """One comparison. Paths may contain the markers of `scenario`."""

    name: str
    steps: list
    # The model's responses in the order of the requests; or lists of responses by a text of the
    # first prompt, for sessions that run at the same time.
    script: object
    # Answers to permission requests: a kind of option; `cancelled`; or `wait`, which is
    # cancelled when the client cancels the prompt, as the protocol demands.
    permissions: list = field(default_factory=list)
    # Contents of forms, in order; a further form is cancelled.
    elicitations: list = field(default_factory=list)
    # Unsaved text of the editor, by path.
    buffers: dict = field(default_factory=dict)
    env: dict = field(default_factory=dict)
    argv: list = field(default_factory=lambda: list(FLASH))
    # A sample has at least one case of each group.
    group: str = ""


def case(name, *steps, script=(), capabilities=NOTHING, start=True, **rest):
    """Registers a case. Unless `start` is false, it begins with a session `$a` in the project."""
    before = [initialize(capabilities), new("a")] if start else []
    _cases.add(AcpCase(name, before + list(steps), script, **rest))


def group_new_cases(name):
    """Puts the cases that have no group yet into a group."""
    for one in all_cases():
        one.group = one.group or name


def all_cases():
    """Returns every registered case, in the order of registration."""
    return _cases.all()


def request(method, params, **rest):
    return {"method": method, "params": params, **rest}


def notify(method, params):
    return {"method": method, "params": params, "notify": True}


def initialize(capabilities=NOTHING, version=1):
    client = {"name": "interop", "version": "1"}
    params = {"protocolVersion": version, "clientCapabilities": capabilities, "clientInfo": client}
    return request("initialize", params)


def new(name, folder=PROJECT, **rest):
    """Opens a session, whose id is then `$name`, and waits for the list of its commands."""
    step = request("session/new", {"cwd": folder, "mcpServers": []}, save={name: "sessionId"})
    return {**step, "until": update("available_commands_update"), **rest}


def prompt(*blocks, session="$a", **rest):
    """Sends a prompt; text stands for a block of text."""
    content = [{"type": "text", "text": one} if isinstance(one, str) else one for one in blocks]
    return request("session/prompt", {"sessionId": session, "prompt": content}, **rest)


def cancel(session="$a"):
    return notify("session/cancel", {"sessionId": session})


def update(kind, **fields):
    """Returns the pattern of an update."""
    return {"method": "session/update", "params": {"update": {"sessionUpdate": kind, **fields}}}


def until(pattern, count=1):
    return {"until": pattern, "count": count}


def finish(name):
    return {"finish": name}


def pause(milliseconds=300):
    return {"pause": milliseconds}


# The original cannot load a session in the minute in which it was recorded: it takes the name of the
# file, which has the minute, for that of its own session.
AN_HOUR_AGO = f"cd {HOME}/.gemini/tmp/*/chats && for f in *; do mv $f $(echo $f | sed s/T..-../T00-00/); done"


def restart(capabilities=NOTHING):
    """Returns the steps that end the agent and connect to the next one."""
    return [{"restart": AN_HOUR_AGO}, initialize(capabilities)]
