//! Search for lines by regular expression, in process and in parallel.
//!
//! The files are first collected and sorted, then all threads search them in that order. By the
//! time the limit of matches is reached, every file before the last searched one has been searched,
//! too, so the result is always the first matches in path order, independent of timing.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use ignore::overrides::{Override, OverrideBuilder};

use crate::error::{Error, Result};
use crate::exclusions::Exclusions;
use crate::files::EntryKind;
use crate::glob::{NamedFolders, check_size, readable};
use crate::real::RealPath;
use crate::rules::IgnoreRules;
use crate::walk::{Cancel, Found, Root, Scope, WalkOptions, thread_count, visit};
use crate::workspace::Workspace;

mod file;
#[cfg(test)]
mod tests;

use file::{FileSearch, Searched};

/// Maximum number of lines of context before or after a match.
pub const MAX_CONTEXT: usize = 1000;
/// Maximum length of a regular expression, in bytes.
pub const MAX_PATTERN_BYTES: usize = 64 * 1024;
/// Maximum number of bytes that are kept of a line.
pub const MAX_LINE_BYTES: usize = 16 * 1024;
/// Maximum number of bytes of text that are kept, of one file or of all; beyond it, the search ends
/// as if the limit of matches were reached.
const MAX_KEPT_BYTES: usize = 16 * 1024 * 1024;

/// Parameters of a search. [`SearchRequest::new`] sets the defaults.
#[derive(Debug, Clone, Copy)]
pub struct SearchRequest<'a> {
    /// Regular expression, or plain text with `fixed_strings`.
    pub pattern: &'a str,
    /// Files and folders.
    pub paths: &'a [Root],
    /// Glob that files below folders must match: syntax of ignore files, a leading `!` excludes.
    pub include: Option<&'a str>,
    /// Workspace whose links are followed if `include` names them and their targets may be read;
    /// `None` to follow no links.
    pub workspace: Option<&'a Workspace>,
    /// Pattern of lines that do not count as matches or context.
    pub exclude_pattern: Option<&'a str>,
    /// True to use the pattern as plain text.
    pub fixed_strings: bool,
    /// True to distinguish upper and lower case, in both patterns.
    pub case_sensitive: bool,
    /// Number of lines before each match; `None` for the value of `context`.
    pub before: Option<usize>,
    /// Number of lines after each match; `None` for the value of `context`.
    pub after: Option<usize>,
    /// Number of lines on both sides of each match.
    pub context: usize,
    /// Rules of ignored files, which are left out, even files named in `paths`.
    pub rules: Option<&'a IgnoreRules>,
    /// Names that are left out below folders.
    pub exclude: Option<&'a Exclusions>,
    /// True to search names that begin with a dot.
    pub hidden: bool,
    /// Maximum number of matches in one file.
    pub max_per_file: Option<usize>,
    /// Maximum number of matches in all files; at least 1.
    pub max_total: usize,
    /// True to stop after the first match of each file.
    pub names_only: bool,
    /// Time limit; after it the search returns the matches found so far.
    pub time_limit: Option<Duration>,
}

impl<'a> SearchRequest<'a> {
    /// Creates a case-insensitive search without context or rules, of at most 100 matches.
    pub fn new(pattern: &'a str, paths: &'a [Root]) -> Self {
        Self {
            pattern,
            paths,
            include: None,
            workspace: None,
            exclude_pattern: None,
            fixed_strings: false,
            case_sensitive: false,
            before: None,
            after: None,
            context: 0,
            rules: None,
            exclude: None,
            hidden: false,
            max_per_file: None,
            max_total: 100,
            names_only: false,
            time_limit: None,
        }
    }
}

/// Line of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatchLine {
    /// Line number, from 1.
    pub number: u64,
    /// Text without line ending, at most [`MAX_LINE_BYTES`]; bytes that are not UTF-8 are replaced.
    pub text: String,
    /// True for a match, false for context.
    pub is_match: bool,
}

/// Lines found in one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileMatches {
    /// Path of the file.
    pub path: PathBuf,
    /// Lines with increasing numbers; gaps where lines are left out.
    pub lines: Vec<MatchLine>,
    /// Number of lines that are matches.
    pub matches: usize,
}

/// Result of [`search`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SearchResult {
    /// Text files with matches, in plain string order of the paths.
    pub files: Vec<FileMatches>,
    /// Other files with a match, in the same order. Their content is not shown or counted.
    pub binary: Vec<PathBuf>,
    /// Number of matches in all files.
    pub matches: usize,
    /// True if the limit of matches was reached, so that there may be more.
    pub truncated: bool,
    /// True if the time limit ended the search.
    pub timed_out: bool,
    /// True if the caller ended the search.
    pub cancelled: bool,
}

