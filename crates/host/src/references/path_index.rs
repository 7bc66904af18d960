//! Paths below the folders of the workspace, for the completion of a path.
//!
//! The paths are found once and kept for a short time. A search answers within its time limit with
//! what it has found so far, also while the folders are still being read, and the next search for
//! the same text continues from there. So a first answer is quick in a tree of any size.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use nucleo_matcher::pattern::{Atom, AtomKind, CaseMatching, Normalization};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use pollux_fs::{EntryKind, IgnoreOptions, IgnoreRules, WalkOptions, Workspace};

/// Time for which the paths are kept after all folders have been read.
const KEPT: Duration = Duration::from_secs(30);
/// Time limit of reading the folders.
const LONGEST_READ: Duration = Duration::from_secs(30);
/// Maximum size of all paths, in bytes.
const LARGEST: usize = 256 << 20;
/// Size of a block of paths, in bytes.
const BLOCK: usize = 256 << 10;
/// Time after which a search that waits checks whether another one has begun.
const BETWEEN_CHECKS: Duration = Duration::from_millis(20);
/// Number of paths that are matched between two checks of the time.
const CHECK_EVERY: usize = 1024;

/// Search for paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Query {
    /// Text that the paths match, in any case.
    pub(super) text: String,
    /// True if the characters of the text may be apart in a path; otherwise the path contains it.
    pub(super) is_fuzzy: bool,
}

/// Answer of a search.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Matches {
    /// Relative paths, the best first; a folder ends with `/`.
    pub(super) paths: Vec<String>,
    /// True if the time limit ended the search.
    pub(super) is_partial: bool,
}

/// Paths of a session.
#[derive(Debug, Default)]
pub(crate) struct PathIndex {
    listing: Mutex<Option<Arc<Listing>>>,
    /// Number of the last search: a new search ends the one before.
    latest: AtomicU64,
}

impl PathIndex {
    /// Returns at most `count` paths of the workspace that match. Blocks the thread, not much
    /// longer than `limit`.
    pub(super) fn find(
        &self,
        workspace: &Arc<Workspace>,
        ignore: &IgnoreOptions,
        query: &Query,
        count: usize,
        limit: Duration,
    ) -> Matches {
        let number = self.latest.fetch_add(1, Ordering::Relaxed) + 1;
        let end = Instant::now() + limit;
        let is_over = || Instant::now() >= end || self.latest.load(Ordering::Relaxed) != number;
        let listing = self.listing(workspace, ignore);
        let mut search = locked(&listing.search);
        let search = search.get_or_insert_with(|| Search::new(query.clone()));
        if search.query != *query {
            *search = Search::new(query.clone());
        }
        loop {
            let (blocks, is_read) = listing.blocks(search.next_block);
            let is_searched = search.go_on(&blocks, count, &is_over);
            if is_searched && is_read || is_over() {
                return Matches { paths: search.best(), is_partial: !(is_searched && is_read) };
            }
            let left = end.saturating_duration_since(Instant::now());
            listing.wait(left.min(BETWEEN_CHECKS));
        }
    }

    /// Returns the paths; begins to read the folders if there are none.
    fn listing(&self, workspace: &Arc<Workspace>, ignore: &IgnoreOptions) -> Arc<Listing> {
        let mut listing = locked(&self.listing);
        if let Some(listing) = &*listing
            && !locked(&listing.paths).is_dropped
            && Arc::ptr_eq(&listing.workspace, workspace)
        {
            return Arc::clone(listing);
        }
        let new = Arc::new(Listing::new(Arc::clone(workspace)));
        let (reader, ignore) = (Arc::clone(&new), ignore.clone());
        let started = std::thread::Builder::new()
            .name("paths".to_owned())
            .spawn(move || reader.read_and_keep(&ignore));
        if started.is_err() {
            // Without a thread there are no paths, and the search ends.
            new.end(true);
        }
        if let Some(old) = listing.replace(Arc::clone(&new)) {
            old.end(true);
        }
        new
    }
}

impl Drop for PathIndex {
    fn drop(&mut self) {
        if let Some(listing) = &*locked(&self.listing) {
            listing.end(true);
        }
    }
}

/// Paths at one time.
#[derive(Debug)]
struct Listing {
    workspace: Arc<Workspace>,
    paths: Mutex<Paths>,
    changed: Condvar,
    /// True if nobody needs the paths any more.
    is_ended: AtomicBool,
    search: Mutex<Option<Search>>,
}

/// Paths that have been found so far.
#[derive(Debug, Default)]
struct Paths {
    /// Blocks of paths, each ended by a line end.
    blocks: Vec<Arc<str>>,
    /// The last block, which grows.
    open: String,
    size: usize,
    /// True if all folders have been read.
    is_read: bool,
    is_dropped: bool,
}

