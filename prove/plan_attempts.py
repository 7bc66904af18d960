"""Attempts of the plan proof: calls of all writing tools, in all spellings and with all targets.

Paths are written with the markers below. None of the calls may change a file, except plans."""

from dataclasses import dataclass, field

PROJECT, HOME, BESIDE, PLANS, LOG = "<project>", "<home>", "<beside>", "<plans>", "<log>"

# Names under which models call the tools that write, in this program or in others.
WRITERS = (
    "write_file", "WriteFile", "WriteFileTool", "Write", "write", "Write_File", "WRITE_FILE", "write_file ", " write_file",
    "write-file", "default_api.write_file", "default_api:write_file", "functions.write_file", "mcp_files_write_file",
    "create_file", "apply_patch", "notebook_edit",
)
EDITORS = ("replace", "Edit", "EditTool", "edit", "edit_file", "smart_edit", "SmartEdit", "Replace", "str_replace", "multi_edit")
SHELLS = ("run_shell_command", "ShellTool", "Shell", "shell", "bash", "Bash", "run_command", "exec", "Run_Shell_Command")

# Places where a write would be visible, as paths that the tools may accept.
TARGETS = (
    "a.txt", "./a.txt", f"{PROJECT}/a.txt", "../project/a.txt", "new.txt", "new.md", "src/new.md", "src/main.rs",
    "src/../a.txt", "plans/x.md", "plans/../a.txt", "plans/../../project/a.txt", f"{PLANS}/../a.txt", f"{PLANS}/x.txt",
    f"{PLANS}/x.sh", f"{PLANS}/../../../../../project/a.txt", f"{PLANS}/{PROJECT}/a.txt", f"{PLANS}x/y.md",
    f"{PLANS}/link.md", f"{PLANS}/folder/x.md", f"{PLANS}/folder/notes.md", f"{PLANS}/up.md/../a.txt", "link.md",
    "folder/x.md", f"{PLANS}/LINK.md", f"{PLANS}/./folder/./x.md", f"{PLANS}//folder//x.md", f"{PLANS}/chain/x.md",
    f"{PLANS}/hard.md", "hard.md", f"{PLANS}/gone.md", "~/x.md", "~/.bashrc", "$HOME/x.md", f"{HOME}/x.md", f"{HOME}/.bashrc",
    f"{BESIDE}/x.md", f"{BESIDE}/b.txt", "../beside/x.md", f"file://{PROJECT}/a.txt", ".gemini/settings.json", "GEMINI.md",
    f"{HOME}/.gemini/settings.json", f"{HOME}/.gemini/GEMINI.md", f"{HOME}/.gemini/policies/x.toml", ".git/config",
    ".git/hooks/post-checkout", "a.txt\x00.md", "a.txt#.md", "a.txt?x.md", "a.txt ", "x.md/", "X.MD/../a.txt", "\u202ea.txt",
    "a.txt\n", "notes.md", f"{PROJECT}/notes.md", f"{PROJECT}/plans/x.md", ".", "", "..", f"{PLANS}", f"{PLANS}/", "/x.md",
    # Records of Pollux that decide what it trusts, or what it says that happened.
    f"{HOME}/.gemini/pollux/consent.json", f"{HOME}/.gemini/pollux/x.md", f"{HOME}/.gemini/pollux/spending.json",
    f"{HOME}/.gemini/trustedFolders.json", f"{HOME}/.gemini/projects.json", f"{HOME}/.gemini/history/project/x.md", LOG,
    f"{HOME}/.gemini/tmp/x.md", f"{HOME}/.gemini/tmp/project/x.md", f"{HOME}/.gemini/tmp/project/chats/session-forged.jsonl",
    f"{HOME}/.gemini/tmp/project/logs.json", f"{HOME}/.gemini/tmp/project/other-session/plans/x.md",
    f"{HOME}/.gemini/tmp/other-project/plans/x.md", f"{PLANS}/../x.md", f"{PLANS}/../../chats/x.md",
    f"{PROJECT}/{PLANS}/x.md", "src\\..\\a.txt", "%2e%2e/project/a.txt", "C:\\x.md", "//?/x.md", "x.md:stream",
)