/// Searches files line by line. What is text, and in which encoding, is decided as for reading a
/// file ([`detect`](crate::detect), [`decode`](crate::decode)). Of other files the result only has
/// the path. Files that cannot be read are skipped.
///
/// # Errors
/// [`Error::Pattern`] if one of the patterns does not compile, is longer than
/// [`MAX_PATTERN_BYTES`] or needs more than 10 MiB when compiled. Look-around and back-references
/// are not supported, so that every pattern takes linear time.
pub fn search(request: &SearchRequest<'_>, cancel: Cancel<'_>) -> Result<SearchResult> {
    let file_search = FileSearch::new(request)?;
    let include = request.include.map(compile_include).transpose()?;
    let start = Instant::now();
    let deadline = request.time_limit.and_then(|limit| start.checked_add(limit));
    let late = || deadline.is_some_and(|deadline| Instant::now() >= deadline);
    let is_over: Cancel<'_> = &|| cancel() || late();

    let max_total = request.max_total.max(1);
    let (files, complete) = collect(request, include.as_ref(), cancel);
    let outcome = search_files(&file_search, &files, max_total, is_over);
    let mut result = SearchResult { truncated: outcome.full, ..SearchResult::default() };
    for (_, searched) in outcome.files {
        let file = match searched {
            Searched::Text(file) => file,
            Searched::Binary(path) => {
                result.binary.push(path);
                continue;
            }
        };
        let file = file_search.cut(file, max_total - result.matches);
        result.matches += file.matches;
        result.files.push(file);
        if result.matches >= max_total {
            result.truncated = true;
            break;
        }
    }
    if !complete || outcome.interrupted {
        result.cancelled = cancel();
        result.timed_out = !result.cancelled && result.matches < max_total;
    }
    Ok(result)
}

fn compile_include(glob: &str) -> Result<Override> {
    check_size(glob)?;
    let mut builder = OverrideBuilder::new(".");
    let built = builder.add(glob).and_then(|builder| builder.build());
    built.map_err(|error| Error::Pattern(error.to_string()))
}

/// File to search.
struct Target {
    /// Path in the result.
    path: PathBuf,
    /// Real path, if it is another one.
    real: Option<RealPath>,
}

/// Returns the files to search, sorted, and whether all were found. Takes at most two thirds of the
/// time limit.
fn collect(
    request: &SearchRequest<'_>,
    include: Option<&Override>,
    cancel: Cancel<'_>,
) -> (Vec<Target>, bool) {
    let (mut files, mut folders) = (Vec::new(), Vec::new());
    for root in request.paths {
        match root.real.info().map(|info| info.kind) {
            Ok(EntryKind::Directory) => folders.push(root.clone()),
            Ok(EntryKind::File)
                if !request.rules.is_some_and(|rules| rules.is_ignored(&root.path, false)) =>
            {
                files.push(Target { path: root.path.clone(), real: Some(root.real.clone()) });
            }
            _ => {}
        }
    }
    let options = WalkOptions {
        rules: request.rules,
        exclude: request.exclude,
        hidden: request.hidden,
        time_limit: request.time_limit.map(|limit| limit * 2 / 3),
    };
    let excluded = |relative: &str, directory| {
        include.is_some_and(|include| include.matched(relative, directory).is_ignore())
    };
    // As with ripgrep, a pattern for a name that begins with a dot includes that name.
    let named = |relative: &str, directory| {
        include.is_some_and(|include| include.matched(relative, directory).is_whitelist())
    };
    let glob = request.include.filter(|glob| !glob.starts_with('!')).unwrap_or_default();
    let folders_named = NamedFolders::new(glob.trim_start_matches('/'), true);
    let is_named = |relative: &str| folders_named.contains(relative);
    let scope = Scope {
        descend: &|relative| !excluded(relative, true),
        reveal: &named,
        follow: &|relative, path| readable(request.workspace, is_named, relative, path),
        ..Scope::default()
    };
    let each = |found: &Found<'_>| {
        let is_searched = found.kind == EntryKind::File && !excluded(found.relative, false);
        is_searched.then(|| Target { path: found.path(), real: found.other_real_path() })
    };
    let (below, complete) = visit(&folders, &options, &scope, cancel, &each);
    files.extend(below);
    files.sort_unstable_by(|left, right| left.path.as_os_str().cmp(right.path.as_os_str()));
    files.dedup_by(|left, right| left.path == right.path);
    (files, complete)
}

/// Combined result of all threads.
struct Outcome {
    /// Files with matches, each with its index in the list.
    files: Vec<(usize, Searched)>,
    /// True if the time limit or the caller ended the search.
    interrupted: bool,
    /// True if the maximum amount of text is kept.
    full: bool,
}

/// Searches the files in order until there are enough matches.
fn search_files(
    search: &FileSearch,
    files: &[Target],
    max_total: usize,
    is_over: Cancel<'_>,
) -> Outcome {
    let (next, matches, kept) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    let interrupted = AtomicBool::new(false);
    let results = Mutex::new(Vec::new());
    let work = || {
        let mut searcher = search.searcher();
        while matches.load(Ordering::Relaxed) < max_total
            && kept.load(Ordering::Relaxed) < MAX_KEPT_BYTES
            && !interrupted.load(Ordering::Relaxed)
        {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(file) = files.get(index) else { return };
            let (found, broken_off) = search.run(&mut searcher, file, is_over);
            if broken_off {
                interrupted.store(true, Ordering::Relaxed);
            }
            if let Some(found) = found {
                if let Searched::Text(file) = &found {
                    matches.fetch_add(file.matches, Ordering::Relaxed);
                    let bytes = file.lines.iter().map(|line| line.text.len()).sum();
                    kept.fetch_add(bytes, Ordering::Relaxed);
                }
                results.lock().unwrap_or_else(PoisonError::into_inner).push((index, found));
            }
        }
    };
    // Starting a thread takes longer than searching a few files.
    let threads = thread_count().min(files.len().div_ceil(8));
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
    let mut files = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    files.sort_unstable_by_key(|(index, _)| *index);
    let full = kept.into_inner() >= MAX_KEPT_BYTES;
    Outcome { files, interrupted: interrupted.into_inner(), full }
}
