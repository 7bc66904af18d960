//! Ignore files: `.gitignore` and related files of git, `.geminiignore`, and files of the user's
//! choice.
//!
//! All tools use the same engine. A path is ignored if one of its folders is, or if the last
//! pattern that matches it says so; `.geminiignore` is evaluated after `.gitignore`, then the
//! user's files, the first of them last. A `!pattern` can therefore include files that git ignores,
//! but not inside an ignored folder.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use crate::files::EntryKind;
use crate::paths::real_path;
use crate::real::RealPath;

mod load;
mod patterns;
#[cfg(test)]
mod tests;
mod wildcard;

pub use patterns::IgnorePatterns;

/// Maximum number of cached folders; a session needs far fewer.
const MAX_REMEMBERED: usize = 20_000;

/// Selection of ignore files.
#[derive(Debug, Clone)]
pub struct IgnoreOptions {
    /// `.gitignore` files and `.git/info/exclude`, inside a repository only.
    pub git: bool,
    /// True to use `.geminiignore` in the root.
    pub gemini: bool,
    /// Further files of the same syntax, relative to the root; earlier ones have precedence. They
    /// are always used.
    pub custom_files: Vec<PathBuf>,
}

impl Default for IgnoreOptions {
    /// Selects the files of git and Gemini CLI only.
    fn default() -> Self {
        Self { git: true, gemini: true, custom_files: Vec::new() }
    }
}

/// Ignore rules below one or more roots, based on the files at the time of their first use.
/// Creating them again is cheap, so that a changed `.gitignore` applies from the next tool call on;
/// no file is read before the first query.
#[derive(Debug)]
pub struct IgnoreRules {
    roots: Vec<RootRules>,
}

impl IgnoreRules {
    /// Creates the rules below `root` (absolute).
    pub fn new(root: &Path, options: &IgnoreOptions) -> Self {
        Self::for_roots([root], options)
    }

    /// Creates the rules of several folders, each with its own files; custom files are those of the
    /// first folder.
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

    /// Returns true if `path` (absolute) or its link target is ignored. Paths outside the roots,
    /// and the roots themselves, are never ignored.
    pub fn is_ignored(&self, path: &Path, is_directory: bool) -> bool {
        if self.is_ignored_here(path, is_directory) {
            return true;
        }
        match real_path(path) {
            Ok(real) if real != path => self.is_ignored_here(&real, is_directory),
            _ => false,
        }
    }

    /// Returns the result of [`Self::is_ignored`] for a path whose real path is known: only ignore
    /// files are read.
    pub fn is_ignored_at(&self, path: &Path, real: &RealPath, is_directory: bool) -> bool {
        self.is_ignored_here(path, is_directory)
            || path != &**real && self.is_ignored_here(real, is_directory)
    }

    /// Returns the result of [`Self::is_ignored`] for an entry found by walking. Only a link can
    /// have a different real path, so other entries need no disk access.
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

    /// Returns the rules for the content of `folder` (absolute), as the start of a walk.
    pub(crate) fn enter(&self, folder: &Path) -> Option<(&RootRules, Arc<Folder>)> {
        let (root, relative) = self.locate(folder)?;
        Some((root, root.folder(&relative)))
    }

    /// Returns the innermost root that contains `path`, and the relative path from there, separated
    /// by `/`.
    fn locate(&self, path: &Path) -> Option<(&RootRules, Vec<u8>)> {
        let inside = |root| RootRules::relative(root, path).map(|relative| (root, relative));
        let found = self.roots.iter().filter_map(inside);
        found.min_by_key(|(_, relative)| relative.len())
    }
}

/// Splits a relative path into folder and name; `None` for the root.
fn split_name(relative: &[u8]) -> Option<(&[u8], &[u8])> {
    if relative.is_empty() {
        return None;
    }
    let slash = relative.iter().rposition(|byte| *byte == b'/');
    Some(slash.map_or((&[], relative), |at| (&relative[..at], &relative[at + 1..])))
}

/// Rules below one root.
#[derive(Debug)]
pub(crate) struct RootRules {
    given: PathBuf,
    options: Arc<IgnoreOptions>,
    loaded: OnceLock<Loaded>,
    folders: RwLock<HashMap<Vec<u8>, Arc<Folder>>>,
}

/// Data that is read once per root.
#[derive(Debug)]
struct Loaded {
    /// Path of the root with links followed.
    real: PathBuf,
    git: Option<load::Repository>,
    gemini: Option<IgnorePatterns>,
    custom: Vec<IgnorePatterns>,
}

