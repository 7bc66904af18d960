"""Settings: precedence and merging of layers, old keys, variables, and messages about wrong
values."""

import json

from scenario import FLASH, GO, PROJECT, ROOT, call, case, text, turns

X = ["-p", "x"]
LIST = ["--list-sessions"]
PRO, LITE = "gemini-2.5-pro", "gemini-2.5-flash-lite"
FLASH_MODEL = {"model": {"name": "gemini-2.5-flash"}}


def project(**settings):
    """Returns the files of a project with these settings."""
    return {".gemini/settings.json": json.dumps(settings)}


def model(name, user=None, **rest):
    """Registers a case that shows the model chosen by settings and variables only."""
    case(f"settings.{name}", X, settings={"model": {"name": user}} if user else {}, **rest)


# ---- Precedence of layers

model("project_over_user", "gemini-2.5-flash", files=project(model={"name": PRO}))
model("variable_over_project", "gemini-2.5-flash", files=project(model={"name": PRO}), env={"GEMINI_MODEL": LITE})
model("empty_variable", PRO, env={"GEMINI_MODEL": ""})
case("settings.flag_over_variable", FLASH + X, settings={"model": {"name": PRO}}, env={"GEMINI_MODEL": LITE})
model("dotenv_over_project", "gemini-2.5-flash", files={**project(model={"name": PRO}), ".env": f"GEMINI_MODEL={LITE}\n"})
model("own_dotenv_first", files={".gemini/.env": f"GEMINI_MODEL={PRO}\n", ".env": f"GEMINI_MODEL={LITE}\n"})
model("home_dotenv", home={".env": f"GEMINI_MODEL={PRO}\n"})
model("home_gemini_dotenv", home={".gemini/.env": f"GEMINI_MODEL={PRO}\n", ".env": f"GEMINI_MODEL={LITE}\n"})
model("dotenv_under_variable", files={".env": f"GEMINI_MODEL={PRO}\n"}, env={"GEMINI_MODEL": LITE})
case("settings.excluded_from_dotenv", X, settings={**FLASH_MODEL, "advanced": {"excludedEnvVars": ["GEMINI_MODEL"]}},
     files={".env": f"GEMINI_MODEL={PRO}\n"})
case("settings.excluded_but_own_dotenv", X, settings={**FLASH_MODEL, "advanced": {"excludedEnvVars": ["GEMINI_MODEL"]}},
     files={".gemini/.env": f"GEMINI_MODEL={PRO}\n"})
case("settings.format_of_project", FLASH + X, files=project(output={"format": "json"}))
case("settings.null_in_project", FLASH + X, settings={"output": {"format": "json"}}, files=project(output={"format": None}))
case("settings.format_flag_over_project", FLASH + X + ["-o", "text"], files=project(output={"format": "json"}))
case("settings.in_the_home_directory", folder="home", settings={"context": {"includeDirectories": [ROOT + "/inc"]}},
     beside={"inc/a.txt": "a"}, script=turns(call("list_directory", {"dir_path": ROOT + "/inc"}, "list")))
case("settings.defaults_of_the_system", FLASH + X, beside={"sys.json": '{"model":{"name":"gemini-2.5-pro"}}'},
     env={"GEMINI_CLI_SYSTEM_DEFAULTS_PATH": ROOT + "/sys.json"})
case("settings.admin_in_files", GO, settings={"admin": {"secureModeEnabled": True}},
     files=project(admin={"secureModeEnabled": True}))

# ---- Merging of layers

case("settings.exclude_is_joined", settings={"tools": {"exclude": ["glob"]}},
     files=project(tools={"exclude": ["grep_search", "glob"]}))
case("settings.core_is_replaced", settings={"tools": {"core": ["glob", "read_file"]}},
     files=project(tools={"core": ["read_file", "list_directory"]}))
case("settings.folders_are_joined", beside={"one/a.txt": "a", "two/b.txt": "b"},
     settings={"context": {"includeDirectories": [ROOT + "/one"]}},
     files=project(context={"includeDirectories": [ROOT + "/two"]}))
case("settings.one_folder_without_list", beside={"one/a.txt": "a", "two/b.txt": "b"},
     settings={"context": {"includeDirectories": [ROOT + "/one"]}},
     files=project(context={"includeDirectories": ROOT + "/two"}))
