//! Parallel walk through folders, with ignore rules, cancellation and a time limit.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::exclusions::Exclusions;
use crate::files::{EntryKind, FileInfo};
use crate::held::FolderReader;
use crate::real::RealPath;
use crate::rules::{Folder, IgnoreRules, RootRules};

mod queue;
#[cfg(test)]
mod tests;

use queue::Queue;

/// Function called regularly during long work; `true` ends the work.
pub type Cancel<'a> = &'a (dyn Fn() -> bool + Sync);

/// Callback that never cancels.
pub const NEVER: Cancel<'static> = &|| false;

/// Maximum number of threads; more would wait for the disk or for each other.
const MAX_THREADS: usize = 8;
/// Number of names of one folder that are read between two checks of the time limit.
const CHECK_EVERY: usize = 64;

/// Folder to walk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    /// Prefix of the paths in the result.
    pub path: PathBuf,
    /// Real path of the folder.
    pub real: RealPath,
}

impl Root {
    /// Creates a root from `path` (absolute), with its current real path.
    pub fn new(path: PathBuf) -> Self {
        let real = RealPath::of(&path).unwrap_or_else(|_| RealPath::assumed(path.clone()));
        Self { path, real }
    }

    /// Returns a folder in this one.
    pub(crate) fn below(&self, name: impl AsRef<Path>) -> Self {
        Self { path: self.path.join(&name), real: self.real.below(name) }
    }
}

/// Options of a walk.
#[derive(Debug, Clone, Copy, Default)]
pub struct WalkOptions<'a> {
    /// Rules of ignored entries, which are left out.
    pub rules: Option<&'a IgnoreRules>,
    /// Names that are left out.
    pub exclude: Option<&'a Exclusions>,
    /// True to include names that begin with a dot.
    pub hidden: bool,
    /// Time limit; after it the walk returns the entries found so far.
    pub time_limit: Option<Duration>,
}

/// Calls `each` for everything below `root`, including folders but without the root itself, in no
/// particular order and on several threads. Its arguments are the path, which begins with the
/// root's, and the kind. Links are not followed, even if a folder is replaced by a link meanwhile;
/// folders that cannot be read count as empty. Returns false after a cancel or the time limit.
pub fn list(
    root: &Root,
    options: &WalkOptions<'_>,
    cancel: Cancel<'_>,
    each: &(dyn Fn(PathBuf, EntryKind) + Sync),
) -> bool {
    let entry = |found: &Found<'_>| {
        each(found.path(), found.kind);
        None::<()>
    };
    visit(std::slice::from_ref(root), options, &Scope::default(), cancel, &entry).1
}

/// Entry during a visit.
pub(crate) struct Found<'a> {
    folder: &'a Root,
    reader: &'a FolderReader,
    name: &'a OsStr,
    /// Path relative to the walk's root, separated by `/`.
    pub(crate) relative: &'a str,
    pub(crate) kind: EntryKind,
    /// True if the entry or one of its folders is ignored; such entries are visited only with
    /// [`Scope::ignored_budget`].
    pub(crate) ignored: bool,
}

impl Found<'_> {
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path.join(self.name)
    }

    /// Returns the real path if it differs from the path.
    pub(crate) fn other_real_path(&self) -> Option<RealPath> {
        (self.folder.path != *self.folder.real).then(|| self.folder.real.below(self.name))
    }

    /// Returns information about the entry without following a link.
    pub(crate) fn info(&self) -> Option<FileInfo> {
        self.reader.info(self.name).ok()
    }
}

/// Additional options for callers inside the crate.
pub(crate) struct Scope<'a> {
    /// Function that returns true to walk into the folder at this relative path.
    pub(crate) descend: &'a (dyn Fn(&str) -> bool + Sync),
    /// Function that returns true to include an entry although its name begins with a dot. Its
    /// arguments are the relative path, and true for a folder.
    pub(crate) reveal: &'a (dyn Fn(&str, bool) -> bool + Sync),
    /// Function that returns the real folder of a link to walk into it. Its arguments are the
    /// relative path and the path of the link.
    pub(crate) follow: &'a (dyn Fn(&str, &Path) -> Option<RealPath> + Sync),
    /// Maximum number of ignored entries that are visited, too, so that they can be counted.
    pub(crate) ignored_budget: usize,
}

impl Default for Scope<'_> {
    fn default() -> Self {
        Self { descend: &|_| true, reveal: &|_, _| false, follow: &|_, _| None, ignored_budget: 0 }
    }
}

/// Folder that waits to be read.
struct Job<'r> {
    folder: Root,
    relative: String,
    rules: Option<(&'r RootRules, Arc<Folder>)>,
    /// True inside an ignored folder.
    ignored: bool,
}

