"""Subagents: the tool that invokes them, what their models get, and what their ends are called."""

from scenario import GO, call, calls, case, text, turns


def agent(name, more=""):
    return f"---\nname: {name}\ndescription: Tests things\n{more}---\nYou are {name}. Task: ${{query}}\n"


TESTER = {".gemini/agents/tester.md": agent("tester", "tools: [read_file]\n")}
A = {"a.txt": "a\n"}


def invoke(name, prompt="check a.txt", id="one"):
    return call("invoke_agent", {"agent_name": name, "prompt": prompt}, id)


def complete(result="all good"):
    return call("complete_task", {"result": result}, "end")


READ = call("read_file", {"file_path": "a.txt"}, "read")

case("subagents.reports", GO + ["-o", "stream-json"], files=A, home=TESTER,
     script=turns(invoke("tester"), READ, complete()))
case("subagents.in_default", ["-m", "gemini-2.5-flash", "-p", "go"], files=A, home=TESTER,
     script=turns(invoke("tester"), complete()))
case("subagents.wrong_calls", home=TESTER, script=turns(
    invoke("nosuch", id="unknown"),
    call("invoke_agent", {"agent_name": "tester"}, "without_prompt"),
    call("invoke_agent", {"prompt": "x"}, "without_name"),
    call("invoke_agent", {"agent_name": 1, "prompt": "x"}, "number"),
))
case("subagents.forgets_to_report", home=TESTER,
     script=[calls(invoke("tester")), text("I am done."), text("Really."), text("done")])
case("subagents.other_tool", files=A, home=TESTER, script=turns(
    invoke("tester"), call("glob", {"pattern": "*"}, "other"), complete()))
case("subagents.disabled", home=TESTER, settings={"agents": {"overrides": {"tester": {"enabled": False}}}},
     script=turns(invoke("tester")))
case("subagents.off", home=TESTER, settings={"experimental": {"enableAgents": False}},
     script=turns(invoke("tester")))
case("subagents.investigator", files=A, script=turns(
    invoke("codebase_investigator", "find it"),
    call("complete_task", {"report": {"SummaryOfFindings": "s", "ExplorationTrace": ["t"],
                                      "RelevantLocations": []}}, "end")))
case("subagents.help", script=turns(
    invoke("cli_help", "how?"),
    call("complete_task", {"report": {"answer": "A", "sources": ["b.md"]}}, "end")))