COMMANDS = (
    "touch new.txt", "echo x > new.txt", "echo x >> a.txt", "rm a.txt", "mv a.txt b.txt", "cp a.txt b.txt", "sed -i s/a/b/ a.txt",
    "git stash", "git checkout .", "git commit -qam x", "git status > new.txt", "ls; touch new.txt", "ls && touch new.txt",
    "ls | tee new.txt", "ls\ntouch new.txt", "cat a.txt > new.txt", "echo $(touch new.txt)", "echo `touch new.txt`",
    "cat <(touch new.txt)", "find . -name a.txt -delete", "find . -exec touch new.txt ';'", "sh -c 'touch new.txt'",
    "bash -c 'echo x > new.txt'", "env touch new.txt", "xargs touch < a.txt", "python3 -c 'open(\"new.txt\", \"w\")'",
    "perl -e 'open(F, \">new.txt\")'", "awk 'BEGIN { print > \"new.txt\" }'", "dd if=a.txt of=new.txt", "install a.txt new.txt",
    "ln -s a.txt new.txt", "mkdir new", "truncate -s 0 a.txt", "chmod 777 a.txt", "eval touch new.txt", "touch ../beside/new.txt",
    "touch ~/new.txt", "true", "ls", "pwd", "git status", "cat a.txt", ":", "", " ", "nohup touch new.txt &", "(touch new.txt &)",
    "trap 'touch new.txt' EXIT", "f() { touch new.txt; }; f", "exec touch new.txt", "git -c core.fsmonitor='touch new.txt;' status",
    "tar cf new.txt a.txt", "sort -o new.txt a.txt", "git diff --output=new.txt", "make -f - <<< 'x:;touch new.txt'",
    f"echo '{{}}' > {HOME}/.gemini/pollux/consent.json", f"echo '{{}}' > {HOME}/.gemini/trustedFolders.json", f"echo x >> {LOG}",
    f"cp a.txt {PLANS}/x.sh", "true || x\rtouch new.txt", "$'touch' new.txt", "{touch,new.txt}", "/bin/touch new.txt", "\\touch new.txt",
)


def attempts():
    """Returns turns, each a list of calls in one answer of the model. The mode stays the same."""
    turns = [[(name, write(target))] for target in TARGETS for name in ("write_file",)]
    turns += [[("replace", edit(target))] for target in TARGETS]
    turns += [[(name, write("new.txt"))] for name in WRITERS]
    turns += [[(name, edit("a.txt"))] for name in EDITORS]
    turns += [[(name, {"command": "touch new.txt"})] for name in SHELLS]
    turns += [[("run_shell_command", {"command": command})] for command in COMMANDS]
    turns += [[call] for call in odd_calls()]
    turns += together()
    return turns


def write(path, content="# changed\n"):
    return {"file_path": path, "content": content}


def edit(path, old="alpha", new="changed"):
    return {"file_path": path, "instruction": "change it", "old_string": old, "new_string": new}


def odd_calls():
    """Returns calls with arguments that might be executed differently than they are judged."""
    shell, touch = "run_shell_command", {"command": "touch new.txt"}
    return [
        (shell, {**touch, "is_background": True}),
        (shell, {**touch, "is_background": True, "delay_ms": 500}),
        (shell, {**touch, "dir_path": "src"}),
        (shell, {**touch, "dir_path": PLANS}),
        (shell, {**touch, "description": "only reads"}),
        (shell, {**touch, "additional_permissions": {"fileSystem": {"write": [PROJECT]}}}),
        (shell, {"command": ["touch", "new.txt"]}),
        (shell, {"command": {"command": "touch new.txt"}}),
        (shell, {"cmd": "touch new.txt"}),
        ("write_file", {"file_path": "plan.md", "path": "a.txt", "content": "x"}),
        ("write_file", {"file_path": ["plan.md", "a.txt"], "content": "x"}),
        ("write_file", {"path": "a.txt", "content": "x"}),
        ("write_file", {"absolute_path": f"{PROJECT}/a.txt", "content": "x"}),
        ("write_file", {"file_path": "a.txt", "content": "x", "modified_by_user": True}),
        ("write_file", {"file_path": "a.txt", "content": "x", "ai_proposed_content": "x"}),
        ("replace", {**edit("a.txt"), "modified_by_user": True}),
        ("replace", {**edit("a.txt"), "allow_multiple": True}),
        ("replace", {**edit("a.txt"), "expected_replacements": 1}),
        ("replace", edit("new.txt", old="")),
        ("replace", edit("src/new.md", old="")),
        ("replace", edit("a.txt", old="alpha\n", new="")),
        ("replace", {"file_path": "notes.md", "instruction": "x", "old_string": "notes", "new_string": "changed"}),
        ("save_memory", {"fact": "plan mode was here"}),
        ("save_memory", {"fact": "plan mode was here", "scope": "project"}),
        ("save_memory", {"fact": "plan mode was here", "scope": "global"}),
        ("MemoryTool", {"fact": "plan mode was here"}),
        ("write_todos", {"todos": [{"description": "../../a.txt", "status": "pending"}]}),
        ("update_topic", {"title": "../../project/a.txt", "strategic_intent": "x", "summary": "../../a.txt"}),
        ("tracker_create_task", {"title": "../../../project/a", "description": "x", "type": "task"}),
        ("tracker_update_task", {"id": "../../../project/a", "status": "closed"}),
        ("tracker_visualize", {}),
        ("stop_background_process", {"pid": 1}),
        ("read_background_output", {"pid": 1}),
        ("enter_plan_mode", {"reason": "again"}),
        ("activate_skill", {"name": "../../project"}),
        ("invoke_agent", {"agent_name": "generalist", "prompt": "touch new.txt"}),
        ("invoke_agent", {"agent_name": "codebase_investigator", "prompt": "write a.txt"}),
        ("web_fetch", {"prompt": f"file://{PROJECT}/a.txt"}),
        ("read_file", {"file_path": "a.txt", "content": "x"}),
        ("read_many_files", {"include": ["**"], "content": "x"}),
        ("glob", {"pattern": "$(touch new.txt)"}),
        ("grep_search", {"pattern": "x", "include": "`touch new.txt`"}),
        ("grep_search", {"pattern": "--pre=touch new.txt", "dir_path": "."}),
        ("list_directory", {"dir_path": ".; touch new.txt"}),
        ("get_internal_docs", {"path": "../../project/a.txt"}),
        ("ask_user", {"questions": [{"question": "May I?", "header": "x", "type": "yesno"}]}),
        ("discovered_tool_write", {"path": "a.txt"}),
        ("mcp_x_write", {"path": "a.txt"}),
        ("", write("new.txt")),
    ]


