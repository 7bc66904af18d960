//! The Rust files of the repository.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// One Rust file.
#[derive(Debug)]
pub(crate) struct SourceFile {
    /// Path relative to the repository root.
    pub(crate) path: PathBuf,
    /// Crate of the file, by its folder name: `fs`, `xtask`, `fuzz`.
    pub(crate) owner: String,
    pub(crate) text: String,
}

impl SourceFile {
    /// Returns true if the whole file is test code: by convention `tests.rs`, `*_tests.rs`, and all
    /// files under a folder `tests`.
    pub(crate) fn is_test(&self) -> bool {
        let stem = self.path.file_stem().unwrap_or_default().to_string_lossy();
        stem == "tests"
            || stem.ends_with("_tests")
            || self.path.components().any(|part| part.as_os_str() == "tests")
    }
}

/// Reads every Rust file under `crates/`, `xtask/` and `fuzz/`, sorted by path. Build output and
/// sample projects (`fixtures`, `samples`) are excluded.
pub(crate) fn collect(root: &Path) -> Result<Vec<SourceFile>> {
    let mut owners = vec![root.join("xtask"), root.join("fuzz")];
    owners.extend(entries(&root.join("crates"))?);
    let mut files = Vec::new();
    for folder in owners.into_iter().filter(|folder| folder.is_dir()) {
        let owner = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        walk(root, &folder, &owner, &mut files)?;
    }
    files.sort_by(|left, right| left.path.cmp(&right.path));
    Ok(files)
}

fn walk(root: &Path, folder: &Path, owner: &str, files: &mut Vec<SourceFile>) -> Result<()> {
    for path in entries(folder)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            if !matches!(&*name, "target" | "fixtures" | "samples") {
                walk(root, &path, owner, files)?;
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path)
                .with_context(|| format!("cannot read {}", path.display()))?;
            let path = path.strip_prefix(root).unwrap_or(&path).to_owned();
            files.push(SourceFile { path, owner: owner.to_owned(), text });
        }
    }
    Ok(())
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let context = || format!("cannot list {}", folder.display());
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).with_context(context)? {
        paths.push(entry.with_context(context)?.path());
    }
    Ok(paths)
}
