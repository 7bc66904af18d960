"""The store of the figures: `bench/results.json`, from which `bench/RESULTS.md` is rendered.

The store has one section per measurement, so that a new measurement of one does not drop another:

- `pollux`: Pollux alone
- `comparison`: Pollux and its peers, of the same run
- `soak`: one long session, by `cargo xtask bench soak`
- `editors`: the connection to an editor, by `cargo xtask bench editors`; with Gemini CLI, of the
  same run
- `servers`: servers of the Model Context Protocol, by `cargo xtask bench servers`; with the peers,
  of the same run
- `tui`: the conversation at a terminal, by `cargo xtask bench tui`; with the peers, of the same run

A section names the run that measured it (commit, machine, …), and has the values of each figure by
its title and program: median, least, most, and the number of runs.
"""

import datetime
import json
import os
import platform
import subprocess
from pathlib import Path
from statistics import median

import goals

HERE = Path(__file__).resolve().parent
STORE = HERE / "results.json"
PAGE = HERE / "RESULTS.md"
UNRECORDED = "not recorded"


def summary(values):
    """Returns what the store keeps of the values of several runs."""
    return {
        "median": median(values),
        "least": min(values),
        "most": max(values),
        "runs": len(values),
    }


def read(path=STORE):
    """Returns the store; sections that were never measured are missing."""
    return json.loads(path.read_text()) if path.exists() else {}


def write(store, path=STORE):
    """Writes the store."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(store, indent=1, ensure_ascii=False) + "\n")


def section(run, figures, skipped=()):
    """Returns one section: its run, and the values by title and program."""
    return {
        "run": run,
        "figures": {
            title: {name: summary(values) for name, values in column.items() if values}
            for title, column in figures.items()
        },
        "skipped": [list(entry) for entry in skipped],
    }


def measured(store, run, rows, skipped):
    """Returns the store with a new measurement. One without peers keeps the comparison of an
    earlier run."""
    titles = {figure.title: column for figure, column in rows}
    alone = {
        title: {"pollux": column["pollux"]}
        for title, column in titles.items()
        if column.get("pollux")
    }
    store = store | {"pollux": section(run, alone)}
    if len(run["programs"]) > 1:
        store["comparison"] = section(run, titles, skipped)
    return store


def value(store, where, title, name="pollux"):
    """Returns a median of the store; None if it was not measured."""
    found = store.get(where, {}).get("figures", {}).get(title, {}).get(name)
    return found["median"] if found else None


def peers(store, title, where="comparison"):
    """Returns the medians of the peers for one figure, by name: those of the same section, or else
    those of the comparison."""
    for section in (where, "comparison"):
        column = store.get(section, {}).get("figures", {}).get(title, {})
        if found := {name: kept["median"] for name, kept in column.items() if name != "pollux"}:
            return found
    return {}


def verdict(store, where, figure):
    """Returns the verdict on a figure of a section; empty without a goal."""
    if figure.goal is None:
        return ""
    own = value(store, where, figure.title)
    return figure.goal.verdict(own, peers(store, figure.title, where))


def failures(store, figures, sections=goals.SECTIONS):
    """Returns one line for each figure that is missing, and for each goal that is missed by more
    than its noise. All figures without a section of their own are in `pollux`."""
    lines = []
    for where, group in {"pollux": figures, **sections}.items():
        for figure in group:
            name = figure.title if where == "pollux" else f"{where}: {figure.title}"
            line = _failure(store, where, figure)
            if line:
                lines.append(f"{name}: {line}")
    return lines


def _failure(store, where, figure):
    own = value(store, where, figure.title)
    if own is None:
        return "not measured"
    if figure.goal is None:
        return None
    known = peers(store, figure.title, where)
    limit = figure.goal.limit(known)
    if limit is None:
        return f"the figure of a peer is missing for the goal “{figure.goal.text()}”"
    if figure.goal.verdict(own, known) != goals.MISSED:
        return None
    goal = f"≤ {number(limit)} {figure.unit}"
    if figure.goal.factors:
        goal += f" ({figure.goal.text()})"
    return f"{number(own)} {figure.unit}, goal {goal}, noise {figure.goal.noise_text()}"


def number(amount):
    """Returns a value with three significant digits."""
    if abs(amount) >= 100:
        return f"{amount:,.0f}"
    return f"{amount:.1f}" if abs(amount) >= 10 else f"{amount:.2f}"


def run_of(versions, runs, load, profile):
    """Returns the description of the present run: program versions, source, and machine."""
    return {
        "commit": commit_of(HERE),
        "date": datetime.date.today().isoformat(),
        "rustc": _output("rustc", "--version"),
        "profile": profile,
        "machine": _machine(),
        "load": round(load, 1),
        "runs": runs,
        "programs": versions,
    }


def commit_of(folder):
    """Returns the commit, marked if files other than those of the benchmark differ from it."""
    commit = _output("git", "-C", folder, "rev-parse", "--short=12", "HEAD")
    outside = (":/", ":(top,exclude)bench")
    changed = _output("git", "-C", folder, "status", "--porcelain", "--", *outside)
    return commit if changed in ("", UNRECORDED) else f"{commit}, modified"


def _output(*command):
    try:
        done = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return UNRECORDED
    return done.stdout.strip()


def _machine():
    """Returns a description of the machine, without its name."""
    gigabytes = int(_field("/proc/meminfo", "MemTotal").split()[0]) / 1e6
    processor = _field("/proc/cpuinfo", "model name") or "unnamed processor"
    return (
        f"{processor}, {os.cpu_count()} cores, {gigabytes:.0f} GB of memory, "
        f"{platform.system()} {platform.machine()}"
    )


def _field(path, name):
    for line in Path(path).read_text().splitlines():
        key, _, text = line.partition(":")
        if key.strip() == name:
            return text.strip()
    return ""
