"""The page of the figures, `bench/RESULTS.md`, rendered from the store."""

import goals
from goals import NAMES
from results import number, verdict


def spread(kept, unit):
    """Returns the median, and the minimum and maximum if they differ."""
    text = f"{number(kept['median'])} {unit}"
    low, high = number(kept["least"]), number(kept["most"])
    return text if low == high else f"{text} ({low}–{high})"


def page(store, figures):
    """Returns the page, as Markdown. `figures` are those of Pollux and the comparison."""
    lines = [
        "# Figures",
        "",
        "Written by `cargo xtask bench`, `cargo xtask bench soak`, `cargo xtask bench editors`, "
        "`cargo xtask bench servers` and `cargo xtask bench tui`, from "
        "`bench/results.json`; do not edit. `cargo xtask bench --check` measures again and fails if a goal is missed.",
        "",
        "## Pollux",
        "",
        *_own(store, "pollux", figures),
        "",
        f"## One session of {goals.SOAK_TURNS:,} turns",
        "",
        "Each turn has 100 kB of output. The curve is in [soak.png](soak.png).",
        "",
        *_own(store, "soak", goals.SOAK),
        "",
        "## Connections to editors",
        "",
        "The program as an agent of an editor (`--acp`), driven by a scripted client over pipes.",
        "",
        *_own(store, "editors", goals.EDITORS),
        "",
        "## Servers of the Model Context Protocol",
        "",
        "Servers over standard streams whose answers cost nothing. A call is one of 50 of a headless run.",
        "",
        *_own(store, "servers", goals.SERVERS),
        "",
        "## The conversation at a terminal",
        "",
        "A window of 80 columns and 24 rows. The rows and clears are counted in tmux.",
        "",
        *_own(store, "tui", goals.SECTIONS["tui"]),
        "",
        "## Comparison with other agents",
        "",
        *_comparison(store, figures),
        "",
        "## How it is measured",
        "",
        *(f"- {note}" for note in HOW),
    ]
    skipped = store.get("comparison", {}).get("skipped", [])
    if skipped:
        lines += ["", "## Skipped", ""]
        lines += [f"- {NAMES[name]}, {what}: {reason}" for name, what, reason in skipped]
    return "\n".join(lines) + "\n"


def _run(run):
    """Returns the lines that describe the run of a section."""
    programs = ", ".join(f"{NAMES[name]} {version}" for name, version in run["programs"].items())
    runs = run["runs"]
    kept = f"median of {runs} runs after a warm-up (least–most)" if runs > 1 else "one run"
    return [
        f"- Commit: {run['commit']}",
        f"- Date: {run['date']}",
        f"- Programs: {programs}",
        f"- Compiler: {run['rustc']}, profile `{run['profile']}`",
        f"- Machine: {run['machine']}; load average at the beginning {run['load']:.1f}",
        f"- Each figure: {kept}",
    ]


def _own(store, where, figures):
    """Returns the header and the table of a section with goals."""
    kept = store.get(where, {}).get("figures", {})
    lines = _run(store[where]["run"]) if where in store else ["Not measured yet."]
    peers = [name for name in store.get(where, {}).get("run", {}).get("programs", {}) if name != "pollux"]
    # The peers of `pollux` are in the comparison.
    peers = [] if where == "pollux" else peers
    heads = ["Pollux", *(NAMES[name] for name in peers), "Goal", "Noise", "Result"]
    lines += ["", "| | " + " | ".join(heads) + " |", "|---|" + "---|" * len(heads)]
    for figure in figures:
        column = kept.get(figure.title, {})
        values = column.get("pollux")
        cell = spread(values, figure.unit) if values else "not measured"
        cell = " | ".join([cell, *(_cell(name, column, figure.unit) for name in peers)])
        goal, noise = ("", "")
        if figure.goal:
            unit = "" if figure.goal.fixed is None else f" {figure.unit}"
            goal, noise = figure.goal.text() + unit, figure.goal.noise_text()
        result = verdict(store, where, figure)
        lines.append(f"| {figure.title} | {cell} | {goal} | {noise} | {result} |")
    return lines


def _comparison(store, figures):
    """Returns the header and the table of the comparison. All its figures are of one run."""
    if "comparison" not in store:
        return ["Not measured yet."]
    section = store["comparison"]
    names = list(section["run"]["programs"])
    lines = _run(section["run"])
    lines[-1] += (
        ", fewer [where it says so] for slow programs; **×** is the peer divided by Pollux in this run"
    )
    lines += ["", "| | " + " | ".join(NAMES[name] for name in names) + " |"]
    lines.append("|---|" + "---|" * len(names))
    for figure in figures:
        column = section["figures"].get(figure.title, {})
        if not figure.alone and column:
            cells = [_cell(name, column, figure.unit) for name in names]
            lines.append(f"| {figure.title} | " + " | ".join(cells) + " |")
    return lines


def _cell(name, column, unit):
    kept, own = column.get(name), column.get("pollux")
    if not kept:
        return "—"
    text = spread(kept, unit)
    if own and kept["runs"] < own["runs"]:
        text += f" [{kept['runs']} run{'s' if kept['runs'] > 1 else ''}]"
    if name == "pollux" or not own or unit == "times":
        return text
    return f"{text}, **×{number(kept['median'] / own['median'])}**"


HOW = [
    "All programs talk to a scripted server on loopback without TLS, each in its own dialect, with a "
    "home of its own that a first run has filled. Statistics and updates are switched off; everything "
    "else is as it comes.",
    "A goal is an upper limit. Its noise is the share of the limit by which one measurement may differ "
    "from another; a goal that is missed by more makes `cargo xtask bench --check` fail. A goal that "
    "names another agent refers to the figures of the comparison below.",
    "A figure that is a difference or a ratio is the median of pairs: both parts are measured in the "
    "same run, one right after the other.",
    "Codex and opencode are started by their native program, not by the launcher that npm installs. "
    "They do not read Gemini CLI's session files, so they have no figure for resuming one.",
    "Codex has no tool that reads or searches files; it runs `cat` and `rg` in a shell, as its model would.",
    "Peak memory is the largest sum of resident memory over the process tree, looked at every 1 to "
    "10 ms, or the kernel's own mark of one process where that is higher. Processor time is that of the "
    "tree, from the kernel.",
    "“Reply to next request” ends with the head of the next request; “with writing the request” with "
    "its last byte. The size of the last request says how much of its results a program still shows "
    "the model: Pollux, Gemini CLI and Codex shorten them.",
    "Bytes written are those that the process caused to be sent to the storage, from the kernel.",
]
