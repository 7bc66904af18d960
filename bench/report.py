"""The figures as a table: medians with minimum and maximum, ratios to Pollux, goals."""

import datetime
from statistics import median

NAMES = {
    "pollux": "Pollux",
    "gemini": "Gemini CLI",
    "codex": "Codex",
    "opencode": "opencode",
    "rg": "ripgrep alone",
}


def number(value):
    """Returns a value with three significant digits."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def spread(values, unit):
    """Returns the median, and the minimum and maximum if they differ."""
    text = f"{number(median(values))} {unit}"
    low, high = number(min(values)), number(max(values))
    return text if low == high else f"{text} ({low}–{high})"


def _cell(name, values, own, unit):
    if not values:
        return "—"
    text = spread(values, unit)
    if own and len(values) < len(own):
        text += f" [{len(values)} run{'s' if len(values) > 1 else ''}]"
    if name == "pollux" or not own or unit == "times":
        return text
    return f"{text}, **×{number(median(values) / median(own))}**"


def _goal(figure, column):
    if not figure.goal:
        return ""
    medians = {name: median(values) for name, values in column.items()}
    reached = figure.reached(medians) if "pollux" in medians else None
    return figure.goal + {True: ": reached", False: ": **missed**", None: ": not measured"}[reached]


def write(bench, machine, runs):
    """Returns the page, as Markdown."""
    names = [program.name for program in bench.programs]
    versions = ", ".join(f"{NAMES[name]} {bench.versions[name]}" for name in names)
    lines = [
        "# Figures",
        "",
        "Written by `cargo xtask bench`; do not edit.",
        "",
        f"- Date: {datetime.date.today().isoformat()}",
        f"- Programs: {versions}",
        f"- Machine: {machine}; load average at the beginning {bench.load:.1f}",
        f"- Each figure: median of {runs} runs after a warm-up (least–most), fewer [where it says so] "
        "for slow programs; **×** is the peer divided by Pollux",
        "",
        "| | " + " | ".join(NAMES[name] for name in names) + " | Goal |",
        "|---|" + "---|" * (len(names) + 1),
    ]
    notes = []
    for figure, column in bench.rows:
        cells = [_cell(name, column.get(name), column.get("pollux"), figure.unit) for name in names]
        lines.append(f"| {figure.title} | " + " | ".join(cells) + f" | {_goal(figure, column)} |")
        if column.get("rg"):
            alone = spread(column["rg"], figure.unit)
            what = figure.title.split(", reply")[0]
            notes.append(f"ripgrep alone, from start to end, takes {alone} to {what}.")

    lines += ["", "## How it is measured", ""]
    lines += [f"- {note}" for note in [*HOW, *notes]]
    if bench.skipped:
        lines += ["", "## Skipped", ""]
        lines += [f"- {NAMES[name]}, {what}: {reason}" for name, what, reason in bench.skipped]
    return "\n".join(lines) + "\n"


HOW = [
    "All programs talk to a scripted server on loopback without TLS, each in its own dialect, with a "
    "home of its own that a first run has filled. Statistics and updates are switched off; everything "
    "else is as it comes.",
    "Codex and opencode are started by their native program, not by the launcher that npm installs. "
    "They do not read Gemini CLI's session files, so they have no figure for resuming one.",
    "Codex has no tool that reads or searches files; it runs `cat` and `rg` in a shell, as its model would.",
    "Peak memory is the largest sum of resident memory over the process tree, looked at every 1 to "
    "10 ms, or the kernel's own mark of one process where that is higher. Processor time is that of the "
    "tree, from the kernel.",
    "“Reply to next request” ends with the head of the next request; “with writing the request” with "
    "its last byte. The size of the last request says how much of its results a program still shows "
    "the model: Gemini CLI and Codex shorten them.",
]