impl Listing {
    fn new(workspace: Arc<Workspace>) -> Self {
        Self {
            workspace,
            paths: Mutex::default(),
            changed: Condvar::new(),
            is_ended: AtomicBool::new(false),
            search: Mutex::default(),
        }
    }

    /// Reads the folders, keeps the paths for a while, and drops them.
    fn read_and_keep(&self, ignore: &IgnoreOptions) {
        // A search must not wait for a thread that has panicked.
        let end = EndOnDrop(self);
        let rules = IgnoreRules::for_roots(self.workspace.roots(), ignore);
        let options = WalkOptions {
            rules: Some(&rules),
            time_limit: Some(LONGEST_READ),
            ..WalkOptions::default()
        };
        let is_ended = || self.is_ended.load(Ordering::Relaxed);
        for root in self.workspace.walk_roots() {
            let add = |path: PathBuf, kind| {
                if let Some(path) = path.strip_prefix(&root.path).ok().and_then(Path::to_str) {
                    self.add(path, kind);
                }
            };
            pollux_fs::list(&root, &options, &is_ended, &add);
        }
        drop(end);
        let until = Instant::now() + KEPT;
        while !is_ended() && Instant::now() < until {
            self.wait(until.saturating_duration_since(Instant::now()));
        }
        let mut paths = locked(&self.paths);
        *paths = Paths { is_read: true, is_dropped: true, ..Paths::default() };
        *locked(&self.search) = None;
    }

    fn add(&self, path: &str, kind: EntryKind) {
        // A line end separates two paths, and no other control character is ever completed.
        if path.contains(char::is_control) {
            return;
        }
        let mut paths = locked(&self.paths);
        if paths.size > LARGEST {
            return;
        }
        paths.open.push_str(path);
        paths.open.push_str(if kind == EntryKind::Directory { "/\n" } else { "\n" });
        paths.size += path.len() + 2;
        if paths.open.len() >= BLOCK {
            paths.close_block();
            drop(paths);
            self.changed.notify_all();
        }
    }

    /// Marks the folders as read. With `is_final`, nobody needs the paths any more.
    fn end(&self, is_final: bool) {
        self.is_ended.fetch_or(is_final, Ordering::Relaxed);
        locked(&self.paths).is_read = true;
        self.changed.notify_all();
    }

    /// Returns the blocks from this one on, and true if there will be no more.
    fn blocks(&self, from: usize) -> (Vec<Arc<str>>, bool) {
        let mut paths = locked(&self.paths);
        paths.close_block();
        let blocks = paths.blocks.get(from..).unwrap_or_default();
        (blocks.to_vec(), paths.is_read)
    }

    /// Waits until there is another block, all folders have been read, or the time is over.
    fn wait(&self, limit: Duration) {
        let paths = locked(&self.paths);
        drop(self.changed.wait_timeout(paths, limit));
    }
}

impl Paths {
    fn close_block(&mut self) {
        if !self.open.is_empty() {
            self.blocks.push(std::mem::take(&mut self.open).into());
        }
    }
}

/// Marks the folders as read when it is dropped.
struct EndOnDrop<'a>(&'a Listing);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        self.0.end(false);
    }
}

/// Path that matches; the better one is greater.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Match {
    score: u16,
    length: Reverse<usize>,
    path: Reverse<String>,
}

/// Search in progress.
#[derive(Debug)]
struct Search {
    query: Query,
    atom: Atom,
    next_block: usize,
    /// Place in the next block, in bytes.
    offset: usize,
    best: BinaryHeap<Reverse<Match>>,
}

impl Search {
    fn new(query: Query) -> Self {
        let kind = if query.is_fuzzy { AtomKind::Fuzzy } else { AtomKind::Substring };
        let atom = Atom::new(&query.text, CaseMatching::Ignore, Normalization::Smart, kind, false);
        Self { query, atom, next_block: 0, offset: 0, best: BinaryHeap::new() }
    }

    /// Searches these blocks, the first of which is the next one. Returns false if the time is over
    /// before the end.
    fn go_on(&mut self, blocks: &[Arc<str>], count: usize, is_over: &dyn Fn() -> bool) -> bool {
        let mut matcher = Matcher::new(Config::DEFAULT.match_paths());
        let (mut characters, mut checked) = (Vec::new(), 0);
        for block in blocks {
            for path in block[self.offset..].lines() {
                if checked % CHECK_EVERY == CHECK_EVERY - 1 && is_over() {
                    return false;
                }
                checked += 1;
                self.offset += path.len() + 1;
                let text = Utf32Str::new(path, &mut characters);
                if let Some(score) = self.atom.score(text, &mut matcher) {
                    self.keep(score, path, count);
                }
            }
            (self.next_block, self.offset) = (self.next_block + 1, 0);
        }
        true
    }

    fn keep(&mut self, score: u16, path: &str, count: usize) {
        let is_full = self.best.len() >= count;
        if is_full && self.best.peek().is_some_and(|worst| worst.0.score > score) {
            return;
        }
        let found = Match { score, length: Reverse(path.len()), path: Reverse(path.to_owned()) };
        self.best.push(Reverse(found));
        if self.best.len() > count {
            self.best.pop();
        }
    }

