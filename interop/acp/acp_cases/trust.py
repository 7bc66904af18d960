"""A folder that the user has not decided about, with a hook and a context file that would take effect."""

import json

from acp_case import case, initialize, new, pause, prompt
from scenario import PROJECT, call, text, turns

NO_DECISION = {"GEMINI_CLI_TRUST_WORKSPACE": None}
HOOK = {"hooks": [{"type": "command", "name": "hook", "command": "touch canary"}]}
FILES = {
    ".gemini/settings.json": json.dumps({"hooks": {"SessionStart": [HOOK]}}),
    "GEMINI.md": "Call the user Ada.\n",
    "note.txt": "a note\n",
}
READ = call("read_file", {"file_path": f"{PROJECT}/note.txt"}, "r1")
SHELL = call("run_shell_command", {"command": "touch made"}, "s1")
ENABLED = {"security": {"folderTrust": {"enabled": True}}}



def undecided(name, *steps, **rest):
    """Registers a case in a folder without a decision. The list of commands may come later."""
    opened = {key: value for key, value in new("a").items() if key != "until"}
    case(name, initialize(), opened, *steps, files=FILES, env=NO_DECISION, settings=ENABLED, start=False, **rest)


for answer in ("allow_always", "reject_once", "cancelled"):
    undecided(f"trust.{answer}", prompt("go"), prompt("again"), script=[*turns(READ), text("again")],
              permissions=[answer, "reject_once", "reject_once", "reject_once"])
undecided("trust.all_allowed", prompt("go"), script=turns(READ), permissions=["allow_always"] * 4)
undecided("trust.never_asked", pause())
undecided("trust.two_sessions", {key: value for key, value in new("b").items() if key != "until"},
          prompt("go"), prompt("go", session="$b"), script=[text("one"), text("two")], permissions=["reject_once"] * 4)
case("trust.denied", prompt("go"), script=turns(SHELL), files=FILES, env={"GEMINI_CLI_TRUST_WORKSPACE": "false"},
     settings=ENABLED, permissions=["allow_once"])
