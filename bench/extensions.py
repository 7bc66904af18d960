"""The figure of what users install: what extensions, skills and subagents add to the time until the
first request. Started by `cargo xtask bench extensions`.
"""

import json

import alone
import first_request
import programs
from goals import WALL_NOISE, Figure, at_most

EXTENSIONS, SKILLS, AGENTS = 50, 200, 50
FIGURE = Figure(
    f"first request, added by {EXTENSIONS} extensions, {SKILLS} skills and {AGENTS} subagents",
    "ms",
    None,
    at_most(5, WALL_NOISE),
    True,
)


def prepare(home):
    """Installs everything in a home. Each extension has a context file, commands, and hooks that
    this run does not reach."""
    state = home / ".gemini"
    for number in range(EXTENSIONS):
        manifest = {
            "name": f"extension-{number}",
            "version": "1.0.0",
            "settings": [{"name": "Region", "description": "Region", "envVar": f"REGION_{number}"}],
        }
        hooks = {"hooks": {"AfterTool": [{"hooks": [{"type": "command", "command": "true"}]}]}}
        command = f'description = "Does {number}"\nprompt = "Do {number}: {{{{args}}}}"\n'
        write(state, f"extensions/extension-{number}/gemini-extension.json", json.dumps(manifest))
        write(state, f"extensions/extension-{number}/GEMINI.md", f"Use extension {number}.\n")
        write(state, f"extensions/extension-{number}/hooks/hooks.json", json.dumps(hooks))
        write(state, f"extensions/extension-{number}/commands/do-{number}.toml", command)
    for number in range(SKILLS):
        text = f"---\nname: skill-{number}\ndescription: Use it for task {number}.\n---\nDo it well.\n"
        write(state, f"skills/skill-{number}/SKILL.md", text)
    for number in range(AGENTS):
        text = f"---\nname: agent-{number}\ndescription: Works on task {number}.\n---\nWork on it.\n"
        write(state, f"agents/agent-{number}.md", text)


def write(state, path, text):
    file = state / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def measurements(binary, work, is_quick):
    program = programs.Program("pollux", binary, (), True)
    homes = [work / "empty", work / "full"]
    prepare(homes[1])
    runs = 7 if is_quick else 25
    pairs = [[first_request.of_run(program, home) for home in homes] for _ in range(runs + 1)]
    # The first run of a home stores what later ones read.
    yield FIGURE, [full - empty for empty, full in pairs[1:]]


if __name__ == "__main__":
    alone.main(__doc__, measurements)
