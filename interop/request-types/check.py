"""Parses captured requests into the vendors' published types.

    check.py FOLDER

FOLDER has one JSON file for each request, with its path and its body. Exits with 1 if a body is
refused, or if there is no request in one of the dialects.
"""

import collections
import importlib
import json
import pathlib
import pkgutil
import sys
import typing

import anthropic.types
import openai.types.chat
import openai.types.embedding_create_params
import openai.types.responses
import openai.types.shared_params
from anthropic.types import ContentBlock, message_create_params
from google.ai import generativelanguage_v1beta as google
from google.genai import types as genai
from google.protobuf import json_format
from openai.types.chat import completion_create_params
from openai.types.responses import response_create_params
from pydantic import ConfigDict, TypeAdapter
from typing_extensions import is_typeddict

# Fields of Gemini's API that are newer than its protobuf messages: the path of the object with the
# field, the field's name, and the type of google-genai that supports it.
NEWER = [
    (("generationConfig", "thinkingConfig"), "thinkingLevel", genai.ThinkingConfig),
]

# Dialects, by the names in the report; "OpenAI" is Chat Completions with its neighbours.
DIALECTS = ("Gemini", "OpenAI", "Responses", "Anthropic")

# Path with which the scripted server redirects a client endlessly; it is not an address of an API.
REDIRECTS = "/redirect-loop/"
# Address of a unit test of the exchange with any server.
ANY = "/x"
# Address of Ollama about the definition of a model.
SHOW = "/api/show"
# Addresses of MCP servers in the tests, and of the services that sign in to them.
MCP = ("/mcp", "/broken", "/web", "/register", "/token")
# Beginnings of addresses of GitHub, from which extensions are installed.
GITHUB = ("/repos/", "/archive/")

# Addresses of Code Assist, which has no published types: a request for an answer has Gemini's inside.
CODE_ASSIST = "/v1internal:"
# Requests about an account or a token, which no SDK has types for.
UNTYPED = ("loadCodeAssist", "onboardUser", "generateAccessToken", "generateIdToken")

# Methods of Vertex AI for Anthropic's models: the path has the model, the body the version.
VERTEX_ANTHROPIC = ("streamRawPredict", "rawPredict")

GEMINI = {
    "generateContent": google.GenerateContentRequest,
    "streamGenerateContent": google.GenerateContentRequest,
    "countTokens": google.CountTokensRequest,
    "batchEmbedContents": google.BatchEmbedContentsRequest,
}


# Fields that OpenAI's types lack: servers that send reasoning in an answer expect it back, and only
# they get it.
REASONING = ("reasoning_content", "reasoning", "reasoning_details")


def main() -> int:
    checked = collections.Counter()
    refused = {}
    openai_dialect = OpenAI()
    anthropic_dialect = Anthropic()
    prove_strict(openai_dialect, anthropic_dialect)
    for file in sorted(pathlib.Path(sys.argv[1]).iterdir()):
        request = json.loads(file.read_text())
        path, body = request["path"], request["body"]
        if path.startswith((REDIRECTS, *GITHUB)) or path in (ANY, SHOW) or path in MCP:
            continue
        action = path.rpartition(":")[2]
        if action in UNTYPED:
            continue
        if path.startswith(CODE_ASSIST):
            body = body["request"]
            body.pop("session_id", None)
        try:
            if action in GEMINI:
                check_gemini(GEMINI[action], body)
                checked["Gemini"] += 1
            elif path.endswith("/messages") or action in VERTEX_ANTHROPIC:
                if action in VERTEX_ANTHROPIC:
                    body = {"model": path} | body
                    body.pop("anthropic_version")
                anthropic_dialect.check(body)
                checked["Anthropic"] += 1
            else:
                openai_dialect.check(path, body)
                checked["Responses" if path.endswith("/responses") else "OpenAI"] += 1
        except Exception as error:  # Each library has its own exceptions.
            refused.setdefault(f"{action}: {error}", file.name)
    for error in refused:
        print(f"refused: {error}")
    counts = ", ".join(f"{checked[dialect]} {dialect}" for dialect in DIALECTS)
    print(f"request-types: {counts}, {len(refused)} kinds of refusal")
    if not all(checked[dialect] for dialect in DIALECTS):
        print("request-types: a dialect does not occur at all", file=sys.stderr)
        return 1
    return 1 if refused else 0


