"""Policy files: fields, tiers, priorities, modes, patterns, broken files, rules of the settings."""

import json

from scenario import FLASH, ROOT, call, case, turns

FILES = {"a.txt": "alpha\n", "notes.md": "notes\n", "sub/b.txt": "beta\n"}

DEFAULT = FLASH + ["-p", "go"]
AUTO_EDIT = FLASH + ["--approval-mode", "auto_edit", "-p", "go"]
YOLO = FLASH + ["--approval-mode", "yolo", "-p", "go"]
PLAN = FLASH + ["--approval-mode", "plan", "-p", "go"]

SHELL, WRITE = "run_shell_command", "write_file"


def rule(toolName=SHELL, decision="allow", priority=100, **fields):
    """Returns a rule as written in a file; a field that is None is left out."""
    fields = {"toolName": toolName, "decision": decision, "priority": priority, **fields}
    return "[[rule]]\n" + "".join(f"{name} = {toml(value)}\n" for name, value in fields.items() if value is not None)


def toml(value):
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{name} = {toml(inner)}" for name, inner in value.items()) + " }"
    return json.dumps(value)


def sh(*commands):
    return [call(SHELL, {"command": command}, f"sh{number}") for number, command in enumerate(commands, 1)]


def write(*paths):
    return [call(WRITE, {"file_path": path, "content": "x"}, f"write{number}") for number, path in enumerate(paths, 1)]


def read(*paths):
    return [call("read_file", {"file_path": path}, f"read{number}") for number, path in enumerate(paths, 1)]


def glob():
    return [call("glob", {"pattern": "*.txt"}, "glob")]


def policy(name, file, calls, argv=DEFAULT, files=FILES, home=None, **rest):
    """Registers a case with a policy file of the user, and calls one after the other."""
    file = {} if file is None else {".gemini/policies/own.toml": "\n".join(file) if isinstance(file, list) else file}
    case(f"policies.{name}", argv, script=turns(*calls), files=files, home={**file, **(home or {})}, **rest)


# Names of tools.

policy("tool", rule(), sh("echo a", "pwd") + write("n.txt"))
policy("tools", rule(["write_file", "web_fetch"]), sh("echo a") + write("n.txt"))
policy("tool_denied", rule("read_file", "deny"), read("a.txt") + glob())
policy("all_denied", rule("*", "deny", 999), read("a.txt") + glob() + sh("echo a"))
policy("all_allowed", rule("*"), sh("echo a") + write("n.txt") + read("a.txt"))
policy("older_name", rule("search_file_content", "deny"), [call("grep_search", {"pattern": "a"}, "grep")])
policy("class_name", rule("ShellTool"), sh("echo a"))
policy("no_such_tool", rule("writ_file", "deny"), write("n.txt"), argv=YOLO)
policy("nothing_like_a_tool", rule("something_else_entirely", "deny"), write("n.txt"), argv=YOLO)
policy("old_server_name", rule("server__tool", "deny"), write("n.txt"), argv=YOLO)
policy("spaces_around", rule(" write_file "), write("n.txt"))
policy("other_case", rule("Write_File"), write("n.txt"))
policy("star_within", rule("write_*"), write("n.txt"))

# Priorities.

policy("higher_denies", [rule(priority=100), rule(decision="deny", priority=200)], sh("echo a"))
policy("higher_allows", [rule(decision="deny", priority=100), rule(priority=200)], sh("echo a"))
policy("equal_allow_first", [rule(), rule(decision="deny")], sh("echo a"))
policy("equal_deny_first", [rule(decision="deny"), rule()], sh("echo a"))
policy("priority_0", rule(priority=0), sh("echo a"))
policy("priority_999", [rule(decision="deny", priority=998), rule(priority=999)], sh("echo a"))
policy("general_before_particular", [rule(decision="deny", priority=300), rule(commandPrefix="echo", priority=200)], sh("echo a"))
policy("particular_before_general", [rule(decision="deny", priority=200), rule(commandPrefix="echo", priority=300)], sh("echo a", "pwd"))
policy("three_layers", [rule(priority=100), rule(decision="deny", commandPrefix="echo", priority=200),
                        rule(commandPrefix="echo a", priority=300)], sh("echo a", "echo b", "pwd"))

