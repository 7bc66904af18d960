//! Ignore files: `.gitignore` with everything around it, `.geminiignore`, and files of the user's choice.
//!
//! One engine for every tool. A path is ignored when one of its folders is, or when the last pattern that speaks about
//! it says so; `.geminiignore` speaks after `.gitignore`, the user's files after both, the first of them last. A
//! `!pattern` can therefore bring back what git leaves out, though not from inside an ignored folder.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use ignore::Match;
use ignore::gitignore::Gitignore;

use crate::files::EntryKind;
use crate::paths::real_path;

mod load;
#[cfg(test)]
mod tests;

/// Folders remembered between questions; a session asks about far fewer.
const MAX_REMEMBERED: usize = 20_000;

/// Which ignore files count.
#[derive(Debug, Clone)]
pub struct IgnoreOptions {
    /// `.gitignore` files and `.git/info/exclude`, inside a repository only.
    pub git: bool,
    /// `.geminiignore` in the root.
    pub gemini: bool,
    /// More files of the same syntax, relative to the root; earlier ones win. These always count.
    pub custom_files: Vec<PathBuf>,
}

impl Default for IgnoreOptions {
    /// Git's and Gemini's files, no others.
    fn default() -> Self {
        Self { git: true, gemini: true, custom_files: Vec::new() }
    }
}

/// The ignore rules below one or more roots, as the files are when first asked about. Cheap to make anew, so that a
/// changed `.gitignore` counts from the next tool call on; nothing is read before the first question.
#[derive(Debug)]
pub struct IgnoreRules {
    roots: Vec<RootRules>,
}

impl IgnoreRules {
    /// The rules below `root` (absolute).
    pub fn new(root: &Path, options: &IgnoreOptions) -> Self {
        Self::for_roots([root], options)
    }

    /// The rules of several folders, each with its own files; custom files are those of the first.
    pub fn for_roots<'a>(
        roots: impl IntoIterator<Item = &'a Path>,
        options: &IgnoreOptions,
    ) -> Self {
        let roots: Vec<PathBuf> = roots.into_iter().map(Path::to_path_buf).collect();
        let mut options = options.clone();
        if let Some(first) = roots.first() {
            options.custom_files =
                options.custom_files.iter().map(|file| first.join(file)).collect();
        }
        let options = Arc::new(options);
        let rules = |given| RootRules {
            given,
            options: Arc::clone(&options),
            loaded: OnceLock::new(),
            folders: RwLock::default(),
        };
        Self { roots: roots.into_iter().map(rules).collect() }
    }

    /// Whether `path` (absolute) is ignored, or what it links to is. Paths outside the roots, and the roots themselves,
    /// never are.
    pub fn is_ignored(&self, path: &Path, is_directory: bool) -> bool {
        if self.is_ignored_here(path, is_directory) {
            return true;
        }
        match real_path(path) {
            Ok(real) if real != path => self.is_ignored_here(&real, is_directory),
            _ => false,
        }
    }

    /// The same for an entry that was found by walking there: only a link can really be elsewhere, so that nothing else
    /// costs a question to the disk.
    pub(crate) fn ignores_entry(&self, path: &Path, kind: EntryKind) -> bool {
        match kind {
            EntryKind::Symlink => self.is_ignored(path, false),
            _ => self.is_ignored_here(path, kind == EntryKind::Directory),
        }
    }

    fn is_ignored_here(&self, path: &Path, is_directory: bool) -> bool {
        let Some((root, relative)) = self.locate(path) else { return false };
        let Some((parent, name)) = split_name(&relative) else { return false };
        root.folder(parent).ignores(root, &relative, name, is_directory)
    }

    /// The rules for the content of `folder` (absolute), for walking on from there.
    pub(crate) fn enter(&self, folder: &Path) -> Option<(&RootRules, Arc<Folder>)> {
        let (root, relative) = self.locate(folder)?;
        Some((root, root.folder(&relative)))
    }

    /// The innermost root that holds `path`, and the way from there, separated by `/`.
    fn locate(&self, path: &Path) -> Option<(&RootRules, String)> {
        let inside = |root| RootRules::relative(root, path).map(|relative| (root, relative));
        let found = self.roots.iter().filter_map(inside);
        found.min_by_key(|(_, relative)| relative.len())
    }
}

/// Folder and name of a relative path; `None` for the root.
fn split_name(relative: &str) -> Option<(&str, &str)> {
    if relative.is_empty() {
        None
    } else {
        Some(relative.rsplit_once('/').unwrap_or(("", relative)))
    }
}

/// The rules below one root.
#[derive(Debug)]
pub(crate) struct RootRules {
    given: PathBuf,
    options: Arc<IgnoreOptions>,
    loaded: OnceLock<Loaded>,
    folders: RwLock<HashMap<String, Arc<Folder>>>,
}

/// What is read once per root.
#[derive(Debug)]
struct Loaded {
    /// The root with links followed.
    real: PathBuf,
    git: Option<load::Repository>,
    gemini: Option<Gitignore>,
    custom: Vec<Gitignore>,
}

