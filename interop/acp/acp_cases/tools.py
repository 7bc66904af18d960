"""Calls of tools: what is shown, what is asked, and what each answer does."""

from acp_case import FORMS, case, cancel, finish, pause, prompt, request, update, until
from scenario import PROJECT, Held, call, calls, chunk, text, turns

WRITE = call("write_file", {"file_path": f"{PROJECT}/new.txt", "content": "new\n"}, "w1")
WRITE_AGAIN = call("write_file", {"file_path": f"{PROJECT}/other.txt", "content": "other\n"}, "w2")
EDIT = call("replace",
    {"file_path": f"{PROJECT}/old.txt", "instruction": "Change b.", "old_string": "b\n", "new_string": "B\n"}, "e1")
SHELL = call("run_shell_command", {"command": "touch made && echo made", "description": "Makes a file"}, "s1")
SHELL_AGAIN = call("run_shell_command", {"command": "touch other && echo other"}, "s2")
READ = call("read_file", {"file_path": f"{PROJECT}/old.txt"}, "r1")
OLD = {"old.txt": "a\nb\nc\n"}
YOLO = ["-m", "gemini-2.5-flash", "--approval-mode", "yolo"]
PERMANENT = {"security": {"enablePermanentToolApproval": True}}
TODOS = [{"description": "Look", "status": "completed"}, {"description": "Act", "status": "in_progress"},
         {"description": "Rest", "status": "pending"}]


def mode(name):
    return request("session/set_mode", {"sessionId": "$a", "modeId": name})


case("tool.read", prompt("go"), script=turns(READ), files=OLD)
case("tool.read_missing", prompt("go"), script=turns(READ))
case("tool.list", prompt("go"), script=turns(call("list_directory", {"dir_path": PROJECT}, "l1")), files=OLD)
case("tool.search", prompt("go"), script=turns(call("grep_search", {"pattern": "b"}, "g1")), files=OLD,
     settings={"tools": {"useRipgrep": True}})
case("tool.glob", prompt("go"), script=turns(call("glob", {"pattern": "*.txt"}, "g1")), files=OLD)
case("tool.unknown", prompt("go"), script=turns(call("nosuch", {}, "n1")))
case("tool.bad_arguments", prompt("go"), script=turns(call("read_file", {"path": 7}, "n1")))
case("tool.two", prompt("go"), script=[calls(READ, call("glob", {"pattern": "*"}, "g1"), say="Two."), text("done")],
     files=OLD)
case("tool.todos", prompt("go"), script=turns(call("write_todos", {"todos": TODOS}, "t1")),
     settings={"general": {"topicUpdateNarration": False}, "experimental": {"taskTracker": False}})
for answer in ("allow_once", "reject_once", "cancelled"):
    case(f"permission.write_{answer}", prompt("go"), script=turns(WRITE), permissions=[answer])
    case(f"permission.edit_{answer}", prompt("go"), script=turns(EDIT), files=OLD, permissions=[answer])
    case(f"permission.shell_{answer}", prompt("go"), script=turns(SHELL), permissions=[answer])
case("permission.write_over", prompt("go"),
     script=turns(call("write_file", {"file_path": f"{PROJECT}/old.txt", "content": "x\n"}, "w1")),
     files=OLD, permissions=["allow_once"])
case("permission.write_always", prompt("go"), script=turns(WRITE, WRITE_AGAIN), permissions=["allow_always"])
case("permission.shell_always", prompt("go"),
     script=turns(SHELL, call("run_shell_command", {"command": "touch third"}, "s3")), permissions=["allow_always", "allow_once"])
case("permission.saved", prompt("go"), script=turns(SHELL), permissions=["allow_once"], settings=PERMANENT)
case("permission.edit_saved", prompt("go"), script=turns(EDIT), files=OLD, permissions=["allow_once"],
     settings=PERMANENT)
case("permission.two", prompt("go"), script=[calls(WRITE, SHELL), text("done")],
     permissions=["allow_once", "allow_once"])
case("permission.no_always", prompt("go"), script=turns(WRITE), permissions=["allow_once"],
     settings={"security": {"disableAlwaysAllow": True}})
QUESTION = {"question": "Which?", "header": "Which", "type": "choice",
            "options": [{"label": "A", "description": "a"}, {"label": "B", "description": "b"}]}
ASK = call("ask_user", {"questions": [QUESTION]}, "q1")
case("permission.ask_user", prompt("go"), script=turns(ASK), permissions=["allow_once"])
case("permission.ask_user_form", prompt("go"), script=turns(ASK), capabilities=FORMS,
     elicitations=[{"answer_1": "A"}])
case("permission.fetch", prompt("go"), script=turns(call("web_fetch", {"prompt": "Read http://127.0.0.1:9/x"}, "f1")),
     permissions=["reject_once"])

case("tool.yolo", prompt("go"), script=turns(WRITE, EDIT, SHELL), files=OLD, argv=YOLO)
case("tool.shell_fails", prompt("go"),
     script=turns(call("run_shell_command", {"command": "echo no >&2; exit 3"}, "s1")), argv=YOLO)
case("tool.edit_fails", prompt("go"), script=turns(EDIT), files={"old.txt": "x\n"}, argv=YOLO)
case("tool.auto_edit", mode("autoEdit"), prompt("go"), script=turns(EDIT, SHELL), files=OLD,
     permissions=["reject_once"])
case("tool.plan_mode", mode("plan"), prompt("go"), script=turns(READ, EDIT), files=OLD)
case("tool.mode_during", prompt("go"), mode("yolo"), prompt("go on"), script=[*turns(WRITE), *turns(SHELL)],
     permissions=["allow_once"])

SLEEP = call("run_shell_command", {"command": "echo started; sleep 30"}, "s1")
WORDS = update("agent_message_chunk")
case("cancel.stream", prompt("go", background="p"), until(WORDS), cancel(), finish("p"), prompt("again"),
     script=[Held([chunk([{"text": "It begins"}])]), text("done")])
case("cancel.tool", prompt("go", background="p"), until(update("tool_call")), pause(500), cancel(), finish("p"),
     prompt("again"),
     script=[calls(SLEEP), text("done")], argv=YOLO)
case("cancel.permission", prompt("go", background="p"), until({"method": "session/request_permission"}), cancel(),
     finish("p"), prompt("again"),
     script=[calls(WRITE), text("done")], permissions=["wait"])
case("cancel.idle", cancel(), pause(), prompt("go"), script=[text("done")])
case("cancel.second_prompt", prompt("go", background="p"), until(WORDS), prompt("again"), finish("p"),
     script=[Held([chunk([{"text": "It begins"}])]), text("done")])
