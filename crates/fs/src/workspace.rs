//! Access decisions about paths, and the interpretation of paths written by a model.
//!
//! Models write paths with a leading `@` (from the prompt's syntax), as `file://` URLs, with
//! escapes or with NULs, or write whole error messages in place of a path. [`Workspace::resolve`]
//! finds the intended file; [`Workspace::check`] decides by its real path, component by component.
//!
//! The content of `.git` and of files with secrets, such as `.env` and private keys, is closed even
//! inside the workspace: hooks are programs that git runs without asking, and credentials must not
//! become part of a conversation.
//! Gemini CLI also closes `node_modules`; Pollux leaves it open, because the sources of a
//! dependency answer many questions.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::paths::{absolute, decode_percent, real_path, relative_path, shorten};
use crate::real::RealPath;
use crate::secrets::{is_secret_file, is_secret_name};
use crate::walk::Root;

mod sanity;
#[cfg(test)]
mod tests;

pub use sanity::check_sanity;

/// Maximum length of a displayed path, in characters.
const DISPLAY_LENGTH: usize = 35;

/// Kind of access to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// The path is only read.
    Read,
    /// The path is created, changed or removed.
    Write,
}

/// Folders of a session.
#[derive(Debug, Clone)]
pub struct Workspace {
    roots: Vec<Place>,
    temp: Place,
    memory_files: Vec<PathBuf>,
    readable: Vec<PathBuf>,
    denied: Vec<PathBuf>,
}

/// Folder with its given path and its real path.
#[derive(Debug, Clone)]
struct Place {
    given: PathBuf,
    real: PathBuf,
}

impl Place {
    fn new(given: PathBuf) -> Self {
        let real = real_path(&given).unwrap_or_else(|_| given.clone());
        Self { given, real }
    }
}

impl Workspace {
    /// Creates a workspace whose first folder is `target`, the base of relative paths. `temp` is
    /// the project's temporary folder. Both must be absolute; they need not exist.
    pub fn new(target: PathBuf, temp: PathBuf) -> Self {
        Self {
            roots: vec![Place::new(target)],
            temp: Place::new(temp),
            memory_files: Vec::new(),
            readable: Vec::new(),
            denied: Vec::new(),
        }
    }

    /// Adds a folder, unless it is already in the workspace.
    pub fn add_root(&mut self, root: PathBuf) {
        let root = Place::new(root);
        if self.roots.iter().all(|known| known.real != root.real) {
            self.roots.push(root);
        }
    }

    /// Allows exactly this file (the user's global memory file), even outside the workspace.
    pub fn allow_memory_file(&mut self, path: &Path) {
        self.memory_files.push(real_path(path).unwrap_or_else(|_| path.into()));
    }

    /// Allows reading this file, or below this folder except for files with secrets.
    pub fn allow_reading(&mut self, path: &Path) {
        self.readable.push(real_path(path).unwrap_or_else(|_| path.into()));
    }

    /// Denies everything below this folder, wherever it is (the memory inbox in the project's
    /// temporary folder).
    pub fn deny(&mut self, path: &Path) {
        self.denied.push(real_path(path).unwrap_or_else(|_| path.into()));
    }

    /// Returns the base folder of relative paths.
    pub fn target(&self) -> &Path {
        &self.roots[0].given
    }

    /// Returns all folders, the target first.
    pub fn roots(&self) -> impl Iterator<Item = &Path> {
        self.roots.iter().map(|root| root.given.as_path())
    }

    /// Returns all folders as roots of a walk.
    pub fn walk_roots(&self) -> Vec<Root> {
        let root = |root: &Place| Root {
            path: root.given.clone(),
            real: RealPath::assumed(root.real.clone()),
        };
        self.roots.iter().map(root).collect()
    }

    /// Returns the project's temporary folder.
    pub fn temp(&self) -> &Path {
        &self.temp.given
    }

    /// Returns the absolute path that `given` means, without following links.
    ///
    /// # Errors
    /// [`Error::InvalidPath`] for a text that cannot be a path.
    pub fn absolute(&self, given: &str) -> Result<PathBuf> {
        let given = given.replace('\0', "");
        if given.trim().is_empty() {
            return Err(Error::InvalidPath("the path is empty".into()));
        }
        let literal = absolute(self.target(), Path::new(&given));
        if std::fs::symlink_metadata(&literal).is_ok() {
            return Ok(literal);
        }
        let given = match from_file_url(&given)? {
            Some(path) => path,
            None => self.without_at_sign(&given).to_owned(),
        };
        let literal = absolute(self.target(), Path::new(&given));
        // An existing name that contains a percent sign is used unchanged.
        if std::fs::symlink_metadata(&literal).is_err()
            && let Some(decoded) = decode_percent(&given)
        {
            let decoded = decoded.replace('\0', "");
            return Ok(absolute(self.target(), Path::new(&decoded)));
        }
        Ok(literal)
    }

    /// Returns the real path that `given` means: links are followed, missing last components are
    /// allowed.
    ///
    /// # Errors
    /// [`Error::InvalidPath`] for a text that cannot be a path, and for loops of links.
    pub fn resolve(&self, given: &str) -> Result<PathBuf> {
        let path = self.absolute(given)?;
        check_sanity(&path)?;
        real_path(&path)
    }

