"""An MCP server over HTTP for the MCP proof, inside of the proof's process, and its faults. Each class
is a trial; see `mcp_server.Server` for its attributes."""

import gzip
import http.server
import json
import select
import socket
import threading
import time

from mcp_server import CONTROLS, LARGE, VERSION, text, tool

# Longest time in seconds for which a connection is held.
HELD = 60
EVENTS = "text/event-stream"
JSON = "application/json"


class HttpServer:
    """A server over HTTP with the tool `look`."""

    result = "seen"
    says = ""
    calls = (("mcp_bad_look", {"x": "1"}),)
    offered = ("mcp_bad_look",)
    timeout = 20_000
    seconds = 5.0
    forbidden = ()
    memory = 0
    sent = 0
    # The transport in the entry.
    kind = "http"
    path = "/mcp"
    is_on_network = True

    def __init__(self, canary):
        self.canary = canary
        self.requests, self.connections, self.lock = [], set(), threading.Lock()

    @classmethod
    def about(cls):
        return cls.__doc__.splitlines()[0].rstrip(".")

    @classmethod
    def check(cls, run):
        pass

    def entry(self):
        """Returns the entry of the server in the settings."""
        return {"url": self.url, "type": self.kind, "headers": {"X-Key": "the-key"}}

    def __enter__(self):
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self):
                super().setup()
                with server.lock:
                    server.connections.add(self.connection)

            def finish(self):
                with server.lock:
                    server.connections.discard(self.connection)
                super().finish()

            def handle(self):
                try:
                    super().handle()
                except OSError:
                    # The program has closed the connection.
                    pass

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                message = json.loads(body)
                server.requests.append(("POST", message.get("method"), self.path))
                server.post(self, message)

            def do_GET(self):
                server.requests.append(("GET", None, self.path))
                server.get(self)

            def do_DELETE(self):
                server.requests.append(("DELETE", None, self.path))
                server.delete(self)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}{self.path}"
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def count(self, method, called=None):
        """Returns the number of requests with this method, and with this method of the protocol."""
        return sum(one[0] == method and called in (None, one[1]) for one in list(self.requests))

    # What the server does

    def post(self, handler, message):
        method, number = message.get("method"), message.get("id")
        if number is None:
            respond(handler, 202, b"")
        elif method == "initialize":
            self.initialize(handler, number)
        elif method == "tools/list":
            self.list(handler, number)
        elif method == "tools/call":
            self.call(handler, number)
        else:
            self.answer(handler, number, {})

    def initialize(self, handler, number):
        self.answer(handler, number, self.introduction())

    def introduction(self):
        return {"protocolVersion": VERSION, "capabilities": {"tools": {}}, "serverInfo": {"name": "web", "version": "1"}}

    def list(self, handler, number):
        self.answer(handler, number, {"tools": [tool("look")]})

    def call(self, handler, number):
        self.answer(handler, number, text("seen"))

    def answer(self, handler, number, result):
        respond(handler, 200, message_of(number, result), JSON, {"Mcp-Session-Id": "s1"})

    def get(self, handler):
        respond(handler, 405, b"")

    def delete(self, handler):
        respond(handler, 200, b"")


def message_of(number, result):
    return json.dumps({"jsonrpc": "2.0", "id": number, "result": result}).encode()


def respond(handler, status, body, kind=None, headers=None):
    """Sends a whole response."""
    head(handler, status, kind, {"Content-Length": str(len(body)), **(headers or {})})
    handler.wfile.write(body)


def head(handler, status, kind=None, headers=None):
    """Sends the head of a response."""
    handler.send_response(status)
    if kind:
        handler.send_header("Content-Type", kind)
    for name, value in (headers or {}).items():
        handler.send_header(name, value)
    handler.end_headers()


def stream(handler, headers=None):
    """Begins a stream of events, which ends with the connection."""
    head(handler, 200, EVENTS, {"Connection": "close", **(headers or {})})
    handler.close_connection = True


def hold(handler):
    """Waits until the program closes the connection."""
    select.select([handler.connection], [], [], HELD)
    handler.close_connection = True


# Answers that are none


class WebPage(HttpServer):
    """A web page in place of every answer."""

    result = "not found"
    says = "'bad' is not available"
    offered = ()

    def post(self, handler, message):
        respond(handler, 200, b"<html><body>" + b"Sign in! " * 100_000 + CONTROLS.encode(), "text/html")