case("settings.file_names_are_replaced", settings={"context": {"fileName": ["A.md"]}},
     files={**project(context={"fileName": ["B.md"]}), "A.md": "words of A", "B.md": "words of B"})
case("settings.aliases_are_merged", ["-m", "mine", *X], settings={"modelConfigs": {"customAliases": {"mine": {
    "extends": "chat-base-2.5", "modelConfig": {"model": PRO, "generateContentConfig": {"temperature": 0.3, "seed": 1}}}}}},
     files=project(modelConfigs={"customAliases": {"mine": {"modelConfig": {"generateContentConfig": {"seed": 2}}}}}))
case("settings.excluded_variables_are_joined", X, settings={**FLASH_MODEL, "advanced": {"excludedEnvVars": ["A"]}},
     files={**project(advanced={"excludedEnvVars": ["GEMINI_MODEL"]}), ".env": f"GEMINI_MODEL={PRO}\n"})
case("settings.ignore_files_are_joined", settings={"context": {"fileFiltering": {"customIgnoreFilePaths": [".one"]}}},
     files={**project(context={"fileFiltering": {"customIgnoreFilePaths": [".two"]}}),
            ".one": "a.txt\n", ".two": "b.txt\n", "a.txt": "", "b.txt": "", "c.txt": ""},
     script=turns(*(call("read_file", {"file_path": name}, name) for name in ("a.txt", "b.txt", "c.txt"))))
case("settings.prototype_keys", X,
     settings='{"__proto__": {"model": {"name": "gemini-2.5-pro"}}, "constructor": 1, "ui": {"showCompatibilityWarnings": false}, "model": {"name": "gemini-2.5-flash", "prototype": 2},'
              '"security":{"auth":{"selectedType":"gemini-api-key"}},"general":{"topicUpdateNarration":false}}')

# ---- Variables in values

for name, value, env in (
    ("plain", "$MY_MODEL", {"MY_MODEL": PRO}),
    ("braces", "${MY_MODEL}", {"MY_MODEL": PRO}),
    ("part", "gemini-$GENERATION-pro", {"GENERATION": "2.5"}),
    ("part_in_braces", "gemini-${GENERATION}-pro", {"GENERATION": "2.5"}),
    ("default", "${MY_MODEL:-gemini-2.5-pro}", {}),
    ("default_not_taken", "${MY_MODEL:-gemini-2.5-flash}", {"MY_MODEL": PRO}),
    ("part_that_is_empty", "gemini-2.5${EMPTY:--flash}-pro", {"EMPTY": ""}),
    ("unset", "$MY_MODEL", {}),
    ("unset_in_braces", "${MY_MODEL}", {}),
    ("once_only", "$ONE", {"ONE": "$TWO", "TWO": PRO}),
):
    model(f"variable_{name}", value, env=env)
model("variable_of_dotenv_comes_late", "$MY_MODEL", files={".env": f"MY_MODEL={PRO}\n"})
case("settings.variable_in_list", settings={"tools": {"core": ["$TOOL", "${OTHER:-glob}"]}}, env={"TOOL": "read_file"})
case("settings.variable_in_key", settings={"tools": {"$LIST": ["glob"]}}, env={"LIST": "exclude"})
case("settings.variable_as_boolean", settings={"useWriteTodos": "${TODOS}"}, env={"TODOS": "FALSE"})
case("settings.variable_as_number", settings={"model": {"maxSessionTurns": "${TURNS}"}}, env={"TURNS": "1"},
     files={"a.txt": "x"}, script=turns(call("read_file", {"file_path": "a.txt"}, "read")))

# ---- Old keys

case("settings.old_approval_mode", FLASH + X, settings={"tools": {"approvalMode": "plan"}})
case("settings.old_approval_mode_beaten", FLASH + X,
     settings={"tools": {"approvalMode": "plan"}, "general": {"defaultApprovalMode": "auto_edit"}})
case("settings.old_plan", FLASH + X, settings={"experimental": {"plan": False}})
case("settings.old_plan_beaten", FLASH + X,
     settings={"experimental": {"plan": False}, "general": {"plan": {"enabled": True}}})