def check_gemini(message, body: dict) -> None:
    """Parses into the protobuf message, and newer fields into google-genai's model."""
    for path, name, newer in NEWER:
        holder = body
        for key in path:
            holder = holder.get(key, {})
        if name in holder:
            newer.model_validate({name: holder.pop(name)})
    json_format.ParseDict(body, message.pb()(), ignore_unknown_fields=False)


class OpenAI:
    """OpenAI's types of requests, changed so that no dictionary accepts additional keys."""

    def __init__(self) -> None:
        for package in (openai.types.chat, openai.types.responses, openai.types.shared_params):
            for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
                forbid_extra_keys(importlib.import_module(module.name))
        forbid_extra_keys(openai.types.embedding_create_params)
        self.streaming = TypeAdapter(completion_create_params.CompletionCreateParamsStreaming)
        self.whole = TypeAdapter(completion_create_params.CompletionCreateParamsNonStreaming)
        self.streamed_response = TypeAdapter(response_create_params.ResponseCreateParamsStreaming)
        self.whole_response = TypeAdapter(response_create_params.ResponseCreateParamsNonStreaming)
        self.embeddings = TypeAdapter(openai.types.embedding_create_params.EmbeddingCreateParams)

    def check(self, path: str, body: dict) -> None:
        if path.endswith("/chat/completions"):
            kind = self.streaming if body.get("stream") else self.whole
        elif path.endswith("/responses"):
            kind = self.streamed_response if body.get("stream") else self.whole_response
        elif path.endswith("/embeddings"):
            kind = self.embeddings
        else:
            raise ValueError("no type is known for this address")
        for message in body.get("messages", []):
            if message.get("role") == "assistant":
                for name in REASONING:
                    message.pop(name, None)
        consume(kind.validate_python(body))


class Anthropic:
    """Anthropic's types of requests, changed so that no dictionary accepts additional keys."""

    def __init__(self) -> None:
        for module in pkgutil.iter_modules(anthropic.types.__path__, "anthropic.types."):
            if module.name.endswith(("_param", "_params")):
                forbid_extra_keys(importlib.import_module(module.name))
        # Requests may contain blocks of responses, whose types accept any key.
        for block in typing.get_args(typing.get_args(ContentBlock)[0]):
            block.model_config["extra"] = "forbid"
            block.model_rebuild(force=True)
        self.streaming = TypeAdapter(message_create_params.MessageCreateParamsStreaming)
        self.whole = TypeAdapter(message_create_params.MessageCreateParamsNonStreaming)

    def check(self, body: dict) -> None:
        kind = self.streaming if body.get("stream") else self.whole
        consume(kind.validate_python(body))


def forbid_extra_keys(module) -> None:
    for member in vars(module).values():
        if is_typeddict(member):
            # What a type says itself remains: a JSON schema has keys that the type does not list.
            own = getattr(member, "__pydantic_config__", {})
            member.__pydantic_config__ = ConfigDict(extra="forbid") | own


def prove_strict(openai_dialect: OpenAI, anthropic_dialect: Anthropic) -> None:
    """Checks that unknown fields are refused, because a check that accepts everything would
    pass."""
    gemini = {"contents": [{"parts": [{"text": "hi", "bogus": 1}]}]}
    chat = {"model": "m", "messages": [{"role": "user", "content": [{"type": "text", "text": "hi", "bogus": 1}]}]}
    item = {"type": "function_call_output", "call_id": "c", "output": "x", "bogus": 1}
    responses = {"model": "m", "stream": True, "input": [item]}
    messages = chat | {"max_tokens": 1}
    for check, body in [
        (anthropic_dialect.check, messages),
        (lambda body: openai_dialect.check("/responses", body), responses),
        (lambda body: check_gemini(google.GenerateContentRequest, body), gemini),
        (lambda body: openai_dialect.check("/chat/completions", body), chat),
    ]:
        try:
            check(body)
        except Exception:  # Each library has its own exceptions.
            continue
        raise SystemExit(f"request-types: an unknown field is not refused: {body}")


def consume(value) -> None:
    """Reads all iterables, because they are validated when they are read."""
    if isinstance(value, dict):
        value = value.values()
    elif isinstance(value, (str, bytes)) or not hasattr(value, "__iter__"):
        return
    for item in value:
        consume(item)


if __name__ == "__main__":
    sys.exit(main())