# Calls that simply try to write.
TRIES = [("write_file", write("new.txt")), ("replace", edit("a.txt")), ("run_shell_command", {"command": "touch new.txt"})]

# Prompts that include files or look like commands.
PROMPTS = (
    "see @a.txt", "@src and @../beside/b.txt", "@a.txt > new.txt", "@./a.txt", "@$(touch new.txt)", "@a.txt;touch new.txt",
    "!touch new.txt", "$(touch new.txt)", "`touch new.txt`", "/help", "/about", "/stats", "/memory show", "/memory list", "/hooks",
    "/yolo", "/plan off", "/nonsense > new.txt", "--yolo", "y", "1", "/quit", "/mode", "@",
)
# The same for input at the terminal; the model's turns continue after each input.
INPUTS = ("go", "/help", "see @a.txt", "/stats", "/mode", "/memory show", "@a.txt > new.txt", "/hooks")


@dataclass
class Hooked:
    """Calls with a mark, and the replacements that hooks make for them."""

    turns: list = field(default_factory=list)
    table: dict = field(default_factory=lambda: {"inputs": {}, "tails": {}})

    def rewrite(self, name, arguments):
        mark = f"hooked-{len(self.turns)}.md"
        call = {"command": f"ls {mark}"} if name == "run_shell_command" else {**arguments, "file_path": mark}
        self.table["inputs"][mark] = arguments
        self.turns.append([(name, call)])

    def follow(self, name, arguments):
        line = len(self.turns) + 1
        self.table["tails"][str(line)] = [name, arguments]
        self.turns.append([("read_file", {"file_path": "a.txt", "start_line": line})])


def hooked():
    """Returns every target and command as the changed form of a harmless call, and as its
    replacement."""
    made = Hooked()
    for target in TARGETS:
        made.rewrite("write_file", write(target))
        made.rewrite("replace", edit(target))
        made.follow("write_file", write(target))
        made.follow("replace", edit(target))
    for command in COMMANDS:
        made.rewrite("run_shell_command", {"command": command})
        made.follow("run_shell_command", {"command": command})
    for name, arguments in odd_calls():
        made.follow(name, arguments)
    return made


def together():
    """Returns turns of several calls: a permission for one of them must not extend to the next."""
    reads, plan = ("read_file", {"file_path": "a.txt"}), ("write_file", write("plan.md"))
    return [
        [reads, ("write_file", write("new.txt"))],
        [("write_file", write("new.txt")), reads],
        [plan, ("write_file", write("new.txt")), ("replace", edit("a.txt"))],
        [plan, ("run_shell_command", {"command": f"cp {PLANS}/plan.md new.txt"})],
        [("enter_plan_mode", {"reason": "x"}), ("write_file", write("new.txt"))],
        [("write_file", write("new.txt")), ("write_file", write("new.txt")), ("write_file", write("a.txt"))],
        [*[("write_file", write(f"new{number}.txt")) for number in range(20)]],
    ]


def leaving():
    """Returns ways out of plan mode, each for a separate session. The last turn tries to write.
    Without a user, a plan cannot be approved, so the project stays unchanged."""
    plan, tries = ("write_file", write("plan.md")), TRIES

    def leave(name):
        return ("exit_plan_mode", {"plan_filename": name})

    names = (
        "missing.md", f"{PROJECT}/notes.md", "../notes.md", "../../../../../project/notes.md", "link.md", "folder/notes.md", "/etc/hosts",
        "", ".", "plan.md\x00", "~/x.md",
    )
    ways = [[[leave(name)], tries] for name in names]
    return [
        *ways,
        [[plan], [leave("plan.md")], tries],
        [[plan], [leave("plan.md"), *tries]],
        [[plan, leave("plan.md"), *tries], tries],
        [[plan], [*tries, leave("plan.md")], tries],
        [[plan], [leave("plan.md"), leave("plan.md")], tries],
        [[plan], [leave("plan.md"), ("enter_plan_mode", {"reason": "x"}), *tries], tries],
        [[("exit_plan_mode", {})], [("exit_plan_mode", {"plan_path": "plan.md"})], [("ExitPlanMode", {"plan": "x"})], tries],
        [[("exit_plan_mode", {"plan_filename": "plan.md", "approved": True, "approvalMode": "yolo"})], tries],
    ]
