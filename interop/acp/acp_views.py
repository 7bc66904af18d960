"""What a client saw of a run, as text that can be compared: a view for each session and connection."""

import json

import compare
import normal

# Requests with a long answer, which is the same for most cases, and its view.
OPENING = {"initialize": "initialize", "session/new": "opened", "session/load": "opened",
           "session/resume": "opened"}
CONTEXT = "<session_context>"
# Start of the names of notifications that a side may ignore. The Python SDK reports that it does not
# know them.
OPTIONAL = "$/"

# Blocks of these updates arrive in any number: neighbours are one text.
TEXTS = {"agent_message_chunk", "agent_thought_chunk", "user_message_chunk"}


def views(recording):
    """Returns the views by name:

    - `connection`: messages that belong to no session, and the end of the program
    - `session N`: messages of a session, in order. `>` is sent by the client, `<` by the agent.
      A tool call is shown as a whole, with everything that is known of it: when it runs, when the
      user is asked, and when it ends.
    - `loaded`: the same from the first `session/load` on
    - `editor`: reads and writes of the editor's files, with their answers
    - `initialize`, `opened`: the answers to `initialize`, and to requests that open sessions
    - `commands`: the lists of commands
    - `request N`: the part of the Nth request to the model that was not in the request before
    - `file NAME`, `home NAME`: files, `buffer NAME`: text in the editor
    """
    found = {"connection": []} | _sessions(recording)
    ends = [event["end"] for event in recording.events if "end" in event]
    for event in recording.events:
        for kind in ("rejected", "client"):
            if kind in event and OPTIONAL not in event[kind]:
                found["connection"].append(f"{kind}: {event[kind]}")
    for end in ends:
        found["connection"] += [f"not protocol: {line}" for line in end["stray"]]
        found["connection"] += [f"problem: {end['problem']}"] if end.get("problem") else []
        found["connection"].append(f"exit: {end['exit']}")
    shown = {name: normal.text("".join(f"{line}\n" for line in lines), recording) for name, lines in found.items()}
    shown |= {f"request {number}": normal.text(_pretty(contents), recording)
              for number, contents in enumerate(_requests(recording), 1)}
    shown |= {f"buffer {normal.text(path, recording)}": text
              for end in ends for path, text in end["buffers"].items()}
    files = compare.files(recording, True)
    return shown | {name: text for name, text in files.items() if _is_compared(name)}


def _is_compared(name):
    """Returns whether a file is compared: the state of the home is the subject of `parity`."""
    return name.startswith("file ") or name == "home .gemini/settings.json"


def _sessions(recording):
    """Returns the lines of the connection and of each session. Sessions have numbers."""
    found, numbers = {"connection": []}, {}
    asked, calls, loaded = {}, Calls(), set()

    def lines(session):
        if session is None:
            return found["connection"]
        name = numbers.setdefault(session, f"session {len(numbers) + 1}")
        return found.setdefault("loaded" if session in loaded else name, [])

    for event in recording.events:
        for way, message in event.items():
            if way not in ("in", "out") or message.get("method", "").startswith(OPTIONAL):
                continue
            if commands := _commands(message):
                found.setdefault("commands", [])
                if commands not in found["commands"]:
                    found["commands"].append(commands)
            elif "method" in message:
                params = message.get("params")
                session = params.get("sessionId") if isinstance(params, dict) else None
                if "id" in message:
                    asked[way, message["id"]] = (message["method"], session, params)
                if message["method"].startswith("fs/"):
                    continue
                if message["method"] == "session/load":
                    loaded.add(session)
                if (shown := calls.shown(message["method"], params)) is not None:
                    _add(lines(session), way, message["method"], shown)
            else:
                other = "out" if way == "in" else "in"
                method, session, params = asked.get((other, message.get("id")), ("nothing", None, None))
                result = message.get("result", message.get("error"))
                if method.startswith("fs/"):
                    _add(found.setdefault("editor", []), way, method, {"of": params, "answer": result})
                elif method in OPENING and isinstance(result, dict) and "code" not in result:
                    lines(result.get("sessionId", session))
                    _add(found.setdefault(OPENING[method], []), way, method, result)
                else:
                    _add(lines(session), way, f"answer to {method}", result)
    return found


