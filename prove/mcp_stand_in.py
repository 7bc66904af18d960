"""A small agent with MCP servers for the tests of the proof, with a fault on demand.

    mcp_stand_in.py FAULT

It asks the scripted model as Pollux would, and uses the servers of the settings in a simple way.
"""

import contextlib
import http.client
import json
import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.parse
from pathlib import Path

import stand_in

FAULT = sys.argv[1]
HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
LONGEST = 40_000


class Gone(Exception):
    """The server cannot be used."""


class Program:
    """A server over standard streams."""

    def __init__(self, entry):
        environment = {**os.environ, **entry["env"]}
        inherited = {"close_fds": False} if FAULT == "open_file" else {}
        if inherited:
            os.set_inheritable(os.open("/etc/hostname", os.O_RDONLY), True)
        self.process = subprocess.Popen([entry["command"], *entry["args"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, env=environment, start_new_session=True, **inherited)
        self.messages = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            try:
                message = json.loads(line)
            except ValueError:
                continue
            if isinstance(message, dict) and "id" in message:
                self.messages.put(message)
        self.messages.put({"id": None, "error": {"message": "the server ended during the call"}})

    def ask(self, number, method, params, seconds):
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()
        end, found = time.monotonic() + seconds, None
        while True:
            try:
                answer = self.messages.get(timeout=max(end - time.monotonic(), 0.01))
            except queue.Empty:
                if found:
                    return found
                raise Gone(f"no answer within {seconds:g} s") from None
            if answer["id"] not in (number, None):
                continue
            found = answer
            if FAULT != "last_answer":
                return found
            # Waits for an answer that replaces this one.
            end = time.monotonic() + 0.2

    def close(self):
        if FAULT == "process_left":
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


class Address:
    """A server over HTTP."""

    def __init__(self, entry):
        self.url = entry["url"]

    def ask(self, number, method, params, seconds):
        url = urllib.parse.urlsplit(self.url)
        self.connection = http.client.HTTPConnection(url.hostname, url.port, timeout=seconds)
        self.connection.request("POST", url.path, json.dumps({"jsonrpc": "2.0", "id": number, "method": method}))
        response = self.connection.getresponse()
        if response.status in (302, 307):
            if FAULT == "redirect":
                self.url = response.getheader("Location")
                return self.ask(number, method, params, seconds)
            raise Gone(f"HTTP {response.status}")
        body = response.read()
        if FAULT == "connection_left":
            subprocess.Popen(["sleep", "1000"], pass_fds=(self.connection.sock.fileno(),), start_new_session=True)
        return json.loads(body)

    def close(self):
        self.connection.close()


def say(text):
    """Tells the user something."""
    if FAULT != "silent":
        text = text if FAULT == "controls" else HIDDEN.sub("", text)
        print(text * 10_000 if FAULT == "many_words" else text, file=sys.stderr)


def connect(name, entry):
    """Returns a server and its tools; None and no tools if it cannot be used."""
    server = (Address if "url" in entry else Program)(entry)
    seconds = entry.get("timeout", 20_000) / 1000
    try:
        try:
            server.ask(1, "initialize", {}, seconds)
        except Gone as problem:
            raise Gone(f"no connection within {seconds:g} s" if "answer" in str(problem) else str(problem)) from None
        tools = [f"mcp_{name}_{tool['name']}" for tool in server.ask(2, "tools/list", {}, seconds)["result"]["tools"]]
    except (Gone, KeyError, OSError, ValueError) as problem:
        say(f"MCP server '{name}' is not available: {problem}\x1b[31m")
        if FAULT == "gives_up":
            sys.exit(1)
        tools = []
    if FAULT == "wrong_name":
        tools.append(f"mcp_{name}_" + "n" * 300)
    return server, tools * 2 if FAULT == "name_twice" else tools


def call(servers, name, arguments):
    """Returns the result of a call as text."""
    _, server, tool = name.split("_", 2)
    if FAULT == "one_server" and server == "good":
        return "the server is not connected"
    connection, tools, seconds = servers[server]
    if name not in tools:
        return "not found"
    try:
        answer = connection.ask(3, "tools/call", {"name": tool, "arguments": arguments}, seconds)
    except (Gone, OSError, ValueError) as problem:
        return str(problem)
    if "error" in answer:
        if server == "bad" and answer["id"] is None:
            say(f"MCP server 'bad': exit code {connection.process.wait()}: why")
        return answer["error"]["message"]
    text = "".join(block.get("text", "") for block in answer["result"]["content"])
    if len(text) > LONGEST and FAULT != "whole_result":
        text = "Output too large. " + text[:LONGEST]
    return text


def main():
    if FAULT == "memory":
        block = b"x" * (100 << 20)
    if FAULT == "temporary_file":
        Path(os.environ["TMPDIR"], "left").write_text("")
    if FAULT == "slow":
        time.sleep(2)
    settings = json.loads(Path(os.environ["HOME"], ".gemini/settings.json").read_text())
    servers = {}
    for name, entry in settings["mcpServers"].items():
        servers[name] = (*connect(name, entry), entry.get("timeout", 20_000) / 1000)
    declared = [{"functionDeclarations": [{"name": tool} for _, tools, _ in servers.values() for tool in tools]}]
    contents = [stand_in.text("go")]
    while True:
        parts = stand_in.ask(contents, tools=declared)
        calls = [part["functionCall"] for part in parts if "functionCall" in part]
        if not calls or FAULT == "stops":
            print(parts[0].get("text"))
            break
        results = [(one["name"], call(servers, one["name"], one["args"])) for one in calls]
        contents += [{"role": "model", "parts": parts}, stand_in.results(results)]
    for server, _, _ in servers.values():
        server.close()


if __name__ == "__main__":
    main()
