"""A model that does what the prompt says, so that any number of sessions can ask it at once.

The last prompt of a request has an instruction as its first word, and arguments:

    say WORDS          answers with the words
    hold WORDS         begins to answer, and goes no further until the program closes the connection
    silent             answers nothing until the program closes the connection
    write NAME WORDS   calls `write_file`, and then says `done`
    read NAME          calls `read_file`, and then says `done`
    run COMMAND        calls `run_shell_command`, and then says `done`
    call TOOL          calls a tool without arguments, and then says `done`
    flood BYTES        answers with so many bytes of text, in pieces of about 100
    pace COUNT MS      answers with so many pieces of text, one in so many milliseconds
"""

import json
import select
import time

from dialects import Calls, Text, gemini_events
from scripted_server import LAST_CHUNK, ScriptedServer, send, stream

# Longest time in seconds for which a connection is held.
HELD = 120
PIECE = 100


class AcpModel(ScriptedServer):
    """Serves all sessions of one program. `requests` has the contents of each request; `words` the
    instructions and `sent` the times of the answers, by the number of the request."""

    def __init__(self):
        super().__init__([])
        self.requests, self.words, self.sent = [], {}, {}

    def _reply(self, connection, dialect, exchange, body):
        contents = json.loads(body)["contents"]
        with self._turn:
            self.requests.append(contents)
            number = len(self.requests)
        word, _, rest = prompt_of(contents).partition(" ")
        if is_result(contents[-1]):
            word, rest = "say", "done"
        self.words[number], self.sent[number] = word, time.perf_counter()
        if word == "silent":
            self._hold(connection)
        elif word == "hold":
            events = list(gemini_events(Text((rest, "more")), number, None))
            connection.sendall(stream(events[:1]).removesuffix(LAST_CHUNK))
            self._hold(connection)
        elif word == "pace":
            self._pace(connection, *map(int, rest.split()))
        else:
            turn = turn_of(word, rest, number)
            connection.sendall(stream(list(gemini_events(turn, number, None))))

    def _pace(self, connection, count, milliseconds):
        pieces = Text(tuple(f"piece {number} " for number in range(count)))
        send(connection, list(gemini_events(pieces, 0, None)), milliseconds / 1000)

    def _hold(self, connection):
        select.select([connection], [], [], HELD)
        raise OSError("the program has closed the connection")


def turn_of(word, rest, number):
    """Returns the turn for an instruction."""
    if word == "write":
        name, _, words = rest.partition(" ")
        return call("write_file", {"file_path": name, "content": words + "\n"})
    if word == "read":
        return call("read_file", {"file_path": rest})
    if word == "run":
        return call("run_shell_command", {"command": rest})
    if word == "call":
        return call(rest, {})
    if word == "flood":
        pieces = (f"line {n} of the text {number}: " for n in range(int(rest) // PIECE))
        return Text(tuple(piece + "x" * (PIECE - len(piece) - 1) + "\n" for piece in pieces))
    return Text((rest,))


def call(tool, arguments):
    return Calls((("tool", (tool, arguments)),))


def is_result(content):
    return any("functionResponse" in part for part in content["parts"])


def prompt_of(contents):
    """Returns the text of the last prompt. A prompt after a cancelled one may share its content."""
    texts = [
        part["text"]
        for content in contents
        if content["role"] == "user"
        for part in content["parts"]
        if "text" in part and not part["text"].startswith("<")
    ]
    return texts[-1] if texts else "say nothing"
