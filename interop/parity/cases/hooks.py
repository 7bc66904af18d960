"""Hooks: every event, the input of hook programs, and the effects of their output."""

import json

from scenario import FLASH, GO, PNG, YOLO, Failure, call, calls, case, text, turns

WRITE = call("write_file", {"file_path": "a.txt", "content": "x"}, "w")
READ = call("read_file", {"file_path": "a.txt"}, "r")
WRITING = [calls(WRITE, say="hello"), text("done")]
NEVER = []

# Saves the input of a hook program, without the values that vary from run to run, in a file of the
# project.
KEEP = (
    "python3 -c 'import json,sys; e=json.load(sys.stdin); "
    "[e.pop(k) for k in (\"session_id\",\"transcript_path\",\"timestamp\")]; "
    "[r.update(messages=len(r[\"messages\"])) for r in [e.get(\"llm_request\")] if r]; "
    "r=e.get(\"tool_response\"); "
    "d=r and r.get(\"returnDisplay\"); isinstance(d,dict) and r.update(returnDisplay=d.get(\"fileName\")); "
    "open(\"events\",\"a\").write(json.dumps(e,sort_keys=True)+chr(10))'"
)


def says(reply):
    """Returns a command line that prints this reply."""
    return "cat > /dev/null; printf '%s' '" + json.dumps(reply).replace("'", "'\\''") + "'"


def special(**fields):
    """Returns a reply with the fields that are specific to an event."""
    return says({"hookSpecificOutput": fields})


def at(event, command, matcher=None, sequential=None, **fields):
    """Returns settings with one or several command lines at an event."""
    commands = [command] if isinstance(command, str) else command
    definition = {"hooks": [{"type": "command", "command": one, **fields} for one in commands]}
    if matcher is not None:
        definition["matcher"] = matcher
    if sequential is not None:
        definition["sequential"] = sequential
    return {event: [definition]}


def hooks(name, *settings, script=None, argv=None, more=None, **rest):
    """Registers a case whose hooks are all these settings together."""
    together = {}
    for one in settings:
        for event, definitions in one.items():
            together.setdefault(event, []).extend(definitions)
    script = [text("done")] if script is None else script
    case(f"hooks.{name}", GO if argv is None else argv, script=script,
         settings={"hooks": together, **(more or {})}, **rest)


def formats(name, *settings, script=None):
    """Registers the same case in all three formats."""
    for form in ("text", "json", "stream-json"):
        hooks(f"{name}.{form}", *settings, script=script, argv=[*YOLO, "-o", form, "-p", "go"])


# ---- Input of hook programs

for event in ("SessionStart", "SessionEnd", "BeforeAgent", "AfterAgent", "BeforeModel", "BeforeToolSelection", "AfterModel",
              "BeforeTool", "AfterTool", "PreCompress", "Notification"):
    hooks(f"input.{event}", at(event, KEEP), script=WRITING)
hooks("input.failed_call", at("AfterTool", KEEP), script=[calls(READ), text("done")])
hooks("input.file_in_prompt", at("BeforeAgent", KEEP), argv=[*YOLO, "-p", "see @a.txt"], files={"a.txt": "hello"})
hooks("input.image_in_prompt", at("BeforeAgent", KEEP), at("AfterAgent", KEEP), argv=[*YOLO, "-p", "see @a.png"], files={"a.png": PNG})
hooks("input.image_read", at("AfterTool", KEEP), at("BeforeModel", KEEP), files={"a.png": PNG},
      script=[calls(call("read_file", {"file_path": "a.png"}, "r")), text("done")])
hooks("input.two_answers", at("AfterAgent", KEEP), script=WRITING)
hooks("input.answer_without_words", at("AfterModel", KEEP), script=[calls(WRITE), text("done")])
hooks("input.thoughts", at("AfterModel", KEEP),
      script=[[{"candidates": [{"content": {"role": "model", "parts": [{"text": "hm", "thought": True}, {"text": "hi"}]},
                                "finishReason": "STOP", "index": 0}]}]])
hooks("input.environment", at("BeforeAgent", "pwd > out; printenv GEMINI_PROJECT_DIR GEMINI_CWD CLAUDE_PROJECT_DIR OWN >> out; "
                             "test -n \"$(printenv GEMINI_SESSION_ID)\" && test -n \"$(printenv GEMINI_PLANS_DIR)\" && echo both >> out", env={"OWN": "mine"}))
hooks("input.names", at("BeforeAgent", "echo $GEMINI_PROJECT_DIR \"$GEMINI_CWD\" '$CLAUDE_PROJECT_DIR' > out"))

# ---- Exit codes and output

