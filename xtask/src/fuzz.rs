//! `cargo xtask fuzz`: runs the fuzz targets for the parsers of untrusted bytes.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::process;

/// Maximum size of an input, in bytes. Larger inputs find nothing new and slow the search down.
const LARGEST_INPUT: usize = 65_536;

/// Runs one target, or all of them, for `seconds` each. The first crash is an error.
pub(crate) fn run(
    root: &Path,
    target: Option<&str>,
    seconds: u32,
    seed: Option<u32>,
) -> Result<ExitCode> {
    let known = targets(root)?;
    let chosen = match target {
        None => known,
        Some(name) if known.iter().any(|one| one == name) => vec![name.to_owned()],
        Some(name) => bail!("unknown fuzz target `{name}`; available: {}", known.join(", ")),
    };
    if process::capture(process::cargo(root, &["fuzz", "--version"])).is_err() {
        bail!("cargo-fuzz is missing; install it with `cargo install cargo-fuzz --locked`");
    }
    for name in &chosen {
        println!("== fuzz {name}, {seconds} s");
        let start = Instant::now();
        process::run(command(root, name, seconds, seed)?)?;
        println!("== fuzz {name}: {:.0} s", start.elapsed().as_secs_f64());
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the targets, which are the files of `fuzz/fuzz_targets`, in alphabetical order.
fn targets(root: &Path) -> Result<Vec<String>> {
    let folder = root.join("fuzz").join("fuzz_targets");
    let context = || format!("cannot list {}", folder.display());
    let mut names = Vec::new();
    for entry in std::fs::read_dir(&folder).with_context(context)? {
        let path = entry.with_context(context)?.path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            names.extend(path.file_stem().map(|stem| stem.to_string_lossy().into_owned()));
        }
    }
    names.sort();
    Ok(names)
}

/// Returns the command for one target. The stable compiler has the sanitizer and the coverage
/// instrumentation, but hides them: `RUSTC_BOOTSTRAP` enables them without a second toolchain.
fn command(root: &Path, name: &str, seconds: u32, seed: Option<u32>) -> Result<Command> {
    let corpus = root.join("fuzz").join("corpus").join(name);
    std::fs::create_dir_all(&corpus)
        .with_context(|| format!("cannot create {}", corpus.display()))?;
    let mut command = process::cargo(root, &["fuzz", "run", name]);
    command.env("RUSTC_BOOTSTRAP", "1").arg(corpus).args(seeds(root, name)).arg("--").args([
        format!("-max_total_time={seconds}"),
        format!("-max_len={LARGEST_INPUT}"),
        "-timeout=10".to_owned(),
        "-rss_limit_mb=1024".to_owned(),
        "-print_final_stats=1".to_owned(),
        "-print_funcs=0".to_owned(),
        "-verbosity=0".to_owned(),
    ]);
    // The same seed repeats the same search, unless the code has changed.
    command.args(seed.map(|seed| format!("-seed={seed}")));
    Ok(command)
}

/// Returns the committed initial inputs of a target, if it has any.
fn seeds(root: &Path, name: &str) -> Option<PathBuf> {
    Some(root.join("fuzz").join("seeds").join(name)).filter(|folder| folder.is_dir())
}