class Refuses(HttpServer):
    """Status 500 with a long page and control characters."""

    result = "not found"
    says = "'bad' is not available: .*HTTP 500"
    offered = ()
    forbidden = ("\x1b", "\u202e")

    def post(self, handler, message):
        respond(handler, 500, (CONTROLS + "broken " * 100_000).encode(), "text/plain")


class Nothing(HttpServer):
    """Status 204 for every request."""

    result = "not found"
    says = "'bad' is not available"
    offered = ()
    timeout = 1000

    def post(self, handler, message):
        respond(handler, 204, b"")


class WantsSignIn(HttpServer):
    """Status 401 that leads to another address."""

    result = "not found"
    says = "'bad' requires authentication"
    offered = ()

    def post(self, handler, message):
        challenge = f'Bearer resource_metadata="{self.canary.url}/metadata"'
        respond(handler, 401, b"", headers={"WWW-Authenticate": challenge})


class Redirects(HttpServer):
    """A redirect to a private address."""

    result = "not found"
    says = "'bad' is not available"
    offered = ()
    status = 307

    def post(self, handler, message):
        respond(handler, self.status, b"", headers={"Location": f"{self.canary.url}/private"})


class RedirectsAsGet(Redirects):
    """A redirect to a private address that makes a GET of it."""

    status = 302


class RedirectsToFile(HttpServer):
    """A redirect to a file."""

    result = "not found"
    says = "'bad' is not available"
    offered = ()

    def post(self, handler, message):
        respond(handler, 308, b"", headers={"Location": "file:///etc/passwd"})


class RedirectsForEver(HttpServer):
    """A redirect that leads back to the server each time."""

    result = "not found"
    says = "'bad' is not available"
    offered = ()

    def post(self, handler, message):
        respond(handler, 307, b"", headers={"Location": f"/mcp?again={len(self.requests)}"})

    @classmethod
    def check(cls, run):
        if len(run.server.requests) > 20:
            run.problems.append(f"{len(run.server.requests)} requests")


# Sessions


class ForgetsSession(HttpServer):
    """Status 404 for every call: the session is forgotten each time."""

    result = "MCP tool|failed"
    timeout = 5000

    def call(self, handler, number):
        respond(handler, 404, b"")

    @classmethod
    def check(cls, run):
        if run.server.count("POST", "initialize") > 5:
            run.problems.append(f"{run.server.count('POST', 'initialize')} sessions were opened")


class LongSession(HttpServer):
    """The name of a session has 60 kB."""

    result = ".*"
    offered = None

    def answer(self, handler, number, result):
        respond(handler, 200, message_of(number, result), JSON, {"Mcp-Session-Id": "s" * 60_000})


class HangAtDelete(HttpServer):
    """Silence when the session is closed."""

    def delete(self, handler):
        hold(handler)


# Streams


class EndlessStream(HttpServer):
    """A stream of comments that never has the answer."""

    timeout = 1500
    result = "no answer within 1.5 s"

    def call(self, handler, number):
        stream(handler)
        while True:
            handler.wfile.write(b": nothing yet\n\n")
            time.sleep(0.02)


class SilentStream(HttpServer):
    """A stream that stays open without a byte."""

    timeout = 1500
    result = "no answer within 1.5 s"

    def call(self, handler, number):
        stream(handler)
        hold(handler)


