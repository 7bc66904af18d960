//! `cargo xtask bench`: measurement of Pollux in comparison with its peers, as an agent of an
//! editor, and alone over a long session. The measuring programs are in `bench/`.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::Result;
use clap::{Args, Subcommand, ValueEnum};

use crate::process;

/// Arguments of `cargo xtask bench`.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Options {
    #[command(subcommand)]
    kind: Option<Kind>,
    /// Fewer runs and shorter sessions; bench/RESULTS.md stays as it is
    #[arg(long)]
    quick: bool,
    /// Pollux alone, without the peers from npm; bench/RESULTS.md keeps the peers' figures
    #[arg(long)]
    no_peers: bool,
    /// Pollux alone, compared with the goals: fails if one is missed by more than its noise, or not
    /// measured; bench/RESULTS.md stays as it is. With a file, such as bench/results.json, its
    /// figures are compared, without a measurement
    #[arg(long, value_name = "FILE", num_args = 0..=1, conflicts_with_all = ["quick", "profile"])]
    #[allow(clippy::option_option, reason = "clap's form of an option with an optional value")]
    check: Option<Option<PathBuf>>,
    /// Only the scenarios with this in their name; bench/RESULTS.md stays as it is
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Show where the time of one phase goes, instead of comparing
    #[arg(long, value_name = "PHASE")]
    profile: Option<Phase>,
}

/// Measurements other than the comparison with the peers.
#[derive(Subcommand)]
enum Kind {
    /// One session of many turns: memory and the cost of a turn as it ages, drawn in bench/soak.png
    Soak {
        /// Turns of the session; with fewer than 10,000 bench/soak.png stays as it is
        #[arg(long, default_value_t = 10_000, value_name = "N")]
        turns: u32,
    },
    /// Cost of MCP servers: for the first request, for a call and for an idle session
    Servers {
        /// Fewer runs
        #[arg(long)]
        quick: bool,
    },
    /// Time that 500 custom commands add to the first request
    Commands {
        /// Fewer runs
        #[arg(long)]
        quick: bool,
    },
    /// Time that 50 extensions, 200 skills and 50 subagents add to the first request
    Extensions {
        /// Fewer runs
        #[arg(long)]
        quick: bool,
    },
    /// Each API dialect beside Gemini's: time until the first request, cost of a long answer
    Vendors {
        /// Fewer runs
        #[arg(long)]
        quick: bool,
    },
    /// The connection to an editor, beside Gemini CLI's: start, memory, cost of text, delays
    Editors {
        /// Fewer runs, of Pollux alone; bench/RESULTS.md stays as it is
        #[arg(long)]
        quick: bool,
    },
    /// The conversation at a terminal, beside Gemini CLI's and Codex's: start, memory, keys, output
    Tui {
        /// Fewer runs, of Pollux alone; bench/RESULTS.md stays as it is
        #[arg(long)]
        quick: bool,
    },
}

/// A phase that can be profiled.
#[derive(Clone, Copy, ValueEnum)]
enum Phase {
    /// From exec to the first request
    Start,
}

/// Cargo profile of the measured build: the one of packages.
const PROFILE: &str = "dist";

/// Example of `pollux-shell` that measures the time that confinement adds to a command.
const CONFINEMENT_OVERHEAD: &str = "confinement_overhead";