case("settings.old_key_of_project", FLASH + X, files=project(experimental={"plan": False}))
case("settings.flat_keys_of_old", X, settings={
    "theme": "Dracula", "selectedAuthType": "oauth-personal", "contextFileName": "X.md", "sandbox": True, "autoAccept": True,
    "coreTools": ["read_file"], "excludeTools": ["glob"], "model": {"name": "gemini-2.5-flash"}}, files={"X.md": "words"})

# ---- Wrong values


def wrong(name, settings, **rest):
    case(f"settings.wrong_{name}", LIST, settings=settings, **rest)


wrong("scalars", {"general": {"vimMode": "yes", "maxAttempts": True, "preferredEditor": 1}, "useWriteTodos": None})
wrong("choices", {"output": {"format": "JSON"}, "ui": {"loadingPhrases": "some"}, "billing": {"overageStrategy": "maybe"}})
wrong("lists", {"tools": {"core": [1, "a", None], "confirmationRequired": "a"}, "policyPaths": {}})
wrong("list_of_skills", {"skills": {"disabled": 1}})
wrong("groups", {"ui": 1, "hooks": 1, "mcpServers": [], "agents": {"overrides": 3}})
wrong("server", {"mcpServers": {"x": {"command": 1, "args": "y", "env": {"A": 1}, "type": "foo", "bogus": 1, "timeout": "5"}}})
wrong("agent", {"agents": {"overrides": {"a": {"bogus": 1, "enabled": 3, "runConfig": {"maxTurns": "x", "more": 1}}, "b": 1}}})
wrong("theme", {"ui": {"customThemes": {"t": {"bogus": 1, "type": "other", "text": {"primary": 1, "x": 2}}}}})
wrong("hooks", {"hooks": {"BeforeTool": [{"matcher": 1, "hooks": [{"command": 1, "timeout": "x", "own": 1}]}, 3], "AfterTool": {}, "Later": [1]}})
wrong("models", {"modelConfigs": {"customOverrides": {}, "modelIdResolutions": {"a": 1}, "modelChains": {"a": 1},
                                  "modelDefinitions": {"a": {"isPreview": "x"}}}, "model": {"summarizeToolOutput": {"t": {"tokenBudget": "x", "y": 1}}}})
wrong("spelt", {"general": {"vimMode": "TRUE", "maxAttempts": " 5 "}, "model": {"compressionThreshold": "0.25"},
                "security": {"auth": {"useExternal": "False"}}})
wrong("bug_command", {"advanced": {"bugCommand": {"more": 1}}})
wrong("many", {"ui": {name: 1 for name in ("hideTips", "hideBanner", "hideFooter", "showSpinner", "showCitations", "debugRainbow", "showLineNumbers")}})
wrong("admin", {"admin": {"mcp": {"config": {"x": {"url": 1}}, "requiredConfig": {"y": {"command": "x"}}}}})
wrong("in_both", {"general": {"vimMode": 1}}, files=project(general={"vimMode": 2}))
wrong("unknown", {"nothing": {"like": "this"}, "general": {"vimmode": True}, "mcp": {"more": 1}})
wrong("either", {"context": {"fileName": 1}, "tools": {"sandbox": 3}})

for name, content in (
    ("empty", ""), ("blank", "  \n"), ("comment", "// nothing\n"), ("null", "null"), ("text", '"x"'), ("tab_in_text", '{"a": "x\ty"}'),
    ("unterminated", '{"a": "b}'), ("single_quotes", "{'a': 1}"), ("more_after", "{} {}"), ("bare_key", "{a: 1}"),
):
    wrong(f"file_{name}", content)
case("settings.broken_in_both", LIST, settings="{", files={".gemini/settings.json": "[]"})
case("settings.comments", X, settings='{ // one\n/* two */ "model": /* three */ {"name": "gemini-2.5-pro"},\n'
     '"url": "http://x//y", "ui": {"showCompatibilityWarnings": false}, "security":{"auth":{"selectedType":"gemini-api-key"}},"general":{"topicUpdateNarration":false}} // end')
case("settings.twice", X, settings='{"model": {"name": "gemini-2.5-flash"}, "model": {"name": "gemini-2.5-pro"},'
     '"ui": {"showCompatibilityWarnings": false}, "security":{"auth":{"selectedType":"gemini-api-key"}},"general":{"topicUpdateNarration":false}}')
