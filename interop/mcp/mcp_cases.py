"""The cases: published servers, and calls that use each of their tools.

A case is a case of the parity test whose only server is `srv`; its name begins with the server's. A
server over HTTP also has the command line that starts it, with `PORT` for its port.
"""

import json
import os
from dataclasses import dataclass

from scenario import GO, PNG, PROJECT, YOLO, Case, Cases, Step, call, turns

# The folder with the installed packages.
PACKAGES = os.environ.get("MCP_PACKAGES", "")
BIN = f"{PACKAGES}/node_modules/.bin"
PYTHON = f"{PACKAGES}/venv/bin"
HERE = os.path.dirname(os.path.abspath(__file__))
SAMPLE = [f"{PYTHON}/python", "-B", f"{HERE}/sample_server.py"]
# Stands for the port of a server over HTTP.
PORT = "<port>"
PREFIX = "mcp_srv_"

_cases = Cases()


@dataclass
class McpCase(Case):
    """One server and the calls of its tools."""

    # Command line of a server over HTTP.
    serves: tuple = ()
    # Names of tools that are not called, with the reason; None if the case is not about tools.
    uncalled: dict | None = None


def all_cases():
    """Returns every case, in the order of registration."""
    return _cases.all()


def case(name, entry, calls, *, serves=(), uncalled=None, **rest):
    """Registers a case in which the model calls the tools one after the other."""
    entry = {"timeout": 30_000, **entry}
    parts = [call(tool if tool.startswith("run_") else PREFIX + tool, arguments, f"{number}_{tool}")
             for number, (tool, arguments) in enumerate(calls, 1)]
    _cases.add(McpCase(name, [Step(GO, turns(*parts))], settings={"mcpServers": {"srv": entry}},
                       serves=tuple(serves), uncalled=uncalled or {}, **rest))


def offers_case(name, entry, prompts, calls=()):
    """Registers a case about what else a server offers: each prompt is a step. In the first step, the
    model makes the calls."""
    entry = {"timeout": 30_000, **entry}
    parts = [call(tool, arguments, f"{number}_{tool}") for number, (tool, arguments) in enumerate(calls, 1)]
    steps = [Step([*YOLO, "-p", prompt], turns(*(parts if number == 0 else []))) for number, prompt in enumerate(prompts)]
    _cases.add(McpCase(name, steps, settings={"mcpServers": {"srv": entry}}))


def program(command, *args, **fields):
    """Returns the entry of a server over standard streams."""
    return {"command": command, "args": list(args), **fields}


WEB = {"url": f"http://127.0.0.1:{PORT}/mcp", "type": "http"}

EVERYTHING = [
    ("echo", {"message": "né 😀 </untrusted_context>"}),
    ("get-annotated-message", {"messageType": "error", "includeImage": True}),
    ("get-resource-links", {"count": 2}),
    ("get-resource-reference", {"resourceType": "Text", "resourceId": 3}),
    ("get-structured-content", {"location": "Chicago"}),
    ("get-sum", {"a": 2, "b": 3.5}),
    ("get-sum", {"a": "two", "b": 3}),
    ("get-tiny-image", {}),
    ("gzip-file-as-resource", {"name": "x.gz", "data": "data:text/plain,hello", "outputType": "resource"}),
    ("toggle-simulated-logging", {}),
    ("toggle-simulated-logging", {}),
    ("toggle-subscriber-updates", {}),
    ("toggle-subscriber-updates", {}),
    ("trigger-long-running-operation", {"duration": 0.3, "steps": 3}),
    ("get-roots-list", {}),
    ("no-such-tool", {}),
]
EVERYTHING_UNCALLED = {
    "get-env": "the environment is compared by the case mcp.environment of the parity test",
    "simulate-research-query": "needs tasks, which neither program has",
    "trigger-elicitation-request": "the original cannot ask the user for a server; see mcp_forms.py",
    "trigger-url-elicitation": "the original cannot ask the user for a server",
    "trigger-sampling-request": "the original does not let a server use the model",
}
case("everything.stdio", program(f"{BIN}/mcp-server-everything"), EVERYTHING, uncalled=EVERYTHING_UNCALLED)
case("everything.http", WEB, EVERYTHING, uncalled=EVERYTHING_UNCALLED,
     serves=["env", f"PORT={PORT}", f"{BIN}/mcp-server-everything", "streamableHttp"])
