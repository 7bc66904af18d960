"""Extensions: three that are written by hand from the published format, their installation, and
the subcommands."""

import json

from cases.mcp import OBJECT, blocks, server
from cases.mcp import text as words
from scenario import FLASH, GO, YOLO, Step, call, calls, case, text, turns

WHERE = ".gemini/extensions/"
LOOK = [{"name": "look", "description": "Looks.", "inputSchema": OBJECT}]
SEEN = [("look", blocks(words("seen")))]


def manifest(name, **fields):
    return json.dumps({"name": name, "version": "1.0.0", **fields})


# A server, and context for the model.
SURVEY = {
    "gemini-extension.json": manifest(
        "survey",
        contextFileName=["SURVEY.md"],
        mcpServers={"survey": {"command": "${extensionPath}${/}server.sh", "trust": True}},
        excludeTools=["google_web_search"],
    ),
    "server.sh": server(LOOK, SEEN),
    "SURVEY.md": "Ask the survey first.\n",
}
# Commands and hooks.
FLOW = {
    "gemini-extension.json": manifest("flow"),
    "commands/ship.toml": 'description = "Ships"\nprompt = "Ship {{args}} after !{echo checks} and @{a.txt}"\n',
    "commands/flow/undo.toml": 'prompt = "Undo it."\n',
    "hooks/hooks.json": json.dumps({"hooks": {"BeforeAgent": [{"hooks": [
        {"type": "command", "command": "cat > /dev/null; echo ${extensionPath} >> hooked"}
    ]}]}}),
}
# Skills, policies and settings.
FORMS = {
    "gemini-extension.json": manifest(
        "forms", settings=[{"name": "Region", "description": "The region", "envVar": "FORMS_REGION"}]
    ),
    ".env": "FORMS_REGION=eu\n",
    "skills/fill/SKILL.md": "---\nname: fill\ndescription: Fills forms\n---\nFill them in ${FORMS_REGION}.\n",
    "policies/rules.toml": '[[rule]]\ntoolName = "write_file"\ndecision = "deny"\npriority = 100\ndeny_message = "Forms are read only."\n',
}
HELPER = {
    "gemini-extension.json": manifest("crew"),
    "agents/helper.md": "---\nname: helper\ndescription: Helps\n---\nYou are helper in ${extensionPath}. Task: ${query}\n",
}
ALL = {"survey": SURVEY, "flow": FLOW, "forms": FORMS}


def installed(extensions):
    return {f"{WHERE}{name}/{path}": content for name, files in extensions.items() for path, content in files.items()}


A = {"a.txt": "alpha\n"}
WRITE = call("write_file", {"file_path": "b.txt", "content": "x"}, "write")

case("extensions.survey", script=turns(call("mcp_survey_look", {"x": "1"}, "look")), home=installed({"survey": SURVEY}))
case("extensions.survey_asks", [*FLASH, "-p", "go"], script=turns(call("mcp_survey_look", {"x": "1"}, "look")),
     home=installed({"survey": SURVEY}))
case("extensions.flow", [*YOLO, "-p", "/ship it"], home=installed({"flow": FLOW}), files=A)
case("extensions.flow_nested", [*YOLO, "-p", "/flow:undo"], home=installed({"flow": FLOW}))
case("extensions.flow_renamed", [*YOLO, "-p", "/flow:ship it"], files={**A, ".gemini/commands/ship.toml": 'prompt = "Mine"'},
     home=installed({"flow": FLOW}))
case("extensions.forms", script=[calls(call("activate_skill", {"name": "fill"}, "skill")), calls(WRITE), text("done")],
     home=installed({"forms": FORMS}))
case("extensions.together", [*YOLO, "-p", "/ship it"], files=A, home=installed(ALL), script=[
    calls(call("mcp_survey_look", {"x": "1"}, "look"), WRITE), text("done")])
case("extensions.named", [*GO, "-e", "Survey"], files=A, home=installed(ALL))
case("extensions.none", [*GO, "-e", "none"], files=A, home=installed(ALL))
case("extensions.disabled", home={
    **installed(ALL), f"{WHERE}extension-enablement.json": json.dumps({"survey": {"overrides": ["!/*"]}})})
case("subagents.of_extension", home=installed({"crew": HELPER}), script=turns(
    call("invoke_agent", {"agent_name": "helper", "prompt": "look"}, "one"),
    call("complete_task", {"result": "seen"}, "end")))

# Subcommands.
NEW = {f"new/{path}": content for path, content in FLOW.items()}
INSTALL = Step(["extensions", "install", "new", "--consent"])


def verbs(name, *steps, **rest):
    case(f"extensions.{name}", steps=[INSTALL, *(Step(["extensions", *step]) for step in steps)], files=NEW, **rest)


verbs("install")
verbs("install_again", ["install", "new", "--consent"])
verbs("update_current", ["update", "flow"])
verbs("uninstall", ["uninstall", "flow"])
verbs("disable", ["disable", "flow"])
verbs("disable_here", ["disable", "flow", "--scope", "workspace"], ["enable", "flow", "--scope", "workspace"])
case("extensions.link", ["extensions", "link", "new", "--consent"], files=NEW)
case("extensions.install_nothing", ["extensions", "install", "nosuch", "--consent"])
case("extensions.install_ref_of_folder", ["extensions", "install", "new", "--ref", "v1", "--consent"], files=NEW)
case("extensions.install_blocked", ["extensions", "install", "https://extensions.example/o/r", "--consent"],
     settings={"security": {"blockGitExtensions": True}})
case("extensions.install_not_allowed", ["extensions", "install", "new", "--consent"], files=NEW,
     settings={"security": {"allowedExtensions": ["^https://"]}})
case("extensions.install_without_manifest", ["extensions", "install", "new", "--consent"], files={"new/README.md": "x"})
case("extensions.uninstall_unknown", ["extensions", "uninstall", "nosuch"])
case("extensions.uninstall_nothing", ["extensions", "uninstall"])
case("extensions.update_nothing", ["extensions", "update"])
case("extensions.update_none", ["extensions", "update", "--all"])
case("extensions.update_unknown", ["extensions", "update", "nosuch"])
case("extensions.config_unknown", ["extensions", "config", "nosuch"])
