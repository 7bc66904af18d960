"""Tools that are listed by a command from the settings: names, declarations, results, errors."""

from scenario import FLASH, PROJECT, call, case, turns

LIST = """#!/bin/sh
cat <<'END'
[{"name": "echo_it", "description": "Echoes.", "parametersJsonSchema":
   {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}},
 {"function_declarations": [{"name": "fails"}, {"name": "warns", "parameters": {"type": "OBJECT"}}]},
 {"functionDeclarations": [{"name": "dies"}, {"description": "nameless"}, {"name": "where"}]}, 5, null]
END
"""
CALL = """#!/bin/sh
input=$(cat)
case $1 in
  echo_it) printf '%s %s' "$1" "$input";;
  fails) echo out; echo err >&2; exit 3;;
  warns) echo out; echo careful >&2;;
  dies) kill -9 $$;;
  where) pwd;;
esac
"""
SETTINGS = {"tools": {"discoveryCommand": f"{PROJECT}/list.sh", "callCommand": f"{PROJECT}/call.sh"}}
FILES = {"list.sh": LIST, "call.sh": CALL}


def discovered(name, script, **rest):
    case(f"discovered.{name}", files=FILES, **{"settings": SETTINGS, "script": script, **rest})


def called(tool, args, id):
    return call(f"discovered_tool_{tool}", args, id)


discovered("results", turns(called("echo_it", {"text": "hi"}, "text"), called("where", {}, "where"), called("echo_it", {"text": "x", "more": [1]}, "more")))
discovered("failures", turns(called("fails", {}, "code"), called("warns", {"a": 1}, "complaint"), called("dies", {}, "signal")))
discovered("arguments", turns(called("echo_it", {}, "missing"), called("echo_it", {"text": 5}, "type"), called("nothing", {}, "unknown")))
discovered("not_allowed", turns(called("echo_it", {"text": "hi"}, "denied")), argv=FLASH + ["-p", "go"])