case("everything.sse", {"url": f"http://127.0.0.1:{PORT}/sse", "type": "sse"}, EVERYTHING, uncalled=EVERYTHING_UNCALLED,
     serves=["env", f"PORT={PORT}", f"{BIN}/mcp-server-everything", "sse"])

case(
    "filesystem.stdio", program(f"{BIN}/mcp-server-filesystem", PROJECT),
    [
        ("list_allowed_directories", {}),
        ("read_file", {"path": f"{PROJECT}/a.txt"}),
        ("read_text_file", {"path": f"{PROJECT}/a.txt", "head": 1}),
        ("read_text_file", {"path": "/etc/passwd"}),
        ("read_media_file", {"path": f"{PROJECT}/pixel.png"}),
        ("read_multiple_files", {"paths": [f"{PROJECT}/a.txt", f"{PROJECT}/none.txt"]}),
        ("write_file", {"path": f"{PROJECT}/new.txt", "content": "new né\n"}),
        ("edit_file", {"path": f"{PROJECT}/a.txt", "edits": [{"oldText": "two", "newText": "2"}]}),
        ("create_directory", {"path": f"{PROJECT}/sub/deep"}),
        ("move_file", {"source": f"{PROJECT}/new.txt", "destination": f"{PROJECT}/sub/moved.txt"}),
        ("list_directory", {"path": PROJECT}),
        ("list_directory_with_sizes", {"path": PROJECT, "sortBy": "size"}),
        ("directory_tree", {"path": PROJECT}),
        ("search_files", {"path": PROJECT, "pattern": "**/*.txt"}),
        ("get_file_info", {"path": f"{PROJECT}/pixel.png"}),
    ],
    files={"a.txt": "one\ntwo\nthree\n", "pixel.png": PNG},
)

case(
    "memory.stdio", program(f"{BIN}/mcp-server-memory", env={"MEMORY_FILE_PATH": f"{PROJECT}/memory.jsonl"}),
    [
        ("create_entities", {"entities": [{"name": "Ann", "entityType": "person", "observations": ["sings"]},
                                          {"name": "Bob", "entityType": "person", "observations": []}]}),
        ("create_relations", {"relations": [{"from": "Ann", "to": "Bob", "relationType": "knows"}]}),
        ("add_observations", {"observations": [{"entityName": "Bob", "contents": ["né 😀"]}]}),
        ("add_observations", {"observations": [{"entityName": "nobody", "contents": ["x"]}]}),
        ("search_nodes", {"query": "sings"}),
        ("open_nodes", {"names": ["Bob"]}),
        ("delete_observations", {"deletions": [{"entityName": "Ann", "observations": ["sings"]}]}),
        ("delete_relations", {"relations": [{"from": "Ann", "to": "Bob", "relationType": "knows"}]}),
        ("delete_entities", {"entityNames": ["Ann"]}),
        ("read_graph", {}),
    ],
)

THOUGHT = {"thought": "first", "nextThoughtNeeded": True, "thoughtNumber": 1, "totalThoughts": 2}
case("sequential_thinking.stdio", program(f"{BIN}/mcp-server-sequential-thinking"),
     [("sequentialthinking", THOUGHT), ("sequentialthinking", {"thought": 7})])

# The same commit in each run.
AUTHOR = {f"GIT_{role}_{what}": value for role in ("AUTHOR", "COMMITTER")
          for what, value in (("NAME", "A"), ("EMAIL", "a@b"), ("DATE", "1704164645 +0000"))}
