//! `cargo xtask screens`: the screens of the documentation, as the program shows them.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;

use crate::process;

/// Arguments of `cargo xtask screens`.
#[derive(Args)]
pub(crate) struct Options {
    /// Write docs/screens instead of comparing it
    #[arg(long)]
    update: bool,
}

/// Plays all scenes of `crates/pollux/tests/suite/screens/scenes.rs`, and compares their screens
/// with docs/screens, or writes them there.
pub(crate) fn run(root: &Path, options: &Options) -> Result<ExitCode> {
    let test = ["test", "--locked", "--package", "pollux", "--test", "all", "suite::screens::"];
    let mut command = process::cargo(root, &test);
    command.args(["--", "--include-ignored"]);
    if options.update {
        command.env("UPDATE_DOCS", "1");
    }
    process::run(command)?;
    Ok(ExitCode::SUCCESS)
}
