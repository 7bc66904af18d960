//! `cargo xtask check`: the rules that the compiler does not check.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

use crate::finding::{self, Finding};
use crate::{
    circles, fuzz, generate, layers, process, prose, shape, source, tool_names, type_names,
};

/// Runs every check and prints the findings; with `fix`, formats and regenerates first.
pub(crate) fn run(root: &Path, fix: bool) -> Result<ExitCode> {
    if fix {
        for manifest in formatted_manifests(root) {
            process::run(format(root, &manifest))?;
        }
        generate::write(root)?;
    }
    let mut findings = Vec::new();
    findings.extend(unformatted(root)?);
    findings.extend(layers::check(root)?);
    findings.extend(fuzz::check_lock(root)?);
    let files = source::collect(root)?;
    for file in &files {
        findings.extend(prose::check(file));
        findings.extend(shape::check(file));
    }
    findings.extend(circles::check(&files));
    findings.extend(tool_names::check(&files));
    findings.extend(type_names::check(&files));
    // This check comes last and its failure does not stop the others: it needs a program that
    // compiles.
    match generate::compare(root) {
        Ok(stale) => findings.extend(stale),
        Err(error) => {
            findings.push(Finding::error(Path::new(generate::FOLDER), 1, format!("{error:#}")));
        }
    }
    Ok(finding::report(&findings))
}

/// Returns the manifests of the workspace and of the fuzz crate.
fn formatted_manifests(root: &Path) -> Vec<PathBuf> {
    let manifests = ["Cargo.toml", "fuzz/Cargo.toml"].map(|manifest| root.join(manifest));
    manifests.into_iter().filter(|manifest| manifest.exists()).collect()
}

fn format(root: &Path, manifest: &Path) -> Command {
    let mut command = process::cargo(root, &["fmt", "--manifest-path"]);
    command.arg(manifest);
    if manifest.parent() == Some(root) {
        // For the fuzz crate, `--all` would include the crates it uses, which the workspace already
        // covers.
        command.arg("--all");
    }
    command
}

/// Returns one finding for each file that rustfmt would change, or one for a workspace that rustfmt
/// cannot read.
fn unformatted(root: &Path) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for manifest in formatted_manifests(root) {
        let mut listing = format(root, &manifest);
        listing.args(["--", "--check", "--files-with-diff"]);
        let output = listing.output().context("cannot start `cargo fmt`")?;
        let listed = String::from_utf8_lossy(&output.stdout);
        for line in listed.lines() {
            let path = Path::new(line);
            let path = path.strip_prefix(root).unwrap_or(path);
            findings.push(Finding::error(path, 1, "not formatted; run `cargo xtask check --fix`"));
        }
        if !output.status.success() && listed.is_empty() {
            let errors = String::from_utf8_lossy(&output.stderr);
            let message = format!("`cargo fmt` failed: {}", errors.trim());
            let path = manifest.strip_prefix(root).unwrap_or(&manifest);
            findings.push(Finding::error(path, 1, message));
        }
    }
    Ok(findings)
}
