"""Servers over standard streams whose output breaks the protocol, see `mcp_faults`."""

import json
import sys
import time

from mcp_server import CONTROLS, LARGE, MEGABYTE, Server, text, tool


# Output that is not the protocol


class LogsOnOutput(Server):
    """Log lines on standard output."""

    LINES = "Server is starting…\n\n[info] 3 tools\n{\"level\": 30}\n[]\n7\nnull\n\x1b[32mready\x1b[0m\n".encode()

    def take(self, message):
        self.raw(self.LINES)
        super().take(message)
        self.raw(self.LINES)

    def begin(self):
        self.raw(self.LINES)


class FloodOfLogs(Server):
    """200 MB of log lines on standard output."""

    seconds = 20.0

    def call(self, number, params):
        lines = b"a line that says little and is not a message\n" * 20_000
        for _ in range(200_000_000 // len(lines)):
            self.raw(lines)
        super().call(number, params)


class LongLine(Server):
    """A line of 200 MB that is not a message."""

    memory = LARGE
    # It may be the answer, because its id is not known.
    result = "seen|too large"
    seconds = 20.0

    def call(self, number, params):
        for _ in range(200):
            self.raw(MEGABYTE)
        self.raw(b"\n")
        super().call(number, params)


class InvalidText(Server):
    """Invalid UTF-8 in log lines and in results."""

    result = "a\ufffdb"

    def call(self, number, params):
        self.raw(b"\xff\xfe\xc3\x28\n")
        self.raw(b'{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"a\xffb"}]}}\n' % number)


class FloodOfErrors(Server):
    """200 MB on standard error."""

    seconds = 20.0

    def call(self, number, params):
        for _ in range(200):
            sys.stderr.buffer.write(MEGABYTE[:-1] + b"\n")
        super().call(number, params)


class HostileErrors(Server):
    """An end with control characters on standard error."""

    result = "not found"
    says = "'bad' is not available: .*exit code 3"
    offered = ()
    forbidden = ("\x1b", "\x07", "\u202e", "\x9b")

    def begin(self):
        sys.stderr.write(CONTROLS + "failed" + "!" * 100_000 + "\n")
        sys.stderr.flush()
        sys.exit(3)


# Messages that break the protocol


class WrongIds(Server):
    """Answers to requests that were never made."""

    forbidden = ("wrong",)

    def take(self, message):
        for number in (999, -1, "x", 1 << 70, [1], {"a": 1}, True):
            self.answer(number, text("wrong"))
        super().take(message)


class DuplicateIds(Server):
    """Each request is answered twice."""

    forbidden = ("twice",)

    def call(self, number, params):
        super().call(number, params)
        self.answer(number, text("twice"))
        self.fail(number, 1, "twice")

    def initialize(self, number):
        super().initialize(number)
        self.answer(number, text("twice"))

    def list(self, number, cursor):
        super().list(number, cursor)
        self.answer(number, {"tools": [tool("twice")]})


class IdsAsText(Server):
    """Numbers of requests as text."""

    timeout = 2000

    def answer(self, number, result):
        super().answer(str(number), result)


class IdsAsFractions(Server):
    """Numbers of requests as fractions, such as 1.0."""

    timeout = 2000

    def answer(self, number, result):
        super().answer(float(number), result)


class NoVersion(Server):
    """Messages without the version of JSON-RPC, with unknown fields and nulls."""

    def send(self, message):
        self.raw(json.dumps({**message, "error": message.get("error"), "extra": {"a": [1]}}).encode() + b"\n")


class WrongIntroduction(Server):
    """An introduction with an unknown version, wrong types and missing fields."""

    def initialize(self, number):
        self.answer(number, {"protocolVersion": "1999-01-01", "capabilities": {"tools": True, "x": 7}, "serverInfo": "me", "instructions": 7})


class NoIntroduction(Server):
    """An introduction that is not an object."""

    result = "not found"
    says = "'bad' is not available"
    offered = ()

    def initialize(self, number):
        self.answer(number, ["tools"])


class RefusedIntroduction(Server):
    """An error in place of the introduction, of 20 MB."""

    memory = LARGE
    result = "not found"
    says = "'bad' is not available: .*go away"
    offered = ()

    def initialize(self, number):
        self.fail(number, -32000, "go away " + CONTROLS + "y" * 20_000_000)


class Deep(Server):
    """JSON of 100,000 levels."""

    timeout = 2000
    result = "cannot be read|no answer within 2 s"

    def call(self, number, params):
        self.raw(b'{"jsonrpc":"2.0","id":%d,"result":{"content":' % number + b"[" * 100_000 + b"]" * 100_000 + b"}}\n")


class HalfMessage(Server):
    """Half an answer, and then silence."""

    timeout = 2000
    result = "no answer within 2 s"

    def call(self, number, params):
        self.raw(b'{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"te' % number)


class Drip(Server):
    """An introduction that arrives byte by byte, and too slowly."""

    timeout = 1000
    result = "not found"
    says = "'bad' is not available: no connection within 1 s"
    offered = ()

    def initialize(self, number):
        for byte in json.dumps({"jsonrpc": "2.0", "id": number, "result": self.introduction()}).encode():
            self.raw(bytes([byte]))
            time.sleep(0.05)
