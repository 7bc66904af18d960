"""Command lines and settings: error messages, and the data that reaches the model."""

import json

from run_case import BASE_SETTINGS
from scenario import GO, YOLO, call, calls, case, text

REFUSED = {
    "unknown": ["--bogus", "-p", "x"],
    "unknown_short": ["-Z"],
    "two_unknown": ["--bogus", "--bogus2", "-p", "x"],
    "removed": ["--all-files", "-p", "x"],
    "positional_and_prompt": ["hi", "-p", "x"],
    "prompt_and_interactive": ["-p", "x", "-i", "y"],
    "unknown_format": ["-o", "xml", "-p", "x"],
    "two_bad_choices": ["--approval-mode", "nope", "-o", "xml", "-p", "x"],
    "prompt_without_value": ["-p"],
    "model_without_value": ["-m"],
    "format_without_value": ["-p", "x", "-o"],
    "worktree": ["-w", "-p", "x"],
    "interactive_without_terminal": ["-i", "x"],
}
for name, argv in REFUSED.items():
    case(f"arguments.{name}", argv, env={"GEMINI_MODEL": "gemini-2.5-flash"})

ACCEPTED = {
    "version": ["--version"],
    "version_short": ["-v"],
    "camel_case": ["--approvalMode", "plan", "--outputFormat", "json", "-p", "x"],
    "flag_with_value": ["--yolo=false", "-p", "x"],
    "flag_negated": ["--no-yolo", "-p", "x"],
    "model_twice": ["-m", "a", "-m", "gemini-2.5-flash", "-p", "x"],
    "prompt_twice": ["-p", "x", "-p", "y"],
    "double_dash": ["--", "-p", "x"],
    "short_with_equals": ["-p=x"],
    "list_extensions": ["--list-extensions"],
}
for name, argv in ACCEPTED.items():
    case(f"arguments.{name}", argv, env={"GEMINI_MODEL": "gemini-2.5-flash"})

MODELS = ["gemini-2.5-pro", "gemini-2.5-flash-lite", "gemini-3-flash-preview", "gemini-3.1-pro-preview", "gemini-3.5-flash",
          "flash", "pro", "flash-lite", "my-model", "models/gemini-2.5-pro"]
for model in MODELS:
    case(f"model.{model.replace('/', '_')}", ["-m", model, "-p", "x"])
case("model.glued", ["-mgemini-2.5-pro", "-p", "x"])
case("model.empty", ["-m", "", "-p", "x"])


def setting(name, settings, argv=None, **rest):
    case(f"settings.{name}", argv, settings=settings, **rest)


X = ["-p", "x"]
READ = call("read_file", {"file_path": "a.txt"}, "read")
MANY = [calls(READ), calls(call("list_directory", {"dir_path": "."}, "list")), text("k")]
for form in ("text", "json", "stream-json"):
    setting(f"max_turns_{form}", {"model": {"maxSessionTurns": 1}}, GO + ["-o", form], files={"a.txt": "x"}, script=MANY)
setting("max_turns_two", {"model": {"maxSessionTurns": 2}}, files={"a.txt": "x"}, script=MANY)
setting("max_turns_zero", {"model": {"maxSessionTurns": 0}})
setting("trailing_comma", '{"security":{"auth":{"selectedType":"gemini-api-key"}}, "a": 1,}')
setting("not_json", '{"a": }')
setting("not_json_json", '{"a": }', GO + ["-o", "json"])
setting("list", "[]")
setting("wrong_types", {"model": {"maxSessionTurns": "abc"}, "ui": {"hideTips": "maybe"}})
setting("unknown_choice", {"output": {"format": "yaml"}})
setting("model", {"model": {"name": "gemini-2.5-pro"}}, X)
setting("model_by_variable", {"model": {"name": "gemini-2.5-pro"}}, X, env={"GEMINI_MODEL": "gemini-2.5-flash-lite"})
setting("interpolation", {"model": {"name": "${MY_MODEL:-gemini-2.5-flash}"}}, X)
setting("project", {"model": {"name": "gemini-2.5-flash"}}, X,
        files={".gemini/settings.json": '{"model":{"name":"gemini-2.5-pro"}} // comment'})
setting("system", {"model": {"name": "gemini-2.5-flash"}}, X, beside={"sys.json": '{"model":{"name":"gemini-2.5-pro"}}'},
        env={"GEMINI_CLI_SYSTEM_SETTINGS_PATH": "<root>/sys.json"})
