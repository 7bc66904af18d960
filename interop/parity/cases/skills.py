"""Agent skills: the tool of the model, and the subcommands that install, list and change skills."""

from scenario import FLASH, GO, HOME, call, case, turns


def skill(name, description="D", body="Body"):
    return f"---\nname: {name}\ndescription: {description}\n---\n{body}\n"


PDF = {
    ".gemini/skills/pdf/SKILL.md": skill("pdf", "Fills forms", "Run fill.sh.\n\nThen stop."),
    ".gemini/skills/pdf/notes.md": "Mind the margins.",
    ".gemini/skills/pdf/bin/fill.sh": "echo filled",
}


def activated(name, *parts, argv=GO, **rest):
    case(f"skills.{name}", argv, script=turns(*parts), **rest)


activated("activate", call("activate_skill", {"name": "pdf"}), home=PDF)
activated("activate_of_project", call("activate_skill", {"name": "pdf"}), files=PDF)
activated("read_after", call("activate_skill", {"name": "pdf"}),
          call("read_file", {"file_path": f"{HOME}/.gemini/skills/pdf/notes.md"}), home=PDF)
activated("run_script", call("activate_skill", {"name": "pdf"}),
          call("run_shell_command", {"command": f"sh {HOME}/.gemini/skills/pdf/bin/fill.sh"}), home=PDF)
activated("alone", call("activate_skill", {"name": "pdf"}), home={".gemini/skills/SKILL.md": skill("pdf")})
activated("agents_folder", call("activate_skill", {"name": "pdf"}),
          home={".agents/skills/pdf/SKILL.md": skill("pdf", "Later"), **PDF})
activated("empty_body", call("activate_skill", {"name": "pdf"}),
          home={".gemini/skills/pdf/SKILL.md": skill("pdf", body="")})
activated("colon", call("activate_skill", {"name": "pdf"}),
          home={".gemini/skills/pdf/SKILL.md": skill("pdf", "Use when: a form")})
activated("windows", call("activate_skill", {"name": "pdf"}),
          home={".gemini/skills/pdf/SKILL.md": skill("pdf", body="a\nb").replace("\n", "\r\n")})
activated("sanitised_name", call("activate_skill", {"name": "a-b"}),
          home={".gemini/skills/pdf/SKILL.md": skill("a/b")})
activated("without_argument", call("activate_skill", {}), home=PDF)
activated("more_arguments", call("activate_skill", {"name": "pdf", "x": 1}), home=PDF)
activated("not_allowed", call("activate_skill", {"name": "pdf"}), argv=[*FLASH, "-p", "go"], home=PDF)

# Subcommands. Both programs run in a folder of their own.
LISTED = {".gemini/skills/a/SKILL.md": skill("alpha", "First"), ".gemini/skills/b/SKILL.md": skill("beta", "Second")}
case("skills.list", ["skills", "list"], home=LISTED)
case("skills.list_none", ["skills", "list"])
case("skills.list_disabled", ["skills", "list"], home=LISTED, settings={"skills": {"disabled": ["Alpha"]}})
case("skills.list_off", ["skills", "list"], home=LISTED, settings={"skills": {"enabled": False}})
case("skills.no_verb", ["skills"])
for verb in ("enable", "disable", "uninstall"):
    case(f"skills.{verb}", ["skills", verb, "alpha"], home=LISTED)
    case(f"skills.{verb}_unknown", ["skills", verb, "nosuch"], home=LISTED)
case("skills.disable_user", ["skills", "disable", "alpha", "--scope", "user"], home=LISTED)
case("skills.enable_disabled", ["skills", "enable", "alpha"], home=LISTED, settings={"skills": {"disabled": ["alpha"]}})
NEW = {"new/one/SKILL.md": skill("one-skill", "Does one: thing"), "new/one/bin/a.sh": "true"}
case("skills.install", ["skills", "install", "new/one", "--consent"], files=NEW)
case("skills.install_path", ["skills", "install", "new", "--path", "one", "--consent"], files=NEW)
case("skills.install_project", ["skills", "install", "new", "--scope", "workspace", "--consent"], files=NEW)
case("skills.install_again", ["skills", "install", "new", "--consent"], files=NEW,
     home={".gemini/skills/one-skill/SKILL.md": skill("one-skill")})
case("skills.install_none", ["skills", "install", "nosuch", "--consent"])
case("skills.install_refused", ["skills", "install", "new"], files=NEW, stdin="n\n")
case("skills.link", ["skills", "link", "new", "--consent"], files=NEW)
case("skills.link_refused", ["skills", "link", "new"], files=NEW, stdin="n\n")
case("skills.link_none", ["skills", "link", "nosuch", "--consent"])
