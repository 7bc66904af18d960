//! Starting of other programs, and the location of the repository.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use anyhow::{Context, Result, bail};

/// Returns the repository root: the folder above this crate.
pub(crate) fn repository_root() -> Result<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().map(Path::to_owned).context("xtask has no folder above it")
}

/// Returns the cargo that started this program, run in the repository root.
pub(crate) fn cargo(root: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(root);
    command
}

/// A build of the program, and the folder of all build output.
pub(crate) struct Build {
    pub(crate) pollux: PathBuf,
    pub(crate) target: PathBuf,
}

/// Builds the program and the examples for development, and returns the folder of the program. The
/// examples are in its subfolder `examples`.
///
/// The build is that of `cargo test --workspace`. A build of a single package selects other
/// features of the dependencies, and would compile many of them again.
pub(crate) fn build_for_development(root: &Path) -> Result<PathBuf> {
    run(cargo(root, &["build", "--quiet", "--locked", "--workspace", "--bins", "--examples"]))?;
    Ok(target(root)?.join("debug"))
}

/// Builds the program with a profile: `release` for tests, `dist`, as packages are built, for
/// measurements.
pub(crate) fn build(root: &Path, profile: &str) -> Result<Build> {
    run(cargo(root, &["build", "--locked", "--profile", profile, "--package", "pollux"]))?;
    let target = target(root)?;
    let name = format!("pollux{}", std::env::consts::EXE_SUFFIX);
    Ok(Build { pollux: target.join(profile).join(name), target })
}

/// Returns the folder of all build output.
fn target(root: &Path) -> Result<PathBuf> {
    let metadata = cargo_metadata::MetadataCommand::new()
        .current_dir(root)
        .no_deps()
        .exec()
        .context("cannot get the target folder from cargo")?;
    Ok(metadata.target_directory.into_std_path_buf())
}

/// Returns a Python program of this repository, run in the repository root. Needs Python 3.11 or
/// later.
pub(crate) fn python(root: &Path, program: &str) -> Command {
    let mut command = Command::new("python3");
    command.arg(root.join(program)).current_dir(root);
    // Keeps Python from writing `__pycache__` folders next to the sources.
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    command
}

/// Runs a command whose output goes to the terminal. Fails if the command cannot start or fails.
pub(crate) fn run(mut command: Command) -> Result<()> {
    let shown = show(&command);
    let status = status(&mut command)?;
    if !status.success() {
        bail!("`{shown}` failed ({status})");
    }
    Ok(())
}

/// Runs a command whose output goes to the terminal, and returns its exit status.
pub(crate) fn status(command: &mut Command) -> Result<ExitStatus> {
    forget_package(command);
    command.status().with_context(|| format!("cannot start `{}`", show(command)))
}

/// Runs a command without terminal or input and returns its standard output. The error of a failed
/// command includes its standard error.
pub(crate) fn capture(mut command: Command) -> Result<String> {
    let shown = show(&command);
    forget_package(&mut command);
    let output =
        command.stdin(Stdio::null()).output().with_context(|| format!("cannot start `{shown}`"))?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        bail!("`{shown}` failed ({}):\n{}", output.status, from_first_error(&errors));
    }
    String::from_utf8(output.stdout)
        .with_context(|| format!("`{shown}` printed output that is not UTF-8"))
}

/// Removes the variables that `cargo run` sets for this package. Build scripts of dependencies
/// depend on variables of these names, so a cargo started here would rebuild them, and a later
/// cargo without xtask would rebuild them again.
pub(crate) fn forget_package(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        let is_ours = name.to_str().is_some_and(|name| {
            name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")
        });
        if is_ours {
            command.env_remove(name);
        }
    }
}

/// Returns a compiler's output without the warnings before its first error.
fn from_first_error(output: &str) -> &str {
    let start = if output.starts_with("error") { Some(0) } else { output.find("\nerror") };
    output[start.unwrap_or(0)..].trim()
}

/// Returns the command line as a user would type it (without quoting; for messages only).
pub(crate) fn show(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let mut words = vec![program.file_stem().unwrap_or_default().to_string_lossy().into_owned()];
    words.extend(command.get_args().map(|word| word.to_string_lossy().into_owned()));
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_shown_before_the_warnings_around_it() {
        let cases = [
            ("warning: a\n\nerror: b\nwarning: c\n", "error: b\nwarning: c"),
            ("error[E1]: b\n", "error[E1]: b"),
            ("pollux: an error\n", "pollux: an error"),
            ("", ""),
        ];
        for (output, expected) in cases {
            assert_eq!(from_first_error(output), expected);
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_child_does_not_hear_of_this_package() {
        // This test was started by cargo, which has set the variables.
        assert!(std::env::var_os("CARGO_PKG_NAME").is_some());
        let command = Command::new("env");
        let heard = capture(command).unwrap();
        assert!(!heard.contains("CARGO_PKG_") && !heard.contains("CARGO_MANIFEST_"), "{heard}");
    }

    #[test]
    fn commands_are_shown_as_typed() {
        let mut command = Command::new("/usr/bin/cargo");
        command.args(["fmt", "--all"]);
        assert_eq!(show(&command), "cargo fmt --all");
    }
}
