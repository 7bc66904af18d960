"""A scripted model server on loopback.

A script is a list of turns, see `dialects`; each request for a turn takes the next one. A turn may
be a function that makes it from the request. The path of the request determines the dialect.

For each turn the server records the times when the request's head arrived, when its last byte
arrived, and when the reply began to be sent, and the size of the request. Times are
`time.perf_counter` seconds.
"""

import contextlib
import json
import socket
import threading
import time
from dataclasses import dataclass, field

import dialects


@dataclass
class Exchange:
    """One request for a turn and its reply."""

    head: float
    body: float = 0.0
    sent: float = 0.0
    size: int = 0
    request: bytes = b""


@dataclass
class ScriptedServer:
    """Serves one script. `keep_requests` keeps the bodies; `on_request` is called with the number
    of each turn before its reply is sent. `side_text` is the answer to side calls, and
    `on_side_call` is called before each of these answers is sent."""

    script: list
    keep_requests: bool = False
    side_text: str = "{}"
    on_request: object = None
    on_side_call: object = None
    exchanges: list = field(default_factory=list)

    def __enter__(self):
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._turn = threading.Lock()
        self._tools = None
        self._accepting = threading.Thread(target=self._accept, daemon=True)
        self._accepting.start()
        return self

    def __exit__(self, *_):
        # A thread that still waits on a closed socket would take the connections of the next
        # server, which gets the same descriptor number.
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._accepting.join(1)
        self._listener.close()

    def _accept(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        rest = b""
        with connection:
            while True:
                try:
                    rest = self._exchange(connection, rest)
                except (OSError, ValueError):
                    return
                if rest is None:
                    return

    def _exchange(self, connection, rest):
        """Serves one request. Returns the bytes read beyond it; None at the end."""
        while b"\r\n\r\n" not in rest:
            data = connection.recv(1 << 16)
            if not data:
                return None
            rest += data
        exchange = Exchange(head=time.perf_counter())
        head, rest = rest.split(b"\r\n\r\n", 1)
        line, *fields = head.decode("latin-1").split("\r\n")
        headers = {
            name.lower(): value.strip() for name, _, value in (f.partition(":") for f in fields)
        }
        if headers.get("expect", "").lower() == "100-continue":
            connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        if headers.get("transfer-encoding", "").lower() == "chunked":
            body, rest = _read_chunked(connection, rest)
        else:
            body, rest = _read_exactly(connection, rest, int(headers.get("content-length", 0)))
        exchange.body, exchange.size = time.perf_counter(), len(body)
        method, path, _ = line.split(" ", 2)
        path = path.partition("?")[0]
        dialect = _dialect(method, path)
        if dialect is None:
            if self.on_side_call and ":generateContent" in path:
                self.on_side_call()
            connection.sendall(_side_reply(path, self.side_text))
        elif path.endswith("/chat/completions") and b'"tools"' not in body:
            # A side call, such as for a title of the conversation.
            connection.sendall(
                stream(list(dialects.chat_events(dialects.Text(("A title",)), 0, set())))
            )
        else:
            self._reply(connection, dialect, exchange, body)
        return rest

    def _reply(self, connection, dialect, exchange, body):
        with self._turn:
            if self._tools is None:
                self._tools = dialects.declared_tools(body)
            number = len(self.exchanges)
            exchange.request = body if self.keep_requests else b""
            self.exchanges.append(exchange)
        if self.on_request:
            self.on_request(number)
        turn = self.script[min(number, len(self.script) - 1)]
        if callable(turn):
            turn = turn(exchange)
        events = list(dialect(turn, number, self._tools))
        # The time is taken before sending, because a fast program may answer before this thread
        # continues.
        exchange.sent = time.perf_counter()
        send(connection, events, getattr(turn, "pace", 0.0))


def _read_exactly(connection, rest, count):
    pieces, have = [rest], len(rest)
    while have < count:
        data = connection.recv(1 << 20)
        if not data:
            raise ValueError("the request ended early")
        pieces.append(data)
        have += len(data)
    data = b"".join(pieces)
    return data[:count], data[count:]


def _read_chunked(connection, rest):
    body = []
    while True:
        while b"\r\n" not in rest:
            data = connection.recv(1 << 20)
            if not data:
                raise ValueError("the request ended early")
            rest += data
        size, rest = rest.split(b"\r\n", 1)
        chunk, rest = _read_exactly(connection, rest, int(size.split(b";")[0], 16) + 2)
        if len(chunk) == 2:
            return b"".join(body), rest
        body.append(chunk[:-2])


def _dialect(method, path):
    """Returns the function for the dialect; None for requests that are not turns."""
    if method != "POST":
        return None
    if path.endswith(":streamGenerateContent"):
        return dialects.gemini_events
    if path.endswith("/responses"):
        return dialects.responses_events
    if path.endswith("/chat/completions"):
        return dialects.chat_events
    if path.endswith("/messages"):
        return dialects.messages_events
    return None


def _side_reply(path, text):
    if ":generateContent" in path:
        content = {"role": "model", "parts": [{"text": text}]}
        body = {"candidates": [{"content": content, "finishReason": "STOP", "index": 0}]}
    elif ":countTokens" in path:
        body = {"totalTokens": 1}
    else:
        return b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n"
    data = json.dumps(body).encode()
    return b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s" % (
        len(data),
        data,
    )


HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
LAST_CHUNK = b"0\r\n\r\n"


def stream(events):
    """Returns server-sent events, each in a separate HTTP chunk, as a model server sends them."""
    return HEAD + b"".join(map(_chunk, events)) + LAST_CHUNK


def send(connection, events, pace):
    """Sends server-sent events, with a pause of `pace` seconds before each of them."""
    if not pace:
        return connection.sendall(stream(events))
    connection.sendall(HEAD)
    for event in events:
        time.sleep(pace)
        connection.sendall(_chunk(event))
    return connection.sendall(LAST_CHUNK)


def _chunk(event):
    return b"%x\r\n%s\r\n" % (len(event), event)
