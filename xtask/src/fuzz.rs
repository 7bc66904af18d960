//! `cargo xtask fuzz`: runs the fuzz targets for the parsers of untrusted bytes.
//!
//! The inputs of a target are in two folders. `fuzz/corpus/<target>` is committed: inputs written
//! by hand, which have names, and the few found inputs that reach the most, which libFuzzer names
//! by their hashes. `fuzz/found/<target>` is ignored by Git: all that the searches on this machine
//! have found.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use clap::{Args, value_parser};

use crate::finding::Finding;
use crate::process;

/// Version of cargo-fuzz that `.ci/run` installs.
const CARGO_FUZZ: &str = "0.13.2";

/// Maximum size of an input, in bytes. Larger inputs find nothing new and slow the search down.
const LARGEST_INPUT: usize = 65_536;

/// Maximum size of a found input that is committed, in bytes. Larger inputs are cut.
const LARGEST_KEPT: usize = 4096;

/// Maximum number of found inputs that are committed for a target.
const MOST_KEPT: usize = 400;

/// Maximum size of all found inputs that are committed for a target, in bytes.
const KEPT_BYTES: u64 = 100_000;

/// Options of libFuzzer for each run.
const LIMITS: &[&str] = &["-timeout=10", "-rss_limit_mb=1024", "-print_funcs=0", "-verbosity=0"];

/// Arguments of `cargo xtask fuzz`.
#[derive(Args)]
pub(crate) struct Options {
    /// The one target to run; all of them without it
    target: Option<String>,
    /// Time that each target runs, in seconds
    #[arg(long, default_value_t = 20, value_name = "N", value_parser = value_parser!(u32).range(1..))]
    seconds: u32,
    /// Begin the search at this number; another one each time without it
    #[arg(long, value_name = "N")]
    seed: Option<u32>,
    /// After the search, choose the inputs that reach the most for `fuzz/corpus`
    #[arg(long)]
    keep: bool,
    /// Only run the inputs in `fuzz/corpus`; needs no cargo-fuzz
    #[arg(long, conflicts_with_all = ["seconds", "seed", "keep"])]
    replay: bool,
}

