//! Paths: lexical, real, relative and short forms. This module makes no access decisions.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::error::{Error, Result};

#[cfg(test)]
mod tests;

/// Maximum length of a path in bytes, more than any system accepts.
const MAX_LENGTH: usize = 32 * 1024;

/// Maximum number of symbolic links in one path, as in Linux.
const MAX_LINKS: usize = 40;

/// Joins `path` to `base` and removes `.` and `..` lexically, without access to the disk.
pub fn absolute(base: &Path, path: &Path) -> PathBuf {
    let mut result = PathBuf::new();
    for component in base.join(path).components() {
        match component {
            Component::CurDir => {}
            // At the root there is nothing to remove, and `..` means the root.
            Component::ParentDir => {
                result.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => {
                result.push(component);
            }
        }
    }
    result
}

/// Returns the real path with all links followed, even if its last components do not exist (yet) or
/// a link is broken.
///
/// # Errors
/// [`Error::InvalidPath`] for a loop of links, and for a path that is too long.
pub fn real_path(path: &Path) -> Result<PathBuf> {
    // Each component is resolved by the whole path to it.
    if path.as_os_str().len() > MAX_LENGTH {
        return Err(Error::InvalidPath("longer than any path".into()));
    }
    if let Ok(real) = dunce::canonicalize(path) {
        return Ok(real);
    }
    let resolved = follow_every_link(path)?;
    // The existing part may be spelled differently on disk (case, short names).
    for ancestor in resolved.ancestors() {
        if let Ok(real) = dunce::canonicalize(ancestor) {
            let missing = resolved.strip_prefix(ancestor).unwrap_or(Path::new(""));
            return Ok(real.join(missing));
        }
    }
    Ok(resolved)
}

/// Real paths of many paths at one moment. The folders that they share are resolved once.
#[derive(Debug, Default)]
pub struct RealPaths {
    folders: HashMap<PathBuf, PathBuf>,
}

impl RealPaths {
    /// Returns the same as [`real_path`], as long as no folder changes.
    ///
    /// # Errors
    /// [`Error::InvalidPath`] as for [`real_path`].
    pub fn resolve(&mut self, path: &Path) -> Result<PathBuf> {
        let Some((folder, _)) = parts(path) else { return real_path(path) };
        if !self.folders.contains_key(folder) {
            let real = self.below_known(folder)?;
            self.folders.insert(folder.to_owned(), real);
        }
        self.below_known(path)
    }

    /// Resolves a path. If its folder is known, only its last component is looked at.
    fn below_known(&self, path: &Path) -> Result<PathBuf> {
        let known = parts(path).and_then(|(folder, name)| Some((self.folders.get(folder)?, name)));
        let Some((folder, name)) = known else { return real_path(path) };
        let real = folder.join(name);
        // An error means that there is no link, as in `follow_every_link`.
        if fs::read_link(&real).is_ok() { real_path(path) } else { Ok(real) }
    }
}

/// Returns the folder and the name of a path whose name is spelled as on disk. This is known only
/// where letter case counts.
fn parts(path: &Path) -> Option<(&Path, &OsStr)> {
    let parts = path.parent().zip(path.file_name());
    parts.filter(|_| path.is_absolute() && cfg!(target_os = "linux"))
}

fn follow_every_link(path: &Path) -> Result<PathBuf> {
    let components = |path: &Path| -> Vec<OsString> {
        path.components().rev().map(|component| component.as_os_str().to_owned()).collect()
    };
    let mut pending = components(path);
    let mut real = PathBuf::new();
    let mut links = 0;
    while let Some(part) = pending.pop() {
        if part == "." {
            continue;
        }
        if part == ".." {
            real.pop();
            continue;
        }
        let next = real.join(&part);
        match fs::read_link(&next) {
            Ok(link) => {
                links += 1;
                if links > MAX_LINKS {
                    let path = path.display();
                    return Err(Error::InvalidPath(format!("too many symbolic links: {path}")));
                }
                pending.extend(components(&link));
            }
            Err(_) => real = next,
        }
    }
    Ok(real)
}

/// Returns the relative path from `base` to `path`, with `..` as needed; `.` if they are equal.
/// Both paths must be absolute and without `..`.
pub fn relative_path(base: &Path, path: &Path) -> PathBuf {
    let mut from = base.components().peekable();
    let mut to = path.components().peekable();
    while from.peek().is_some() && from.peek() == to.peek() {
        from.next();
        to.next();
    }
    let up = from.map(|_| Component::ParentDir);
    let result: PathBuf = up.chain(to).collect();
    if result.as_os_str().is_empty() { PathBuf::from(".") } else { result }
}

/// Shortens a path to at most `limit` characters with `...` in the middle. Keeps whole components
/// if they fit: the first one, and as many of the last ones as possible.
pub fn shorten(path: &str, limit: usize) -> String {
    if path.chars().count() <= limit {
        return path.to_owned();
    }
    let separator = std::path::MAIN_SEPARATOR;
    let root = if path.starts_with(separator) { path.len().min(1) } else { 0 };
    let mut parts = path[root..].split(separator);
    let first = parts.next().unwrap_or_default();
    let head = format!("{}{first}{separator}...", &path[..root]);
    let mut tail = String::new();
    for part in parts.rev() {
        let longer = format!("{separator}{part}{tail}");
        if head.chars().count() + longer.chars().count() > limit {
            break;
        }
        tail = longer;
    }
    if tail.is_empty() { cut_middle(path, limit) } else { head + &tail }
}

fn cut_middle(text: &str, limit: usize) -> String {
    let characters: Vec<char> = text.chars().collect();
    let keep = limit.saturating_sub(3);
    let (head, tail) = (keep / 2, keep - keep / 2);
    let start: String = characters[..head].iter().collect();
    let end: String = characters[characters.len() - tail..].iter().collect();
    format!("{start}...{end}")
}

/// Decodes `%XX` escapes; `None` if there are no escapes, one is malformed, or the result is not
/// UTF-8.
pub(crate) fn decode_percent(text: &str) -> Option<String> {
    if !text.contains('%') {
        return None;
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        if byte == b'%' {
            let digits = after.get(..2)?;
            let digit = |index: usize| char::from(digits[index]).to_digit(16);
            bytes.push((digit(0)? * 16 + digit(1)?) as u8);
            rest = &after[2..];
        } else {
            bytes.push(byte);
            rest = after;
        }
    }
    String::from_utf8(bytes).ok()
}
