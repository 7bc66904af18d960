//! Finding lines by regular expression, in process and in parallel.
//!
//! First the files are collected and sorted, then searched in that order by all threads. When the limit of matches is
//! reached, every file before the last one searched has been searched too, so the first matches in path order are the
//! result whatever the timing was.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use ignore::overrides::{Override, OverrideBuilder};

use crate::error::{Error, Result};
use crate::exclusions::Exclusions;
use crate::files::EntryKind;
use crate::glob::check_size;
use crate::real::RealPath;
use crate::rules::IgnoreRules;
use crate::walk::{Cancel, Found, Root, Scope, WalkOptions, thread_count, visit};

mod file;
#[cfg(test)]
mod tests;

use file::FileSearch;

/// Most lines of context before or after a match.
pub const MAX_CONTEXT: usize = 1000;
/// Longest regular expression, in bytes.
pub const MAX_PATTERN_BYTES: usize = 64 * 1024;
/// Lines are kept up to this many bytes.
pub const MAX_LINE_BYTES: usize = 16 * 1024;
/// When this much text is kept, of one file or of all, the search ends as if the limit of matches were reached.
const MAX_KEPT_BYTES: usize = 16 * 1024 * 1024;

/// What to search. [`SearchRequest::new`] has the defaults.
#[derive(Debug, Clone, Copy)]
pub struct SearchRequest<'a> {
    /// A regular expression, or plain text with `fixed_strings`.
    pub pattern: &'a str,
    /// Files and folders, by their real paths: what has a link on the way is not found.
    pub paths: &'a [PathBuf],
    /// Only files below folders that match this glob: syntax of ignore files, `!` in front excludes.
    pub include: Option<&'a str>,
    /// Lines that match this do not count and are no context either.
    pub exclude_pattern: Option<&'a str>,
    /// Take the pattern as plain text.
    pub fixed_strings: bool,
    /// Whether upper and lower case differ, in both patterns.
    pub case_sensitive: bool,
    /// Lines before each match; `None`: as `context`.
    pub before: Option<usize>,
    /// Lines after each match; `None`: as `context`.
    pub after: Option<usize>,
    /// Lines on both sides of each match.
    pub context: usize,
    /// Leaves out what is ignored, files named in `paths` too.
    pub rules: Option<&'a IgnoreRules>,
    /// Leaves out these names below folders.
    pub exclude: Option<&'a Exclusions>,
    /// Whether names beginning with a dot are searched.
    pub hidden: bool,
    /// Most matches in one file.
    pub max_per_file: Option<usize>,
    /// Most matches in all; at least 1.
    pub max_total: usize,
    /// One match per file is enough.
    pub names_only: bool,
    /// After this time the search ends with what it has.
    pub time_limit: Option<Duration>,
}

impl<'a> SearchRequest<'a> {
    /// A search ignoring case, without context or rules, of at most 100 matches.
    pub fn new(pattern: &'a str, paths: &'a [PathBuf]) -> Self {
        Self {
            pattern,
            paths,
            include: None,
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

/// A line of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatchLine {
    /// From 1.
    pub number: u64,
    /// Without line ending, at most [`MAX_LINE_BYTES`]; bytes that are no UTF-8 are replaced.
    pub text: String,
    /// A match, or context.
    pub is_match: bool,
}

/// The lines found in one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileMatches {
    /// The file.
    pub path: PathBuf,
    /// Rising numbers; gaps where lines are left out.
    pub lines: Vec<MatchLine>,
    /// How many of them are matches.
    pub matches: usize,
}

/// What [`search`] found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SearchResult {
    /// Files with matches, in plain string order of the paths.
    pub files: Vec<FileMatches>,
    /// Matches in all files.
    pub matches: usize,
    /// Whether the limit of matches was reached, so that there may be more.
    pub truncated: bool,
    /// Whether the time limit ended the search.
    pub timed_out: bool,
    /// Whether the caller ended the search.
    pub cancelled: bool,
}

/// Searches files line by line. Binary files and those that cannot be read are skipped; UTF-16 with a byte order mark
/// is read as text.
///
/// # Errors
/// [`Error::Pattern`] when one of the patterns does not compile, is longer than [`MAX_PATTERN_BYTES`] or needs more than
/// 10 MiB when compiled. Look-around and back-references do not, so that no
/// pattern takes more than linear time.
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
    for (_, file) in outcome.files {
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

/// The files to search, sorted, and whether all were found. Takes at most two thirds of the time.
fn collect(
    request: &SearchRequest<'_>,
    include: Option<&Override>,
    cancel: Cancel<'_>,
) -> (Vec<PathBuf>, bool) {
    let (mut files, mut folders) = (Vec::new(), Vec::new());
    for path in request.paths {
        let real = RealPath::assumed(path);
        match real.info().map(|info| info.kind) {
            Ok(EntryKind::Directory) => folders.push(Root { path: path.clone(), real }),
            Ok(EntryKind::File)
                if !request.rules.is_some_and(|rules| rules.is_ignored(path, false)) =>
            {
                files.push(path.clone());
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
    // As with ripgrep, naming what begins with a dot is asking for it.
    let named = |relative: &str, directory| {
        include.is_some_and(|include| include.matched(relative, directory).is_whitelist())
    };
    let scope = Scope {
        descend: &|relative| !excluded(relative, true),
        reveal: &named,
        ..Scope::default()
    };
    let each = |found: &Found<'_>| {
        (found.kind == EntryKind::File && !excluded(found.relative, false)).then(|| found.path())
    };
    let (below, complete) = visit(&folders, &options, &scope, cancel, &each);
    files.extend(below);
    files.sort_unstable_by(|left, right| left.as_os_str().cmp(right.as_os_str()));
    files.dedup();
    (files, complete)
}

/// What the threads found together.
struct Outcome {
    /// With each file's place in the list.
    files: Vec<(usize, FileMatches)>,
    /// Whether time or the caller broke the search off.
    interrupted: bool,
    /// Whether as much text is kept as may be.
    full: bool,
}

/// Searches in order until there are enough matches.
fn search_files(
    search: &FileSearch,
    files: &[PathBuf],
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
            let Some(path) = files.get(index) else { return };
            let (found, broken_off) = search.run(&mut searcher, path, is_over);
            if broken_off {
                interrupted.store(true, Ordering::Relaxed);
            }
            if found.matches > 0 {
                matches.fetch_add(found.matches, Ordering::Relaxed);
                let bytes = found.lines.iter().map(|line| line.text.len()).sum();
                kept.fetch_add(bytes, Ordering::Relaxed);
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
