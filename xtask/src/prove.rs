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
    /// Edited in any encoding, with any line ends, a file changes where it was meant to and nowhere else
    Edits,
    /// No command line gets past an allow-list or a deny rule
    Bypass {
        /// Only about so many of the lines
        #[arg(long, value_name = "N")]
        sample: Option<u32>,
    },
    /// In plan mode nothing but plans is written, whatever the model tries
    Plan {
        /// Only about so many answers of the model in each way of being in plan mode
        #[arg(long, value_name = "N")]
        sample: Option<u32>,
    },
    /// Whatever a cloned repository brings, nothing of it takes effect before somebody said yes to it
    Hostile {
        /// Only the ways in whose names have this in them
        #[arg(long, default_value = "", value_name = "WORDS")]
        only: String,
    },
    /// Conversations of 2,000,000 tokens go on, whatever the model that summarises them does
    Compress,
    /// No command gets out of the level of confinement that it runs at
    Sandbox {
        /// Only the attempts whose names have this in them
        #[arg(long, default_value = "", value_name = "WORDS")]
        only: String,
    },
    /// Whatever a command does, its result comes, memory stays flat, and no process outlives Pollux
    Shell {
        /// Only the trials whose names have this in them
        #[arg(long, default_value = "", value_name = "WORDS")]
        only: String,
    },
}

/// Builds the release and tries the promise out; a failure is an error.
pub(crate) fn run(root: &Path, proof: &Proof) -> Result<ExitCode> {
    match proof {
        Proof::Kill { runs, seed } => {
            let mut arguments = vec!["--runs".to_owned(), runs.to_string()];
            arguments.extend(seed.iter().flat_map(|seed| ["--seed".to_owned(), seed.to_string()]));
            prove(root, "kill", &arguments)?;
        }
        Proof::Compress => prove(root, "compress", &[])?,
        Proof::Edits => prove(root, "edits", &[])?,
        Proof::Plan { sample } => prove(root, "plan", &sampled(*sample))?,
        Proof::Bypass { sample } => prove(root, "bypass", &sampled(*sample))?,
        Proof::Hostile { only } => prove(root, "hostile", &["--only".to_owned(), only.clone()])?,
        Proof::Sandbox { only } => prove(root, "sandbox", &["--only".to_owned(), only.clone()])?,
        Proof::Shell { only } => prove(root, "shell", &["--only".to_owned(), only.clone()])?,
    }
    Ok(ExitCode::SUCCESS)
}

fn sampled(sample: Option<u32>) -> Vec<String> {
    sample.iter().flat_map(|count| ["--sample".to_owned(), count.to_string()]).collect()
}

/// Runs `prove/<name>.py` with the release, after its own tests: a proof that finds nothing is worth something
/// only when it would have found it.
fn prove(root: &Path, name: &str, arguments: &[String]) -> Result<()> {
    process::run(process::python(root, &format!("prove/test_{name}.py")))?;
    let release = process::release_build(root)?;
    let mut command = process::python(root, &format!("prove/{name}.py"));
    command.arg("--binary").arg(&release.pollux).args(arguments);
    process::run(command)
}
