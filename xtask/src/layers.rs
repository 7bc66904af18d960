//! The layers: the permitted dependencies between crates, from the table in `ARCHITECTURE.md`.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use cargo_metadata::{DependencyKind, MetadataCommand, Package};

use crate::finding::Finding;

/// Page that contains the table, relative to the repository root.
const PAGE: &str = "ARCHITECTURE.md";
/// Header row that identifies the table.
const HEAD: &[&str] = &["crate", "floor", "may use"];
/// Floor of crates that product crates only use in their tests.
const DEVELOPMENT: &str = "dev";

/// One row of the table.
#[derive(Debug, PartialEq, Eq)]
struct Row {
    /// Folder name: `fs` for the package `pollux-fs`.
    name: String,
    /// Floor: `0`, `1a`, …, `4`, or `dev`. Floors are compared as text: a later floor may use an
    /// earlier one.
    floor: String,
    may_use: Vec<String>,
    line: usize,
}

/// One crate as its manifest describes it.
#[derive(Debug)]
struct Crate {
    name: String,
    /// Path relative to the repository root.
    manifest: PathBuf,
    /// Text of the manifest, which is searched for line numbers.
    text: String,
    /// Workspace crates that this crate depends on, by folder name.
    uses: Vec<Use>,
    /// Names of the cargo features that this crate declares.
    features: Vec<String>,
}

#[derive(Debug)]
struct Use {
    name: String,
    only_in_tests: bool,
}

/// Compares the manifests of the workspace with the table.
pub(crate) fn check(root: &Path) -> Result<Vec<Finding>> {
    let page = std::fs::read_to_string(root.join(PAGE))
        .with_context(|| format!("cannot read {PAGE}, which contains the table of crates"))?;
    let metadata = MetadataCommand::new()
        .manifest_path(root.join("Cargo.toml"))
        .no_deps()
        .exec()
        .context("cargo metadata failed")?;
    let mut crates = Vec::new();
    for package in &metadata.packages {
        crates.push(describe(root, package)?);
    }
    Ok(compare(&parse(&page), &crates))
}

fn describe(root: &Path, package: &Package) -> Result<Crate> {
    let manifest = package.manifest_path.as_std_path();
    let text = std::fs::read_to_string(manifest)
        .with_context(|| format!("cannot read {}", manifest.display()))?;
    let uses = package.dependencies.iter().filter(|dependency| dependency.path.is_some()).map(
        |dependency| Use {
            name: folder(&dependency.name).to_owned(),
            only_in_tests: dependency.kind == DependencyKind::Development,
        },
    );
    Ok(Crate {
        name: folder(&package.name).to_owned(),
        manifest: manifest.strip_prefix(root).unwrap_or(manifest).to_owned(),
        text,
        uses: uses.collect(),
        features: package.features.keys().cloned().collect(),
    })
}

/// Returns the folder of a package: its name without the common prefix.
fn folder(package: &str) -> &str {
    package.strip_prefix("pollux-").unwrap_or(package)
}

/// Returns the rows of the first table with the expected header; empty if the page has no such
/// table.
fn parse(page: &str) -> Vec<Row> {
    let mut lines = page.lines().enumerate().skip_while(|(_, line)| cells(line) != HEAD);
    lines.next();
    lines
        .skip(1)
        .map_while(|(index, line)| {
            let cells = cells(line);
            let [name, floor, may_use] = cells.as_slice() else { return None };
            let may_use = may_use.split(',').map(plain).filter(|name| !name.is_empty());
            Some(Row {
                name: plain(name),
                floor: plain(floor),
                may_use: may_use.collect(),
                line: index + 1,
            })
        })
        .collect()
}

fn cells(line: &str) -> Vec<&str> {
    let inner = line.trim().strip_prefix('|').and_then(|line| line.strip_suffix('|'));
    inner.map_or_else(Vec::new, |inner| inner.split('|').map(str::trim).collect())
}

/// Returns the text of a cell without code marks; a dash means an empty cell.
fn plain(cell: &str) -> String {
    cell.trim().trim_matches('`').trim_matches(['—', '-']).to_owned()
}

fn compare(table: &[Row], crates: &[Crate]) -> Vec<Finding> {
    let page = Path::new(PAGE);
    if table.is_empty() {
        let message = format!("no table with the header `| {} |`; restore it", HEAD.join(" | "));
        return vec![Finding::error(page, 1, message)];
    }
    let mut findings: Vec<Finding> = table.iter().flat_map(|row| check_row(row, table)).collect();
    for row in table {
        if !crates.iter().any(|one| one.name == row.name) {
            let message = format!("there is no crate `{}`; remove the row", row.name);
            findings.push(Finding::error(page, row.line, message));
        }
    }
    for one in crates {
        findings.extend(check_crate(one, table));
    }
    findings
}

/// Checks that a row only names crates on lower floors.
fn check_row(row: &Row, table: &[Row]) -> Vec<Finding> {
    let wrong = |used: &&String| {
        table.iter().find(|other| &&other.name == used).is_none_or(|other| {
            other.floor == DEVELOPMENT || row.floor != DEVELOPMENT && other.floor >= row.floor
        })
    };
    let finding = |used: &String| {
        let message = format!(
            "`{}` on floor {} may not use `{used}`: dependencies only point to lower floors; move the shared code down",
            row.name, row.floor
        );
        Finding::error(Path::new(PAGE), row.line, message)
    };
    row.may_use.iter().filter(wrong).map(finding).collect()
}

fn check_crate(one: &Crate, table: &[Row]) -> Vec<Finding> {
    let error = |needle: &str, message| Finding::error(&one.manifest, one.line_of(needle), message);
    let Some(row) = table.iter().find(|row| row.name == one.name) else {
        let message = format!("`{}` has no row in the table of {PAGE}; add one", one.name);
        return vec![error("name", message)];
    };
    let is_development =
        |name: &str| table.iter().any(|row| row.name == name && row.floor == DEVELOPMENT);
    let mut findings = Vec::new();
    for used in &one.uses {
        let allowed = row.may_use.contains(&used.name)
            || used.only_in_tests && is_development(&used.name)
            || used.name == one.name;
        if !allowed {
            let message = format!(
                "`{}` may not use `{}` ({PAGE}, line {}); move the shared code down, or use a port",
                one.name, used.name, row.line
            );
            findings.push(error(&format!("pollux-{}", used.name), message));
        }
    }
    if !one.features.is_empty() {
        let message =
            format!("cargo features in our own crates: {}; use cfg", one.features.join(", "));
        findings.push(error("[features]", message));
    }
    if !one.text.contains("[lints]\nworkspace = true") {
        findings.push(error("[lints]", "add `[lints] workspace = true`".to_owned()));
    }
    findings
}

impl Crate {
    /// Returns the first line of the manifest that starts with `needle`, or 1.
    fn line_of(&self, needle: &str) -> usize {
        self.text.lines().position(|line| line.starts_with(needle)).map_or(1, |index| index + 1)
    }
}

#[cfg(test)]
mod tests;