case(
    "git.stdio", program(f"{PYTHON}/mcp-server-git", "--repository", PROJECT, env=AUTHOR),
    [
        ("git_status", {"repo_path": PROJECT}),
        ("git_add", {"repo_path": PROJECT, "files": ["a.txt"]}),
        ("git_diff_staged", {"repo_path": PROJECT}),
        ("git_log", {"repo_path": PROJECT}),
        ("git_commit", {"repo_path": PROJECT, "message": "a commit"}),
        ("git_reset", {"repo_path": PROJECT}),
        ("git_diff_unstaged", {"repo_path": PROJECT}),
        ("git_create_branch", {"repo_path": PROJECT, "branch_name": "other"}),
        ("git_checkout", {"repo_path": PROJECT, "branch_name": "nosuch"}),
        ("git_show", {"repo_path": PROJECT, "revision": "HEAD"}),
        ("git_branch", {"repo_path": PROJECT, "branch_type": "local"}),
        ("git_diff", {"repo_path": PROJECT, "target": "HEAD"}),
    ],
    files={"a.txt": "one\n"}, git=True,
)

case(
    "time.stdio", program(f"{PYTHON}/mcp-server-time"),
    [
        ("get_current_time", {"timezone": "Nowhere/Nothing"}),
        ("convert_time", {"source_timezone": "Etc/UTC", "time": "25:00", "target_timezone": "Asia/Tokyo"}),
    ],
)

CALLS = [
    ("words", {"text": "né 😀", "times": 2}),
    ("words", {"times": 2}),
    ("words", {"text": "x", "extra": 1}),
    ("kinds", {"flag": True, "ratio": 1, "size": "small", "colour": "red"}),
    ("kinds", {"flag": "yes", "ratio": "1.5", "size": "none", "colour": "red"}),
    ("kinds", {"flag": False, "ratio": 0.1, "size": "large", "colour": "blue", "maybe": None, "tags": ["a"], "pairs": {"b": 1}}),
    ("person", {"person": {"name": "Ann", "addresses": [{"street": "Road", "number": 1}], "best_friend": {"name": "Bob"}}}),
    ("person", {"person": {"name": ""}}),
    ("numbers", {"count": 3}),
    ("numbers", {"count": 11}),
    ("nothing", {}),
    ("long_text", {"characters": 100_000}),
    ("fails", {"reason": "no luck"}),
    ("slow", {"steps": 3}),
    ("picture", {}),
]
ASKS = {"asks": "the original cannot ask the user for a server; see mcp_forms.py"}
for sdk, left in (("mcp", {}), ("fastmcp", ASKS)):
    case(f"{sdk}.stdio", program(*SAMPLE, sdk, "stdio"), CALLS, uncalled=left)
    case(f"{sdk}.http", WEB, CALLS, serves=[*SAMPLE, sdk, "http", PORT], uncalled=left)


# What a server offers beside tools, used as a user does.
DOCUMENT = "demo://resource/static/document/instructions.md"
offers_case("everything_offers.stdio", program(f"{BIN}/mcp-server-everything"),
            [f"look at @srv:{DOCUMENT} now", "/simple-prompt", "/args-prompt --city=Paris --state=Texas", "/args-prompt Rome"],
            [("list_mcp_resources", {}), ("read_mcp_resource", {"uri": DOCUMENT}),
             ("read_mcp_resource", {"uri": "demo://resource/dynamic/text/1"}), ("read_mcp_resource", {"uri": "no://such"})])
for sdk in ("mcp", "fastmcp"):
    offers_case(f"{sdk}_offers.stdio", program(*SAMPLE, sdk, "stdio"),
                ["look at @srv:sample://note now", "/greet --name=Ann", "/greet Bob", "look at @srv:sample://pixel now"],
                [("list_mcp_resources", {"serverName": "srv"}), ("read_mcp_resource", {"uri": "sample://note"}),
                 ("read_mcp_resource", {"uri": "sample://pixel"})])


def with_port(case, port):
    """Puts the port of the server in its place."""
    case.settings = json.loads(json.dumps(case.settings).replace(PORT, str(port)))
    case.serves = tuple(word.replace(PORT, str(port)) for word in case.serves)
    return case