for name, command in {
    "nothing": "true",
    "words": "echo hi",
    "words_on_stderr": "echo hi >&2",
    "one": "echo hi; exit 1",
    "two": "echo no; exit 2",
    "two_on_stderr": "echo no >&2; exit 2",
    "two_silent": "exit 2",
    "two_with_json": "echo '{\"a\":1}'; exit 2",
    "seventy": "echo no; exit 70",
    "one_with_json": "echo '{\"decision\":\"deny\",\"reason\":\"r\"}'; exit 1",
    "json_on_stderr": "echo '{\"decision\":\"deny\",\"reason\":\"r\"}' >&2",
    "json_twice": "echo '\"{\\\"decision\\\":\\\"deny\\\",\\\"reason\\\":\\\"r\\\"}\"'",
    "number": "echo 5; exit 2",
    "list": "echo '[1]'",
    "broken_json": "echo '{\"decision\": \"deny\"'",
    "missing_program": "/no/such/program",
    "no_text": "printf '\\377\\376'; exit 2",
    "signal": "kill -9 $$",
    "unread": "exec 0<&-; echo hi",
}.items():
    hooks(f"exit.{name}", at("BeforeAgent", command))
hooks("exit.time_limit", at("BeforeAgent", "sleep 3; echo '{\"decision\":\"deny\"}'", timeout=300))

# ---- Prompts

formats("prompt.denied", at("BeforeAgent", says({"decision": "deny", "reason": "no"})), script=NEVER)
formats("prompt.stopped", at("BeforeAgent", says({"continue": False, "stopReason": "s", "reason": "r"})), script=NEVER)
hooks("prompt.stopped_with_message", at("BeforeAgent", says({"continue": False, "stopReason": "s", "systemMessage": "m"})), script=NEVER)
hooks("prompt.without_reason", at("BeforeAgent", says({"decision": "block"})), script=NEVER)
hooks("prompt.context", at("BeforeAgent", special(additionalContext="ctx <b> & c")))
hooks("prompt.context_of_two", at("BeforeAgent", [special(additionalContext="one"), special(additionalContext="two")]))
hooks("prompt.matcher", at("BeforeAgent", says({"decision": "deny", "reason": "no"}), matcher="nothing"), script=NEVER)
hooks("session.context", at("SessionStart", special(additionalContext="ctx <b>")))
hooks("session.matcher", at("SessionStart", special(additionalContext="a"), matcher="startup"),
      at("SessionStart", special(additionalContext="b"), matcher="start.*"))
hooks("session.denied", at("SessionStart", says({"decision": "deny", "continue": False, "reason": "r"})))
hooks("session.ended", at("SessionEnd", "sleep 1; echo ended > out", matcher="exit"))
hooks("end.blocked", at("AfterAgent", "grep -q 'stop_hook_active\":false' && echo '{\"decision\":\"block\",\"reason\":\"more\"}'; true"),
      script=[text("a"), text("b")])
hooks("end.blocked_and_forgotten",
      at("AfterAgent", "grep -q 'stop_hook_active\":false' && echo '{\"decision\":\"block\",\"reason\":\"more\",\"hookSpecificOutput\":{\"clearContext\":true}}'; true"),
      script=[text("a"), text("b")])
formats("end.stopped", at("AfterAgent", says({"continue": False, "stopReason": "s"})))
hooks("end.told_again", at("AfterAgent", KEEP + "; test $(wc -l < events) -lt 3 && echo '{\"decision\":\"deny\",\"reason\":\"more\"}'; true"),
      script=[text("a"), text("b"), text("c")])

# ---- Requests and answers

SYNTHETIC = {"candidates": [{"content": {"role": "model", "parts": ["synth"]}}]}
formats("request.answered", at("BeforeModel", says({"decision": "deny", "reason": "r", "hookSpecificOutput": {"llm_response": SYNTHETIC}})), script=NEVER)
hooks("request.denied", at("BeforeModel", says({"decision": "deny", "reason": "no"})), at("AfterAgent", KEEP), script=NEVER)
formats("request.stopped", at("BeforeModel", says({"continue": False, "stopReason": "s"})), script=NEVER)
hooks("request.answer_without_denial", at("BeforeModel", special(llm_response=SYNTHETIC)))
hooks("request.messages", at("BeforeModel", special(llm_request={"messages": [{"role": "user", "content": "NEW"}]})))
hooks("request.more_messages",
      at("BeforeModel", special(llm_request={"messages": [{"role": "user", "content": "A"}, {"role": "model", "content": "B"}, {"role": "user", "content": "C"}]})))