    /// Removes a leading `@`: `@/x` means `x`; `@x/y` is unchanged only if the folder `@x` exists
    /// (npm scopes).
    fn without_at_sign<'a>(&self, given: &'a str) -> &'a str {
        let Some(rest) = given.strip_prefix('@') else { return given };
        if rest.starts_with(['/', '\\']) {
            return rest.trim_start_matches(['/', '\\']);
        }
        let scope = given.split(['/', '\\']).next().unwrap_or(given);
        if self.target().join(scope).exists() { given } else { rest }
    }

    /// Checks whether `path` (absolute, or relative to the target) may be accessed, based on its
    /// real path. Files that are closed in a workspace (see the module documentation) are also
    /// closed by their given path, whatever its link target is. Returns the real path that was
    /// checked, which must be used for the access.
    ///
    /// # Errors
    /// [`Error::InvalidPath`] or [`Error::OutsideWorkspace`], both with the message for the model.
    pub fn check(&self, path: &Path, access: Access) -> Result<RealPath> {
        let path = absolute(self.target(), path);
        check_sanity(&path)?;
        let real = real_path(&path)?;
        if self.is_allowed(&path, &real, access) {
            return Ok(RealPath::assumed(real));
        }
        Err(Error::OutsideWorkspace {
            path,
            roots: self.roots().map(Path::to_path_buf).collect(),
            temp: self.temp().to_path_buf(),
        })
    }

    /// Returns true if `path` (absolute) may be accessed. Unlike [`Self::check`], this accepts any
    /// name that the file system has: it is for paths that a search has found.
    pub fn allows(&self, path: &Path, access: Access) -> bool {
        real_path(path).is_ok_and(|real| self.is_allowed(path, &real, access))
    }

    fn is_allowed(&self, path: &Path, real: &Path, access: Access) -> bool {
        let below = |folders: &[PathBuf]| folders.iter().any(|folder| real.starts_with(folder));
        let inside = self.roots.iter().any(|root| real.starts_with(&root.real));
        !below(&self.denied)
            && (inside && !self.is_closed(real) && !self.is_closed(path) && !is_secret_file(real)
                || real.starts_with(&self.temp.real)
                || self.memory_files.iter().any(|file| file == real)
                || access == Access::Read && self.is_opened(real))
    }

    /// Returns true if a real path was opened for reading, itself or with a folder around it.
    fn is_opened(&self, real: &Path) -> bool {
        let (itself, below) = self.readable.iter().fold((false, false), |(itself, below), open| {
            (itself || open == real, below || real.starts_with(open))
        });
        itself || below && !is_secret_file(real)
    }

    /// Returns true if `path` (absolute) is in the workspace but closed, based on its text only.
    pub fn is_closed(&self, path: &Path) -> bool {
        let below = |root: &Place| {
            let real = path.strip_prefix(&root.real);
            real.or_else(|_| path.strip_prefix(&root.given)).ok().map(Path::to_path_buf)
        };
        let mut ways = self.roots.iter().filter_map(below).peekable();
        ways.peek().is_some() && ways.all(|way| is_closed_way(&way))
    }

    /// Returns the path relative to the target; `.` for the target itself, with `..` outside of it.
    pub fn relative(&self, path: &Path) -> PathBuf {
        let target = &self.roots[0];
        if path.starts_with(&target.given) {
            relative_path(&target.given, path)
        } else {
            relative_path(&target.real, path)
        }
    }

    /// Returns the path for display: relative to the target and at most 35 characters long.
    pub fn display_path(&self, path: &Path) -> String {
        shorten(&self.relative(path).to_string_lossy(), DISPLAY_LENGTH)
    }

    /// Returns the innermost workspace folder that contains `path`, if there is one.
    pub fn root_of(&self, path: &Path) -> Option<&Path> {
        let holds = |root: &&Place| path.starts_with(&root.given) || path.starts_with(&root.real);
        let depth = |root: &&Place| root.real.components().count();
        self.roots.iter().filter(holds).max_by_key(depth).map(|root| root.given.as_path())
    }
}

/// Returns true if a path relative to a workspace folder is in `.git`, or has the name of a file
/// with secrets.
fn is_closed_way(below: &Path) -> bool {
    // The comparison ignores case, because `.GIT` is the same folder on some systems.
    below.iter().any(|name| name.eq_ignore_ascii_case(".git"))
        || below.file_name().is_some_and(is_secret_name)
}

/// Returns the path of a `file://` URL; `None` for any other text.
fn from_file_url(given: &str) -> Result<Option<String>> {
    let Some(rest) = given.strip_prefix("file://") else { return Ok(None) };
    let rest = rest.strip_prefix("localhost").unwrap_or(rest);
    if !rest.starts_with('/') {
        return Err(Error::InvalidPath(format!("file URL of another host: {given}")));
    }
    let path = decode_percent(rest).unwrap_or_else(|| rest.to_owned()).replace('\0', "");
    let drive = cfg!(windows) && path.as_bytes().get(2) == Some(&b':');
    Ok(Some(if drive { path[1..].to_owned() } else { path }))
}
