"""A model server on the loopback interface that answers from a script and records each request."""

import json
import re
import select
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from scenario import LAST_PID, TASK_OF, Failure, Held, Raw, text


# Longest time in seconds for which a stream is held.
HOLD = 60


class Model:
    """Serves one run of one program; `requests` has the paths and bodies, in order of arrival."""

    def __init__(self, script, asides=()):
        self.script = list(script)
        self.asides = list(asides)
        self.requests = []
        self._lock = threading.Lock()
        handler = type("Handler", (_Handler,), {"model": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()

    def answer(self, path, body):
        """Records a request and returns its answer; after the end of the script a text reports the
        end."""
        with self._lock:
            self.requests.append({"path": path, "body": body})
            if "streamGenerateContent" in path:
                answer = self.script.pop(0) if self.script else text("END OF SCRIPT")
                return _filled(answer, body)
            if self.asides and "generateContent" in path:
                return self.asides.pop(0)
        return text("{}")


def _filled(answer, body):
    """Returns the answer with the last process number, and the task ids, from the request."""
    words = json.dumps(answer) if isinstance(answer, list) else ""
    if LAST_PID in words:
        printed = re.findall(r"P(?:G|)ID:? (\d+)", json.dumps(body)) or ["0"]
        words = words.replace(json.dumps(LAST_PID), printed[-1])
    elif TASK_OF.partition("{")[0] in words:
        for call, task in _tasks(body):
            words = words.replace(TASK_OF.format(call), task)
    else:
        return answer
    return json.loads(words)


def _tasks(body):
    """Yields the calls that created tasks, with the task ids."""
    for content in body.get("contents", []):
        for part in content.get("parts", []):
            response = part.get("functionResponse", {})
            if made := re.search(r"Created task (\w{6}):", json.dumps(response.get("response"))):
                yield response["id"], made[1]


def _stream(events):
    return b"".join(b"data: " + json.dumps(event).encode() + b"\r\n\r\n" for event in events)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model = None

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.model.answer(self.path, None)
        self._send(404, "text/plain", b"")

    def do_POST(self):
        body = json.loads(self._body() or b"null")
        answer = self.model.answer(self.path, body)
        if "countTokens" in self.path:
            self._send(200, "application/json", b'{"totalTokens": 50}')
        elif isinstance(answer, Failure):
            self._fail(answer)
        elif isinstance(answer, Raw):
            self._send(200, "text/event-stream", answer.body.encode())
        elif isinstance(answer, Held):
            self._hold(answer.events)
        elif "streamGenerateContent" in self.path:
            self._send(200, "text/event-stream", _stream(answer))
        else:
            self._send(200, "application/json", json.dumps(answer[-1]).encode())

    def _body(self):
        if "chunked" not in self.headers.get("transfer-encoding", ""):
            return self.rfile.read(int(self.headers.get("content-length") or 0))
        body = b""
        while size := int(self.rfile.readline().strip() or b"0", 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _fail(self, failure):
        if isinstance(failure.body, str):
            self._send(failure.status, "text/plain", failure.body.encode(), failure.headers)
        else:
            body = json.dumps(failure.body).encode()
            self._send(failure.status, "application/json", body, failure.headers)

    def _hold(self, events):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(_stream(events))
        # The program sends nothing more: there is something to read when it closes the connection.
        select.select([self.connection], [], [], HOLD)
        self.close_connection = True

    def _send(self, status, kind, body, headers=None):
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
