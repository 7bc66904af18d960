"""Goals of the figures, and the judgement of a figure by its goal.

Lower is better for every figure. A goal is an upper limit with a stated noise: the share of the
limit by which one measurement may differ from another on a machine that does nothing else. A count
has no noise.
"""

from dataclasses import dataclass

MET = "met"
WITHIN_NOISE = "within noise"
MISSED = "**missed**"
UNKNOWN = "**not measured**"

NAMES = {
    "pollux": "Pollux",
    "gemini": "Gemini CLI",
    "codex": "Codex",
    "opencode": "opencode",
}


@dataclass(frozen=True)
class Goal:
    """The limit of a figure: fixed, or the figure of each peer divided by a factor."""

    noise: float
    fixed: float | None = None
    factors: tuple[tuple[str, float], ...] = ()

    def limit(self, peers):
        """Returns the limit, from the medians of the peers by name; None if a peer is missing."""
        if self.fixed is not None:
            return self.fixed
        if any(name not in peers for name, _ in self.factors):
            return None
        return min(peers[name] / factor for name, factor in self.factors)

    def verdict(self, value, peers):
        """Returns the verdict on a figure; `value` is None if it was not measured."""
        limit = self.limit(peers)
        if value is None or limit is None:
            return UNKNOWN
        if value <= limit:
            return MET
        return WITHIN_NOISE if value <= limit * (1 + self.noise) else MISSED

    def text(self):
        """Returns the goal in words."""
        if self.fixed is not None:
            return f"≤ {self.fixed:g}"
        return ", ".join(
            f"{factor:g} times sooner than {NAMES[name]}"
            if factor != 1
            else f"not slower than {NAMES[name]}"
            for name, factor in self.factors
        )

    def noise_text(self):
        """Returns the noise as a percentage."""
        return f"{self.noise:.0%}".replace("%", " %") if self.noise else "none"


def at_most(limit, noise):
    """Returns the goal with a fixed limit."""
    return Goal(noise, fixed=limit)


def sooner(noise, **factors):
    """Returns the goal of being faster than each of these peers by its factor."""
    return Goal(noise, factors=tuple(factors.items()))


# Noise of one median, by the kind of figure: processor time hardly depends on other programs, wall
# time does.
CPU_NOISE = 0.15
WALL_NOISE = 0.25
MEMORY_NOISE = 0.05
COUNT_NOISE = 0.0


@dataclass(frozen=True)
class Figure:
    """One row of the page: title, unit, measuring function and goal.

    `take` calculates the value from the cost of a run and its exchanges with the server; None for a
    figure that another measurement provides. `alone` is true if only Pollux has this figure.
    """

    title: str
    unit: str
    take: object = None
    goal: Goal | None = None
    alone: bool = False


INSTALLED = Figure("installed (Node.js not counted)", "MB", None, at_most(20, COUNT_NOISE))
VERSION = Figure("`--version`", "ms", None, sooner(WALL_NOISE, codex=1))

CONFINEMENT_LEVELS = ("inspect", "workspace-write", "protect")


def confinement(level):
    """Returns the figure of one level of confinement."""
    title = f"a command at the level `{level}`, added by confinement"
    return Figure(title, "ms", alone=True)


# The figures of `editors.py`, in the order of its values.
EDITORS = (
    Figure("exec to the answer to an editor's `initialize`", "ms", None, at_most(15, WALL_NOISE)),
    Figure("a further session of an editor, memory", "MB", None, at_most(3, MEMORY_NOISE)),
    Figure(
        "2 MB of text to an editor, added processor time", "ms", None, at_most(100, CPU_NOISE)
    ),
    Figure(
        "first text of a session, later while nine others receive text",
        "ms",
        # The difference of two times below a millisecond.
        None,
        at_most(5, WALL_NOISE),
    ),
)

# The figures of `servers.py`, in the order of its values.
SERVERS = (
    Figure(
        "first request at a terminal, added by 20 servers of which 10 are dead or slow",
        "ms",
        None,
        at_most(5, WALL_NOISE),
        True,
    ),
    Figure(
        "a call of a server, reply to next request, without the server's own time",
        "ms",
        None,
        at_most(1, WALL_NOISE),
    ),
    Figure(
        "wake-ups of an idle session in 10 s, added by an idle server",
        "times",
        None,
        at_most(0, COUNT_NOISE),
        True,
    ),
)

# The figures of `tui.py`, by the name of its value.
TUI = {
    "cat": Figure("`sh -c cat` for comparison, exec to its first line", "ms", alone=True),
    "ready": Figure("exec to the prompt", "ms", None, sooner(WALL_NOISE, gemini=100, codex=10)),
    "memory": Figure("memory at rest", "MB", None, at_most(25, MEMORY_NOISE)),
    "woken": Figure("wake-ups in 60 s at rest", "times", None, at_most(0, COUNT_NOISE)),
    "silent": Figure("output in 60 s at rest", "B", None, at_most(0, COUNT_NOISE)),
    "key": Figure(
        "a key to its output after 10,000 rows, 99 of 100", "ms", None, at_most(3, WALL_NOISE)
    ),
    "bytes": Figure("output of a key", "B", None, at_most(100, COUNT_NOISE)),
    "waiting": Figure("output per second while the model is awaited", "B", None, at_most(100, COUNT_NOISE)),
    "streaming": Figure("output of a streamed answer, per byte of its text", "B", None, at_most(3, COUNT_NOISE)),
    "clears": Figure("full clears in an answer with eight resizes", "times", None, at_most(0, COUNT_NOISE)),
    "doubled": Figure("rows of it that are there twice", "rows", None, at_most(0, COUNT_NOISE)),
    "lost": Figure("rows of it that are lost", "rows", None, at_most(0, COUNT_NOISE)),
    "erased": Figure("of 60 earlier rows, those that are gone", "rows", None, at_most(0, COUNT_NOISE)),
    "markdown": Figure("2 MB of Markdown, processor time", "s", None, at_most(1.5, CPU_NOISE), True),
    "code": Figure("the same with a fifth of it in code that is coloured", "s", None, at_most(3.5, CPU_NOISE), True),
    "resumed": Figure("resume a 100 MB session, exec to the prompt", "ms", None, at_most(1000, WALL_NOISE), True),
    "found": Figure("first results of `@` in a tree of 1,000,000 files", "ms", None, at_most(50, WALL_NOISE), True),
}

SOAK_TURNS = 10_000

# The figures of `soak.py`, in the order of its results.
SOAK = (
    Figure("peak memory", "MB", None, at_most(150, MEMORY_NOISE), True),
    Figure(
        "memory, peak of the last fifth against the second",
        "times",
        None,
        at_most(1.2, MEMORY_NOISE),
        True,
    ),
    Figure(
        "a turn that reads, last fifth against the second",
        "times",
        None,
        at_most(1.3, CPU_NOISE),
        True,
    ),
    Figure(
        "a turn with a command, last fifth against the second",
        "times",
        None,
        at_most(1.3, CPU_NOISE),
        True,
    ),
    Figure("bytes written per turn", "kB", alone=True),
    Figure("compressions", "times", alone=True),
)

# Figures with a section of their own, because another command measures them.
SECTIONS = {"soak": SOAK, "editors": EDITORS, "servers": SERVERS, "tui": tuple(TUI.values())}