# Places and tiers.

OTHER = {"other/p.toml": rule(), "other/q.txt": rule(WRITE), "other/deeper/r.toml": rule(WRITE)}
policy("given_file", rule(decision="deny", priority=999), sh("echo a"), argv=DEFAULT + ["--policy", ROOT + "/other/p.toml"], beside=OTHER)
policy("given_folder", None, sh("echo a") + write("n.txt"), argv=DEFAULT + ["--policy", ROOT + "/other"], beside=OTHER)
policy("given_missing", rule(), sh("echo a"), argv=DEFAULT + ["--policy", ROOT + "/nowhere"])
policy("given_two", None, sh("echo a") + write("n.txt"), beside={**OTHER, "more/w.toml": rule(WRITE)},
       argv=DEFAULT + ["--policy", ROOT + "/other/p.toml", "--policy", ROOT + "/more"])
policy("given_two_by_comma", None, sh("echo a") + write("n.txt"), beside={**OTHER, "more/w.toml": rule(WRITE)},
       argv=DEFAULT + ["--policy", ROOT + "/other/p.toml," + ROOT + "/more"])
policy("given_relative", None, sh("echo a"), argv=DEFAULT + ["--policy", "../other/p.toml"], beside=OTHER)
policy("paths_setting", rule(decision="deny", priority=999), sh("echo a"), settings={"policyPaths": [ROOT + "/other"]}, beside=OTHER)
policy("admin_over_user", rule(priority=999), sh("echo a"), beside={"admin/p.toml": rule(decision="deny", priority=1)},
       argv=DEFAULT + ["--admin-policy", ROOT + "/admin"])
policy("admin_allows", rule(decision="deny", priority=999), sh("echo a"), beside={"admin/p.toml": rule(priority=1)},
       argv=DEFAULT + ["--admin-policy", ROOT + "/admin"])
policy("admin_paths_setting", rule(priority=999), sh("echo a"), beside={"admin/p.toml": rule(decision="deny", priority=1)},
       settings={"adminPolicyPaths": [ROOT + "/admin"]})
policy("workspace", None, sh("echo a"), files={**FILES, ".gemini/policies/p.toml": rule()})
policy("several_files", None, sh("echo a", "pwd", "ls"),
       home={".gemini/policies/a.toml": rule(commandPrefix="echo"), ".gemini/policies/b.toml": rule(commandPrefix="pwd"),
             ".gemini/policies/c.txt": rule(commandPrefix="ls"), ".gemini/policies/d/e.toml": rule(commandPrefix="ls")})
policy("empty_folder", None, sh("echo a"), home={".gemini/policies": None})

# Modes.

policy("mode_of_yolo", rule(decision="deny", modes=["yolo"]), sh("echo a"), argv=YOLO)
policy("mode_of_another", rule(modes=["yolo"]), sh("echo a"))
policy("mode_auto_edit", rule(modes=["autoEdit"]), sh("echo a"), argv=AUTO_EDIT)
policy("mode_auto_edit_elsewhere", rule(modes=["autoEdit"]), sh("echo a"))
policy("modes_two", rule(modes=["default", "plan"]), sh("echo a"))
policy("modes_none", rule(modes=[]), sh("echo a"))
policy("denied_in_yolo", rule(decision="deny", commandPrefix="echo"), sh("echo a", "pwd"), argv=YOLO)
policy("edits_denied_in_auto_edit", rule([WRITE, "replace"], "deny"), write("n.txt"), argv=AUTO_EDIT)
policy("plan_write_allowed_elsewhere", rule(WRITE, modes=["default"]), write("n.txt"), argv=PLAN)
policy("asks_in_yolo", rule(decision="ask_user"), sh("touch n.txt"), argv=YOLO)

# Prefixes of commands.

