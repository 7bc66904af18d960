//! `cargo xtask interop`: the tests against external programs, in `interop/`.

use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::process;

/// Environment variable with the number of cases that a test runs. A test without cases ignores it.
const SAMPLE: &str = "PARITY_SAMPLE";
/// Environment variable with the seed of the sample.
const SEED: &str = "PARITY_SEED";

/// Arguments of `cargo xtask interop`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The one test to run; all of them without it
    name: Option<String>,
    /// Only about N cases of a test that has many
    #[arg(long, value_name = "N")]
    sample: Option<u32>,
    /// Another sample; without it, each commit has its own
    #[arg(long, value_name = "N")]
    seed: Option<u32>,
}

/// Runs one test, or all of them in alphabetical order. The first failure is an error.
pub(crate) fn run(root: &Path, options: &Options) -> Result<ExitCode> {
    let folder = root.join("interop");
    let known = tests(&folder)?;
    let chosen = match options.name.as_deref() {
        None => known,
        Some(name) if known.iter().any(|one| one == name) => vec![name.to_owned()],
        Some(name) => bail!("unknown interop test `{name}`; available: {}", known.join(", ")),
    };
    for name in &chosen {
        println!("== interop {name}");
        let start = Instant::now();
        process::run(command(root, &folder.join(name).join("run"), options))?;
        println!("== interop {name}: {:.0} s", start.elapsed().as_secs_f64());
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the tests, which are the folders of `interop/` with a program `run`, in alphabetical
/// order.
fn tests(folder: &Path) -> Result<Vec<String>> {
    let context = || format!("cannot list {}", folder.display());
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(context)? {
        let path = entry.with_context(context)?.path();
        if path.join("run").is_file() {
            names.extend(path.file_name().map(|name| name.to_string_lossy().into_owned()));
        }
    }
    names.sort();
    Ok(names)
}

fn command(root: &Path, program: &Path, options: &Options) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root);
    let variables = [(SAMPLE, options.sample), (SEED, options.seed)];
    let given = variables.into_iter().filter_map(|(name, value)| Some((name, value?.to_string())));
    command.envs(given);
    command
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;

    #[test]
    fn every_test_of_this_repository_is_found() {
        let root = process::repository_root().expect("a root");
        let found = tests(&root.join("interop")).expect("a folder");
        assert!(found.is_sorted());
        for name in ["gemini-session", "parity", "saved-approvals"] {
            assert!(found.iter().any(|one| one == name), "{name} is not among {found:?}");
        }
    }

    #[test]
    fn an_unknown_name_is_reported_with_the_known_ones() {
        let root = process::repository_root().expect("a root");
        let options = Options { name: Some("nosuch".to_owned()), sample: None, seed: None };
        let error = run(&root, &options).expect_err("no such test").to_string();
        assert!(error.starts_with("unknown interop test `nosuch`; available: "), "{error}");
        assert!(error.contains("parity"), "{error}");
    }

    #[test]
    fn the_sample_is_passed_on() {
        let options = Options { name: None, sample: Some(25), seed: None };
        let command = command(Path::new("/"), Path::new("run"), &options);
        let expected = (OsStr::new(SAMPLE), Some(OsStr::new("25")));
        assert_eq!(command.get_envs().collect::<Vec<_>>(), [expected]);
    }
}
