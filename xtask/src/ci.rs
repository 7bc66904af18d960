//! `cargo xtask ci`: what every change must pass, in the order that fails soonest.

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::Result;

use crate::{check, process};

/// The cargo commands that come before the checks of this program.
const STEPS: &[&[&str]] = &[
    &["fmt", "--all", "--check"],
    &["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"],
    &["test", "--workspace", "--locked"],
    // They are a workspace of their own, and run last.
    &[
        "check",
        "--manifest-path",
        "fuzz/Cargo.toml",
        "--bins",
        "--locked",
        "--target-dir",
        "target",
    ],
];

/// Runs the steps, each with its time, and stops at the first that fails.
pub(crate) fn run(root: &Path) -> Result<ExitCode> {
    for step in STEPS {
        let name = step.join(" ");
        println!("== cargo {name}");
        let start = Instant::now();
        process::run(process::cargo(root, step))?;
        println!("== cargo {name}: {:.0} s", start.elapsed().as_secs_f64());
    }
    println!("== checks");
    check::run(root, false)
}