policy("prefix", rule(commandPrefix="echo"), sh("echo", "echo a", "echoa", "echo\ta", "pwd", "echo-a"))
policy("prefixes", rule(commandPrefix=["echo", "pwd"]), sh("echo a", "pwd", "date +%Y >/dev/null", "hostname"))
policy("prefix_of_words", rule(commandPrefix="echo a"), sh("echo a", "echo a b", "echo ab", "echo b", "echo"))
policy("prefix_chain", rule(commandPrefix=["echo", "pwd"]),
       sh("echo a && pwd", "echo a; pwd", "echo a | cat", "echo a && hostname", "hostname; echo a", "echo a || hostname", "echo a & hostname", "echo a\nhostname"))
policy("prefix_denied_chain", rule(decision="deny", commandPrefix="touch"),
       sh("touch x", "echo a && touch x", "echo a | touch x", "echo a; (touch x)", "echo touch", "if true; then touch x; fi"), argv=YOLO)
policy("prefix_of_signs", rule(commandPrefix=["echo a.b", "echo c++", "echo (d)", "echo [e]"]),
       sh("echo a.b", "echo axb", "echo c++", "echo cc", "echo '(d)'"))
policy("prefix_quoted", rule(commandPrefix="echo \"a\""), sh("echo \"a\"", "echo a", "echo \"a\" b"))
policy("prefix_with_backslash", rule(commandPrefix="echo a\\b"), sh("echo a\\b", "echo ab"))
policy("prefix_many_parts", rule(commandPrefix="echo"), sh(" && ".join(["echo a"] * 60), " && ".join(["echo a"] * 59 + ["hostname"])))
policy("prefix_compound", rule(commandPrefix=["echo", "test"]),
       sh("for x in 1 2; do echo $x; done", "if test -f a.txt; then echo a; fi", "{ echo a; echo b; }", "(echo a)", "for x in 1; do hostname; done"))
policy("prefix_shell", rule(commandPrefix="echo"), sh("bash -c 'echo a'", "sh -c 'hostname'", "bash -c \"echo a && hostname\""))
policy("prefix_and_assignment", rule(commandPrefix="echo"), sh("x=1; echo a", "x=1 echo a"))
policy("prefix_broken_syntax", rule(commandPrefix="echo"), sh("echo 'a", "echo a )", "echo $(("))
policy("prefix_deny_broken_syntax", rule(decision="deny", commandPrefix="echo"), sh("echo 'a", "pwd 'a"), argv=YOLO)
policy("prefix_comment", rule(commandPrefix="echo"), sh("echo a # hostname", "# echo\nhostname"))
policy("prefix_two_rules", [rule(commandPrefix="echo"), rule(commandPrefix="pwd", decision="ask_user", priority=200)], sh("echo a", "pwd -P | sort", "echo a; hostname"))

# Redirections.

policy("redirected", rule(commandPrefix="echo"), sh("echo a > n.txt", "echo a >> a.txt", "echo a"))
policy("redirection_allowed", rule(commandPrefix=["echo", "sort"], allowRedirection=True), sh("echo a > n.txt", "sort < a.txt", "sort <<< b"))
policy("redirection_allowed_snake", rule(commandPrefix="echo", allow_redirection=True), sh("echo a > n.txt"))
policy("redirection_both_cases", rule(commandPrefix="echo", allowRedirection=False, allow_redirection=True), sh("echo a > n.txt"))
policy("redirection_auto_edit", rule(commandPrefix="echo"), sh("echo a > n.txt"), argv=AUTO_EDIT)
policy("redirection_tool_rule", rule(), sh("echo a > n.txt"))
policy("redirection_tool_rule_allowed", rule(allowRedirection=True), sh("echo a > n.txt"))
policy("redirection_to_nothing", rule(commandPrefix="echo"), sh("echo a 2>/dev/null", "echo a 2>&1", "echo a > /dev/null"))

# Patterns of commands.

