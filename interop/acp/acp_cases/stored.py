"""Sessions that are loaded again, and several at once."""

from acp_case import FILES, case, cancel, finish, initialize, new, pause, prompt, request, restart, update, until
from scenario import PROJECT, ROOT, Held, call, calls, chunk, text, turns

UNKNOWN = "00000000-0000-4000-8000-000000000000"
EDIT = call("replace",
    {"file_path": f"{PROJECT}/old.txt", "instruction": "Change b.", "old_string": "b\n", "new_string": "B\n"}, "e1")
SHELL = call("run_shell_command", {"command": "echo made; exit 3"}, "s1")
YOLO = ["-m", "gemini-2.5-flash", "--approval-mode", "yolo"]
OLD = {"old.txt": "a\nb\nc\n"}
WORDS = update("agent_message_chunk")


def load(session="$a", cwd=PROJECT, **rest):
    return request("session/load", {"sessionId": session, "cwd": cwd, "mcpServers": []}, **rest)


case("load.text", prompt("go"), *restart(), load(), pause(800), prompt("again"), script=[text("done"), text("more")])
case("load.same_process", prompt("go"), load(), pause(800), prompt("again"), script=[text("done"), text("more")])
case("load.no_prompt", *restart(), load())
case("load.thoughts", prompt("go"), *restart(), load(), pause(800),
     script=[[chunk([{"text": "**Plan** to say it", "thought": True}]), chunk([{"text": "It."}], "STOP")]])
case("load.tools", prompt("go"), *restart(), load(), pause(800), prompt("again"),
     script=[*turns(EDIT, SHELL), text("more")], files=OLD, argv=YOLO)
case("load.unknown", prompt("go"), *restart(), load(UNKNOWN), pause(), script=[text("done")])
case("load.bad_id", prompt("go"), *restart(), load("../../x"), pause(), script=[text("done")])
case("load.other_folder", prompt("go"), *restart(), load(cwd=ROOT), pause(), script=[text("done")])
for method, params in {
    "list": {}, "list_folder": {"cwd": PROJECT}, "resume": {"sessionId": "$a", "cwd": PROJECT, "mcpServers": []},
    "close": {"sessionId": "$a"}, "delete": {"sessionId": "$a"}, "fork": {"sessionId": "$a", "cwd": PROJECT,
        "mcpServers": []},
}.items():
    case(f"stored.{method}", prompt("go"), request(f"session/{method.partition('_')[0]}", params), pause(),
        script=[text("done")])

BOTH = {"one": [Held([chunk([{"text": "One begins"}])]), text("one continues")],
        "two": [*turns(EDIT)]}
case("parallel.two", new("b"), prompt("one", session="$a", background="p"), until(WORDS),
     prompt("two", session="$b"), cancel("$a"), finish("p"), prompt("one again", session="$a"),
     script=BOTH, files=OLD, permissions=["allow_once"])
