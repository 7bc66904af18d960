"""enter_plan_mode and exit_plan_mode: their results, and the permissions before and after them."""

from scenario import FLASH, GO, call, case, turns

PLAN = FLASH + ["--approval-mode", "plan", "-p", "go"]
DEFAULT = FLASH + ["-p", "go"]


def write(id, path="plan.md", content="# Plan\n"):
    return call("write_file", {"file_path": path, "content": content}, id)


def leave(id, name="plan.md"):
    return call("exit_plan_mode", {"plan_filename": name}, id)


def planned(name, argv, *parts, **rest):
    case(f"plan_mode.{name}", argv, script=turns(*parts), **rest)


planned("entered", DEFAULT, call("enter_plan_mode", {"reason": "it is large"}, "enter"), write("plan"),
        call("run_shell_command", {"command": "ls"}, "command"))
planned("entered_in_yolo", GO, call("enter_plan_mode", {}, "enter"), write("plan"), write("other", "other.txt"))
planned("entered_twice", DEFAULT, call("enter_plan_mode", {}, "enter"), call("enter_plan_mode", {}, "again"))
planned("arguments", DEFAULT, call("enter_plan_mode", {"reason": 3}, "number"), call("enter_plan_mode", {"reason": "r", "x": 1}, "more"))
planned("nothing_to_leave", DEFAULT, leave("out"))
planned("no_plan", PLAN, leave("missing"), leave("blank", " "), leave("outside", "../x.md"), leave("away", "/etc/passwd"),
        call("exit_plan_mode", {}, "none"), call("exit_plan_mode", {"plan_filename": 3}, "number"))
planned("empty_plan", PLAN, write("plan", content=" \n"), leave("empty"))
planned("writes", PLAN, write("plan"), write("deep", "a/b.md"), write("text", "plan.txt"), write("up", "../x.md"), write("root", "/tmp/x.md"),
        call("replace", {"file_path": "plan.md", "instruction": "i", "old_string": "Plan", "new_string": "plan"}, "edit"),
        call("read_file", {"file_path": "plan.md"}, "read"))
