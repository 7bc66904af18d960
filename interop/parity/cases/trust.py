"""Folder trust, `.env` files, and the settings that a project may set."""

from scenario import GO, ROOT, call, case, turns

UNDECIDED = {"GEMINI_CLI_TRUST_WORKSPACE": None}


def show(words):
    return turns(call("run_shell_command", {"command": f'echo "{words}"'}, "show"))


def trusting(folder, level="TRUST_FOLDER"):
    return {".gemini/trustedFolders.json": f'{{"{folder}": "{level}"}}'}


case("trust.undecided", env=UNDECIDED)
case("trust.untrusted", env=UNDECIDED, home=trusting(ROOT + "/project", "DO_NOT_TRUST"))
case("trust.parent", env=UNDECIDED, home=trusting(ROOT))
case("trust.of_the_parent", env=UNDECIDED, home=trusting(ROOT + "/project/sub", "TRUST_PARENT"))
case("trust.broken_file", env=UNDECIDED, home={".gemini/trustedFolders.json": '{"' + ROOT + '/project": "YES"}'})
case("trust.switched_off", env=UNDECIDED, settings={"security": {"folderTrust": {"enabled": False}}})
case("trust.skipped", GO + ["--skip-trust"], env=UNDECIDED)
case("trust.by_variable", env={"GEMINI_CLI_TRUST_WORKSPACE": "true"}, files={".gemini/settings.json": '{"output":{"format":"json"}}'})

case("env.project", env={"GEMINI_API_KEY": None},
     files={".env": 'GEMINI_API_KEY=fromfile\nFOO="a b"\nexport BAR=q # c\nDEBUG=1\nMULTI="x\\ny"\nSQ=\'a\\nb\'\n'},
     script=show("$FOO|$BAR|$DEBUG|$MULTI|$SQ"))
case("env.gemini_folder_first", files={".env": "FOO=plain\n", ".gemini/.env": "FOO=gemini\nDEBUG=0\n"}, script=show("$FOO|$DEBUG"))
case("env.home", home={".gemini/.env": "FOO=first\n", ".env": "FOO=second\n"}, script=show("$FOO"))
case("env.parent", beside={".env": "FOO=parent\n"}, script=show("$FOO"))
case("env.environment_first", env={"FOO": "real"}, files={".env": "FOO=file\n"}, script=show("$FOO"))
case("env.ignored", settings={"advanced": {"ignoreLocalEnv": True}}, files={".env": "FOO=file\n"}, script=show("$FOO"))