impl RootRules {
    fn loaded(&self) -> &Loaded {
        self.loaded.get_or_init(|| {
            let real = real_path(&self.given).unwrap_or_else(|_| self.given.clone());
            Loaded {
                git: self.options.git.then(|| load::repository(&real)).flatten(),
                gemini: self
                    .options
                    .gemini
                    .then(|| load::file(&real.join(".geminiignore")))
                    .flatten(),
                custom: self
                    .options
                    .custom_files
                    .iter()
                    .filter_map(|file| load::file(file))
                    .collect(),
                real,
            }
        })
    }

    /// The way from the root to `path`, in either spelling of the root; `None` outside.
    fn relative(&self, path: &Path) -> Option<String> {
        let below = path
            .strip_prefix(&self.given)
            .or_else(|_| path.strip_prefix(&self.loaded().real))
            .ok()?;
        let text = below.to_string_lossy();
        Some(if cfg!(windows) { text.replace('\\', "/") } else { text.into_owned() })
    }

    /// The rules for the content of the folder at `relative`. Reads the ignore files on the way, once.
    fn folder(&self, relative: &str) -> Arc<Folder> {
        let known = |relative: &str| {
            let folders = self.folders.read().unwrap_or_else(PoisonError::into_inner);
            folders.get(relative).cloned()
        };
        let mut missing = Vec::new();
        let mut ancestor = Some(relative);
        let mut folder = loop {
            match ancestor {
                Some(path) => match known(path) {
                    Some(folder) => break folder,
                    None => missing.push(path),
                },
                None => break Folder::top(self),
            }
            ancestor = ancestor.and_then(split_name).map(|(parent, _)| parent);
        };
        for path in missing.into_iter().rev() {
            if let Some((_, name)) = split_name(path) {
                folder = folder.child(self, path, name, true);
            }
            let mut folders = self.folders.write().unwrap_or_else(PoisonError::into_inner);
            if folders.len() >= MAX_REMEMBERED {
                folders.clear();
            }
            folders.insert(path.to_owned(), Arc::clone(&folder));
        }
        folder
    }
}

/// The rules for the content of one folder.
#[derive(Debug)]
pub(crate) struct Folder {
    parent: Option<Arc<Self>>,
    /// The way from the root, separated by `/`, empty for the root.
    pub(crate) relative: String,
    gitignore: Option<Gitignore>,
    /// Everything in here is ignored.
    pub(crate) ignored: bool,
}

impl Folder {
    fn top(root: &RootRules) -> Arc<Self> {
        let loaded = root.loaded();
        let gitignore = match &loaded.git {
            Some(_) => load::file(&loaded.real.join(".gitignore")),
            None => None,
        };
        Arc::new(Self { parent: None, relative: String::new(), gitignore, ignored: false })
    }

    /// The rules of the folder called `name` in this one. `may_have_file`: whether a `.gitignore` may be in it.
    pub(crate) fn child(
        self: &Arc<Self>,
        root: &RootRules,
        relative: &str,
        name: &str,
        may_have_file: bool,
    ) -> Arc<Self> {
        let ignored = self.ignores(root, relative, name, true);
        let loaded = root.loaded();
        let wanted = may_have_file && !ignored && loaded.git.is_some();
        let gitignore =
            wanted.then(|| load::file(&loaded.real.join(relative).join(".gitignore"))).flatten();
        Arc::new(Self {
            parent: Some(Arc::clone(self)),
            relative: relative.into(),
            gitignore,
            ignored,
        })
    }

    /// Whether the entry called `name`, at `relative` from the root, is ignored.
    pub(crate) fn ignores(
        &self,
        root: &RootRules,
        relative: &str,
        name: &str,
        is_directory: bool,
    ) -> bool {
        if self.ignored || name.eq_ignore_ascii_case(".git") {
            return true;
        }
        let loaded = root.loaded();
        let ask = |rules: &Gitignore| verdict(rules, relative, is_directory);
        let own =
            loaded.custom.iter().find_map(ask).or_else(|| loaded.gemini.as_ref().and_then(ask));
        if root.options.git && root.options.gemini {
            // One list: what speaks last decides.
            own.unwrap_or_else(|| self.git_ignores(loaded, relative, is_directory))
        } else {
            own.unwrap_or(false) || self.git_ignores(loaded, relative, is_directory)
        }
    }

    fn git_ignores(&self, loaded: &Loaded, relative: &str, is_directory: bool) -> bool {
        let Some(repository) = &loaded.git else { return false };
        let mut folder = Some(self);
        while let Some(at) = folder {
            if let Some(rules) = &at.gitignore {
                let below = relative.get(at.relative.len()..).unwrap_or(relative);
                if let Some(verdict) = verdict(rules, below.trim_start_matches('/'), is_directory) {
                    return verdict;
                }
            }
            folder = at.parent.as_deref();
        }
        repository.ignores(relative, is_directory)
    }
}

/// What a list of patterns says about a path relative to it: ignored, wanted, or nothing.
fn verdict(rules: &Gitignore, relative: &str, is_directory: bool) -> Option<bool> {
    match rules.matched(relative, is_directory) {
        Match::None => None,
        Match::Ignore(_) => Some(true),
        Match::Whitelist(_) => Some(false),
    }
}
