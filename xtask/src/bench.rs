//! `cargo xtask bench`: Pollux measured beside its peers. The measuring is in `bench/`.

use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::Result;
use clap::{Args, ValueEnum};

use crate::process;

/// What `cargo xtask bench` is told.
#[derive(Args)]
pub(crate) struct Options {
    /// Fewer runs and shorter sessions; bench/RESULTS.md stays as it is
    #[arg(long)]
    quick: bool,
    /// Pollux alone, without the peers from npm; bench/RESULTS.md stays as it is
    #[arg(long)]
    no_peers: bool,
    /// Only the scenarios with this in their name; bench/RESULTS.md stays as it is
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Show where the time of one phase goes, instead of comparing
    #[arg(long, value_name = "PHASE")]
    profile: Option<Phase>,
}

/// A phase that can be looked at closely.
#[derive(Clone, Copy, ValueEnum)]
enum Phase {
    /// From exec to the first request
    Start,
}

/// Builds the release and measures it.
pub(crate) fn run(root: &Path, options: &Options) -> Result<ExitCode> {
    let release = process::release_build(root)?;
    process::run(match options.profile {
        Some(Phase::Start) => profile(root, &release),
        None => comparison(root, &release, options),
    })?;
    Ok(ExitCode::SUCCESS)
}

fn profile(root: &Path, release: &process::Release) -> Command {
    let mut command = process::python(root, "bench/start.py");
    command.arg("--binary").arg(&release.pollux);
    command
}

fn comparison(root: &Path, release: &process::Release, options: &Options) -> Command {
    let mut command = process::python(root, "bench/run.py");
    command.arg("--binary").arg(&release.pollux).arg("--target").arg(&release.target);
    command.args(options.quick.then_some("--quick"));
    command.args(options.no_peers.then_some("--no-peers"));
    if let Some(text) = &options.only {
        command.args(["--only", text]);
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_options_reach_the_measuring_program() {
        let release = process::Release { pollux: "p".into(), target: "t".into() };
        let options =
            Options { quick: true, no_peers: false, only: Some("start".to_owned()), profile: None };
        let command = comparison(Path::new("/repository"), &release, &options);
        let words: Vec<_> = command.get_args().collect();
        let expected = [
            "/repository/bench/run.py",
            "--binary",
            "p",
            "--target",
            "t",
            "--quick",
            "--only",
            "start",
        ];
        assert_eq!(words, expected);
    }
}
