"""A web of fictional pages behind a proxy on the loopback interface."""

import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Web:
    """Serves the pages of a step to its clients; `requests` has the requests, in order."""

    def __init__(self, pages):
        self.pages = pages
        self.requests = []
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"web": self}))
        self._server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()

    def page(self, url, headers):
        """Records a request and returns its page."""
        with self._lock:
            kept = {name: headers.get(name) for name in ("user-agent", "accept")}
            self.requests.append({"url": url, "headers": kept})
        return self.pages.get(url)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    web = None
    # Host at the other end of a tunnel.
    host = None

    def date_time_string(self, *_):
        """Returns a fixed date, so that responses are always the same."""
        return "Tue, 14 Nov 2023 22:13:20 GMT"

    def log_message(self, *_):
        pass

    def do_CONNECT(self):
        host, port = self.path.rsplit(":", 1)
        if host in ("127.0.0.1", "localhost"):
            self._tunnel(host, int(port))
            return
        # Every other host is served here.
        self.send_response(200)
        self.end_headers()
        self.host = host if port == "80" else self.path
        self.close_connection = False

    def do_GET(self):
        url = self.path if "://" in self.path else f"http://{self.host}{self.path}"
        page = self.web.page(url, self.headers)
        if page is None:
            self._send(404, "text/plain", b"no such page")
        else:
            body = page.body.encode() if isinstance(page.body, str) else page.body
            self._send(page.status, page.kind, body, page.headers)

    def do_POST(self):
        """Forwards a request to the model, without a tunnel."""
        length = int(self.headers.get("content-length") or 0)
        host, port = self.path.split("/")[2].split(":")
        lines = [f"POST /{self.path.split('/', 3)[3]} HTTP/1.1", *(f"{k}: {v}" for k, v in self.headers.items()),
                 "connection: close", "", ""]
        with socket.create_connection((host, int(port))) as upstream:
            upstream.sendall("\r\n".join(lines).encode() + self.rfile.read(length))
            while data := upstream.recv(65536):
                self.wfile.write(data)
        self.close_connection = True

    def _tunnel(self, host, port):
        with socket.create_connection((host, port)) as upstream:
            self.send_response(200)
            self.end_headers()
            back = threading.Thread(target=_pump, args=(upstream, self.connection), daemon=True)
            back.start()
            _pump(self.connection, upstream)
            back.join()
        self.close_connection = True

    def _send(self, status, kind, body, headers=None):
        self.send_response(status)
        if kind:
            self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        try:
            self.wfile.write(body)
        except OSError:
            # A client may hang up before the end of a page.
            self.close_connection = True


def _pump(source, target):
    try:
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass
