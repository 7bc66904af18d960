"""A small agent for the tests of the proof, with a fault on demand.

    acp_stand_in.py FAULT

It asks the scripted model as Pollux would, and does what the model says. Sessions are in files in the
home, so that the next process can load them.
"""

import http.client
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
import urllib.parse
from pathlib import Path

FAULT = sys.argv[1]
UPDATE = "session/update"
OPTIONS = [
    {"optionId": "proceed_once", "name": "Allow", "kind": "allow_once"},
    {"optionId": "cancel", "name": "Reject", "kind": "reject_once"},
]


class Cancelled(Exception):
    pass


class Session:
    def __init__(self, agent, name, folder):
        self.agent, self.name, self.folder = agent, name, Path(folder)
        self.log = Path.home() / f"{name}.json"
        self.contents = json.loads(self.log.read_text()) if self.log.exists() else []
        self.connection, self.cancelled, self.child = None, threading.Event(), None
        self.lock = threading.Lock()

    def update(self, kind, session=None, **fields):
        params = {"sessionId": session or self.name, "update": {"sessionUpdate": kind, **fields}}
        self.agent.send({"method": UPDATE, "params": params})

    def say(self, text, kind="agent_message_chunk"):
        session = self.agent.first if FAULT == "cross_talk" else None
        self.update(kind, session, content={"type": "text", "text": text})

    def prompt(self, number, text):
        with self.lock:
            self.cancelled.clear()
            try:
                self.add("user", [{"text": text}])
                self.work()
                self.save()
                reason = "end_turn"
            except Cancelled:
                reason = "cancelled"
                if FAULT != "broken_history":
                    self.close_turn()
                if FAULT == "slow_cancel":
                    time.sleep(2.5)
        if FAULT == "wrong_reason":
            reason = "refusal"
        self.agent.send({"id": number, "result": {"stopReason": reason}})
        if FAULT == "late_update":
            self.say("late")

    def work(self):
        while True:
            parts = self.ask()
            self.add("model", parts)
            calls = [part["functionCall"] for part in parts if "functionCall" in part]
            if not calls:
                return
            results = [self.run(call) for call in calls]
            self.add("user", [{"functionResponse": {"name": c["name"], "response": {"output": r}}}
                              for c, r in zip(calls, results)])

    def close_turn(self):
        """Answers open calls, and ends the turn of the model."""
        calls = [p["functionCall"] for p in self.contents[-1]["parts"] if "functionCall" in p]
        if calls:
            self.add("user", [{"functionResponse": {"name": c["name"], "response": {}}} for c in calls])
        self.add("model", [{"text": "(cancelled)"}])

    def add(self, role, parts):
        if self.contents and self.contents[-1]["role"] == role:
            self.contents[-1]["parts"] += parts
        else:
            self.contents.append({"role": role, "parts": parts})

    def save(self):
        if FAULT != "not_saved":
            self.log.write_text(json.dumps(self.contents))

    def ask(self):
        url = urllib.parse.urlsplit(os.environ["GOOGLE_GEMINI_BASE_URL"])
        self.connection = http.client.HTTPConnection(url.hostname, url.port)
        body = json.dumps({"contents": self.contents})
        parts = []
        try:
            self.check()
            self.connection.request("POST", "/v1beta/models/x:streamGenerateContent", body)
            self.check()
            for line in self.connection.getresponse():
                if line.startswith(b"data: "):
                    new = json.loads(line[6:])["candidates"][0]["content"]["parts"]
                    for part in new:
                        if "text" in part:
                            self.say(part["text"])
                    parts += new
        except (OSError, http.client.HTTPException, AttributeError, ValueError):
            self.check()
            raise Cancelled from None
        self.check()
        texts = "".join(part.get("text", "") for part in parts)
        return [{"text": texts}] if texts else parts

    def check(self):
        if self.cancelled.is_set():
            raise Cancelled

    def run(self, call):
        name, arguments = call["name"], call["args"]
        identity = f"c{time.monotonic_ns()}"
        tool_call = {"toolCallId": identity, "title": name, "status": "pending", "kind": "other"}
        if name != "read_file" and FAULT != "no_permission" and not self.allowed(tool_call):
            if FAULT == "writes_anyway" and name == "write_file":
                (self.folder / arguments["file_path"]).write_text(arguments["content"])
            return "rejected"
        self.update("tool_call", toolCallId=identity, title=name, status="in_progress")
        output = "done"
        if name == "write_file":
            (self.folder / arguments["file_path"]).write_text(arguments["content"])
        elif name == "run_shell_command":
            self.command(arguments["command"])
        if FAULT != "open_call":
            self.update("tool_call_update", toolCallId=identity, status="completed")
        self.check()
        return output

    def command(self, command):
        new = {"start_new_session": True}
        self.child = subprocess.Popen(["sh", "-c", command], cwd=self.folder, stdin=subprocess.DEVNULL,
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **new)
        self.agent.children.append((self.child, self.folder))
        while self.child.poll() is None and not self.cancelled.is_set():
            time.sleep(0.01)
        self.agent.end(self.child, self.folder)

    def allowed(self, tool_call):
        answers = self.agent.ask("session/request_permission",
                                 {"sessionId": self.name, "options": OPTIONS, "toolCall": tool_call})
        while True:
            self.check()
            try:
                answer = answers.get(timeout=0.01)
            except queue.Empty:
                continue
            result = answer.get("result")
            outcome = result.get("outcome") if isinstance(result, dict) else None
            chosen = outcome.get("optionId") if isinstance(outcome, dict) and outcome.get("outcome") == "selected" else None
            if isinstance(outcome, dict) and outcome.get("outcome") == "cancelled":
                raise Cancelled
            return chosen == "proceed_once" or (FAULT == "anything_is_yes" and chosen != "cancel")

    def cancel(self):
        self.cancelled.set()
        if self.connection and self.connection.sock:
            try:
                self.connection.sock.shutdown(2)
            except OSError:
                pass


