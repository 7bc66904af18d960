"""Clients that break the protocol. Each one is a function of a `Stage` (see `acp`), which has one
session; the first line of its documentation is the name of the trial."""

import contextlib
import json
import random
import signal
import time

import rules
from acp_client import text_of, updates

# Longest time in seconds from a cancellation to the end of the prompt, on a busy machine.
CANCELLING = 2.0
NOBODY = "00000000-0000-4000-8000-000000000000"
ERRORS = {"parse": -32700, "request": -32600, "method": -32601, "params": -32602}


def never_answer(method, params):
    return None


# Clients that leave


def leaves_during_answer(stage):
    """The client leaves during an answer."""
    stage.client.begin_prompt(stage.session, "hold it begins")
    stage.client.until_update(stage.session, "agent_message_chunk")
    stage.expect(stage.client.close(5) is not None, "still running after the client has left")


def leaves_during_command(stage):
    """The client leaves during a command that ignores SIGTERM."""
    run_command(stage, "trap '' TERM HUP", "(setsid sleep 1001 &)", "sleep 1000; sleep 1000")
    stage.expect(stage.client.close(5) is not None, "still running after the client has left")


def leaves_during_permission(stage):
    """The client leaves during a question."""
    stage.client.on_request = never_answer
    stage.client.begin_prompt(stage.session, "write new.txt words")
    stage.client.until_request(stage.session, "session/request_permission")
    stage.expect(stage.client.close(5) is not None, "still running after the client has left")
    stage.expect(not (stage.project / "new.txt").exists(), "the file was written without an answer")


def closes_output(stage):
    """The client closes the output while text arrives."""
    stage.client.begin_prompt(stage.session, "flood 20000000")
    stage.client.until_update(stage.session, "agent_message_chunk")
    # Nothing reads any more; the writer gets an error.
    stage.client.refuse_output()
    stage.expect_end(10)


def stops_reading(stage):
    """The client reads no more, and leaves."""
    with stage.client.arrival:
        # The reader waits for this lock at its next message, so that the pipe gets full.
        stage.client.begin_prompt(stage.session, "flood 8000000")
        time.sleep(1.5)
    stage.client.answer(stage.client.number, "the answer after a pause")
    stage.expect_work()


def dies(stage):
    """The client is gone at once, with both pipes."""
    run_command(stage, "sleep 1000")
    stage.client.refuse_output()
    with contextlib.suppress(OSError):
        stage.process.stdin.close()
    stage.expect_end(5)


def terminated(stage):
    """SIGTERM during a command."""
    run_command(stage, "(setsid sleep 1001 &)", "sleep 1000")
    stage.process.send_signal(signal.SIGTERM)
    stage.expect_end(5)


def hung_up(stage):
    """SIGHUP during an answer."""
    stage.client.begin_prompt(stage.session, "hold it begins")
    stage.client.until_update(stage.session, "agent_message_chunk")
    stage.process.send_signal(signal.SIGHUP)
    stage.expect_end(5)


# Clients that send what is not a message


def garbage(stage):
    """Bytes that are not JSON."""
    for data in (b"\n\n\n", b"hello\n", b"\xff\xfe\x00\n", b"{\n", b'{"jsonrpc": "2.0"\n', b'"text"\n', b"7\n", b"null\n",
                 b"\x1b[2J\n", b"Content-Length: 20\r\n\r\n{}\n", b"]" * 1000 + b"\n"):
        stage.client.raw(data)
    stage.expect_work()


def not_messages(stage):
    """JSON that is not a message."""
    for message in ({}, {"id": 900}, {"method": 7, "id": 901}, {"method": None}, {"id": {"a": 1}, "method": "initialize"},
                    {"id": [1], "method": "session/prompt"}, {"id": 902, "method": "session/prompt", "params": 7},
                    {"id": 903, "method": "session/prompt", "params": {"sessionId": 7, "prompt": {}}},
                    {"id": 904, "method": "session/new", "params": {"cwd": 7}},
                    {"id": 905, "method": "", "params": None}, {"result": 1, "error": 2}):
        stage.client.send(message)
    stage.client.raw(b'{"jsonrpc":"1.0","id":906,"method":"initialize"}\n')
    stage.client.raw(json.dumps([{"jsonrpc": "2.0", "id": 907, "method": "initialize"}]).encode() + b"\n")
    stage.expect_work()
    for number in (902, 903, 904):
        stage.expect("error" in stage.client.answer(number, f"an error for request {number}")[1], f"{number} has no error")


