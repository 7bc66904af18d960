//! `cargo xtask prove`: what is promised about disasters, tried out many times.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;

use crate::process;

/// A promise that can be tried out.
#[derive(Subcommand)]
pub(crate) enum Proof {
    /// Killed at any moment, Pollux loses nothing: the session goes on, every file is old or new
    Kill {
        /// How many times
        #[arg(long, default_value_t = 100, value_name = "N")]
        runs: u32,
        /// The seed that an earlier proof printed: the same moments again
        #[arg(long, value_name = "N")]
        seed: Option<u32>,
    },
}

/// Builds the release and tries the promise out; a failure is an error.
pub(crate) fn run(root: &Path, proof: &Proof) -> Result<ExitCode> {
    let Proof::Kill { runs, seed } = proof;
    // A proof that finds nothing is worth something only when it would have found it.
    process::run(process::python(root, "prove/test_kill.py"))?;
    let release = process::release_build(root)?;
    let mut command = process::python(root, "prove/kill.py");
    command.arg("--binary").arg(&release.pollux).arg("--runs").arg(runs.to_string());
    if let Some(seed) = seed {
        command.arg("--seed").arg(seed.to_string());
    }
    process::run(command)?;
    Ok(ExitCode::SUCCESS)
}
