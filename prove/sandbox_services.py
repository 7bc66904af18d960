"""Local services for the jobs of `sandbox_jobs.py`: `sandbox_services.py KIND PORT_FILE`.

The service writes its port into the file when it listens. Kinds: `files` (the current folder),
`packages` (an npm registry with one package) and `model` (a model that answers each request with
one sentence). Standard library only."""

import base64
import gzip
import hashlib
import http.server
import io
import json
import os
import sys
import tarfile
from pathlib import Path


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves the files of the current folder."""

    def log_message(self, *_):
        pass

    def answer(self, content, kind):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


class Packages(Quiet):
    """An npm registry with the package `three`."""

    def do_GET(self):
        tarball = package()
        if self.path.endswith(".tgz"):
            self.answer(tarball, "application/octet-stream")
            return
        port = self.server.server_address[1]
        version = {
            "name": "three",
            "version": "1.0.0",
            "dist": {
                "tarball": f"http://127.0.0.1:{port}/three-1.0.0.tgz",
                "integrity": "sha512-" + base64.b64encode(hashlib.sha512(tarball).digest()).decode(),
            },
        }
        known = {"name": "three", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": version}}
        self.answer(json.dumps(known).encode(), "application/json")

    def do_POST(self):
        self.answer(b"{}", "application/json")


class Model(Quiet):
    """A model that answers with one sentence."""

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        content = {"role": "model", "parts": [{"text": "a sentence of the model"}]}
        event = {"candidates": [{"content": content, "finishReason": "STOP"}]}
        self.answer(f"data: {json.dumps(event)}\r\n\r\n".encode(), "text/event-stream")


def package():
    """Returns the tarball of the package, with the same bytes each time."""
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as files:
        for name, text in {
            "package.json": json.dumps({"name": "three", "version": "1.0.0", "main": "index.js"}),
            "index.js": "module.exports = 3;\n",
        }.items():
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size = len(text)
            files.addfile(entry, io.BytesIO(text.encode()))
    return gzip.compress(archive.getvalue(), mtime=0)


def main():
    kind, port_file = sys.argv[1:]
    handler = {"files": Quiet, "packages": Packages, "model": Model}[kind]
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    # The rename makes sure that a reader of the file sees the whole number.
    Path(port_file + ".part").write_text(str(server.server_address[1]))
    os.rename(port_file + ".part", port_file)
    server.serve_forever()


if __name__ == "__main__":
    main()