policy("regex", rule(commandRegex="echo (a|b)"), sh("echo a", "echo b", "echo c", "echo ab"))
policy("regex_starts", rule(commandRegex="cho"), sh("echo a"))
policy("regex_digits", rule(commandRegex="echo \\d+ \\w+"), sh("echo 12 ab", "echo x ab"))
policy("regex_look_ahead", rule(commandRegex="echo (?!b)"), sh("echo a", "echo b"))
policy("regex_boundary", rule(commandRegex="echo\\b"), sh("echo a", "echoes"))
policy("regex_backreference", rule(commandRegex="echo (\\w)\\1"), sh("echo aa", "echo ab"))
policy("regex_unicode", rule(commandRegex="echo [äöü]"), sh("echo ä", "echo a"))
policy("regex_deny", rule(decision="deny", commandRegex="(touch|mkdir)"), sh("touch x", "echo a; mkdir y", "echo touch"), argv=YOLO)
policy("regex_of_quotes", rule(commandRegex="echo \\\\\"a"), sh("echo \"a\"", "echo a"))

# Patterns of arguments.

policy("args", rule(WRITE, argsPattern="\"file_path\":\"[^\"]*\\.md\""), write("n.md", "n.txt"))
policy("args_anchored", rule(WRITE, argsPattern="\\x00\"file_path\":\"n\\.md\"\\x00"), write("n.md", "sub/n.md"))
policy("args_shell", rule(argsPattern="\"command\":\"echo"), sh("echo a", "echo a; hostname", "hostname"))
policy("args_other_key", rule(argsPattern="\"dir_path\":\"sub\""),
       [call(SHELL, {"command": "pwd", "dir_path": "sub"}, "in"), call(SHELL, {"command": "pwd"}, "out")])
policy("args_sorted", rule(WRITE, argsPattern="\"content\":\"x\".,.\"file_path\""),
       [call(WRITE, {"file_path": "n.txt", "content": "x"}, "one"), call(WRITE, {"content": "x", "file_path": "m.txt"}, "two")])
policy("args_none", rule("list_directory", "deny", argsPattern="dir_path"),
       [call("list_directory", {"dir_path": "."}, "with"), call("list_directory", {}, "without")])
policy("args_deny", rule("read_file", "deny", argsPattern="notes"), read("a.txt", "notes.md"), argv=YOLO)
policy("args_case", rule("read_file", "deny", argsPattern="A\\.TXT"), read("a.txt"))
policy("args_anything", rule(WRITE, argsPattern=".*"), write("n.txt"))
policy("args_empty", rule(WRITE, argsPattern=""), write("n.txt"))
policy("args_slash", rule("read_file", "deny", argsPattern="sub/"), read("sub/b.txt", "./sub/b.txt", "a.txt"))
policy("args_number", rule("read_file", "deny", argsPattern="\"start_line\":2"),
       [call("read_file", {"file_path": "a.txt", "start_line": 1}, "one"), call("read_file", {"file_path": "a.txt", "start_line": 2}, "two")])
policy("args_agent_of_shell", rule(decision="deny", argsPattern="touch"), sh("echo a; touch x", "touch x", "echo a"), argv=YOLO)

# The other fields.

policy("annotations", rule(WRITE, toolAnnotations={"readOnlyHint": True}), write("n.txt"))
policy("subagent", rule(subagent="helper"), sh("echo a"))
policy("server", rule(WRITE, mcpName="server"), write("n.txt"))
policy("server_any", rule("*", "deny", mcpName="*"), read("a.txt"))
policy("for_people", rule(interactive=True), sh("echo a"))
policy("for_programs", rule(interactive=False), sh("echo a"))
policy("deny_message", rule(WRITE, "deny", denyMessage="Write nothing here."), write("n.txt"), argv=AUTO_EDIT)
policy("deny_message_snake", rule(decision="deny", commandPrefix="touch", deny_message="Touch nothing."), sh("touch x", "echo a; touch x"), argv=YOLO)
policy("deny_message_both", rule(WRITE, "deny", denyMessage="One.", deny_message="Two."), write("n.txt"), argv=AUTO_EDIT)
policy("deny_message_of_allow", rule(WRITE, denyMessage="Never said."), write("n.txt"))
policy("asks", rule(decision="ask_user"), sh("touch x", "echo a", "ls") + write("n.txt"))
policy("asks_to_read", rule("read_file", "ask_user"), read("a.txt"))
policy("unknown_keys", rule(name="n", description="d", enabled=False, tags=["x"]) + "[rule.safety_checker]\ntype = \"in-process\"\n\n[other]\nx = 1\n", sh("echo a"))
policy("rules_in_plural", rule().replace("[[rule]]", "[[rules]]"), sh("echo a"))
policy("comments", "# one\n" + rule() + "# two\n", sh("echo a"))
policy("empty", "", sh("echo a"))
policy("crlf", rule().replace("\n", "\r\n"), sh("echo a"))
policy("byte_order_mark", "\ufeff" + rule(), sh("echo a"))
policy("literal_strings", "[[rule]]\ntoolName = 'run_shell_command'\ncommandRegex = 'echo \\w'\ndecision = 'allow'\npriority = 7\n", sh("echo a", "echo !"))
policy("inline_tables", "rule = [{ toolName = \"run_shell_command\", decision = \"allow\", priority = 1 }]\n", sh("echo a"))

