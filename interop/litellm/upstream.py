"""Model services behind a gateway or a proxy: with the APIs of OpenAI, Anthropic and Google.

The answers of a prompt come one after the other; the last one is repeated. Every answer reports the
same tokens: `PROMPT` of which `CACHED` came from a cache, and `ANSWER`.
"""

import collections
import itertools
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PROMPT, CACHED, ANSWER = 1234, 1000, 56


class Upstream:
    """Serves the answers of prompts: `{prompt: [answer]}`, where an answer is `(text, calls)` with
    calls `(name, arguments)`, or an HTTP status with the body of the error."""

    def __init__(self, answers):
        self.answers = answers
        self._requests = collections.defaultdict(list)
        self._lock = threading.Lock()
        handler = type("Handler", (_Handler,), {"upstream": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()

    def requests(self, prompt):
        """Returns the bodies of the requests with a prompt, as text."""
        return self._requests[prompt]

    def answer(self, body):
        """Records a request. Returns its answer and a number that no other answer has."""
        prompt = next((prompt for prompt in self.answers if prompt in body), None)
        if prompt is None:
            return (400, {"error": {"message": "No such prompt."}}), 0
        with self._lock:
            self._requests[prompt].append(body)
            number = len(self._requests[prompt]) - 1
        answers = self.answers[prompt]
        return answers[min(number, len(answers) - 1)], number


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    upstream = None

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"])).decode()
        answer, number = self.upstream.answer(body)
        if isinstance(answer[0], int):
            return self._send(answer[0], "application/json", json.dumps(answer[1]).encode())
        apis = {"/v1/chat/completions": chat, "/v1/responses": responses, "/v1/messages": messages}
        events = apis.get(self.path, gemini)(*answer, f"{abs(hash(body)):x}_{number}")
        return self._send(200, "text/event-stream", b"".join(events))

    def _send(self, status, kind, data):
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _event(value):
    name = f"event: {value['type']}\n" if "type" in value else ""
    return f"{name}data: {json.dumps(value)}\n\n".encode()


def halves(value):
    """Returns the two pieces in which a text is streamed."""
    middle = len(value) // 2
    return [value[:middle], value[middle:]]


def chat(text, calls, unique):
    """Yields an answer in the format of Chat Completions."""

    def chunk(delta, finish=None, **more):
        choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
        head = {"id": f"chat_{unique}", "object": "chat.completion.chunk", "created": 1, "model": "gpt-5"}
        return _event(head | {"choices": choices} | more)

    for piece in halves(text) if text else []:
        yield chunk({"role": "assistant", "content": piece})
    for index, (name, arguments) in enumerate(calls):
        first, rest = halves(json.dumps(arguments))
        function = {"name": name, "arguments": first}
        call = {"index": index, "id": f"call_{unique}_{index}", "type": "function", "function": function}
        yield chunk({"tool_calls": [call]})
        yield chunk({"tool_calls": [{"index": index, "function": {"arguments": rest}}]})
    yield chunk({}, "tool_calls" if calls else "stop")
    usage = {"prompt_tokens": PROMPT, "completion_tokens": ANSWER, "total_tokens": PROMPT + ANSWER}
    yield chunk(None, usage=usage | {"prompt_tokens_details": {"cached_tokens": CACHED}})
    yield b"data: [DONE]\n\n"


def responses(text, calls, unique):
    """Yields an answer in the format of Responses."""
    number = itertools.count()
    response = {
        "id": f"resp_{unique}", "object": "response", "created_at": 1, "model": "gpt-5", "output": [],
        "parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "error": None,
        "incomplete_details": None, "instructions": None, "metadata": {}, "status": "in_progress",
    }

    def event(kind, **fields):
        return _event({"type": f"response.{kind}", "sequence_number": next(number)} | fields)

    yield event("created", response=response)
    items = []
    if text:
        content = [{"type": "output_text", "text": text, "annotations": []}]
        items.append({"type": "message", "id": f"msg_{unique}", "role": "assistant", "content": content})
    for index, (name, arguments) in enumerate(calls):
        call = {"name": name, "arguments": json.dumps(arguments), "call_id": f"call_{unique}_{index}"}
        items.append({"type": "function_call", "id": f"fc_{unique}_{index}"} | call)
    for index, item in enumerate(items):
        place = {"output_index": index, "item_id": item["id"]}
        is_text = item["type"] == "message"
        empty = {"content": []} if is_text else {"arguments": ""}
        yield event("output_item.added", output_index=index, item=item | empty | {"status": "in_progress"})
        kind = "output_text" if is_text else "function_call_arguments"
        place |= {"content_index": 0} if is_text else {}
        for piece in halves(text if is_text else item["arguments"]):
            yield event(f"{kind}.delta", delta=piece, **place)
        whole = {"text": text} if is_text else {"arguments": item["arguments"]}
        yield event(f"{kind}.done", **whole, **place)
        yield event("output_item.done", output_index=index, item=item | {"status": "completed"})
    usage = {
        "input_tokens": PROMPT, "input_tokens_details": {"cached_tokens": CACHED},
        "output_tokens": ANSWER, "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": PROMPT + ANSWER,
    }
    yield event("completed", response=response | {"status": "completed", "output": items, "usage": usage})


def gemini(text, calls, unique):
    """Yields an answer in the format of the Gemini API."""
    parts = [{"text": piece} for piece in halves(text)] if text else []
    parts += [{"functionCall": {"name": name, "args": arguments}} for name, arguments in calls]
    usage = {
        "promptTokenCount": PROMPT, "cachedContentTokenCount": CACHED, "candidatesTokenCount": ANSWER,
        "totalTokenCount": PROMPT + ANSWER,
    }
    for index, part in enumerate(parts):
        candidate = {"index": 0, "content": {"role": "model", "parts": [part]}}
        if index == len(parts) - 1:
            candidate["finishReason"] = "STOP"
        yield _event({"candidates": [candidate], "usageMetadata": usage, "responseId": unique})


def messages(text, calls, unique):
    """Yields an answer in the format of Messages."""
    usage = {
        "input_tokens": PROMPT - CACHED, "cache_read_input_tokens": CACHED,
        "cache_creation_input_tokens": 0, "output_tokens": 1,
    }
    message = {
        "id": f"msg_{unique}", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
        "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage,
    }
    yield _event({"type": "message_start", "message": message})
    blocks = [({"type": "text", "text": ""}, "text", text)] if text else []
    for index, (name, arguments) in enumerate(calls):
        call = {"type": "tool_use", "id": f"toolu_{unique}_{index}", "name": name, "input": {}}
        blocks.append((call, "partial_json", json.dumps(arguments)))
    for index, (block, field, value) in enumerate(blocks):
        kind = "text_delta" if field == "text" else "input_json_delta"
        yield _event({"type": "content_block_start", "index": index, "content_block": block})
        for piece in halves(value):
            delta = {"type": kind, field: piece}
            yield _event({"type": "content_block_delta", "index": index, "delta": delta})
        yield _event({"type": "content_block_stop", "index": index})
    delta = {"stop_reason": "tool_use" if calls else "end_turn", "stop_sequence": None}
    yield _event({"type": "message_delta", "delta": delta, "usage": {"output_tokens": ANSWER}})
    yield _event({"type": "message_stop"})
