"""Compares `pollux skills list --json` with the reference implementation of Agent Skills.

Each case is a SKILL.md. The reference validator decides whether it is valid; the test says so, too,
because it would otherwise pass if the validator refused everything.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from skills_ref import read_properties, validate

# Name of the skill and its folder, text of the file, and whether the reference accepts it.
CASES = [
    ("plain", "---\nname: plain\ndescription: Fills forms.\n---\nBody\n", True),
    ("quoted", "---\nname: quoted\ndescription: \"Use when: a form, or 'b'\"\n---\n", True),
    ("folded", "---\nname: folded\ndescription: >-\n  One line\n  and another.\n---\n", True),
    ("literal", "---\nname: literal\ndescription: |\n  One line.\n---\n", True),
    ("fields", "---\nname: fields\ndescription: D\nlicense: MIT\ncompatibility: any\n"
               "metadata:\n  author: a\n  version: '1'\nallowed-tools: Read Bash(git:*)\n---\n", True),
    ("order", "---\nlicense: MIT\ndescription: D\nname: order\n---\nBody", True),
    ("unicode", "---\nname: unicode\ndescription: Füllt Formulare — 書類 📝\n---\n", True),
    ("long-name-" + "x" * 54, "---\nname: long-name-" + "x" * 54 + "\ndescription: D\n---\n", True),
    ("long", "---\nname: long\ndescription: " + "d" * 1024 + "\n---\n", True),
    ("rules", "---\nname: rules\ndescription: D\n---\nText\n---\nafter a rule\n---\n", True),
    ("no-name", "---\ndescription: D\n---\n", False),
    ("no-description", "---\nname: no-description\n---\n", False),
    ("no-matter", "Body", False),
    ("unclosed", "---\nname: unclosed\ndescription: D\n", False),
]


def main() -> int:
    program, is_planted = sys.argv[1], "--plant" in sys.argv[2:]
    with tempfile.TemporaryDirectory() as base:
        home = Path(base)
        skills = home / ".gemini" / "skills"
        problems = []
        expected = {}
        for name, text, is_valid in CASES:
            folder = skills / name
            folder.mkdir(parents=True)
            (folder / "SKILL.md").write_text(text, encoding="utf-8")
            errors = validate(folder)
            if (not errors) != is_valid:
                problems.append(f"{name}: the reference says {errors or 'valid'}")
            if is_valid:
                read = read_properties(folder)
                expected[read.name] = " ".join(read.description.split())
        if is_planted:
            expected["plain"] += "?"
        found = listed(program, home)
        for name in sorted(expected.keys() | found.keys()):
            if expected.get(name) != found.get(name):
                problems.append(f"{name}: {found.get(name)!r} instead of {expected.get(name)!r}")
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"skills: {len(CASES)} files, {len(problems)} differences")
    return 1 if problems else 0


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
