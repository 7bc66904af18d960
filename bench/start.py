"""Measures Pollux's start-up time by phase. Started by `cargo xtask bench --profile start`.

strace records every system call with its time; a few of them mark the end of one phase and the
beginning of the next. Tracing makes each call slower, so only the shares count, and the total is
also measured without strace.
"""

import argparse
import os
import re
import shutil
import tempfile
from collections import Counter
from pathlib import Path
from statistics import median

import programs
import sampling
import scenarios
from scripted_server import ScriptedServer

# Each phase ends with the first matching system call after the end of the previous phase.
PHASES = (
    ("exec, linking", r"prctl\(PR_SET_DUMPABLE"),
    ("runtime, arguments", r"open.*[./]gemini"),
    ("settings, project, context", r"/chats"),
    ("session file, request", r"connect\("),
    ("connection", r"\"POST "),
    ("answer, end", r"exit_group\("),
)
LINE = re.compile(r"^(\d+) +(\d+\.\d+) (.*)$")
SLOWEST = 8


def traced(program, home, path):
    """Makes one run under strace. Returns the duration of each phase and the time spent in each
    kind of call before the request, in milliseconds."""
    trace = home / "trace"
    with ScriptedServer([scenarios.HELLO]) as server:
        program.prepare(home, server.port)
        command = [
            "strace",
            "-f",
            "-ttt",
            "-T",
            "-s",
            "256",
            "-o",
            str(trace),
            *program.arguments(),
        ]
        cost = sampling.run(command, home / "project", program.environment(home, server.port, path))
    if cost.code != 0:
        raise SystemExit(f"bench: strace failed: {cost.errors.decode(errors='replace')[-300:]}")
    lines = [
        match.groups()
        for line in trace.read_text(errors="replace").splitlines()
        if (match := LINE.match(line))
    ]
    last = float(lines[0][1])
    phases, calls, ahead = {}, Counter(), list(PHASES)
    for _, stamp, call in lines:
        if ahead and re.search(ahead[0][1], call):
            phases[ahead[0][0]] = scenarios.milliseconds(float(stamp) - last)
            last = float(stamp)
            ahead.pop(0)
        took = re.search(r"<(\d+\.\d+)>$", call)
        name = re.match(r"\w+", call)
        if took and name and len(ahead) > 1 and not re.match(r"epoll|futex", call):
            calls[name.group()] += scenarios.milliseconds(float(took.group(1)))
    phases["from exec to the request"] = sum(phases.get(name, 0) for name, _ in PHASES[:-1])
    return phases, calls, len(lines)


def untraced(program, home, path):
    """Makes one run without strace. Returns the time from exec to the first request in
    milliseconds."""
    with ScriptedServer([scenarios.HELLO]) as server:
        program.prepare(home, server.port)
        cost = sampling.run(
            program.arguments(), home / "project", program.environment(home, server.port, path)
        )
        return scenarios.first_request(cost, server.exchanges)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=Path, required=True, help="the pollux to look at")
    parser.add_argument("--runs", type=int, default=7)
    options = parser.parse_args()
    if not shutil.which("strace"):
        raise SystemExit("bench: --profile start needs strace (Debian: apt install strace)")
    program = programs.Program("pollux", options.binary.resolve(), (), True)
    path = os.environ["PATH"]
    with tempfile.TemporaryDirectory(prefix="pollux-bench-") as work:
        for title, is_new in (("in a home it knows", False), ("in a new home", True)):
            runs, plain = [], []
            for number in range(options.runs + 1):
                plain_home, traced_home = (
                    Path(work, f"{kind}{number if is_new else ''}") for kind in "pt"
                )
                for home in (plain_home, traced_home):
                    (home / "project").mkdir(parents=True, exist_ok=True)
                plain.append(untraced(program, plain_home, path))
                runs.append(traced(program, traced_home, path))
            show(title, runs[1:], plain[1:])


def show(title, runs, plain):
    print(
        f"{title}: exec to first request {median(plain):.1f} ms ({min(plain):.1f}–{max(plain):.1f}); traced:"
    )
    for name in runs[0][0]:
        print(f"  {median(phases.get(name, 0) for phases, _, _ in runs):7.2f} ms  {name}")
    totals = Counter()
    for _, calls, _ in runs:
        totals.update(calls)
    slowest = ", ".join(
        f"{name} {total / len(runs):.2f} ms" for name, total in totals.most_common(SLOWEST)
    )
    print(
        f"  system calls: {median(count for _, _, count in runs):.0f}; before the request: {slowest}"
    )


if __name__ == "__main__":
    main()