# Invalid files.

BROKEN = {
    "syntax": "[[rule]\ntoolName = \n",
    "decision": rule(decision="maybe"),
    "no_decision": rule(decision=None),
    "no_tool": rule(toolName=None),
    "empty_tool": rule(toolName=""),
    "no_priority": rule(priority=None),
    "priority_1000": rule(priority=1000),
    "priority_negative": rule(priority=-1),
    "priority_fraction": rule(priority=1.5),
    "priority_text": rule(priority="1"),
    "mode": rule(modes=["auto_edit"]),
    "message": rule(denyMessage=1),
    "not_a_list": rule().replace("[[rule]]", "[rule]"),
    "prefix_of_another_tool": rule(WRITE, commandPrefix="echo"),
    "prefix_of_tools": rule([SHELL, WRITE], commandPrefix="echo"),
    "prefix_and_pattern": rule(commandPrefix="echo", argsPattern="x"),
    "prefix_and_regex": rule(commandPrefix="echo", commandRegex="pwd"),
    "regex_open": rule(commandRegex="("),
    "regex_unsafe": rule(commandRegex="(a+)+"),
    "regex_long": rule(commandRegex="a" * 2049),
    "args_open": rule(WRITE, argsPattern="["),
    "not_text": b"\xff\xfe\x00",
}
for name, file in BROKEN.items():
    policy(f"broken_{name}", None, sh("echo a", "touch x") + write("n.txt"),
           home={".gemini/policies/bad.toml": file, ".gemini/policies/good.toml": rule(commandPrefix="echo", priority=50)})
policy("broken_given", rule(), sh("echo a"), argv=DEFAULT + ["--policy", ROOT + "/bad.toml"], beside={"bad.toml": "x ="})
policy("broken_folder", None, sh("echo a"), home={".gemini/policies/p.toml/x": "a folder"})

# Rules from the settings.


def settings(name, calls, argv=DEFAULT, file=None, **tools):
    policy(f"settings_{name}", file, calls, argv=argv, settings={"tools": tools})