class FloodOfEvents(HttpServer):
    """200 MB of events that are not messages, and then the answer."""

    seconds = 20.0
    memory = 80 << 20

    def call(self, handler, number):
        stream(handler)
        events = b"event: message\ndata: {\"x\": 1}\n\n" * 30_000
        for _ in range(200_000_000 // len(events)):
            handler.wfile.write(events)
        handler.wfile.write(b"data: " + message_of(number, text("seen")) + b"\n\n")


class LongEvent(HttpServer):
    """An event of 200 MB in one line."""

    timeout = 10_000
    result = "MCP tool|failed|Output too large"
    seconds = 20.0
    memory = LARGE

    def call(self, handler, number):
        stream(handler)
        handler.wfile.write(b"data: ")
        for _ in range(200):
            handler.wfile.write(b"x" * (1 << 20))
        handler.wfile.write(b"\n\n")


class EndsInStream(HttpServer):
    """A stream that ends without the answer each time."""

    timeout = 2000
    result = "MCP tool|failed"
    seconds = 8.0

    def call(self, handler, number):
        stream(handler)
        handler.wfile.write(b"id: 1\nretry: 0\ndata: \n\n")

    @classmethod
    def check(cls, run):
        few(run, 40)


class GetEndsAtOnce(HttpServer):
    """A stream of notifications that ends at once each time."""

    calls = (("mcp_bad_look", {}), ("run_shell_command", {"command": "sleep 2"}))
    offered = None

    def get(self, handler):
        stream(handler)
        handler.wfile.write(b"id: 1\nretry: 0\n\n")

    @classmethod
    def check(cls, run):
        few(run, 40)


def few(run, most):
    """Expects that the program has not asked for the stream again and again."""
    if run.server.count("GET") > most:
        run.problems.append(f"the stream was opened {run.server.count('GET')} times")


class AsksInStream(HttpServer):
    """2,000 requests of the server in the stream of an answer."""

    seconds = 20.0

    def call(self, handler, number):
        stream(handler)
        for at in range(2000):
            method = ("sampling/createMessage", "elicitation/create", "roots/list", "ping")[at % 4]
            params = {"messages": [], "maxTokens": 1, "message": "?", "requestedSchema": {"type": "object", "properties": {}}}
            asked = {"jsonrpc": "2.0", "id": f"q{at}", "method": method, "params": params}
            handler.wfile.write(b"data: " + json.dumps(asked).encode() + b"\n\n")
        handler.wfile.write(b"data: " + message_of(number, text("seen")) + b"\n\n")


# Bodies


class GzipBomb(HttpServer):
    """A compressed result of 1 GB."""

    result = "MCP tool|failed|Output too large"
    seconds = 30.0
    memory = LARGE

    def call(self, handler, number):
        start = b'{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"' % number
        respond(handler, 200, bomb(start, b'"}]}}'), JSON, {"Content-Encoding": "gzip"})


def bomb(start, end):
    packed = bytearray()
    packer = gzip.zlib.compressobj(9, gzip.zlib.DEFLATED, 31)
    packed += packer.compress(start)
    for _ in range(1000):
        packed += packer.compress(b"x" * 1_000_000)
    return bytes(packed + packer.compress(end) + packer.flush())


class LargeBody(HttpServer):
    """A result of 100 MB."""

    result = "(?s)^.*Output too large"
    seconds = 20.0
    memory = LARGE

    def call(self, handler, number):
        body = message_of(number, text("x" * 100_000_000))
        respond(handler, 200, body, JSON)


class BreaksOff(HttpServer):
    """A body that ends before its length."""

    timeout = 3000
    result = "MCP tool|failed"
    seconds = 8.0

    def call(self, handler, number):
        head(handler, 200, JSON, {"Content-Length": "1000"})
        handler.wfile.write(b'{"jsonrpc":')
        handler.close_connection = True


class SlowHead(HttpServer):
    """A head that arrives byte by byte, and never ends."""

    timeout = 1500
    result = "no answer within 1.5 s"

    def call(self, handler, number):
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
        handler.close_connection = True
        while True:
            handler.wfile.write(b"x")
            time.sleep(0.02)


class ResetsConnection(HttpServer):
    """A connection that is reset in the call."""

    result = "MCP tool|failed"
    timeout = 3000
    seconds = 8.0

    def call(self, handler, number):
        handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        handler.close_connection = True
        handler.connection.close()


# The older transport


class OtherOrigin(HttpServer):
    """A stream of the older form that names a private address for messages."""

    kind = "sse"
    result = "not found"
    says = "'bad' is not available: .*address that is not used"
    offered = ()

    def get(self, handler):
        stream(handler)
        handler.wfile.write(f"event: endpoint\ndata: {self.canary.url}/post\n\n".encode())
        hold(handler)


class NoEndpoint(HttpServer):
    """A stream of the older form that names no address."""

    kind = "sse"
    timeout = 1000
    result = "not found"
    says = "'bad' is not available: no connection within 1 s"
    offered = ()

    def get(self, handler):
        stream(handler)
        while True:
            handler.wfile.write(b": nothing yet\n\n")
            time.sleep(0.02)


FAULTS = [one for one in list(globals().values()) if isinstance(one, type) and issubclass(one, HttpServer) and one is not HttpServer]
