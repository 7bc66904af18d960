//! Search for files by name pattern.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use crate::collation::collation_key;
use crate::error::Result;
use crate::exclusions::Exclusions;
use crate::files::EntryKind;
use crate::real::RealPath;
use crate::rules::IgnoreRules;
use crate::walk::{Cancel, Found, Root, Scope, WalkOptions, visit};
use crate::workspace::{Access, Workspace};

mod extended;
mod named;
mod pattern;
#[cfg(test)]
mod tests;

pub(crate) use extended::{ExtendedPattern, is_extended};
pub(crate) use named::NamedFolders;
use pattern::Pattern;
pub(crate) use pattern::check_size;

/// Maximum age of the files that [`sort_by_recency`] puts first.
pub const RECENT: Duration = Duration::from_hours(24);

/// Maximum number of ignored entries that are visited to count the matches among them; limits the
/// cost of a huge ignored folder.
const IGNORED_BUDGET: usize = 20_000;

/// Options of a search. The default ignores case and searches everywhere.
#[derive(Debug, Clone, Copy, Default)]
pub struct GlobOptions<'a> {
    /// True to distinguish upper and lower case.
    pub case_sensitive: bool,
    /// Rules of ignored files, which are left out and counted.
    pub rules: Option<&'a IgnoreRules>,
    /// Excluded names, which are left out without counting.
    pub exclude: Option<&'a Exclusions>,
    /// Workspace whose links are followed if the pattern names them and their targets may be read;
    /// `None` to follow no links.
    pub workspace: Option<&'a Workspace>,
    /// Time limit; after it the search returns the files found so far.
    pub time_limit: Option<Duration>,
}

/// File that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GlobMatch {
    /// Path that begins with the root's path.
    pub path: PathBuf,
    /// Time of the last change; the epoch if unknown.
    pub modified: SystemTime,
}

/// Result of [`glob`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GlobResult {
    /// Matching files in plain string order of the paths.
    pub files: Vec<GlobMatch>,
    /// Number of matching files that are ignored; a lower bound for large ignored folders.
    pub ignored: usize,
    /// True if everything was visited, `false` after a cancel or the time limit.
    pub complete: bool,
}

/// Finds the files below `roots` whose path relative to the root matches `pattern`.
///
/// Syntax: `*`, `?`, `[…]`, `**`, `{a,b}`, and the extended groups `@(a|b)`, `?(a|b)`, `+(a|b)`,
/// `*(a|b)`, `!(a|b)`. Names that begin with a dot are
/// matched like others; folders and links are not matched, but see [`GlobOptions::workspace`]. A
/// pattern that is the name of an existing path matches only that path.
///
/// # Errors
/// [`Error::Pattern`](crate::Error::Pattern) if the pattern does not compile.
pub fn glob(
    roots: &[Root],
    pattern: &str,
    options: &GlobOptions<'_>,
    cancel: Cancel<'_>,
) -> Result<GlobResult> {
    let walk = WalkOptions {
        rules: options.rules,
        exclude: options.exclude,
        hidden: true,
        time_limit: options.time_limit,
    };
    let ignored = AtomicUsize::new(0);
    let mut result = GlobResult { files: Vec::new(), ignored: 0, complete: true };
    for root in roots {
        let Some(pattern) = Pattern::new(&root.path, pattern, options.case_sensitive)? else {
            continue;
        };
        let descend = |relative: &str| pattern.may_match_below(relative);
        let named = |relative: &str| pattern.names_folder(relative);
        let follow =
            |relative: &str, path: &Path| readable(options.workspace, named, relative, path);
        let scope = Scope {
            descend: &descend,
            follow: &follow,
            ignored_budget: IGNORED_BUDGET,
            ..Scope::default()
        };
        let each = |found: &Found<'_>| {
            // The target of a link has its own name, or is outside.
            if found.kind != EntryKind::File || !pattern.matches(found.relative) {
                return None;
            }
            let file = matched(found);
            if found.ignored {
                ignored.fetch_add(1, Ordering::Relaxed);
                return None;
            }
            Some(file)
        };
        let (files, complete) = visit(std::slice::from_ref(root), &walk, &scope, cancel, &each);
        result.files.extend(files);
        result.complete &= complete;
    }
    result.files.sort_unstable_by(|left, right| text_order(&left.path, &right.path));
    // A root may be inside another root.
    result.files.dedup_by(|left, right| left.path == right.path);
    result.ignored = ignored.into_inner();
    Ok(result)
}

/// Returns the real path of a link to a folder if its path is `named` by a pattern and the
/// workspace allows reading the target.
pub(crate) fn readable(
    workspace: Option<&Workspace>,
    named: impl Fn(&str) -> bool,
    relative: &str,
    path: &Path,
) -> Option<RealPath> {
    let workspace = workspace.filter(|_| named(relative))?;
    let real = workspace.check(path, Access::Read).ok()?;
    real.info().is_ok_and(|info| info.kind == EntryKind::Directory).then_some(real)
}

/// Returns the file with its time of change.
fn matched(found: &Found<'_>) -> GlobMatch {
    let modified = found.info().and_then(|info| info.modified);
    GlobMatch { path: found.path(), modified: modified.unwrap_or(SystemTime::UNIX_EPOCH) }
}

fn text_order(left: &Path, right: &Path) -> std::cmp::Ordering {
    left.as_os_str().cmp(right.as_os_str())
}

/// Sorts files changed within [`RECENT`] of `now` first, newest first; the others follow in the
/// order of [`collation_key`](crate::collation_key).
pub fn sort_by_recency(files: &mut [GlobMatch], now: SystemTime) {
    let is_recent = |file: &GlobMatch| {
        now.duration_since(file.modified).is_ok_and(|age| age < RECENT) || file.modified > now
    };
    files.sort_by_cached_key(|file| {
        let newest = is_recent(file).then_some(Reverse(file.modified));
        (Reverse(newest.is_some()), newest, collation_key(&file.path.to_string_lossy()))
    });
}