def deep(stage):
    """JSON of a hundred thousand levels."""
    stage.client.raw(b'{"jsonrpc":"2.0","id":910,"method":"initialize","params":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n")
    stage.client.raw(b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b"\n")
    stage.expect_work()


def long_line(stage):
    """A line of 200 MB without an end, and then a message."""
    block = b"x" * (1 << 20)
    for _ in range(200):
        stage.client.raw(block)
    stage.client.raw(b"\n")
    stage.expect_work()


def halves(stage):
    """Messages that arrive byte by byte."""
    message = {"jsonrpc": "2.0", "id": 920, "method": "session/prompt",
               "params": {"sessionId": stage.session, "prompt": [{"type": "text", "text": "say né 😀"}]}}
    for byte in json.dumps(message, ensure_ascii=False).encode() + b"\n":
        stage.client.raw(bytes([byte]))
    stage.client.answer(920, "the answer to a message in pieces")
    stage.expect(text_of(updates(stage.client.messages, stage.session)) == "né 😀", "other text arrived")


# Clients that use the protocol wrongly


def unknown_methods(stage):
    """Unknown methods."""
    for method in ("nosuch", "session/nosuch", "_vendor/thing", "initialise", "fs/read_text_file", "session/update", "x" * 100_000):
        answer = stage.client.request(method, {"sessionId": stage.session})
        code = answer.get("error", {}).get("code")
        stage.expect(code == ERRORS["method"], f"{method[:20]}: {str(answer)[:100]}")
        stage.client.notify(method, {"sessionId": stage.session})
    stage.expect_work()


def wrong_sessions(stage):
    """Sessions that do not exist."""
    parts = {"prompt": [{"type": "text", "text": "say x"}], "modeId": "yolo", "modelId": "x", "cwd": str(stage.project),
             "mcpServers": [], "configId": "model", "value": "x"}
    for session in (NOBODY, "", "../../../etc/passwd", "/etc/passwd", stage.session.upper() + "x", "x" * 100_000, "\0"):
        for method in ("session/prompt", "session/set_mode", "session/set_model", "session/load"):
            answer = stage.client.request(method, {"sessionId": session, **parts})
            stage.expect("error" in answer, f"{method} {session[:30]!r}: {str(answer)[:100]}")
        stage.client.notify("session/cancel", {"sessionId": session})
    stage.expect_work()


def wrong_ids(stage):
    """Answers that nobody asked for, and ids that are used twice."""
    for number in (0, 1, -1, 10**30, "text", None, 1.5, True):
        stage.client.send({"id": number, "result": {"outcome": {"outcome": "selected", "optionId": "proceed_once"}}})
        stage.client.send({"id": number, "error": {"code": 1, "message": "no"}})
    for _ in range(2):
        stage.client.send({"id": 930, "method": "initialize", "params": {"protocolVersion": 1, "clientCapabilities": {}}})
    stage.client.send({"id": "text", "method": "initialize", "params": {"protocolVersion": 1, "clientCapabilities": {}}})
    stage.client.answer("text", "the answer to a request whose id is text")
    stage.expect_work()


def answers_twice(stage):
    """A permission that is answered twice, first no and then yes."""
    stage.client.on_request = never_answer
    number = stage.client.begin_prompt(stage.session, "write new.txt words")
    asked = stage.client.until_request(stage.session, "session/request_permission")
    for option in ("cancel", "proceed_once"):
        stage.client.send({"id": asked["id"], "result": {"outcome": {"outcome": "selected", "optionId": option}}})
    stage.client.answer(number)
    stage.expect(not (stage.project / "new.txt").exists(), "the second answer counted")
    stage.expect_work()


def answers_wrongly(stage):
    """Permissions that are answered with something else than an option."""
    answers = [{}, {"outcome": None}, {"outcome": "selected"}, {"outcome": {"outcome": "selected"}}, [], 7,
               {"outcome": {"outcome": "selected", "optionId": "nosuch"}}, {"outcome": {"outcome": "selected", "optionId": 7}},
               {"outcome": {"outcome": "nosuch", "optionId": "proceed_once"}}, {"code": -32000, "message": "no"}]
    for at, answer in enumerate(answers):
        key = "error" if isinstance(answer, dict) and "code" in answer else "result"
        stage.client.on_request = never_answer
        seen = len(stage.client.messages)
        number = stage.client.begin_prompt(stage.session, f"write new{at}.txt words")
        asked = stage.client.until_request(stage.session, "session/request_permission", seen)
        stage.client.send({"id": asked["id"], key: answer})
        stage.client.answer(number, f"the end of the prompt after {answer}")
        stage.expect(not (stage.project / f"new{at}.txt").exists(), f"{answer} counted as yes")
    stage.expect_work()


def never_answers(stage):
    """A permission that is never answered: other sessions go on, and a cancellation ends it."""
    stage.client.on_request = never_answer
    number = stage.client.begin_prompt(stage.session, "write new.txt words")
    stage.client.until_request(stage.session, "session/request_permission")
    other = stage.client.new_session(stage.project)
    answer = stage.client.prompt(other, "say well")
    stage.expect("result" in answer, f"another session: {answer}")
    begin = time.perf_counter()
    stage.client.notify("session/cancel", {"sessionId": stage.session})
    ended, answer = stage.client.answer(number)
    stage.expect(answer.get("result", {}).get("stopReason") == "cancelled", f"{answer}")
    stage.expect(ended - begin < CANCELLING, f"the cancellation took {ended - begin:.1f} s")
    stage.expect(not (stage.project / "new.txt").exists(), "the file was written without an answer")
    stage.expect_work()


def prompts_at_once(stage):
    """A new prompt while the last one still waits for an answer."""
    stage.client.on_request = never_answer
    numbers = [stage.client.begin_prompt(stage.session, f"write new{at}.txt words") for at in range(20)]
    last = stage.client.begin_prompt(stage.session, "say last")
    stage.client.answer(last)
    for number in numbers:
        stage.client.answer(number, "the end of a prompt that another one has replaced")
    stage.expect_work()


# Clients that flood


def flood_of_notifications(stage):
    """A hundred thousand notifications."""
    line = json.dumps({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": NOBODY}}).encode() + b"\n"
    for _ in range(100):
        stage.client.raw(line * 1000)
    stage.expect_work()


def flood_of_requests(stage):
    """Fifty thousand requests at once."""
    for start in range(0, 50_000, 1000):
        lines = ({"jsonrpc": "2.0", "id": 10_000 + n, "method": "session/nosuch", "params": {}} for n in range(start, start + 1000))
        stage.client.raw(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
    stage.client.answer(59_999, "the answer to the last request")
    stage.expect_work()


def flood_of_answers(stage):
    """Megabytes of text that the client reads slowly."""
    number = stage.client.begin_prompt(stage.session, "flood 10000000")
    stage.client.answer(number, "the end of a long answer", 60)
    text = text_of(updates(stage.client.messages, stage.session))
    stage.expect(len(text) == 10_000_000, f"{len(text)} characters of 10000000 arrived")


def long_prompt(stage):
    """A prompt of 5 MB."""
    number = stage.client.begin_prompt(stage.session, "say " + "x" * 5_000_000)
    stage.client.answer(number, "the answer to a long prompt")
    stage.expect_work()


def many_sessions(stage):
    """A hundred sessions that are opened and never used."""
    count = 100
    # A session costs 0.4 MB.
    stage.most_memory += count * (1 << 19)
    for _ in range(count):
        stage.client.new_session(stage.project)
    stage.expect_work()


# A program that is killed


def killed(stage):
    """The program is killed at random moments, and the next one loads the session."""
    chance = random.Random(str(stage.home.folder))
    said, asked = [], []
    for round_number in range(5):
        for turn in range(chance.randint(1, 4)):
            words = f"words{round_number}x{turn}"
            stage.client.prompt(stage.session, f"say {words}")
            said.append(words)
            asked.append(f"say {words}")
        stage.client.begin_prompt(stage.session, f"hold never{round_number}")
        time.sleep(chance.uniform(0, 0.05))
        stage.process.send_signal(signal.SIGKILL)
        stage.client.wait_for_end()
        load_again(stage, said, asked)
    stage.problems += [f"a request breaks a rule: {rule}" for c in stage.model.requests if (rule := rules.broken_rule(c))]


def load_again(stage, said, asked):
    """Starts the next program, and expects everything in the session that the client has seen."""
    session, stage.count = stage.session, 0
    stage.connect()
    stage.sessions = [session]
    answer = stage.client.request("session/load", {"sessionId": session, "cwd": str(stage.project), "mcpServers": []})
    stage.expect("result" in answer, f"session/load: {answer}")
    # The replay may arrive after the answer; the next prompt comes after it.
    stage.expect_work()
    asked.append("say well")
    found = updates(stage.client.messages, session)
    for kind, expected in (("agent_message_chunk", said), ("user_message_chunk", asked[:-1])):
        text = text_of(found, kind)
        lost = [one for one in expected if one not in text]
        stage.expect(not lost, f"{len(lost)} texts of {kind} are not replayed, such as {lost[:1]}")
    said.append("well")


def run_command(stage, *commands):
    """Lets the session run commands, and waits until the last one runs."""
    *first, last = commands
    stage.client.on_request = lambda method, params: {"outcome": {"outcome": "selected", "optionId": "proceed_once"}}
    marker = stage.project / "running"
    stage.client.begin_prompt(stage.session, "run " + "; ".join([*first, "touch running", last]))
    for _ in range(1000):
        if marker.exists():
            return
        time.sleep(0.01)
    stage.problems.append("the command does not run")


TRIALS = [
    leaves_during_answer, leaves_during_command, leaves_during_permission, closes_output, stops_reading, dies,
    terminated, hung_up, garbage, not_messages, deep, long_line, halves, unknown_methods, wrong_sessions, wrong_ids,
    answers_twice, answers_wrongly, never_answers, prompts_at_once, flood_of_notifications, flood_of_requests,
    flood_of_answers, long_prompt, many_sessions, killed,
]
