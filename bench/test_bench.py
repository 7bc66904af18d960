"""Tests that the benchmark judges, keeps and prints its figures correctly. `cargo xtask bench` runs
this first."""

import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from types import SimpleNamespace

import goals
import report
import results
import run
import sampling
import scenarios
from goals import MET, MISSED, UNKNOWN, WITHIN_NOISE, Figure, at_most, sooner

HERE = Path(__file__).resolve().parent
FIXED = Figure("start", "ms", None, at_most(100, 0.1))
BESIDE_PEERS = Figure("work", "ms", None, sooner(0.2, gemini=100, codex=10))
PLAIN = Figure("size", "kB")
FIGURES = [FIXED, BESIDE_PEERS, PLAIN]


def description(commit, *programs):
    return {
        "commit": commit,
        "date": "2000-01-01",
        "rustc": "rustc 1.0",
        "profile": "dist",
        "machine": "a machine",
        "load": 0.1,
        "runs": 3,
        "programs": dict.fromkeys(programs, "1.0"),
    }


def with_peers(start=90, work=5):
    rows = [
        (FIXED, {"pollux": [start], "codex": [900], "gemini": [9000]}),
        (BESIDE_PEERS, {"pollux": [work], "codex": [100], "gemini": [2000]}),
        (PLAIN, {"pollux": [7]}),
    ]
    programs = description("first", "pollux", "codex", "gemini")
    return results.measured({}, programs, rows, [("codex", "a scenario", "a reason")])


def alone(store, **values):
    rows = [
        (figure, {"pollux": [values[figure.title]]})
        for figure in FIGURES
        if values.get(figure.title) is not None
    ]
    return results.measured(store, description("second", "pollux"), rows, [])


class Judgement(unittest.TestCase):
    def test_a_fixed_goal_is_met_or_missed_within_its_noise_or_by_more(self):
        goal = at_most(100, 0.1)
        for value, expected in (
            (99, MET),
            (100, MET),
            (101, WITHIN_NOISE),
            (110, WITHIN_NOISE),
            (111, MISSED),
            (None, UNKNOWN),
        ):
            with self.subTest(value):
                self.assertEqual(goal.verdict(value, {}), expected)

    def test_a_count_has_no_noise(self):
        goal = at_most(20, goals.COUNT_NOISE)
        self.assertEqual(goal.verdict(20.001, {}), MISSED)
        self.assertEqual(goal.noise_text(), "none")

    def test_the_limit_beside_peers_is_the_lowest_of_theirs(self):
        goal = sooner(0.2, gemini=100, codex=10)
        self.assertEqual(goal.limit({"gemini": 2000, "codex": 100}), 10)
        self.assertEqual(goal.limit({"gemini": 500, "codex": 100}), 5)
        self.assertIsNone(goal.limit({"gemini": 500}))
        self.assertEqual(goal.verdict(1, {"gemini": 500}), UNKNOWN)

    def test_every_goal_of_a_time_or_memory_has_a_noise(self):
        for figure in [*scenarios.figures(), *goals.SOAK, *goals.EDITORS]:
            is_count = figure.unit == "kB" or figure is goals.INSTALLED
            if figure.goal and not is_count:
                with self.subTest(figure.title):
                    self.assertGreater(figure.goal.noise, 0)


class Failures(unittest.TestCase):
    def failures(self, store):
        return results.failures(store, FIGURES, sections={})

    def test_goals_that_are_met_or_missed_within_noise_do_not_fail(self):
        self.assertEqual(self.failures(with_peers()), [])
        self.assertEqual(self.failures(alone(with_peers(), start=110, work=12, size=7)), [])

    def test_a_missed_goal_is_reported_with_figure_goal_and_noise(self):
        self.assertEqual(
            self.failures(alone(with_peers(), start=150, work=13, size=7)),
            [
                "start: 150 ms, goal ≤ 100 ms, noise 10 %",
                "work: 13.0 ms, goal ≤ 10.0 ms (100 times sooner than Gemini CLI, 10 times sooner "
                "than Codex), noise 20 %",
            ],
        )

    def test_a_missing_figure_fails_with_and_without_a_goal(self):
        self.assertEqual(
            self.failures(alone(with_peers(), work=1)),
            ["start: not measured", "size: not measured"],
        )

    def test_a_missing_peer_fails(self):
        lines = self.failures(alone({}, start=1, work=1, size=1))
        self.assertEqual(len(lines), 1)
        self.assertIn("the figure of a peer is missing", lines[0])

    def test_a_missing_section_fails(self):
        lines = results.failures(with_peers(), FIGURES)
        missing = [(name, figure) for name, group in goals.SECTIONS.items() for figure in group]
        self.assertEqual(lines, [f"{name}: {figure.title}: not measured" for name, figure in missing])


def complete():
    """Returns a store in which every goal is met."""
    figures = scenarios.figures()
    rows = [
        (figure, {"pollux": [0.01], **dict.fromkeys(("codex", "gemini"), [1000])})
        for figure in figures
    ]
    store = results.measured({}, description("c", "pollux", "codex", "gemini"), rows, [])
    for name, group in goals.SECTIONS.items():
        peers = lambda figure: dict(figure.goal.factors) if figure.goal else {}
        columns = {
            figure.title: {"pollux": [0], **dict.fromkeys(peers(figure), [1000])} for figure in group
        }
        store[name] = results.section(description("c", "pollux"), columns)
    return store