class Agent:
    def __init__(self):
        self.sessions, self.asked, self.children = {}, {}, []
        self.first, self.writing, self.number = None, threading.Lock(), 0

    def send(self, message):
        with self.writing:
            try:
                sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
                sys.stdout.flush()
            except OSError:
                self.leave()

    def ask(self, method, params):
        with self.writing:
            self.number += 1
            number = self.number
        answers = self.asked[number] = queue.Queue()
        self.send({"id": number, "method": method, "params": params})
        return answers

    def end(self, child, folder):
        if FAULT != "child_left":
            try:
                os.killpg(child.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            # Processes that have left the group, found by their folder.
            for entry in Path("/proc").iterdir():
                try:
                    if os.readlink(entry / "cwd") == str(folder):
                        os.kill(int(entry.name), signal.SIGKILL)
                except (OSError, ValueError):
                    continue
            child.wait()

    def leave(self, *_):
        for child, folder in self.children:
            self.end(child, folder)
        os._exit(0)

    def handle(self, line):
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            if FAULT == "dies_of_garbage":
                os._exit(1)
            return
        if not isinstance(message, dict):
            return
        method, number = message.get("method"), message.get("id")
        if not isinstance(method, str):
            if isinstance(number, int) and number in self.asked and ("result" in message or "error" in message):
                self.asked.pop(number).put(message) if FAULT != "last_answer" else self.asked[number].put(message)
            return
        try:
            result = self.serve(method, message.get("params"), number)
        except (KeyError, TypeError, AttributeError):
            result = {"code": -32602, "message": "Invalid params"}
        if number is not None and result is not None:
            self.send({"id": number, "error" if "code" in result else "result": result})

    def serve(self, method, params, number):
        if method == "initialize":
            if FAULT == "stray":
                print("Starting", flush=True)
            if FAULT == "memory":
                self.block = b"x" * (100 << 20)
            return {"protocolVersion": 1}
        if method == "session/new":
            name = f"id{len(self.sessions)}"
            self.first = self.first or name
            self.sessions[name] = Session(self, name, params["cwd"])
            return {"sessionId": name}
        if method == "session/load":
            session = Session(self, params["sessionId"], params["cwd"])
            if not session.contents:
                return {"code": -32602, "message": "no such session"}
            self.sessions[session.name] = session
            for content in session.contents:
                kind = "user_message_chunk" if content["role"] == "user" else "agent_message_chunk"
                for part in content["parts"]:
                    if "text" in part:
                        session.say(part["text"], kind)
            return {}
        if method == "session/prompt":
            session, text = self.sessions[params["sessionId"]], params["prompt"][0]["text"]
            session.cancel()
            threading.Thread(target=session.prompt, args=(number, text), daemon=True).start()
            return None
        if method == "session/cancel":
            if FAULT != "no_cancel":
                self.sessions[params["sessionId"]].cancel()
            return None
        return {} if FAULT == "any_method" else {"code": -32601, "message": f"no {method}"}


def main():
    agent = Agent()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, agent.leave if FAULT != "ignores_signals" else signal.SIG_IGN)
    for line in sys.stdin.buffer:
        if len(line) < 10_000_000:
            agent.handle(line)
    if FAULT == "stays":
        time.sleep(60)
    agent.leave()


if __name__ == "__main__":
    main()
