"""What the measurements of Pollux alone have in common: their options, and the comparison of each
figure with its goal. Their figures are printed, not stored.
"""

import argparse
import os
import tempfile
from pathlib import Path
from statistics import median

import goals


def main(description, measurements):
    """Measures what the command line asks for. `measurements` is called with the program, a folder
    and whether there should be fewer runs, and returns figures with their values. Exits with status
    1 if a goal is missed."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--binary", type=Path, required=True, help="the pollux to measure")
    parser.add_argument("--quick", action="store_true", help="fewer runs")
    options = parser.parse_args()
    print(f"load average at the beginning {os.getloadavg()[0]:.1f}")
    missed = False
    with tempfile.TemporaryDirectory(prefix="pollux-bench-") as work:
        for figure, values in measurements(options.binary.resolve(), Path(work), options.quick):
            verdict = figure.goal.verdict(median(values), {})
            missed |= verdict == goals.MISSED
            shown = f"{median(values):.2f} {figure.unit} ({min(values):.2f}–{max(values):.2f})"
            print(f"{figure.title}: {shown}, goal {figure.goal.text()}: {verdict}", flush=True)
    raise SystemExit(1 if missed else 0)