    /// Returns the paths that have been found so far, the best first.
    fn best(&self) -> Vec<String> {
        let mut matches: Vec<&Match> = self.best.iter().map(|found| &found.0).collect();
        matches.sort_unstable_by(|left, right| right.cmp(left));
        matches.into_iter().map(|found| found.path.0.clone()).collect()
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use pretty_assertions::assert_eq;
    use tempfile::TempDir;

    use super::*;

    const LONG: Duration = Duration::from_secs(20);

    fn workspace(folder: &TempDir, files: &[&str]) -> Arc<Workspace> {
        let root = folder.path().join("project");
        for path in files {
            fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            fs::write(root.join(path), "").unwrap();
        }
        Arc::new(Workspace::new(root, folder.path().join("temp")))
    }

    fn index(listing: Arc<Listing>) -> PathIndex {
        PathIndex { listing: Mutex::new(Some(listing)), latest: AtomicU64::default() }
    }

    fn query(text: &str, is_fuzzy: bool) -> Query {
        Query { text: text.to_owned(), is_fuzzy }
    }

    #[test]
    fn the_best_paths_come_first() {
        let folder = TempDir::new().unwrap();
        let files = ["src/main.rs", "src/domain/mod.rs", "docs/manual.md", "lib/other.rs", "x"];
        let workspace = workspace(&folder, &files);
        let (index, ignore) = (PathIndex::default(), IgnoreOptions::default());
        let find = |text, is_fuzzy, count| {
            index.find(&workspace, &ignore, &query(text, is_fuzzy), count, LONG)
        };
        let found = |paths: &[&str]| Matches {
            paths: paths.iter().map(|path| (*path).to_owned()).collect(),
            is_partial: false,
        };
        assert_eq!(find("main", true, 1), found(&["src/main.rs"]));
        assert_eq!(find("smain", true, 2), found(&["src/main.rs", "src/domain/"]));
        assert_eq!(find("smain", false, 9), found(&[]));
        assert_eq!(find("DOMAIN", false, 9), found(&["src/domain/", "src/domain/mod.rs"]));
        assert_eq!(find("zzz", true, 9), found(&[]));
    }

    #[test]
    fn a_search_goes_on_after_its_time_limit() {
        let folder = TempDir::new().unwrap();
        let workspace = workspace(&folder, &["one.rs"]);
        let listing = Arc::new(Listing::new(Arc::clone(&workspace)));
        let index = index(Arc::clone(&listing));
        let find = || {
            let (ignore, limit) = (IgnoreOptions::default(), Duration::from_millis(30));
            let found = index.find(&workspace, &ignore, &query("rs", true), 9, limit);
            (found.paths.len(), found.is_partial)
        };
        assert_eq!(find(), (0, true));
        listing.add("one.rs", EntryKind::File);
        assert_eq!(find(), (1, true));
        listing.add("a/two.rs", EntryKind::File);
        // A name that could not be written is left out.
        listing.add("three\n.rs", EntryKind::File);
        listing.end(false);
        assert_eq!(find(), (2, false));
        assert_eq!(find(), (2, false));
    }

    #[test]
    fn a_new_search_ends_the_one_before() {
        let folder = TempDir::new().unwrap();
        let workspace = workspace(&folder, &["one.rs"]);
        let index = index(Arc::new(Listing::new(Arc::clone(&workspace))));
        let find = |text, limit| {
            index.find(&workspace, &IgnoreOptions::default(), &query(text, true), 9, limit)
        };
        let begin = Instant::now();
        std::thread::scope(|threads| {
            threads.spawn(|| find("one", LONG));
            while index.latest.load(Ordering::Relaxed) == 0 {
                std::thread::yield_now();
            }
            find("two", Duration::from_millis(1));
        });
        assert!(begin.elapsed() < LONG / 2);
    }

    #[test]
    fn a_great_number_of_paths_is_searched_in_steps() {
        let folder = TempDir::new().unwrap();
        let workspace = workspace(&folder, &["one.rs"]);
        let listing = Arc::new(Listing::new(Arc::clone(&workspace)));
        for number in 0..200_000 {
            listing.add(&format!("folder{}/file{number}.rs", number % 97), EntryKind::File);
        }
        listing.end(false);
        let index = index(listing);
        let mut answers = 0;
        let paths = loop {
            let ignore = IgnoreOptions::default();
            let limit = Duration::from_millis(5);
            let found = index.find(&workspace, &ignore, &query("file199999", true), 1, limit);
            answers += 1;
            if !found.is_partial {
                break found.paths;
            }
        };
        assert_eq!(paths, [format!("folder{}/file199999.rs", 199_999 % 97)]);
        assert!(answers > 1, "one answer came after all paths");
    }
}