/// Calls `each` for every entry, on several threads. Returns the results of `each` in no particular
/// order, and whether everything was visited.
pub(crate) fn visit<T: Send>(
    roots: &[Root],
    options: &WalkOptions<'_>,
    scope: &Scope<'_>,
    cancel: Cancel<'_>,
    each: &(dyn Fn(&Found<'_>) -> Option<T> + Sync),
) -> (Vec<T>, bool) {
    let start = |root: &Root| {
        let rules = options.rules.and_then(|rules| rules.enter(&root.path));
        let ignored = rules.as_ref().is_some_and(|(_, folder)| folder.ignored);
        Job { folder: root.clone(), relative: String::new(), rules, ignored }
    };
    let walker = Walker {
        options,
        scope,
        cancel,
        deadline: options.time_limit.and_then(|limit| Instant::now().checked_add(limit)),
        queue: Queue::new(roots.iter().map(start).collect()),
        budget: AtomicUsize::new(scope.ignored_budget),
        stopped: AtomicBool::new(false),
    };
    let work = || {
        let mut results = Vec::new();
        while let Some(mut claim) = walker.queue.next() {
            claim.more = walker.read_folder(&claim.job, each, &mut results);
        }
        results
    };
    let results = std::thread::scope(|threads| {
        let others: Vec<_> = (1..thread_count()).map(|_| threads.spawn(work)).collect();
        let mut results = work();
        for other in others {
            match other.join() {
                Ok(more) => results.extend(more),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        results
    });
    (results, !walker.stopped.load(Ordering::Relaxed))
}

/// Returns the number of threads for a walk or a search.
pub(crate) fn thread_count() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(MAX_THREADS)
}

struct Walker<'r, 'a> {
    options: &'r WalkOptions<'a>,
    scope: &'r Scope<'a>,
    cancel: Cancel<'a>,
    deadline: Option<Instant>,
    queue: Queue<Job<'r>>,
    budget: AtomicUsize,
    stopped: AtomicBool,
}

impl<'r> Walker<'r, '_> {
    /// Returns true if the walk must end early.
    fn is_over(&self) -> bool {
        let over = self.stopped.load(Ordering::Relaxed)
            || (self.cancel)()
            || self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        if over {
            self.stopped.store(true, Ordering::Relaxed);
        }
        over
    }

    /// Reads one folder and returns its subfolders.
    fn read_folder<T>(
        &self,
        job: &Job<'r>,
        each: &(dyn Fn(&Found<'_>) -> Option<T> + Sync),
        results: &mut Vec<T>,
    ) -> Vec<Job<'r>> {
        let mut folders = Vec::new();
        if self.is_over() {
            return folders;
        }
        let Ok(mut reader) = FolderReader::open(&job.folder.real) else { return folders };
        let entry_relative = |from: &str, name: &str| {
            if from.is_empty() { name.to_owned() } else { format!("{from}/{name}") }
        };
        let mut index = 0;
        while let Some(entry) = reader.next_entry() {
            index += 1;
            if index % CHECK_EVERY == 0 && self.is_over() {
                break;
            }
            let Ok((file_name, kind)) = entry else { continue };
            let name = file_name.to_string_lossy();
            let relative = entry_relative(&job.relative, &name);
            if !self.options.hidden
                && name.starts_with('.')
                && !(self.scope.reveal)(&relative, kind == EntryKind::Directory)
            {
                continue;
            }
            let exact = file_name.as_encoded_bytes();
            let from_rules = match &job.rules {
                // Rules match the bytes of a path; the text here may have lost some of them.
                Some((_, folder))
                    if folder.relative != job.relative.as_bytes() || name.as_bytes() != exact =>
                {
                    let slash: &[u8] = if folder.relative.is_empty() { b"" } else { b"/" };
                    Some([&folder.relative, slash, exact].concat())
                }
                _ => None,
            };
            let from_rules = from_rules.as_deref().unwrap_or(relative.as_bytes());
            let Some(ignored) = self.admit(job, &file_name, kind, &relative, from_rules) else {
                continue;
            };
            let (folder, name) = (&job.folder, &file_name);
            let found = Found { folder, reader: &reader, name, relative: &relative, kind, ignored };
            results.extend(each(&found));
            if kind == EntryKind::Directory && (self.scope.descend)(&relative) {
                let rules = job
                    .rules
                    .as_ref()
                    .filter(|_| !ignored)
                    .map(|(root, folder)| (*root, folder.child(root, from_rules, exact)));
                folders.push(Job { folder: job.folder.below(name), relative, rules, ignored });
            } else if kind == EntryKind::Symlink && !ignored {
                folders.extend(self.behind(found.path(), relative));
            }
        }
        folders
    }

    /// Returns the folder behind a link, if the link is to be followed. Its content is ignored by
    /// the rules of the place where it really is.
    fn behind(&self, path: PathBuf, relative: String) -> Option<Job<'r>> {
        let is_excluded = |exclude: &Exclusions| exclude.covers_directory(&relative);
        if self.options.exclude.is_some_and(is_excluded) || !(self.scope.descend)(&relative) {
            return None;
        }
        let real = (self.scope.follow)(&relative, &path)?;
        let is_ignored = |rules: &IgnoreRules| rules.is_ignored_at(&path, &real, true);
        if self.options.rules.is_some_and(is_ignored) {
            return None;
        }
        let rules = self.options.rules.and_then(|rules| rules.enter(&real));
        Some(Job { folder: Root { path, real }, relative, rules, ignored: false })
    }

    /// Returns `None` for an entry that is left out, otherwise whether the entry is ignored (and
    /// visited nevertheless).
    fn admit(
        &self,
        job: &Job<'r>,
        name: &OsStr,
        kind: EntryKind,
        relative: &str,
        from_rules: &[u8],
    ) -> Option<bool> {
        let directory = kind == EntryKind::Directory;
        if let Some(exclude) = self.options.exclude
            && (directory && exclude.covers_directory(relative)
                || !directory && exclude.covers_file(relative))
        {
            return None;
        }
        let ignored = job.ignored
            || match (&job.rules, self.options.rules) {
                (Some((root, folder)), Some(rules)) => {
                    folder.ignores(root, from_rules, name.as_encoded_bytes(), directory)
                        || kind == EntryKind::Symlink
                            && rules.is_ignored(&job.folder.path.join(name), false)
                }
                _ => false,
            };
        let spend = |left: usize| left.checked_sub(1);
        let visited = !ignored
            || self.budget.fetch_update(Ordering::Relaxed, Ordering::Relaxed, spend).is_ok();
        visited.then_some(ignored)
    }
}