setting("alias", {"modelConfigs": {"customAliases": {"mine": {"extends": "chat-base-2.5", "modelConfig": {
    "model": "gemini-2.5-pro",
    "generateContentConfig": {"temperature": 0.3, "stopSequences": ["Q"], "maxOutputTokens": 77}}}}}},
        ["-m", "mine", "-p", "x"])
setting("override", {"modelConfigs": {"customOverrides": [{"match": {"model": "gemini-2.5-flash"}, "modelConfig": {
    "generateContentConfig": {"seed": 4, "topK": 3, "thinkingConfig": {"thinkingBudget": 1}}}}]}})
setting("own_home", {}, env={"GEMINI_CLI_HOME": "<root>/other"}, beside={
    "other/.gemini/settings.json": json.dumps(BASE_SETTINGS),
    "other/.gemini/GEMINI.md": "other words"})
NO_KEY = {"GEMINI_API_KEY": None}
NOTHING = {**NO_KEY, "GOOGLE_GEMINI_BASE_URL": None}
for form in ("text", "json", "stream-json"):
    case(f"auth.none_{form}", GO + ["-o", form], settings="{}", env=NOTHING)
case("auth.no_key", env=NO_KEY)
case("auth.enforced_other", settings={"security": {"auth": {"enforcedType": "oauth-personal"}}})
case("auth.unknown_kind", settings={"security": {"auth": {"selectedType": "nope"}}})
case("auth.vertex_without_project", env=NO_KEY, settings={"security": {"auth": {"selectedType": "vertex-ai"}}})
case("auth.custom_headers", env={"GEMINI_CLI_CUSTOM_HEADERS": "X-A: b, X-C:d,e"})
case("auth.enforced_and_external", env=NO_KEY, settings={"security": {"auth": {
    "selectedType": "gemini-api-key", "enforcedType": "oauth-personal", "useExternal": True}}})
case("auth.bad_base_url", env={"GOOGLE_GEMINI_BASE_URL": "nope"})
case("auth.bad_base_url_json", GO + ["-o", "json"], env={"GOOGLE_GEMINI_BASE_URL": "nope"})
case("model.empty_with_variable", ["-m", "", "-p", "x"], env={"GEMINI_MODEL": "gemini-2.5-flash"})
for model in ("gemini-3-flash", "gemini-3.1-flash-lite"):
    case(f"model.{model}", ["-m", model, "-p", "x"])
case("arguments.prompt_empty_and_words", ["-m", "gemini-2.5-flash", "-p", "", "hello", "there"])
case("arguments.debug_by_variable", GO, env={"DEBUG": "1"})
case("arguments.sandbox_off", GO + ["--no-sandbox"], settings={"tools": {"sandbox": True}})
case("arguments.sandbox_inside", GO + ["--sandbox"], env={"SANDBOX": "box"})
setting("maximum_of_attempts", {"general": {"maxAttempts": 0}})
setting("aliases", {"modelConfigs": {"aliases": {"mine": {"extends": "chat-base", "modelConfig": {"model": "gemini-2.5-pro"}}}}},
        ["-m", "mine", "-p", "x"])
setting("aliases_beside_known", {"modelConfigs": {"aliases": {"mine": {"modelConfig": {"model": "gemini-2.5-pro"}}}}},
        ["-m", "gemini-2.5-pro", "-p", "x"])
setting("override_of_bases", {"modelConfigs": {"customOverrides": [
    {"match": {"model": "chat-base"}, "modelConfig": {"generateContentConfig": {"seed": 1, "topK": 1}}},
    {"match": {"model": "my-model"}, "modelConfig": {"generateContentConfig": {"seed": 2}}},
    {"match": {"model": "my-model", "isRetry": False}, "modelConfig": {"generateContentConfig": {"topK": 9}}}]}},
        ["-m", "my-model", "-p", "x"])
setting("sandbox_by_variable", {"tools": {"sandbox": {"enabled": "${ON}"}}}, env={"ON": "false"})
for command in ("model", "settings", "theme", "auth", "editor", "quit", "clear", "stats", "tools", "mcp", "memory show", "compress",
                "chat list", "copy", "docs", "bug", "privacy", "init", "directory show", "extensions", "vim", "policies list",
                "resume", "rewind", "permissions", "terminal-setup", "ide", "hooks", "skills", "agents", "plan", "shells", "restore", "profile",
                "setup-github", "upgrade", "footer", "corgi", "help", "about", "memory", "directory", "mcp list", "theme dark", "tasks", "agents list"):
    case(f"slash.{command.replace(' ', '_')}", GO[:-1] + ["/" + command])
