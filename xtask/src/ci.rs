//! `cargo xtask ci`: the checks that every change must pass. The checks that fail soonest run
//! first.

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::Result;

use crate::{check, process};

/// Cargo commands that run after the checks of this program.
const STEPS: &[&[&str]] = &[
    &["fmt", "--all", "--check"],
    &["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"],
    &["test", "--workspace", "--locked"],
];

/// Variable with the file in which tests report that they cannot run here.
const IGNORED: &str = "POLLUX_TESTS_IGNORED";

/// Runs the checks of this program and the steps, each with its time, and stops at the first that
/// fails. Tests that could not run are counted and listed.
pub(crate) fn run(root: &Path) -> Result<ExitCode> {
    println!("== checks");
    let checked = check::run(root, false)?;
    if checked != ExitCode::SUCCESS {
        return Ok(checked);
    }
    let reports = std::env::temp_dir().join(format!("pollux-ignored-{}", std::process::id()));
    for step in STEPS {
        let name = step.join(" ");
        println!("== cargo {name}");
        let start = Instant::now();
        let mut command = process::cargo(root, step);
        command.env(IGNORED, &reports);
        process::run(command)?;
        println!("== cargo {name}: {:.0} s", start.elapsed().as_secs_f64());
    }
    // There is no file if all tests ran.
    let ignored = std::fs::read_to_string(&reports).unwrap_or_default();
    std::fs::remove_file(&reports).ok();
    println!("== tests that could not run here: {}", ignored.lines().count());
    print!("{ignored}");
    Ok(ExitCode::SUCCESS)
}
