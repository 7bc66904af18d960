//! `cargo xtask ci`: the checks that every change must pass. The checks that fail soonest run
//! first.

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::Result;

use crate::{check, process};

/// Cargo commands that run before the checks of this program.
const STEPS: &[&[&str]] = &[
    &["fmt", "--all", "--check"],
    &["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"],
    &["test", "--workspace", "--locked"],
    // The fuzz targets are a separate workspace, and run last.
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
