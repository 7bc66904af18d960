"""The start of a connection, sessions and their settings, and requests that are not accepted."""

from acp_case import (FILES, case, initialize, new, notify, pause, prompt, request, update, until)
from scenario import PROJECT, text

UNKNOWN = "00000000-0000-4000-8000-000000000000"


case("connection.initialize", initialize(FILES), start=False)
case("connection.version", initialize(version=99), start=False)
case("connection.session", script=[text("Hello.")])
case("connection.not_initialized", request("session/new", {"cwd": PROJECT, "mcpServers": []}), pause(), start=False)

for method in ("gemini-api-key", "nosuch", "vertex-ai"):
    case(f"authenticate.{method}", initialize(), request("authenticate", {"methodId": method}), new("a"),
         start=False)
case("authenticate.gateway", initialize(),
     request("authenticate", {"methodId": "gateway", "_meta": {"gateway": {"baseUrl": 7}}}), start=False)
case("authenticate.key", initialize(),
     request("authenticate", {"methodId": "gemini-api-key", "_meta": {"api-key": "given"}}),
     new("a"), prompt("go"), script=[text("done")], env={"GEMINI_API_KEY": None}, start=False)

WITHOUT_KEY = {"GEMINI_API_KEY": None}
case("session.no_key", initialize(), request("session/new", {"cwd": PROJECT, "mcpServers": []}),
     env=WITHOUT_KEY, start=False)
case("session.no_folder", initialize(), request("session/new", {"mcpServers": []}), start=False)
case("session.no_servers", initialize(), request("session/new", {"cwd": PROJECT}), start=False)
case("session.relative", initialize(), request("session/new", {"cwd": "project", "mcpServers": []}), start=False)
case("session.two", new("b"), prompt("one", session="$a"), prompt("two", session="$b"), prompt("three", session="$a"),
     script=[text("first"), text("second"), text("third")])

for mode in ("autoEdit", "yolo", "plan", "default", "nosuch", "auto_edit"):
    case(f"mode.{mode}", request("session/set_mode", {"sessionId": "$a", "modeId": mode}), pause())
case("mode.unknown_session", request("session/set_mode", {"sessionId": UNKNOWN, "modeId": "yolo"}))
case("mode.no_plan", settings={"general": {"plan": {"enabled": False}}})
case("mode.argument", argv=["-m", "gemini-2.5-flash", "--approval-mode", "auto_edit"])
case("model.set", request("session/set_model", {"sessionId": "$a", "modelId": "gemini-2.5-pro"}),
     prompt("go"), script=[text("done")])
case("model.nosuch", request("session/set_model", {"sessionId": "$a", "modelId": "nosuch"}))
case("model.unknown_session", request("session/set_model", {"sessionId": UNKNOWN, "modelId": "gemini-2.5-pro"}))

case("errors.method", request("session/nosuch", {}), prompt("go"), script=[text("done")])
case("errors.notification", notify("session/nosuch", {}), pause(), prompt("go"), script=[text("done")])
case("errors.session", prompt("go", session=UNKNOWN))
case("errors.no_session", request("session/prompt", {"prompt": [{"type": "text", "text": "go"}]}))
case("errors.no_prompt", request("session/prompt", {"sessionId": "$a"}))
case("errors.bad_block", request("session/prompt", {"sessionId": "$a", "prompt": [{"type": "nosuch"}]}))
case("errors.params", request("session/prompt", ["go"]))
case("errors.cancel", notify("session/cancel", {"sessionId": UNKNOWN}), pause())
