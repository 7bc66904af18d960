//! `cargo xtask mutants`: mutation tests of the modules that make decisions, with `cargo-mutants`.
//!
//! Each mutant is a copy of the code with one small fault. A mutant that no test of its crate
//! notices shows what the tests do not check. `.cargo/mutants.toml` lists the mutants that are not
//! tested, each with its reason.

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};

use crate::process;

/// Minimum share of caught mutants in each group, in percent. Mutants that do not compile do not
/// count.
const GOAL: usize = 90;

/// The groups: a name, and patterns of the files with the decisions.
const GROUPS: &[(&str, &[&str])] = &[
    ("policy", &["crates/policy/src/**"]),
    ("scheduler", &["crates/agent/src/scheduler{.rs,/*}"]),
    ("consent", &["crates/config/src/{consent,guard,trust}{.rs,/*}"]),
    ("retry", &["crates/net/src/retry.rs", "crates/models/src/refusal/*"]),
    ("budget", &["crates/{agent,protocol}/src/budget.rs"]),
    ("edit", &["crates/tools/src/edit{.rs,/*}"]),
    ("paths", &["crates/fs/src/{held,paths,real,workspace}{.rs,/*}"]),
    (
        "history",
        &[
            "crates/agent/src/{conversation,next_speaker,validity}.rs",
            "crates/protocol/src/history{.rs,/*}",
        ],
    ),
    ("compression", &["crates/agent/src/compression{.rs,/*}"]),
    ("log", &["crates/session/src/{reader,rebuild,renamed,resume,stored}.rs"]),
    ("loops", &["crates/agent/src/loop_guard{.rs,/*}"]),
    ("analysis", &["crates/shell/src/command_line{.rs,/*}"]),
];

/// Options of `cargo xtask mutants`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The one group to test; all of them without it
    group: Option<String>,
    /// Only about so many mutants of each group
    #[arg(long, value_name = "N")]
    sample: Option<usize>,
    /// The seed that an earlier run printed: the same mutants again
    #[arg(long, value_name = "N")]
    seed: Option<usize>,
}

/// Tests one group, or all of them. Fails if a group misses the goal.
pub(crate) fn run(root: &Path, options: &Options) -> Result<ExitCode> {
    let groups: Vec<_> = match &options.group {
        None => GROUPS.iter().collect(),
        Some(name) => GROUPS.iter().filter(|(known, _)| known == name).collect(),
    };
    if groups.is_empty() {
        let known: Vec<_> = GROUPS.iter().map(|(name, _)| *name).collect();
        bail!("unknown group; available: {}", known.join(", "));
    }
    if process::capture(process::cargo(root, &["mutants", "--version"])).is_err() {
        bail!("cargo-mutants is missing; install it with `cargo install cargo-mutants --locked`");
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let seed = options.seed.unwrap_or(now as usize % 1000);
    let mut reached = true;
    for (name, files) in groups {
        let tally = test(root, name, files, options.sample, seed)?;
        println!("== mutants {name}, seed {seed}: {}", tally.describe());
        reached &= tally.reaches_goal();
    }
    Ok(if reached { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Tests the mutants of some files, or a sample of them.
fn test(
    root: &Path,
    name: &str,
    files: &[&str],
    sample: Option<usize>,
    seed: usize,
) -> Result<Tally> {
    let mut arguments = vec!["mutants".to_owned(), "--workspace".to_owned()];
    arguments.extend(files.iter().flat_map(|file| ["--file".to_owned(), (*file).to_owned()]));
    let command = |more: &[String]| {
        let mut command = process::cargo(root, &[]);
        command.args(&arguments).args(more);
        command
    };
    let total = process::capture(command(&["--list".to_owned()]))?.lines().count();
    if total == 0 {
        bail!("there are no mutants in {}", files.join(" "));
    }
    let target = root.join("target").join("mutants");
    let output = target.join("reports").join(name);
    fs::create_dir_all(&output).with_context(|| format!("cannot create {}", output.display()))?;
    let mut testing = command(&["--output".to_owned(), output.display().to_string()]);
    testing.args(sample.map(|sample| shard(total, sample, seed)).unwrap_or_default());
    // The mutants are compiled in a copy of the repository, whose dependencies are kept here.
    testing.env("CARGO_TARGET_DIR", &target).env("CARGO_PROFILE_DEV_DEBUG", "false");
    // Exit codes: 2 if a mutant is missed, 3 if the tests of a mutant take too long.
    let status = process::status(&mut testing)?;
    if !matches!(status.code(), Some(0 | 2 | 3)) {
        bail!("cargo-mutants failed ({status})");
    }
    Tally::read(&output.join("mutants.out"))
}

/// Returns the options for every n-th mutant, so that about `sample` mutants are tested.
fn shard(total: usize, sample: usize, seed: usize) -> Vec<String> {
    let shards = (total / sample.max(1)).max(1);
    vec![format!("--shard={}/{shards}", seed % shards), "--sharding=round-robin".to_owned()]
}

/// Number of mutants of a group by result.
#[derive(Debug, PartialEq, Eq)]
struct Tally {
    /// Mutants whose tests failed, or did not end.
    caught: usize,
    missed: usize,
    /// Mutants that do not compile.
    unviable: usize,
}

impl Tally {
    /// Reads the lists that `cargo-mutants` writes, with one mutant per line.
    fn read(folder: &Path) -> Result<Self> {
        let count = |name: &str| {
            let path = folder.join(name);
            let list = fs::read_to_string(&path);
            list.map(|list| list.lines().count())
                .with_context(|| format!("cannot read {}", path.display()))
        };
        let caught = count("caught.txt")? + count("timeout.txt")?;
        Ok(Self { caught, missed: count("missed.txt")?, unviable: count("unviable.txt")? })
    }

    /// True if enough of the mutants that compile are caught.
    fn reaches_goal(&self) -> bool {
        self.caught * 100 >= GOAL * (self.caught + self.missed)
    }

    fn describe(&self) -> String {
        let Self { caught, missed, unviable } = self;
        format!("{caught} caught, {missed} missed, {unviable} not compiled")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_one_of_as_many_shards_as_it_needs() {
        let cases =
            [(1229, 60, 7, "7/20"), (1229, 60, 27, "7/20"), (30, 60, 7, "0/1"), (5, 0, 1, "1/5")];
        for (total, sample, seed, expected) in cases {
            assert_eq!(shard(total, sample, seed)[0], format!("--shard={expected}"));
        }
    }

    #[test]
    fn a_group_reaches_the_goal_at_nine_of_ten() {
        let reaches = |caught, missed| Tally { caught, missed, unviable: 50 }.reaches_goal();
        assert!(reaches(9, 1) && reaches(90, 10) && reaches(0, 0));
        assert!(!reaches(89, 11) && !reaches(8, 1) && !reaches(0, 1));
    }
}
