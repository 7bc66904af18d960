"""An MCP server over standard streams for the MCP proof: `mcp_server.py NAME`, the name of a class of
`mcp_faults`, or `Server` for a server without faults.

Each server leaves the files that were open at its start in the folder `NOTES`, and more for some
faults. Standard library only.
"""

import json
import os
import sys
import threading
from pathlib import Path

VERSION = "2025-06-18"
MEGABYTE = b"x" * (1 << 20)
# Most memory of Pollux when a server sends very large messages, which are cut at 16 MB.
LARGE = 260 << 20
# Control characters, and characters that change the direction of text.
CONTROLS = "\x1b]0;owned\x07\x1b[2J\x1b[31m\u202e\u2066\x9b1A\r\b"


def tool(name, schema=None, description="Looks.", **fields):
    """Returns the declaration of a tool."""
    schema = schema or {"type": "object", "properties": {"x": {"type": "string"}}}
    return {"name": name, "description": description, "inputSchema": schema, **fields}


def text(words):
    """Returns the result of a call with one text."""
    return {"content": [{"type": "text", "text": words}]}


class Server:
    """A server with the tool `look`, which answers `seen`.

    A fault is a subclass that does something else. Its attributes say what Pollux must make of it.
    """

    # Regular expression that the result of the call contains, as the model gets it.
    result = "seen"
    # Regular expression that standard error contains; empty if nothing is to be said.
    says = ""
    # Calls of the model before that of the other server, as pairs of a name and arguments.
    calls = (("mcp_bad_look", {"x": "1"}),)
    # Names of the tools of this server in the last request; None for any.
    offered = ("mcp_bad_look",)
    # Time limit of the server in its entry, in milliseconds.
    timeout = 20_000
    # Longest time of the run, in seconds.
    seconds = 5.0
    # Words that nothing may contain that the user reads or the model gets.
    forbidden = ()
    # Most memory of Pollux in bytes, if it may use more than usual.
    memory = 0
    # Most bytes of a request to the model, if it may have more than usual.
    sent = 0
    is_on_network = False
    # Text that follows the program's name in the entry, instead of this program alone.
    wrapper = ()

    def __init__(self):
        self.writing = threading.Lock()

    @classmethod
    def about(cls):
        """Returns the name of the trial."""
        return cls.__doc__.splitlines()[0].rstrip(".")

    @classmethod
    def check(cls, run):
        """Adds problems to a run that the attributes do not describe."""

    # What the server does

    def begin(self):
        """Called before the first message."""

    def initialize(self, number):
        self.answer(number, self.introduction())

    def list(self, number, cursor):
        self.answer(number, {"tools": [tool("look")]})

    def call(self, number, params):
        self.answer(number, text("seen"))

    def answered(self, message):
        """Called with an answer to a request of the server."""

    def end(self):
        """Called after the end of the input."""

    # How it does it

    def introduction(self, **fields):
        return {
            "protocolVersion": VERSION,
            "capabilities": {"tools": {"listChanged": True}},
            "serverInfo": {"name": "a server", "version": "1"},
            **fields,
        }

    def raw(self, data):
        """Writes any bytes to standard output."""
        with self.writing:
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()

    def send(self, message):
        self.raw(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def answer(self, number, result):
        self.send({"id": number, "result": result})

    def fail(self, number, code, message):
        self.send({"id": number, "error": {"code": code, "message": message}})

    def notify(self, method, **params):
        self.send({"method": method, "params": params})

    def serve(self):
        self.begin()
        for line in sys.stdin.buffer:
            self.take(json.loads(line))
        self.end()

    def take(self, message):
        method, number, params = message.get("method"), message.get("id"), message.get("params") or {}
        if method == "initialize":
            self.initialize(number)
        elif method == "tools/list":
            self.list(number, params.get("cursor"))
        elif method == "tools/call":
            self.call(number, params)
        elif method == "ping":
            self.answer(number, {})
        elif method is None:
            self.answered(message)
        elif number is not None:
            self.fail(number, -32601, "no such method")


def note(name, words):
    """Leaves a file for the proof."""
    path = Path(os.environ["NOTES"], name)
    path.with_suffix(".part").write_text(words)
    path.with_suffix(".part").rename(path)


def open_files():
    """Returns the files that this process has beyond its standard streams."""
    found = []
    for number in os.listdir("/proc/self/fd"):
        if int(number) > 2:
            try:
                found.append(os.readlink(f"/proc/self/fd/{number}"))
            except OSError:
                # The listing itself.
                continue
    return found


def main():
    files = open_files()
    import mcp_faults

    name = sys.argv[1]
    note(f"files-{os.getpid()}", "\n".join(files))
    mcp_faults.server(name)().serve()


if __name__ == "__main__":
    # The module is imported again by `mcp_faults`, under its name.
    main()
