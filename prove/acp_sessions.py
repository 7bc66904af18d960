"""Sessions that work at the same time in one program, each with its own script of random turns.

A turn is a prompt whose instruction the model follows (see `acp_model`), and a user who allows,
rejects or cancels at a random moment. After each turn:

- the prompt has one answer, with the right reason, and a cancellation takes less than `CANCELLING`;
- the text and the calls that arrived are those of this turn and this session, and nothing arrives
  after the answer;
- the file is there if and only if the user allowed it.

At the end, each request obeys the rules of the service, and has every finished prompt of its session.
"""

import random
import threading
import time

import rules
from acp_client import Missing, text_of, updates

# Longest time in seconds from a cancellation to the answer, on a busy machine.
CANCELLING = 2.0
# Number of problems that end a session.
MOST_PROBLEMS = 3
# Updates that may arrive at any time.
AT_ANY_TIME = {
    "available_commands_update",
    "config_option_update",
    "current_mode_update",
    "session_info_update",
    "usage_update",
}
ENDED = ("completed", "failed")
ALLOW = {"outcome": {"outcome": "selected", "optionId": "proceed_once"}}
REJECT = {"outcome": {"outcome": "selected", "optionId": "cancel"}}
CANCELLED = {"outcome": {"outcome": "cancelled"}}


class Decisions:
    """The user of all sessions: what a session's next permission request is answered with."""

    def __init__(self):
        self.by_session = {}

    def __call__(self, method, params):
        if method != "session/request_permission":
            return {"code": -32601, "message": f"no {method}"}
        # A session without a decision leaves the request unanswered.
        return self.by_session.get(params["sessionId"])


class Metronome(threading.Thread):
    """A thread that wants to run all the time. While it cannot run, nothing else of this process can,
    so a message that arrives then is noticed late."""

    TICK = 0.002

    def __init__(self):
        super().__init__(daemon=True)
        # Beginning and end of each time in which it did not run.
        self.stalls = []
        self.is_over = False

    def run(self):
        before = time.perf_counter()
        while not self.is_over:
            time.sleep(self.TICK)
            now = time.perf_counter()
            if now - before > 2 * self.TICK:
                self.stalls.append((before, now))
            before = now

    def stalled(self, begin, end):
        """Returns the longest time without interruption, between two moments, in which it did not run."""
        return max((min(last, end) - max(first, begin) for first, last in self.stalls if first < end and last > begin), default=0.0)