/// Builds the program as packages do, and measures it, after the tests of the measuring programs.
pub(crate) fn run(root: &Path, options: &Options) -> Result<ExitCode> {
    process::run(process::python(root, "bench/test_bench.py"))?;
    if let Some(Some(file)) = &options.check {
        process::run(judgement(root, file)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let build = process::build(root, PROFILE)?;
    process::run(match (&options.kind, options.profile) {
        (Some(Kind::Soak { turns }), _) => soak(root, &build, *turns)?,
        (Some(Kind::Servers { quick }), _) => beside_peers(root, &build, "servers", *quick),
        (Some(Kind::Commands { quick }), _) => alone(root, &build, "commands", *quick),
        (Some(Kind::Extensions { quick }), _) => alone(root, &build, "extensions", *quick),
        (Some(Kind::Vendors { quick }), _) => alone(root, &build, "vendors", *quick),
        (Some(Kind::Editors { quick }), _) => beside_peers(root, &build, "editors", *quick),
        (Some(Kind::Tui { quick }), _) => beside_peers(root, &build, "tui", *quick),
        (None, Some(Phase::Start)) => profile(root, &build),
        (None, None) => {
            build_confinement_overhead(root)?;
            comparison(root, &build, options)
        }
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the comparison of the figures of a file with the goals.
fn judgement(root: &Path, file: &Path) -> Result<Command> {
    let mut command = process::python(root, "bench/run.py");
    command.arg("--check").arg(std::path::absolute(file)?);
    Ok(command)
}

fn build_confinement_overhead(root: &Path) -> Result<()> {
    let example = ["--package", "pollux-shell", "--example", CONFINEMENT_OVERHEAD];
    let build = ["build", "--locked", "--profile", PROFILE];
    process::run(process::cargo(root, &[&build[..], &example].concat()))
}

fn profile(root: &Path, build: &process::Build) -> Command {
    let mut command = process::python(root, "bench/start.py");
    command.arg("--binary").arg(&build.pollux);
    command
}

fn comparison(root: &Path, build: &process::Build, options: &Options) -> Command {
    let mut command = process::python(root, "bench/run.py");
    command.arg("--binary").arg(&build.pollux).arg("--target").arg(&build.target);
    let example = format!("{CONFINEMENT_OVERHEAD}{}", std::env::consts::EXE_SUFFIX);
    command.arg("--confinement").arg(build.target.join(PROFILE).join("examples").join(example));
    command.args(["--profile", PROFILE]);
    command.args(options.check.is_some().then_some("--check"));
    command.args(options.quick.then_some("--quick"));
    command.args(options.no_peers.then_some("--no-peers"));
    if let Some(text) = &options.only {
        command.args(["--only", text]);
    }
    command
}

/// Returns the command of a measurement that compares with the peers unless it is quick.
fn beside_peers(root: &Path, build: &process::Build, name: &str, quick: bool) -> Command {
    let mut command = process::python(root, &format!("bench/{name}.py"));
    command.arg("--binary").arg(&build.pollux).arg("--target").arg(&build.target);
    command.args(["--profile", PROFILE]).args(quick.then_some("--quick"));
    command
}

/// Returns the command of a measurement of Pollux alone.
fn alone(root: &Path, build: &process::Build, name: &str, quick: bool) -> Command {
    let mut command = process::python(root, &format!("bench/{name}.py"));
    command.arg("--binary").arg(&build.pollux).args(quick.then_some("--quick"));
    command
}

fn soak(root: &Path, build: &process::Build, turns: u32) -> Result<Command> {
    let mut command = Command::new(drawing_python(root, build)?);
    command.arg(root.join("bench/soak.py")).current_dir(root).env("PYTHONDONTWRITEBYTECODE", "1");
    command.arg("--binary").arg(&build.pollux).args(["--turns", &turns.to_string()]);
    command.args(["--profile", PROFILE]);
    if turns < 10_000 {
        command.arg("--png").arg(build.target.join("bench/soak.png"));
    }
    Ok(command)
}

/// Returns a Python with the drawing packages of bench/requirements.txt, installed on first use.
fn drawing_python(root: &Path, build: &process::Build) -> Result<PathBuf> {
    let environment = build.target.join("bench/python");
    let mut make = Command::new("python3");
    make.args(["-m", "venv"]).arg(&environment);
    process::run(make)?;
    let mut install = Command::new(environment.join("bin/pip"));
    install.args(["install", "--quiet", "--disable-pip-version-check", "--requirement"]);
    install.arg(root.join("bench/requirements.txt"));
    process::run(install)?;
    Ok(environment.join("bin/python"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_options_reach_the_measuring_program() {
        let build = process::Build { pollux: "p".into(), target: "t".into() };
        let options = Options {
            kind: None,
            quick: false,
            no_peers: false,
            check: Some(None),
            only: Some("start".to_owned()),
            profile: None,
        };
        let command = comparison(Path::new("/repository"), &build, &options);
        let words: Vec<_> = command.get_args().collect();
        let expected = [
            "/repository/bench/run.py",
            "--binary",
            "p",
            "--target",
            "t",
            "--confinement",
            "t/dist/examples/confinement_overhead",
            "--profile",
            "dist",
            "--check",
            "--only",
            "start",
        ];
        assert_eq!(words, expected);
    }
}