class Calls:
    """Tool calls by session and id. An update has only some fields of a call, and agents differ in
    which."""

    def __init__(self):
        self.calls, self.seen = {}, set()

    def shown(self, method, params):
        """Returns the parameters with the whole call; None if it is not to be shown."""
        if method == "session/request_permission":
            key, call = self._merged(params, params["toolCall"])
            self.seen.add(key)
            return {**params, "toolCall": call}
        update = params.get("update", {}) if method == "session/update" else {}
        if update.get("sessionUpdate") not in ("tool_call", "tool_call_update"):
            return params
        key, call = self._merged(params, update)
        call["sessionUpdate"] = "call"
        status = call.get("status", "pending")
        if status == "pending" or (status == "in_progress" and key in self.seen):
            return None
        self.seen.add(key)
        return {**params, "update": call}

    def _merged(self, params, fields):
        key = params.get("sessionId"), fields.get("toolCallId")
        known = self.calls.get(key, {})
        # A call may be made again under the same id.
        if fields.get("sessionUpdate") == "tool_call":
            known = {}
            self.seen.discard(key)
        self.calls[key] = known | {name: value for name, value in fields.items() if value is not None}
        # A list without elements is the same as none.
        return key, {name: value for name, value in self.calls[key].items() if value != []}


def _commands(message):
    """Returns a list of commands as text; None if the message has none."""
    params = message.get("params")
    update = params.get("update") if isinstance(params, dict) else None
    if not isinstance(update, dict) or update.get("sessionUpdate") != "available_commands_update":
        return None
    return "\n".join(f"{one['name']}: {one['description']}" for one in update["availableCommands"])


def _add(lines, way, what, value):
    """Adds a message as text. A text that continues the last one is appended to it."""
    sign = ">" if way == "out" else "<"
    value = dict(value) if isinstance(value, dict) else value
    if isinstance(value, dict):
        value.pop("sessionId", None)
        if isinstance(value.get("of"), dict):
            value["of"] = {name: one for name, one in value["of"].items() if name != "sessionId"}
        if isinstance(value.get("toolCall"), dict):
            value["toolCall"] = {k: v for k, v in value["toolCall"].items() if k != "sessionUpdate"}
    if what == "session/update":
        update = dict(value["update"])
        what = update.pop("sessionUpdate")
        content = update.get("content")
        if what in TEXTS and isinstance(content, dict) and content.keys() == {"type", "text"}:
            head = f"{sign} {what}: "
            if lines and lines[-1].startswith(head):
                lines[-1] += content["text"]
            else:
                lines.append(head + content["text"])
            return
        value = update
    # What the client asks is the same for both agents.
    is_request = way == "out" and not what.startswith(("answer", "fs/"))
    lines.append(f"{sign} {what}" if is_request else f"{sign} {what} {_pretty(value)}")


def _pretty(value):
    return json.dumps(value, indent=1, ensure_ascii=False, sort_keys=True)


def _requests(recording):
    """Returns the new contents of each request to the model."""
    bodies = [one["body"] for one in recording.requests if "streamGenerateContent" in one["path"]]
    for body in bodies:
        contents = body["contents"]
        start = max((n for n, one in enumerate(contents) if one["role"] == "model"), default=-1)
        yield [_shown(part) for one in contents[start + 1:] for part in one["parts"]]


def _shown(part):
    """Returns a part. The context of the session is the subject of `parity`."""
    return "the session's context" if part.get("text", "").startswith(CONTEXT) else part


def differences(original, pollux):
    """Returns the differences between two runs of a case."""
    left, right = views(original), views(pollux)
    return compare.between(left, right, "")
