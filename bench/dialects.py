"""Turns of a script, in the API dialect and with the tools of each program.

A turn is a `Text` (an answer, in pieces), `Calls` (tool calls of the model) or, for Gemini only,
`Parts`:

- Gemini: `POST …:streamGenerateContent`
- OpenAI Responses: `POST …/responses`
- OpenAI Chat Completions: `POST …/chat/completions`
- Anthropic Messages: `POST …/messages`, for answers only

`prompt_tokens` is the token count that the model reports for the request; only Gemini's dialect has
it.
"""

import json
from dataclasses import dataclass


@dataclass(frozen=True)
class Text:
    """An answer, in the pieces in which it is streamed, with a pause of `pace` seconds before each
    event."""

    pieces: tuple[str, ...]
    prompt_tokens: int = 10
    pace: float = 0.0


@dataclass(frozen=True)
class Calls:
    """Calls of one turn: `(action, argument)`, where action is read, shell or grep, or `("tool",
    (name, arguments))` for an exact call. In the dialect of Responses, `space/name` is a tool of a
    namespace."""

    calls: tuple[tuple, ...]
    prompt_tokens: int = 10


@dataclass(frozen=True)
class Parts:
    """A turn of exact parts. Only Gemini's dialect has it."""

    parts: tuple[dict, ...]
    prompt_tokens: int = 10


def declared_tools(body):
    """Returns the names of the tools that a request declares, in any dialect."""
    try:
        tools = json.loads(body).get("tools") or []
    except ValueError:
        return set()
    names = set()
    for tool in tools:
        for declared in tool.get("functionDeclarations") or [tool.get("function") or tool]:
            names.add(declared.get("name") or declared.get("type") or "")
    return names


def _data(value, name=None):
    prefix = f"event: {name}\n".encode() if name else b""
    return prefix + b"data: " + json.dumps(value).encode() + b"\n\n"


# Gemini


GEMINI_TOOLS = {
    "read": ("read_file", lambda path: {"file_path": path}),
    "shell": ("run_shell_command", lambda command: {"command": command}),
    "grep": ("grep_search", lambda pattern: {"pattern": pattern}),
}


def gemini_events(turn, _number, _tools):
    """Yields the events of a turn in Gemini's dialect."""

    def event(parts, finish=None):
        candidate = {"content": {"role": "model", "parts": parts}, "index": 0}
        if finish:
            candidate["finishReason"] = finish
        usage = {
            "promptTokenCount": turn.prompt_tokens,
            "candidatesTokenCount": 5,
            "totalTokenCount": turn.prompt_tokens + 5,
        }
        return _data({"candidates": [candidate], "usageMetadata": usage})

    if isinstance(turn, Text):
        for piece in turn.pieces[:-1]:
            yield event([{"text": piece}])
        yield event([{"text": turn.pieces[-1]}], "STOP")
        return
    if isinstance(turn, Parts):
        yield event(list(turn.parts), "STOP")
        return
    parts = []
    for action, argument in turn.calls:
        if action == "tool":
            name, arguments = argument
        else:
            name, make = GEMINI_TOOLS[action]
            arguments = make(argument)
        parts.append({"functionCall": {"name": name, "args": arguments}})
    yield event(parts, "STOP")


# OpenAI Responses (Codex): files are read and searched by shell commands


def _shell_call(action, argument, tools):
    command = {"read": f"cat {argument}", "grep": f"rg -n {argument}"}.get(action, argument)
    if "exec_command" in tools:
        return "exec_command", {"cmd": command}
    if "shell_command" in tools:
        return "shell_command", {"command": command}
    return "shell", {"command": ["bash", "-c", command]}


def responses_events(turn, number, tools):
    """Yields the events of a turn in the dialect of OpenAI Responses."""
    response = {"id": f"resp_{number}"}
    yield _data({"type": "response.created", "response": response}, "response.created")
    items = []
    if isinstance(turn, Text):
        message = {"type": "message", "role": "assistant", "id": f"msg_{number}", "content": []}
        yield _item("added", message, 0)
        for piece in turn.pieces:
            kind = "response.output_text.delta"
            yield _data(
                {
                    "type": kind,
                    "item_id": message["id"],
                    "output_index": 0,
                    "content_index": 0,
                    "delta": piece,
                },
                kind,
            )
        text = {"type": "output_text", "text": "".join(turn.pieces), "annotations": []}
        items.append(message | {"content": [text]})
    else:
        for index, (action, argument) in enumerate(turn.calls):
            if action == "tool":
                name, arguments = argument
            else:
                name, arguments = _shell_call(action, argument, tools)
            space, _, name = name.rpartition("/")
            items.append(
                {
                    **({"namespace": space} if space else {}),
                    "type": "function_call",
                    "id": f"fc_{number}_{index}",
                    "call_id": f"call_{number}_{index}",
                    "name": name,
                    "arguments": json.dumps(arguments),
                }
            )
    for index, item in enumerate(items):
        yield _item("done", item, index)
    usage = {
        "input_tokens": 10,
        "input_tokens_details": None,
        "output_tokens": 5,
        "output_tokens_details": None,
        "total_tokens": 15,
    }
    done = {"type": "response.completed", "response": response | {"usage": usage}}
    yield _data(done, "response.completed")


def _item(change, item, index):
    kind = f"response.output_item.{change}"
    return _data({"type": kind, "output_index": index, "item": item}, kind)


# OpenAI Chat Completions (opencode)


CHAT_TOOLS = {
    "read": ("read", lambda path: {"filePath": path}),
    "shell": ("bash", lambda command: {"command": command, "description": "A step of the script"}),
    "grep": ("grep", lambda pattern: {"pattern": pattern}),
}


def chat_events(turn, number, _tools):
    """Yields the events of a turn in the dialect of OpenAI Chat Completions."""

    def event(delta, finish=None):
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return _data(
            {
                "id": f"chat_{number}",
                "object": "chat.completion.chunk",
                "created": 0,
                "model": "bench",
                "choices": [choice],
            }
        )

    if isinstance(turn, Text):
        for piece in turn.pieces:
            yield event({"role": "assistant", "content": piece})
        yield event({}, "stop")
    else:
        calls = []
        for index, (action, argument) in enumerate(turn.calls):
            name, make = CHAT_TOOLS[action]
            function = {"name": name, "arguments": json.dumps(make(argument))}
            calls.append(
                {
                    "index": index,
                    "id": f"call_{number}_{index}",
                    "type": "function",
                    "function": function,
                }
            )
        yield event({"role": "assistant", "tool_calls": calls})
        yield event({}, "tool_calls")
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    yield _data(
        {
            "id": f"chat_{number}",
            "object": "chat.completion.chunk",
            "created": 0,
            "model": "bench",
            "choices": [],
            "usage": usage,
        }
    )
    yield b"data: [DONE]\n\n"


# Anthropic Messages


def messages_events(turn, number, _tools):
    """Yields the events of an answer in the dialect of Anthropic's Messages."""

    def event(kind, **fields):
        return _data({"type": kind} | fields, kind)

    usage = {"input_tokens": turn.prompt_tokens, "output_tokens": 1}
    message = {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": "bench",
        "content": [],
        "usage": usage,
    }
    yield event("message_start", message=message)
    yield event("content_block_start", index=0, content_block={"type": "text", "text": ""})
    for piece in turn.pieces:
        delta = {"type": "text_delta", "text": piece}
        yield event("content_block_delta", index=0, delta=delta)
    yield event("content_block_stop", index=0)
    yield event("message_delta", delta={"stop_reason": "end_turn"}, usage={"output_tokens": 5})
    yield event("message_stop")
