"""Compares `pollux skills list --json` with the reference implementation of Agent Skills.

Each case is a folder with a SKILL.md. The table says whether the reference accepts it, because the
comparison would otherwise pass if the validator refused everything, and which name Pollux reads.
Where the two differ, the table names a row of docs/skills.md that explains the difference.
"""

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from skills_ref import read_properties, validate

SKILLS_PAGE = Path(__file__).resolve().parents[2] / "docs" / "skills.md"


@dataclass(frozen=True)
class Case:
    """A skill: its folder, text, the verdict of the reference, and the name that Pollux reads, or
    None if Pollux ignores it. `row` is the beginning of the row that explains a difference."""

    folder: str
    text: str
    is_valid: bool
    name: str | None
    row: str = ""
    file: str = "SKILL.md"


def both(folder, text):
    """Returns a skill that both accept."""
    return Case(folder, text, True, folder)


def neither(folder, text):
    """Returns a skill that neither accepts."""
    return Case(folder, text, False, None)


def lenient(folder, text, row, name=None):
    """Returns a skill that only Pollux accepts."""
    return Case(folder, text, False, name or folder, row)


def skill(name, description="D", more=""):
    return f"---\nname: {name}\ndescription: {description}\n{more}---\nBody\n"


LONG = "long-name-" + "x" * 54
CASES = [
    both("plain", skill("plain", "Fills forms.")),
    both("quoted", skill("quoted", "\"Use when: a form, or 'b'\"")),
    both("folded", skill("folded", ">-\n  One line\n  and another.")),
    both("literal", skill("literal", "|\n  One line.")),
    both("fields", skill("fields", more="license: MIT\ncompatibility: any\n"
                         "metadata:\n  author: a\n  version: '1'\nallowed-tools: Read Bash(git:*)\n")),
    both("order", "---\nlicense: MIT\ndescription: D\nname: order\n---\nBody"),
    both("unicode", skill("unicode", "Füllt Formulare — 書類 📝")),
    both("füllt", skill("füllt")),
    both(LONG, skill(LONG)),
    both("long", skill("long", "d" * 1024)),
    both("rules", "---\nname: rules\ndescription: D\n---\nText\n---\nafter a rule\n---\n"),
    both("comment", "---\n# A comment\nname: comment # another\ndescription: D\n---\n"),
    neither("no-name", "---\ndescription: D\n---\n"),
    neither("no-description", "---\nname: no-description\n---\n"),
    neither("no-matter", "Body"),
    neither("unclosed", "---\nname: unclosed\ndescription: D\n"),
    neither("late", "\n---\nname: late\ndescription: D\n---\n"),
    neither("list", "---\n- name\n- description\n---\n"),
    neither("empty", ""),
    neither("no-value", "---\nname:\ndescription: D\n---\n"),
    lenient("one-folder", skill("another-name"), "the name is not that of the folder", "another-name"),
    lenient("Capital", skill("Capital"), "the name has capitals"),
    lenient("under_score", skill("under_score"), "the name has capitals"),
    lenient("a space", skill("a space"), "the name has capitals"),
    lenient("-edge-", skill("-edge-"), "the name has capitals"),
    lenient("two--hyphens", skill("two--hyphens"), "the name has capitals"),
    lenient("x" * 65, skill("x" * 65), "the name has 65 to 100 characters"),
    lenient("verbose", skill("verbose", "d" * 1025), "the description has more than 1,024 characters"),
    lenient("further", skill("further", more="version: 1\n"), "further keys"),
    lenient("needs", skill("needs", more=f"compatibility: {'c' * 501}\n"), "`compatibility`"),
    lenient("colon", skill("colon", "Use when: a form"), "YAML that is not valid"),
    lenient("flow", skill("flow", more="metadata: {author: a}\n"), "YAML that is not valid"),
    lenient("twice", skill("twice", more="license: MIT\nlicense: MIT\n"), "YAML that is not valid"),
    lenient("marked", "\ufeff" + skill("marked"), "a byte order mark"),
    Case("lower", skill("lower"), True, None, "the file is called `skill.md`", "skill.md"),
]


def main() -> int:
    program, is_planted = sys.argv[1], "--plant" in sys.argv[2:]
    page = SKILLS_PAGE.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as base:
        home = Path(base)
        problems, expected = [], {}
        for case in CASES:
            folder = home / ".gemini" / "skills" / case.folder
            folder.mkdir(parents=True)
            (folder / case.file).write_text(case.text, encoding="utf-8")
            problems += compared(case, folder, page)
            if case.name:
                expected[case.name] = None
            if case.is_valid and case.name:
                expected[case.name] = " ".join(read_properties(folder).description.split())
        if is_planted:
            expected["plain"] += "?"
        found = listed(program, home)
        for name in sorted(expected.keys() | found.keys()):
            if name not in expected or name not in found:
                problems.append(f"{name}: Pollux {'accepts' if name in found else 'ignores'} it")
            elif expected[name] not in (None, found[name]):
                problems.append(f"{name}: {found[name]!r} instead of {expected[name]!r}")
    for problem in problems:
        print(problem, file=sys.stderr)
    different = sum(1 for case in CASES if case.row)
    print(f"skills: {len(CASES)} files, {different} explained differences, {len(problems)} others")
    return 1 if problems else 0


def compared(case, folder, page):
    """Yields what is wrong with the verdict of the reference, and with the explanation."""
    errors = validate(folder)
    if (not errors) != case.is_valid:
        yield f"{case.folder}: the reference says {errors or 'valid'}"
    if case.is_valid != bool(case.name) and f"| {case.row}" not in page:
        yield f"{case.folder}: docs/skills.md has no row {case.row!r}"


def listed(program: str, home: Path) -> dict[str, str]:
    """Returns the descriptions of the skills that Pollux finds."""
    environment = {"HOME": str(home), "GEMINI_CLI_HOME": str(home), "PATH": os.environ["PATH"]}
    work = home / "work"
    work.mkdir()
    run = subprocess.run(
        [program, "skills", "list", "--json"],
        cwd=work, env=environment, check=True, capture_output=True, timeout=60,
    )
    return {skill["name"]: skill["description"] for skill in json.loads(run.stdout)}


sys.exit(main())
