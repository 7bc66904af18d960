"""Approval modes, allowed, excluded and core tools, and the tools that each of them offers."""

from scenario import FLASH, GO, call, calls, case, text, turns

FILES = {"a.txt": "alpha\n", "b.txt": "beta\n"}


def write(id, path="n.txt"):
    return call("write_file", {"file_path": path, "content": "x"}, id)


def shell(id, command):
    return call("run_shell_command", {"command": command}, id)


EVERYTHING = [
    calls(
        write("write"),
        call("replace", {"file_path": "a.txt", "instruction": "i", "old_string": "alpha", "new_string": "A"}, "edit"),
        shell("shell", "echo hi"),
        call("read_file", {"file_path": "a.txt"}, "read"),
        call("glob", {"pattern": "*"}, "glob"),
    ),
    text("done"),
]

for mode in ("default", "auto_edit", "plan", "yolo"):
    case(f"approval.{mode}", FLASH + ["--approval-mode", mode, "-p", "go"], files=FILES, script=EVERYTHING)
case("approval.yolo_flag", FLASH + ["-y", "-p", "go"], files=FILES, script=EVERYTHING)
case("approval.stream_json", FLASH + ["-p", "go", "-o", "stream-json"], files=FILES, script=EVERYTHING)
case("approval.yolo_refused", GO, settings={"security": {"disableYoloMode": True}})

for mode in ("auto_edit", "plan", "yolo"):
    case(f"approval.setting_{mode}", FLASH + ["-p", "go"], files=FILES, script=EVERYTHING,
         settings={"general": {"defaultApprovalMode": mode}})
case("approval.plan_switched_off", FLASH + ["--approval-mode", "plan", "-p", "go"],
     settings={"general": {"plan": {"enabled": False}}})
case("approval.plan_files", FLASH + ["--approval-mode", "plan", "-p", "go"],
     script=[calls(write("md", "p.md"), write("txt", "p.txt"), write("outside", "/tmp/x.md")), text("done")])

case("approval.allowed_commands", FLASH + ["-p", "go", "--allowed-tools", "run_shell_command(echo)"],
     script=turns(shell("listed", "echo hi"), shell("other", "ls"), shell("both", "echo hi && ls"), shell("longer", "echohi")))
case("approval.allowed_redirection", FLASH + ["-p", "go", "--allowed-tools", "run_shell_command(echo)"],
     script=turns(shell("redirected", "echo hi > f")))
case("approval.allowed_tools_setting", FLASH + ["-p", "go"], settings={"tools": {"allowed": ["write_file", "ShellTool(git status)"]}},
     script=turns(write("write"), shell("listed", "git status"), shell("other", "git stash")), git=True)
case("approval.excluded", settings={"tools": {"exclude": ["write_file", "GlobTool"]}},
     script=turns(write("write"), call("glob", {"pattern": "*"}, "glob")))
case("approval.excluded_command", settings={"tools": {"exclude": ["run_shell_command(rm)"]}},
     script=turns(shell("listed", "rm x"), shell("other", "pwd")))
case("approval.core", settings={"tools": {"core": ["ReadFileTool", "glob"]}}, files=FILES,
     script=turns(write("write"), call("read_file", {"file_path": "a.txt"}, "read")))
case("approval.core_commands", settings={"tools": {"core": ["run_shell_command(ls)", "read_file"]}},
     script=turns(shell("listed", "ls"), shell("other", "pwd"), shell("both", "ls; pwd")))
case("approval.core_empty", settings={"tools": {"core": []}})
case("approval.confirmation_required", files=FILES, settings={"tools": {"confirmationRequired": ["read_file"]}},
     script=turns(call("read_file", {"file_path": "a.txt"}, "read")))
case("approval.sandbox_unknown", GO, settings={"tools": {"sandbox": "zzz"}})
case("approval.mode_is_no_word", ["--approval-mode", "nope", "-p", "x"])
case("approval.two_modes", ["-y", "--approval-mode", "plan", "-p", "x"])