hooks("request.model", at("BeforeModel", special(llm_request={"model": "gemini-2.5-pro"})))
hooks("request.whole_config", at("BeforeModel", special(llm_request={"config": {"temperature": 0.1, "topP": 0.5, "topK": 3, "maxOutputTokens": 99}})))
hooks("request.part_of_config", at("BeforeModel", special(llm_request={"config": {"temperature": 0.1}})))
hooks("request.one_after_the_other",
      at("BeforeModel", [special(llm_request={"model": "gemini-2.5-pro"}), KEEP], sequential=True))
for mode in ("NONE", "ANY", "AUTO"):
    hooks(f"tools.{mode}", at("BeforeToolSelection", special(toolConfig={"mode": mode, "allowedFunctionNames": ["glob", "read_file"]})))
hooks("tools.union", at("BeforeToolSelection", [special(toolConfig={"mode": "ANY", "allowedFunctionNames": ["read_file"]}),
                                                special(toolConfig={"mode": "AUTO", "allowedFunctionNames": ["glob"]})]))
REPLACED = {"candidates": [{"content": {"role": "model", "parts": ["[cut]"]}, "finishReason": "STOP"}]}
formats("answer.replaced", at("AfterModel", special(llm_response=REPLACED)))
hooks("answer.replaced_by_nothing", at("AfterModel", special(llm_response={"text": "T"})))
hooks("answer.stopped", at("AfterModel", says({"continue": False, "stopReason": "s"})))
hooks("answer.denied", at("AfterModel", says({"decision": "deny", "reason": "no"})))

# ---- Calls

formats("call.denied", at("BeforeTool", says({"decision": "deny", "reason": "no"})), script=WRITING)
formats("call.stopped", at("BeforeTool", says({"continue": False, "stopReason": "s"})), script=WRITING)
hooks("call.denied_by_exit", at("BeforeTool", "echo no >&2; exit 2"), script=WRITING)
hooks("call.denied_by_one_of_two", at("BeforeTool", [says({"decision": "deny", "reason": "a"}), says({"decision": "allow"})]), script=WRITING)
hooks("call.denied_by_two", at("BeforeTool", [says({"decision": "deny", "reason": "a"}), says({"decision": "block", "reason": "b"})]), script=WRITING)
for name, matcher in {"name": "write_file", "part": "write", "other": "read", "alternatives": "replace|write_file", "anchored": "^file",
                      "star": "*", "blank": " ", "letters": "WRITE", "broken": "write_file[", "lookahead": "^(?!read)"}.items():
    hooks(f"matcher.{name}", at("BeforeTool", says({"decision": "deny", "reason": "no"}), matcher=matcher), script=WRITING)
hooks("call.rewritten", at("BeforeTool", special(tool_input={"file_path": "b.txt", "content": "y"})), at("AfterTool", KEEP), script=WRITING)
hooks("call.rewritten_badly", at("BeforeTool", special(tool_input={"file_path": "b.txt"})), script=WRITING)
hooks("call.rewritten_in_turn",
      at("BeforeTool", [special(tool_input={"content": "y"}), KEEP], sequential=True), script=WRITING)
formats("result.stopped", at("AfterTool", says({"continue": False, "stopReason": "s"})), script=WRITING)
hooks("result.denied", at("AfterTool", says({"decision": "deny", "reason": "no"})), script=WRITING)
hooks("result.context", at("AfterTool", special(additionalContext="ctx <b>&")), script=WRITING)
hooks("result.context_of_failure", at("AfterTool", special(additionalContext="ctx")), script=[calls(READ), text("done")])
hooks("result.tail", at("AfterTool", special(tailToolCallRequest={"name": "read_file", "args": {"file_path": "a.txt"}}), matcher="write_file"),
      at("BeforeTool", KEEP), script=WRITING)
hooks("result.tail_unknown", at("AfterTool", special(tailToolCallRequest={"name": "nope", "args": {}}), matcher="write_file"), script=WRITING)

# ---- Settings

hooks("settings.disabled", at("BeforeAgent", "echo no; exit 2", name="guard"), more={"hooksConfig": {"disabled": ["guard"]}})
hooks("settings.disabled_by_command", at("BeforeAgent", "echo no; exit 2"), more={"hooksConfig": {"disabled": ["echo no; exit 2"]}})
hooks("settings.all_off", at("BeforeAgent", "echo no; exit 2"), more={"hooksConfig": {"enabled": False}})
hooks("settings.twice", at("BeforeAgent", "echo x >> out"), at("BeforeAgent", "echo x >> out"))
hooks("settings.of_the_project", files={".gemini/settings.json": json.dumps({"hooks": at("BeforeAgent", "echo project > out")})})
hooks("settings.of_both", at("BeforeAgent", "echo user >> out", sequential=True),
      files={".gemini/settings.json": json.dumps({"hooks": at("BeforeAgent", "echo project >> out", sequential=True)})})