class WorkingSession:
    """One session and what it has seen."""

    def __init__(self, number, client, decisions, folder, seed):
        self.client, self.decisions, self.folder = client, decisions, folder
        self.name = f"s{number}"
        self.random = random.Random(f"{seed} {number}")
        self.id = client.new_session(folder)
        self.problems, self.cancels, self.turn = [], 0, 0
        # Longest times of a cancellation: as measured, and without the time in which this process stood still.
        self.slowest, self.slowest_of_program = 0.0, 0.0
        self.metronome = Metronome()
        # Prompts that have ended without a cancellation, in their order.
        self.finished = []
        self.read = len(client.messages)

    def work(self, turns):
        """Makes the turns. A missing answer or several problems end the session."""
        try:
            for self.turn in range(turns):
                kind = self.random.choice(KINDS)
                kind(self)
                if len(self.problems) >= MOST_PROBLEMS:
                    break
        except Missing as missing:
            self.problem(str(missing))

    def problem(self, text):
        self.problems.append(f"{self.name}, turn {self.turn}: {text}")

    def words(self):
        """Returns a text that no other turn has."""
        return f"{self.name}t{self.turn}e"

    # Kinds of turns

    def say(self):
        answer = self.finish(self.begin(f"say {self.words()}"), "end_turn")
        self.expect_text(answer, self.words())

    def read_file(self):
        self.finish(self.begin("read note.txt"), "end_turn")

    def allowed(self):
        self.write(ALLOW, exists=True)

    def rejected(self):
        self.write(REJECT, exists=False)

    def dismissed(self):
        self.write(CANCELLED, exists=False)

    def unanswered(self):
        """The user cancels instead of an answer."""
        name = f"{self.words()}.txt"
        number = self.begin(f"write {name} {self.words()}", None)
        self.client.until_request(self.id, "session/request_permission", self.read)
        self.cancel(number)
        self.expect_file(name, exists=False)

    def held(self):
        number = self.begin(f"hold {self.words()}")
        self.client.until_update(self.id, "agent_message_chunk", self.read)
        self.cancel(number)

    def silent(self):
        number = self.begin(f"silent {self.words()}")
        time.sleep(self.random.uniform(0, 0.1))
        self.cancel(number)

    def command(self):
        # A command that changes nothing runs without a question.
        number = self.begin(f"run touch {self.words()}.ran; sleep 60", ALLOW)
        self.client.until_request(self.id, "session/request_permission", self.read)
        time.sleep(self.random.uniform(0, 0.2))
        self.cancel(number)

    def raced(self):
        """The cancellation comes at any time, also after the end."""
        number = self.begin(f"say {self.words()}")
        time.sleep(self.random.uniform(0, 0.03))
        self.cancel(number, "end_turn")

    # Parts of a turn

    def write(self, decision, exists):
        name = f"{self.words()}.txt"
        self.finish(self.begin(f"write {name} {self.words()}", decision), *ENDS_OF_REJECTION)
        self.expect_file(name, exists)

    def begin(self, text, decision=ALLOW):
        late = [u for u in updates(self.client.messages[self.read:], self.id) if u["sessionUpdate"] not in AT_ANY_TIME]
        if late:
            self.problem(f"{len(late)} updates after the answer: {str(late[0])[:100]}")
        self.read = len(self.client.messages)
        self.decisions.by_session[self.id] = decision
        self.prompt = text
        return self.client.begin_prompt(self.id, text)

    def cancel(self, number, *others):
        begin = time.perf_counter()
        self.client.notify("session/cancel", {"sessionId": self.id})
        self.cancels += 1
        self.finish(number, "cancelled", *others)
        took = self.answered - begin
        self.slowest = max(self.slowest, took)
        stalled = self.metronome.stalled(begin, self.answered)
        self.slowest_of_program = max(self.slowest_of_program, took - stalled)
        if took > CANCELLING:
            self.problem(f"the cancellation took {took:.1f} s")

    def finish(self, number, *reasons):
        """Waits for the answer of the prompt. Returns the updates before it."""
        self.answered, answer = self.client.answer(number, f"the answer to {self.prompt!r}")
        reason = answer.get("result", {}).get("stopReason")
        if reason not in reasons:
            self.problem(f"{self.prompt!r} ended with {answer.get('error', reason)}")
        if reason == "end_turn":
            self.finished.append(self.prompt)
        before = self.up_to(number)
        found = updates(before, self.id)
        states = {}
        for update in found:
            if update["sessionUpdate"] in ("tool_call", "tool_call_update"):
                states[update["toolCallId"]] = update.get("status", states.get(update["toolCallId"]))
        for call, state in states.items():
            if state not in ENDED:
                self.problem(f"the call {call} is still {state} at the end of the prompt")
        # A text names the session that it belongs to.
        text = text_of(found)
        if foreign := [w for w in text.split() if w.startswith("s") and "t" in w and not w.startswith(self.name + "t")]:
            self.problem(f"text of another session: {foreign[0]}")
        return found

    def up_to(self, number):
        """Returns the messages of this turn up to the answer, and reads on after it."""
        messages = self.client.messages
        for at in range(self.read, len(messages)):
            message = messages[at][1]
            if message.get("id") == number and "method" not in message:
                found, self.read = messages[self.read:at], at + 1
                return found
        return []

    def expect_text(self, found, text):
        if text_of(found) != text:
            self.problem(f"{text_of(found)!r} instead of {text!r}")

    def expect_file(self, name, exists):
        path = self.folder / name
        content = path.read_text() if path.exists() else None
        expected = self.words() + "\n" if exists else None
        if content != expected:
            self.problem(f"{name} has {content!r} instead of {expected!r}")


# A rejected call ends the turn or goes back to the model, as the program decides.
ENDS_OF_REJECTION = ("end_turn", "cancelled")
KINDS = [
    WorkingSession.say,
    WorkingSession.say,
    WorkingSession.read_file,
    WorkingSession.allowed,
    WorkingSession.rejected,
    WorkingSession.dismissed,
    WorkingSession.unanswered,
    WorkingSession.held,
    WorkingSession.silent,
    WorkingSession.command,
    WorkingSession.raced,
]


def work(sessions, turns):
    """Lets all sessions work at the same time."""
    metronome = Metronome()
    metronome.start()
    for session in sessions:
        session.metronome = metronome
    threads = [threading.Thread(target=session.work, args=(turns,)) for session in sessions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    metronome.is_over = True


def wrong_requests(requests, sessions):
    """Describes what is wrong with the requests to the model: a broken rule, or a lost prompt."""
    problems = [f"a request breaks a rule: {rule}" for contents in requests if (rule := rules.broken_rule(contents))]
    for session in sessions:
        mine = [c for c in requests if any(f"{session.name}t" in text for text in prompts(c))]
        last = prompts(mine[-1]) if mine else []
        lost = [prompt for prompt in session.finished if prompt.split()[0] == "say" and prompt not in last]
        # The last request may precede the last prompts that were cancelled early, but not others.
        if lost:
            problems.append(f"{session.name}: {len(lost)} prompts are lost, the first is {lost[0]!r}")
        if others := [text for text in last if "t" in text and foreign(text, session)]:
            problems.append(f"{session.name} has a prompt of another session: {others[0]!r}")
    return problems


def foreign(text, session):
    """Returns whether a prompt names another session."""
    word = text.split()[1] if " " in text else ""
    return word.startswith("s") and word[1:2].isdigit() and not word.startswith(session.name + "t")


def prompts(contents):
    """Returns the texts of the user in a request."""
    return [part["text"] for c in contents if c["role"] == "user" for part in c["parts"] if "text" in part]