class Check(unittest.TestCase):
    """`--check FILE`, as the command line has it."""

    def check(self, store):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "results.json")
            results.write(store, path)
            command = [sys.executable, "-B", HERE / "run.py", "--check", path]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(done.stderr, "")
        return done.returncode, done.stdout.splitlines()

    def test_a_complete_file_without_missed_goals_passes(self):
        code, lines = self.check(complete())
        self.assertEqual((code, len(lines)), (0, 1), lines)

    def test_each_missed_goal_and_missing_figure_is_one_line(self):
        store = complete()
        figures = store["pollux"]["figures"]
        figures[goals.INSTALLED.title]["pollux"]["median"] = 20.5
        del figures["one-shot, wall time"]
        del store["soak"]["figures"]["peak memory"]
        code, lines = self.check(store)
        self.assertEqual(code, 1)
        self.assertEqual(
            lines[:-1],
            [
                "one-shot, wall time: not measured",
                "installed (Node.js not counted): 20.5 MB, goal ≤ 20.0 MB, noise none",
                "soak: peak memory: not measured",
            ],
        )

    def test_a_file_that_does_not_exist_is_an_error(self):
        command = [sys.executable, "-B", HERE / "run.py", "--check", "/no/such/file"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("is not a file", done.stderr)


class Page(unittest.TestCase):
    def test_a_store_is_read_as_it_was_written(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "results.json")
            results.write(with_peers(), path)
            self.assertEqual(results.read(path), with_peers())
            self.assertEqual(results.read(Path(folder, "none.json")), {})

    def test_a_run_without_peers_keeps_their_figures_and_their_run(self):
        before = with_peers()
        store = alone(before, start=80, work=4, size=6)
        self.assertEqual(store["comparison"], before["comparison"])
        own, _, comparison = report.page(store, FIGURES).partition("## Comparison")
        self.assertIn("- Commit: second\n", own)
        self.assertIn("| start | 80.0 ms |", own)
        self.assertIn("- Commit: first\n", comparison)
        # The ratio is within the run of the peers, not against the new figure.
        self.assertIn("| start | 90.0 ms | 900 ms, **×10.0** | 9,000 ms, **×100** |", comparison)
        self.assertIn("- Codex, a scenario: a reason", comparison)

    def test_a_run_with_peers_replaces_both(self):
        rows = [(FIXED, {"pollux": [1], "gemini": [3]})]
        store = results.measured(
            with_peers(), description("third", "pollux", "gemini"), rows, []
        )
        page = report.page(store, FIGURES)
        self.assertNotIn("Commit: first", page)
        self.assertNotIn("Codex, a scenario", page)
        self.assertIn("| start | 1.00 ms | 3.00 ms, **×3.00** |", page)

    def test_other_sections_are_kept_by_a_new_run(self):
        store = alone(complete(), start=1)
        for name in goals.SECTIONS:
            self.assertEqual(store[name], complete()[name])

    def test_every_figure_has_a_row_whether_measured_or_not(self):
        for store in ({}, complete()):
            page = report.page(store, scenarios.figures())
            for figure in [*scenarios.figures(), *goals.SOAK, *goals.EDITORS]:
                self.assertIn(f"\n| {figure.title} | ", page)

    def test_titles_are_unique(self):
        for quick in (False, True):
            titles = [figure.title for figure in scenarios.figures(quick)]
            self.assertEqual(len(titles), len(set(titles)))

    def test_the_run_is_described(self):
        page = report.page({"pollux": results.section(results.run_of({}, 5, 1.25, "dist"), {})}, [])
        for wanted in ("Commit: [0-9a-f]{12}", "rustc 1.*`dist`", "cores", "beginning 1.2", "5 runs"):
            self.assertRegex(page, wanted)

    def test_a_commit_is_marked_if_files_outside_of_the_benchmark_differ(self):
        with tempfile.TemporaryDirectory() as folder:
            author = ("-c", "user.name=a", "-c", "user.email=a@example.org")
            for words in (("init", "-q"), ("commit", "-q", "--allow-empty", "-m", "a")):
                subprocess.run(["git", "-C", folder, *author, *words], check=True)
            self.assertRegex(results.commit_of(folder), "^[0-9a-f]{12}$")
            bench = Path(folder, "bench")
            bench.mkdir()
            (bench / "RESULTS.md").touch()
            self.assertRegex(results.commit_of(bench), "^[0-9a-f]{12}$")
            Path(folder, "main.rs").touch()
            self.assertRegex(results.commit_of(bench), "^[0-9a-f]{12}, modified$")

    def test_the_page_of_the_repository_is_rendered_from_its_store(self):
        expected = report.page(results.read(), scenarios.figures())
        how = "bench/RESULTS.md is stale; run `python3 -B bench/run.py --page`"
        self.assertEqual(results.PAGE.read_text(), expected, how)

    def test_links_to_the_page_lead_to_its_headings(self):
        headings = {
            re.sub(r"[^a-z0-9 -]", "", line.lstrip("# ").lower()).replace(" ", "-")
            for line in results.PAGE.read_text().splitlines()
            if line.startswith("#")
        }
        found = []
        for path in [HERE.parent / "README.md", *(HERE.parent / "docs").glob("*.md")]:
            found += re.findall(r"bench/RESULTS\.md#([\w-]+)", path.read_text())
        self.assertTrue(found)
        self.assertLessEqual(set(found), headings)


class FakeBench(run.Bench):
    """A benchmark whose runs take the times of a list, and that records their order."""

    def __init__(self, *names, times):
        self.options = SimpleNamespace(runs=3, budget=30)
        self.programs = [SimpleNamespace(name=name, resumes_jsonl=True) for name in names]
        self.rows, self.skipped, self.order = [], [], []
        self.times = iter(times)

    def once(self, scenario, program, limit=0):
        self.order.append((scenario, program.name))
        return sampling.Cost(0, next(self.times), 0, 0, 0, b"", b""), []


def wall(cost, _exchanges):
    return cost.wall


class Pairs(unittest.TestCase):
    def measure(self, figures, beside, names=("pollux",), times=()):
        bench = FakeBench(*names, times=times)
        with contextlib.redirect_stdout(io.StringIO()):
            bench.measure(scenarios.Scenario("whole", [], figures, beside=beside))
        return bench

    def test_both_parts_of_a_pair_are_measured_in_turn(self):
        figures = (
            Figure("ratio", "times", scenarios.against(wall), alone=True),
            Figure("difference", "ms", scenarios.added(wall), alone=True),
        )
        # The machine is ten times slower in the second pair that counts. The first is a warm-up.
        times = [1, 99, 2, 3, 20, 30, 4, 6]
        bench = self.measure(figures, lambda b, program: b.once("part", program)[0].wall, times=times)
        kinds = [kind if kind == "part" else "whole" for kind, _ in bench.order]
        self.assertEqual(kinds, ["part", "whole"] * 4)
        ratio, difference = (results.summary(column["pollux"]) for _, column in bench.rows)
        self.assertEqual((ratio["median"], ratio["least"], ratio["most"]), (1.5, 1.5, 1.5))
        self.assertEqual((difference["median"], difference["most"]), (2, 10))

    def test_only_pollux_has_pairs(self):
        figures = (
            Figure("whole", "ms", wall),
            Figure("ratio", "times", scenarios.against(wall), alone=True),
            Figure("alone", "ms", wall, alone=True),
        )
        bench = self.measure(figures, lambda *_: 2, ("pollux", "gemini"), [4] * 8)
        whole, ratio, alone = (column for _, column in bench.rows)
        self.assertEqual(whole, {"pollux": [4] * 3, "gemini": [4] * 3})
        self.assertEqual(alone, {"pollux": [4] * 3})
        self.assertEqual(ratio, {"pollux": [2] * 3})

    def test_a_pair_without_its_other_part_is_missing(self):
        figures = (Figure("ratio", "times", scenarios.against(wall), alone=True),)
        bench = self.measure(figures, lambda *_: None, times=[1] * 4)
        self.assertEqual(bench.rows, [(figures[0], {})])

    def test_late_turns_are_compared_by_the_sum_of_many(self):
        # A turn takes 1 s, later 1.5 s; one early and one late turn take 5 s more.
        spent, total = [], 7.0
        for number in range(151):
            spent.append(sampling.Sample(0, total, number * 30_000))
            total += (1 if number < 100 else 1.5) + (5 if number in (10, 140) else 0)
        cost = SimpleNamespace(requests=spent)
        self.assertAlmostEqual(scenarios.late_against_early(150)(cost, []), 80 / 55)
        self.assertEqual(scenarios.written_per_turn(cost, []), 30)

    def test_bytes_that_the_kernel_does_not_count_are_missing(self):
        cost = SimpleNamespace(requests=[sampling.Sample(0, 0, 0)] * 2)
        self.assertIsNone(scenarios.written_per_turn(cost, []))


class Parts(unittest.TestCase):
    def test_the_output_of_the_confinement_example_is_read(self):
        output = (
            "inspect: +0.71 ms at the median, +1.20 ms at the 95th percentile (none: 0.90 ms)\n"
            "workspace-write: +-0.02 ms at the median, +1.20 ms at the 95th percentile (none: 1 ms)\n"
        )
        self.assertEqual(run.confinement_times(output), {"inspect": 0.71, "workspace-write": -0.02})

    def test_the_sampler_reads_the_processor_time_of_a_process(self):
        sampler = sampling.Requests()
        sampler.watch(os.getpid())
        before = time.process_time()
        while time.process_time() < before + 0.05:
            pass
        sampler.look()
        taken = sampler.requests[0].cpu
        self.assertAlmostEqual(taken, time.process_time(), delta=0.05)
        self.assertEqual(sampling.processor(2**22 - 1), 0)


if __name__ == "__main__":
    unittest.main()
