//! `cargo xtask prove`: repeated tests of the guarantees of Pollux in bad conditions.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;

use crate::process;

/// Names of all proofs.
pub(crate) const NAMES: &[&str] = &[
    "kill", "edits", "bypass", "plan", "hostile", "compress", "sandbox", "shell", "acp", "mcp",
    "terminal",
];

/// A guarantee that can be tested.
#[derive(Subcommand)]
pub(crate) enum Proof {
    /// Killed at any moment, Pollux loses nothing: the session continues, every file is old or new
    Kill {
        /// Number of runs
        #[arg(long, default_value_t = 100, value_name = "N")]
        runs: u32,
        /// The seed that an earlier proof printed: the same moments again
        #[arg(long, value_name = "N")]
        seed: Option<u32>,
    },
    /// Edited in any encoding, with any line ends, a file changes where it was meant to and nowhere
    /// else
    Edits,
    /// No command line gets past an allow-list or a deny rule
    Bypass {
        #[command(flatten)]
        sample: Sample,
    },
    /// In plan mode nothing but plans is written, whatever the model tries
    Plan {
        #[command(flatten)]
        sample: Sample,
    },
    /// Nothing in a cloned repository takes effect before the user has approved it
    Hostile {
        #[command(flatten)]
        sample: Sample,
        /// Only the ways in whose names have this in them
        #[arg(long, default_value = "", value_name = "WORDS")]
        only: String,
    },
    /// Conversations of 2,000,000 tokens go on, whatever the model that summarises them does
    Compress {
        #[command(flatten)]
        sample: Sample,
    },
    /// No command gets out of the level of confinement that it runs at
    Sandbox {
        #[command(flatten)]
        sample: Sample,
        /// Only the attempts whose names have this in them
        #[arg(long, default_value = "", value_name = "WORDS")]
        only: String,
    },
    /// For any command, the result arrives, memory stays flat, and no process outlives Pollux
    Shell {
        #[command(flatten)]
        sample: Sample,
        /// Only the trials whose names have this in them
        #[arg(long, default_value = "", value_name = "WORDS")]
        only: String,
    },
    /// Servers of tools that misbehave cost their own results, and nothing of them is left
    Mcp {
        #[command(flatten)]
        sample: Sample,
        /// Only the trials whose names have this in them
        #[arg(long, default_value = "", value_name = "WORDS")]
        only: String,
    },
    /// Editors of every kind can drive Pollux: many sessions at once, and clients that misbehave
    Acp {
        #[command(flatten)]
        sample: Sample,
        /// Only the clients whose names have this in them
        #[arg(long, default_value = "", value_name = "WORDS")]
        only: String,
    },
    /// At a terminal nothing is lost or doubled, no key is misunderstood, and every end gives the
    /// terminal back
    Terminal {
        #[command(flatten)]
        sample: Sample,
        /// Only the checks whose names have this in them
        #[arg(long, default_value = "", value_name = "WORDS")]
        only: String,
    },
}

/// Part of a proof's cases, chosen by chance.
#[derive(clap::Args)]
pub(crate) struct Sample {
    /// Only about so many of the cases
    #[arg(long = "sample", value_name = "N")]
    count: Option<u32>,
    /// The seed that an earlier proof printed: the same cases again
    #[arg(long, value_name = "N")]
    seed: Option<u32>,
}

/// Builds the release and tests the guarantee. A failure is an error.
pub(crate) fn run(root: &Path, proof: &Proof) -> Result<ExitCode> {
    match proof {
        Proof::Kill { runs, seed } => {
            let mut arguments = vec!["--runs".to_owned(), runs.to_string()];
            arguments.extend(seed.iter().flat_map(|seed| ["--seed".to_owned(), seed.to_string()]));
            prove(root, "kill", &arguments)?;
        }
        Proof::Compress { sample } => prove(root, "compress", &sampled(sample))?,
        Proof::Edits => prove(root, "edits", &[])?,
        Proof::Plan { sample } => prove(root, "plan", &sampled(sample))?,
        Proof::Bypass { sample } => prove(root, "bypass", &sampled(sample))?,
        Proof::Hostile { sample, only } => prove(root, "hostile", &selected(sample, only))?,
        Proof::Sandbox { sample, only } => prove(root, "sandbox", &selected(sample, only))?,
        Proof::Shell { sample, only } => prove(root, "shell", &selected(sample, only))?,
        Proof::Mcp { sample, only } => prove(root, "mcp", &selected(sample, only))?,
        Proof::Acp { sample, only } => prove(root, "acp", &selected(sample, only))?,
        Proof::Terminal { sample, only } => prove(root, "terminal", &selected(sample, only))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn selected(sample: &Sample, only: &str) -> Vec<String> {
    [sampled(sample), vec!["--only".to_owned(), only.to_owned()]].concat()
}

fn sampled(sample: &Sample) -> Vec<String> {
    let options = [("--sample", sample.count), ("--seed", sample.seed)];
    let given = options.into_iter().filter_map(|(name, value)| Some((name, value?)));
    given.flat_map(|(name, value)| [name.to_owned(), value.to_string()]).collect()
}

/// Runs `prove/<name>.py` with the release build, after the tests of that script: a proof that
/// finds no problem is only useful if it would find one.
fn prove(root: &Path, name: &str, arguments: &[String]) -> Result<()> {
    process::run(process::python(root, &format!("prove/test_{name}.py")))?;
    let release = process::build(root, "release")?;
    let mut command = process::python(root, &format!("prove/{name}.py"));
    command.arg("--binary").arg(&release.pollux).args(arguments);
    process::run(command)
}