/// Runs one target, or all of them. The first crash is an error.
pub(crate) fn run(root: &Path, options: &Options) -> Result<ExitCode> {
    let known = targets(root)?;
    let chosen = match &options.target {
        None => known,
        Some(name) if known.contains(name) => vec![name.clone()],
        Some(name) => bail!("unknown fuzz target `{name}`; available: {}", known.join(", ")),
    };
    if options.replay {
        replay(root, options.target.as_deref())?;
        return Ok(ExitCode::SUCCESS);
    }
    let version = process::capture(process::cargo(root, &["fuzz", "--version"]));
    if version.ok().as_deref().map(str::trim) != Some(&format!("cargo-fuzz {CARGO_FUZZ}")) {
        bail!("cargo-fuzz {CARGO_FUZZ} is missing; install it with `{}`", installation());
    }
    for name in &chosen {
        println!("== fuzz {name}, {} s", options.seconds);
        let start = Instant::now();
        search(root, name, options)?;
        if options.keep {
            keep(root, name)?;
        }
        println!("== fuzz {name}: {:.0} s", start.elapsed().as_secs_f64());
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the command that installs cargo-fuzz.
fn installation() -> String {
    format!("cargo install cargo-fuzz --version {CARGO_FUZZ} --locked")
}

/// Runs the committed inputs of the chosen targets: the tests of the crate of the targets.
fn replay(root: &Path, target: Option<&str>) -> Result<()> {
    let mut test = process::cargo(root, &["test", "--locked", "--package", "pollux-fuzz-targets"]);
    test.args(target);
    process::run(test)
}

/// Returns a finding if the lock file of the fuzz programs is stale.
pub(crate) fn check_lock(root: &Path) -> Result<Vec<Finding>> {
    let arguments = ["metadata", "--locked", "--format-version", "1", "--manifest-path"];
    let mut metadata = process::cargo(root, &arguments);
    metadata.arg("fuzz/Cargo.toml").stdout(Stdio::null()).stderr(Stdio::null());
    let is_fresh = process::status(&mut metadata)?.success();
    let stale = "stale; run `cargo update --workspace --manifest-path fuzz/Cargo.toml`";
    let finding = || Finding::error(Path::new("fuzz/Cargo.lock"), 1, stale);
    Ok((!is_fresh).then(finding).into_iter().collect())
}

/// Returns the targets, which are the files of `fuzz/fuzz_targets`, in alphabetical order.
fn targets(root: &Path) -> Result<Vec<String>> {
    let sources = files(&root.join("fuzz/fuzz_targets"))?;
    let stems = sources.iter().filter_map(|path| path.file_stem());
    Ok(stems.map(|stem| stem.to_string_lossy().into_owned()).collect())
}

/// Searches for inputs of one target for a time. The search begins with all known inputs.
fn search(root: &Path, name: &str, options: &Options) -> Result<()> {
    let mut command = cargo_fuzz(root, name, &folders(root, name)?);
    command.args([
        format!("-max_len={LARGEST_INPUT}"),
        format!("-max_total_time={}", options.seconds),
        "-print_final_stats=1".to_owned(),
    ]);
    // The same seed repeats the same search, unless the code has changed.
    command.args(options.seed.map(|seed| format!("-seed={seed}")));
    process::run(command)
}

/// Chooses the found inputs to commit: few that reach together what all inputs reach, without
/// those that reach only what inputs with a name reach. Inputs chosen earlier compete again.
fn keep(root: &Path, name: &str) -> Result<()> {
    let [found, corpus] = folders(root, name)?;
    for path in kept(&corpus)? {
        let to = found.join(path.file_name().unwrap_or_default());
        std::fs::rename(&path, &to).with_context(|| format!("cannot move {}", path.display()))?;
    }
    let mut command = cargo_fuzz(root, name, &[corpus.clone(), found]);
    command.arg("-set_cover_merge=1").arg(format!("-max_len={LARGEST_KEPT}"));
    // An input counts by the places in the code that it reaches, not by how often it reaches them:
    // otherwise, two to four times as many inputs would be chosen.
    command.arg("-use_counters=0");
    process::run(command)?;
    for path in beyond_bounds(sizes(kept(&corpus)?)?) {
        std::fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
    }
    Ok(())
}

/// Returns the inputs that are not committed, the largest ones, so that the others are within the
/// bounds.
fn beyond_bounds(mut inputs: Vec<(u64, PathBuf)>) -> Vec<PathBuf> {
    inputs.sort();
    let mut total = 0;
    let within = inputs.iter().take(MOST_KEPT).take_while(|(size, _)| {
        total += size;
        total <= KEPT_BYTES
    });
    let within = within.count();
    inputs.split_off(within).into_iter().map(|(_, path)| path).collect()
}

/// Returns a command of cargo-fuzz for one target, which reads the inputs of some folders and
/// writes to the first of them. The stable compiler has the sanitizer and the coverage
/// instrumentation, but hides them: `RUSTC_BOOTSTRAP` enables them without a second toolchain.
fn cargo_fuzz(root: &Path, name: &str, folders: &[PathBuf]) -> Command {
    let mut command = process::cargo(root, &["fuzz", "run", name]);
    command.env("RUSTC_BOOTSTRAP", "1").args(folders).arg("--").args(LIMITS);
    command
}

/// Returns the folder of the committed inputs of a target.
fn corpus(root: &Path, name: &str) -> PathBuf {
    root.join("fuzz/corpus").join(name)
}

/// Returns the folder of the inputs that searches found here, and the one of the committed inputs.
/// Creates both.
fn folders(root: &Path, name: &str) -> Result<[PathBuf; 2]> {
    let folders = [root.join("fuzz/found").join(name), corpus(root, name)];
    folders.iter().try_for_each(|folder| create(folder))?;
    Ok(folders)
}

/// Returns the found inputs in a folder of committed ones. libFuzzer names them by their SHA-1.
fn kept(corpus: &Path) -> Result<Vec<PathBuf>> {
    let is_hash =
        |name: &str| name.len() == 40 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    let mut paths = files(corpus)?;
    paths.retain(|path| path.file_name().and_then(OsStr::to_str).is_some_and(is_hash));
    Ok(paths)
}

/// Returns the inputs with their sizes in bytes.
fn sizes(paths: Vec<PathBuf>) -> Result<Vec<(u64, PathBuf)>> {
    let size = |path: PathBuf| match path.metadata() {
        Ok(metadata) => Ok((metadata.len(), path)),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
    };
    paths.into_iter().map(size).collect()
}

/// Returns the paths in a folder, sorted.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let list = || std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect();
    let paths: std::io::Result<Vec<PathBuf>> = list();
    let mut paths = paths.with_context(|| format!("cannot list {}", folder.display()))?;
    paths.sort();
    Ok(paths)
}

/// Creates a folder, unless it exists.
fn create(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ci_installs_the_version_that_this_program_wants() {
        let root = process::repository_root().unwrap();
        let script = std::fs::read_to_string(root.join(".ci/run")).unwrap();
        assert!(script.contains(&installation()), "{}", installation());
        assert!(script.contains(&format!("'cargo-fuzz {CARGO_FUZZ}'")));
    }

    #[test]
    fn the_smallest_inputs_within_the_bounds_are_kept() {
        let inputs = |sizes: &[u64]| -> Vec<(u64, PathBuf)> {
            sizes.iter().map(|size| (*size, PathBuf::from(size.to_string()))).collect()
        };
        let dropped = |sizes: &[u64]| beyond_bounds(inputs(sizes));
        assert_eq!(dropped(&[3, 1, 2]), Vec::<PathBuf>::new());
        assert_eq!(dropped(&[KEPT_BYTES, 1]), [PathBuf::from(KEPT_BYTES.to_string())]);
        let many: Vec<u64> = (1..=MOST_KEPT as u64 + 2).rev().collect();
        let largest = [MOST_KEPT + 1, MOST_KEPT + 2].map(|size| PathBuf::from(size.to_string()));
        assert_eq!(dropped(&many), largest);
    }

    #[test]
    fn each_target_has_committed_inputs_within_the_bounds() {
        let root = process::repository_root().unwrap();
        let folders: Vec<PathBuf> =
            targets(&root).unwrap().iter().map(|name| corpus(&root, name)).collect();
        assert_eq!(files(&root.join("fuzz/corpus")).unwrap(), folders);
        for folder in folders {
            let inputs = sizes(kept(&folder).unwrap()).unwrap();
            assert!(!inputs.is_empty(), "{}", folder.display());
            let is_small = |(size, _): &(u64, PathBuf)| *size <= LARGEST_KEPT as u64;
            assert!(inputs.iter().all(is_small), "{}", folder.display());
            assert_eq!(beyond_bounds(inputs), Vec::<PathBuf>::new());
        }
    }
}
