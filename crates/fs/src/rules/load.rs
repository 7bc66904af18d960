//! Finding and reading ignore files.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::verdict;
use crate::files::{read_bytes, read_head};

/// Larger ignore files are not written by hand; one that large is left out.
const MAX_BYTES: u64 = 1024 * 1024;
/// More patterns than this are cut: each one costs memory in the compiled set.
const MAX_LINES: usize = 20_000;

/// The repository around a root, without the `.gitignore` files from the root downwards.
#[derive(Debug)]
pub(super) struct Repository {
    /// From the repository's top to the root, with `/` at the end unless empty.
    prefix: String,
    /// The `.gitignore` files above the root, the nearest first, each with the length of its folder's path in `prefix`.
    above: Vec<(usize, Gitignore)>,
    /// `.git/info/exclude`.
    exclude: Option<Gitignore>,
}

impl Repository {
    /// What the files above the root say; those in the folders between come before.
    pub(super) fn ignores(&self, relative: &str, is_directory: bool) -> bool {
        if self.above.is_empty() && self.exclude.is_none() {
            return false;
        }
        let whole = format!("{}{relative}", self.prefix);
        let above = self.above.iter();
        let nearest = above
            .filter_map(|(from, rules)| Some((whole.get(*from..)?, rules)))
            .find_map(|(below, rules)| verdict(rules, below, is_directory));
        let last = || self.exclude.as_ref().and_then(|rules| verdict(rules, &whole, is_directory));
        nearest.or_else(last).unwrap_or(false)
    }
}

/// The repository that holds `root` (a real path), if any.
pub(super) fn repository(root: &Path) -> Option<Repository> {
    let top = root.ancestors().find(|folder| folder.join(".git").exists())?;
    let inner = root.strip_prefix(top).ok()?;
    let mut above = Vec::new();
    let mut prefix = String::new();
    let mut folder = top.to_path_buf();
    for component in inner.components() {
        if let Some(rules) = file(&folder.join(".gitignore")) {
            above.insert(0, (prefix.len(), rules));
        }
        prefix.push_str(&component.as_os_str().to_string_lossy());
        prefix.push('/');
        folder.push(component);
    }
    let exclude = git_directory(top).and_then(|folder| file(&folder.join("info/exclude")));
    Some(Repository { prefix, above, exclude })
}

/// The folder with `info/` in it: `.git`, or for work trees and submodules the one a `.git` file leads to.
fn git_directory(top: &Path) -> Option<PathBuf> {
    let dot_git = top.join(".git");
    if dot_git.is_dir() {
        return Some(dot_git);
    }
    let one_line = |path: &Path| -> Option<String> {
        let bytes = read_head(path, 4096).ok()?;
        Some(String::from_utf8(bytes).ok()?.lines().next()?.to_owned())
    };
    let own = top.join(one_line(&dot_git)?.strip_prefix("gitdir:")?.trim());
    // A linked work tree shares `info/` with the main one.
    Some(match one_line(&own.join("commondir")) {
        Some(shared) => own.join(shared.trim()),
        None => own,
    })
}

/// Reads one ignore file; `None` when it is missing, unreadable, too large or empty. Patterns that do not compile are
/// skipped, as git does. Paths are matched relative to the folder the patterns speak about, so that folder is not
/// needed here.
pub(super) fn file(path: &Path) -> Option<Gitignore> {
    let bytes = read_bytes(path, MAX_BYTES).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let mut builder = GitignoreBuilder::new(".");
    for line in text.trim_start_matches('\u{feff}').lines().take(MAX_LINES) {
        // A bad pattern concerns its own line only.
        builder.add_line(None, &escape_braces(line.trim_start())).ok();
    }
    builder.build().ok().filter(|rules| !rules.is_empty())
}

/// To git, braces are letters; to the matcher they would be alternatives.
fn escape_braces(line: &str) -> Cow<'_, str> {
    if !line.contains(['{', '}']) {
        return Cow::Borrowed(line);
    }
    let mut escaped = String::with_capacity(line.len() + 8);
    let (mut after_backslash, mut in_class) = (false, false);
    for character in line.chars() {
        match character {
            '{' | '}' if !after_backslash && !in_class => escaped.push('\\'),
            '[' if !after_backslash => in_class = true,
            ']' => in_class = false,
            _ => {}
        }
        after_backslash = character == '\\' && !after_backslash;
        escaped.push(character);
    }
    Cow::Owned(escaped)
}
