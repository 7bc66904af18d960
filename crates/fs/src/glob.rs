//! Finding files by name pattern.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use crate::collation::collation_key;
use crate::error::Result;
use crate::exclusions::Exclusions;
use crate::files::EntryKind;
use crate::rules::IgnoreRules;
use crate::walk::{Cancel, Found, Root, Scope, WalkOptions, visit};

mod pattern;
#[cfg(test)]
mod tests;

use pattern::Pattern;
pub(crate) use pattern::check_size;

/// Files changed within this time come first in [`sort_by_recency`].
pub const RECENT: Duration = Duration::from_hours(24);

/// Ignored entries that are looked at only to count the matches among them; a huge ignored folder costs no more than
/// this.
const IGNORED_BUDGET: usize = 20_000;

/// How to search. The default ignores case and looks everywhere.
#[derive(Debug, Clone, Copy, Default)]
pub struct GlobOptions<'a> {
    /// Whether upper and lower case differ.
    pub case_sensitive: bool,
    /// Leaves out, and counts, what is ignored.
    pub rules: Option<&'a IgnoreRules>,
    /// Leaves out these names without counting.
    pub exclude: Option<&'a Exclusions>,
    /// After this time the search ends with what it has.
    pub time_limit: Option<Duration>,
}

/// A file found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GlobMatch {
    /// The root's path with the way to the file.
    pub path: PathBuf,
    /// Last change; the epoch where unknown.
    pub modified: SystemTime,
}

/// What [`glob`] found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GlobResult {
    /// In plain string order of the paths.
    pub files: Vec<GlobMatch>,
    /// Matching files that are ignored; in large ignored folders a lower bound.
    pub ignored: usize,
    /// Whether everything was seen: `false` after cancel or time limit.
    pub complete: bool,
}

/// Finds the files below `roots` whose way from the root matches `pattern`.
///
/// Syntax: `*`, `?`, `[…]`, `**`, `{a,b}`, `@(a|b)`, `?(a|b)`. Names beginning with a dot match like others; folders
/// and links do not count. A pattern that names an existing path
/// means just that path.
///
/// # Errors
/// [`Error::Pattern`](crate::Error::Pattern) when the pattern does not compile.
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
        let scope = Scope { descend: &descend, ignored_budget: IGNORED_BUDGET, ..Scope::default() };
        let each = |found: &Found<'_>| {
            // Links are not followed: what they lead to has a name of its own, or lies elsewhere.
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
    // Roots may lie in each other.
    result.files.dedup_by(|left, right| left.path == right.path);
    result.ignored = ignored.into_inner();
    Ok(result)
}

/// The file with its time of change.
fn matched(found: &Found<'_>) -> GlobMatch {
    let modified = found.info().and_then(|info| info.modified);
    GlobMatch { path: found.path(), modified: modified.unwrap_or(SystemTime::UNIX_EPOCH) }
}

fn text_order(left: &Path, right: &Path) -> std::cmp::Ordering {
    left.as_os_str().cmp(right.as_os_str())
}

/// Puts files changed within [`RECENT`] of `now` first, newest first; the others follow by path, as people
/// sort names.
pub fn sort_by_recency(files: &mut [GlobMatch], now: SystemTime) {
    let is_recent = |file: &GlobMatch| {
        now.duration_since(file.modified).is_ok_and(|age| age < RECENT) || file.modified > now
    };
    files.sort_by_cached_key(|file| {
        let newest = is_recent(file).then_some(Reverse(file.modified));
        (Reverse(newest.is_some()), newest, collation_key(&file.path.to_string_lossy()))
    });
}