impl RootRules {
    fn loaded(&self) -> &Loaded {
        self.loaded.get_or_init(|| {
            let real = real_path(&self.given).unwrap_or_else(|_| self.given.clone());
            let gemini = self.options.gemini.then(|| load::own_file(&real.join(".geminiignore")));
            let custom = self.options.custom_files.iter();
            Loaded {
                git: self.options.git.then(|| load::repository(&real)).flatten(),
                gemini: gemini.flatten(),
                custom: custom.filter_map(|file| load::own_file(file)).collect(),
                real,
            }
        })
    }

    /// Returns the path relative to the root, for either spelling of the root; `None` for a path
    /// outside.
    fn relative(&self, path: &Path) -> Option<Vec<u8>> {
        let below = path
            .strip_prefix(&self.given)
            .or_else(|_| path.strip_prefix(&self.loaded().real))
            .ok()?;
        let mut bytes = below.as_os_str().as_encoded_bytes().to_vec();
        if cfg!(windows) {
            bytes.iter_mut().filter(|byte| **byte == b'\\').for_each(|byte| *byte = b'/');
        }
        Some(bytes)
    }

    /// Returns the rules for the content of the folder at `relative`. Reads the ignore files in the
    /// folders above, once.
    fn folder(&self, relative: &[u8]) -> Arc<Folder> {
        let known = |relative: &[u8]| {
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
                folder = folder.child(self, path, name);
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

/// Rules for the content of one folder.
#[derive(Debug)]
pub(crate) struct Folder {
    parent: Option<Arc<Self>>,
    /// Path from the root, separated by `/`, empty for the root.
    pub(crate) relative: Vec<u8>,
    gitignore: Option<IgnorePatterns>,
    /// True if the whole folder is ignored.
    pub(crate) ignored: bool,
}

impl Folder {
    fn top(root: &RootRules) -> Arc<Self> {
        let loaded = root.loaded();
        let gitignore =
            loaded.git.as_ref().and_then(|git| git.file(&loaded.real.join(".gitignore")));
        Arc::new(Self { parent: None, relative: Vec::new(), gitignore, ignored: false })
    }

    /// Returns the rules of the subfolder `name`.
    pub(crate) fn child(
        self: &Arc<Self>,
        root: &RootRules,
        relative: &[u8],
        name: &[u8],
    ) -> Arc<Self> {
        let ignored = self.ignores(root, relative, name, true);
        let loaded = root.loaded();
        let git = loaded.git.as_ref().filter(|_| !ignored);
        let gitignore = git.and_then(|git| {
            git.file(&loaded.real.join(load::path_of(relative)).join(".gitignore"))
        });
        Arc::new(Self {
            parent: Some(Arc::clone(self)),
            relative: relative.to_vec(),
            gitignore,
            ignored,
        })
    }

    /// Returns true if the entry `name`, at `relative` from the root, is ignored.
    pub(crate) fn ignores(
        &self,
        root: &RootRules,
        relative: &[u8],
        name: &[u8],
        is_directory: bool,
    ) -> bool {
        if self.ignored || name.eq_ignore_ascii_case(b".git") {
            return true;
        }
        let loaded = root.loaded();
        let ask = |rules: &IgnorePatterns| rules.verdict(relative, is_directory);
        let own =
            loaded.custom.iter().find_map(ask).or_else(|| loaded.gemini.as_ref().and_then(ask));
        if root.options.git && root.options.gemini {
            // All files form one list, of which the last match decides.
            own.unwrap_or_else(|| self.git_ignores(loaded, relative, is_directory))
        } else {
            own.unwrap_or(false) || self.git_ignores(loaded, relative, is_directory)
        }
    }

    fn git_ignores(&self, loaded: &Loaded, relative: &[u8], is_directory: bool) -> bool {
        let Some(repository) = &loaded.git else { return false };
        let mut folder = Some(self);
        while let Some(at) = folder {
            if let Some(rules) = &at.gitignore {
                let below = relative.get(at.relative.len()..).unwrap_or(relative);
                let below = below.strip_prefix(b"/").unwrap_or(below);
                if let Some(verdict) = rules.verdict(below, is_directory) {
                    return verdict;
                }
            }
            folder = at.parent.as_deref();
        }
        repository.ignores(relative, is_directory)
    }
}
