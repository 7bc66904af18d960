"""The figures of the API dialects beside that of Gemini: the time until the first request, and the
processor time of a long answer. Started by `cargo xtask bench vendors`.
"""

import alone
import isolated
import sampling
import scenarios
from dialects import Text
from goals import CPU_NOISE, WALL_NOISE, Figure, at_most
from scripted_server import ScriptedServer

# Name of a dialect, its model, and its variables, where {} is the address of the server.
GEMINI = ("Gemini", "gemini-2.5-flash", {"GEMINI_API_KEY": "x", "GOOGLE_GEMINI_BASE_URL": "{}"})
OPENAI = {"OPENAI_API_KEY": "x", "OPENAI_BASE_URL": "{}/v1"}
DIALECTS = (
    ("Messages", "anthropic/claude-sonnet-4-6", {"ANTHROPIC_API_KEY": "x", "ANTHROPIC_BASE_URL": "{}"}),
    ("Chat Completions", "openai/gpt-5", OPENAI | {"OPENAI_WIRE_API": "chat"}),
    ("Responses", "openai/gpt-5", OPENAI | {"OPENAI_WIRE_API": "responses"}),
)
# An answer of 2 MB in pieces of 20 bytes, and a loop guard that does not watch it: its cost is that of
# the text, not of the dialect.
LONG = Text(tuple(f"{number * 7919:09} is a new\n" for number in range(100_000)))
SETTINGS = '{"model": {"disableLoopDetection": true}}\n'


def first_request(dialect):
    """Returns the figure of the time until the first request."""
    return Figure(f"first request with {dialect}, later than with Gemini", "ms", None, at_most(1, WALL_NOISE), True)


def long_answer(dialect):
    """Returns the figure of the processor time of a long answer."""
    title = f"a 2 MB answer with {dialect}, processor time against Gemini's"
    return Figure(title, "times", None, at_most(1.2, CPU_NOISE), True)


def measure(binary, home, dialect, turn):
    """Makes one run. Returns its cost and the time until its first request in milliseconds."""
    _, model, variables = dialect
    with ScriptedServer([turn]) as server:
        address = f"http://127.0.0.1:{server.port}"
        environment = isolated.own_home(home) | {"GEMINI_CLI_TRUST_WORKSPACE": "true"}
        environment |= {name: value.format(address) for name, value in variables.items()}
        command = [str(binary), "--model", model, "--prompt", "hi"]
        cost = sampling.run(command, home / "project", environment)
        text = "".join(turn.pieces).encode()
        if cost.code != 0 or text.strip() not in cost.output:
            raise SystemExit(f"vendors: {dialect[0]} failed: {cost.errors.decode(errors='replace')[-300:]}")
        return cost, scenarios.first_request(cost, server.exchanges)


def pairs(binary, work, dialect, turn, runs):
    """Runs Gemini's dialect and another one in turn, after one run of each to warm up."""
    homes = [work / name for name in (GEMINI[0], dialect[0])]
    for home in homes:
        (home / "project").mkdir(parents=True, exist_ok=True)
        for folder in ("tmp", ".gemini"):
            (home / folder).mkdir(exist_ok=True)
        (home / ".gemini" / "settings.json").write_text(SETTINGS)
    both = tuple(zip(homes, (GEMINI, dialect), strict=True))
    return [[measure(binary, home, one, turn) for home, one in both] for _ in range(runs + 1)][1:]


def measurements(binary, work, is_quick):
    for dialect in DIALECTS:
        short = pairs(binary, work, dialect, scenarios.HELLO, 7 if is_quick else 25)
        yield first_request(dialect[0]), [own - gemini for (_, gemini), (_, own) in short]
        long = pairs(binary, work, dialect, LONG, 3 if is_quick else 9)
        yield long_answer(dialect[0]), [own.cpu / gemini.cpu for (gemini, _), (own, _) in long]


if __name__ == "__main__":
    alone.main(__doc__, measurements)