settings("allowed", sh("echo a") + write("n.txt"), allowed=[SHELL])
settings("allowed_with_arguments", sh("echo a", "echoa", "pwd", "echo a && pwd", "echo a; hostname"), allowed=["run_shell_command(echo)", "ShellTool(pwd)"])
settings("allowed_and_flag", sh("echo a", "pwd"), argv=DEFAULT + ["--allowed-tools", "run_shell_command(echo)"], allowed=["run_shell_command(pwd)"])
settings("allowed_flag_list", sh("echo a") + write("n.txt"), argv=DEFAULT + ["--allowed-tools", "write_file,run_shell_command(echo)"])
settings("allowed_under_file", sh("echo a"), file=rule(decision="deny", priority=299), allowed=[SHELL])
settings("allowed_over_file", sh("echo a"), file=rule(decision="deny", priority=301), allowed=[SHELL])
settings("allowed_narrows_file", sh("echo a", "pwd"), file=rule(priority=100), allowed=["run_shell_command(echo)"])
settings("excluded", read("a.txt") + sh("echo a"), argv=YOLO, exclude=["read_file", "ShellTool"])
settings("excluded_with_arguments", sh("touch x", "echo a; touch x", "echo a"), argv=YOLO, exclude=["run_shell_command(touch)"])
settings("excluded_over_file", sh("echo a"), file=rule(priority=399), exclude=[SHELL])
settings("excluded_under_file", sh("echo a"), file=rule(priority=401), exclude=[SHELL])
settings("confirmed", read("a.txt") + glob(), confirmationRequired=["read_file"])
settings("confirmed_in_yolo", sh("echo a", "touch x"), argv=YOLO, confirmationRequired=[SHELL])
settings("core", read("a.txt") + glob() + sh("echo a"), core=["read_file", SHELL])
settings("core_with_arguments", sh("echo a", "pwd", "echo a; pwd"), core=["run_shell_command(echo)"])
settings("core_in_yolo", read("a.txt") + sh("echo a"), argv=YOLO, core=["read_file"])
settings("core_and_file", glob() + read("a.txt"), file=rule("glob", priority=999), core=["read_file"])
settings("core_plan", glob() + read("a.txt"), argv=PLAN, core=["read_file"])

# Known commands.

policy("dangerous_by_tool", rule(), sh("rm -rf sub", "rm -f a.txt", "find . -name a.txt -delete", "rm notes.md"))
policy("dangerous_by_prefix", rule(commandPrefix=["rm", "find"]), sh("rm -f a.txt", "find . -name '*.md'"))
policy("dangerous_in_yolo", None, sh("rm -rf sub", "rm -f a.txt"), argv=YOLO)
policy("safe_when_asked", rule(decision="ask_user", priority=1), sh("ls", "git status", "cat a.txt | head -1", "sed -n 1p a.txt", "sed s/a/b/ a.txt", "find . -name a.txt", "git stash", "git diff -p"), git=True)
policy("git_prefix", rule(commandPrefix="git log"), sh("git status", "git log", "git log -1", "git push"), git=True)

# Wrappers and syntax that only bash reads: Pollux checks the commands inside.

policy("wrapped_denied", rule(decision="deny", commandPrefix="touch"),
       sh("env touch x", "timeout 5 touch x", "xargs touch < a.txt", "nice touch x", "/usr/bin/touch x", "'touch' x", "t\\ouch x", "command touch x"), argv=YOLO)
policy("wrapped_allowed", rule(commandPrefix=["env", "xargs", "find", "timeout", "eval"]),
       sh("env touch x", "xargs touch < a.txt", "find . -name a.txt -exec touch x ';'", "timeout 5 touch x", "eval touch x"))
policy("hidden_in_arguments", rule(commandPrefix=["awk", "sed", "tar", "git"]),
       sh("awk 'BEGIN { system(\"touch x\") }'", "sed '1e touch x' a.txt", "git -c alias.x='!touch x' x"), git=True)

# Checkers.

CHECKER = "[[safety_checker]]\ntoolName = \"*\"\npriority = 100\n[safety_checker.checker]\n"
policy("checker_paths", rule(WRITE) + CHECKER + 'type = "in-process"\nname = "allowed-path"\n',
       write("n.txt", "node_modules/x.txt", ".env", "sub/../m.txt", ".vscode/settings.json"))
policy("checker_external", rule(WRITE) + CHECKER + 'type = "external"\nname = "mine"\n', write("n.txt") + read("a.txt"))
policy("checker_unknown", rule(WRITE) + CHECKER + 'type = "in-process"\nname = "nothing"\n', write("n.txt"))
policy("checker_of_auto_edit", None, write("n.txt", ".git/config", "node_modules/x"), argv=AUTO_EDIT)

# Plan mode.

policy("plan_denies", None, sh("echo a", "touch x") + write("n.txt", "n.md") + read("a.txt"), argv=PLAN)
policy("plan_rule_of_the_user", rule(commandPrefix="echo", modes=["plan"]), sh("echo a", "touch x"), argv=PLAN)
policy("plan_question", [rule("ask_user", "allow", 999)], [call("ask_user", {"questions": []}, "ask")], argv=PLAN)


