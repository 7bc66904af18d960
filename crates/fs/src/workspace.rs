//! Which paths the tools may touch, and what a path written by a model means.
//!
//! Models write paths with a leading `@` (from the prompt's syntax), as `file://` URLs, with escapes or with NULs, or
//! put whole error messages there. [`Workspace::resolve`] finds the file that is meant; [`Workspace::check`] decides
//! by its real path, component by component.
//!
//! What git keeps in `.git` and what an `.env` file holds is closed even inside the workspace: hooks there are programs
//! that git runs unasked, and credentials have no place in a conversation. Gemini CLI closes `node_modules` as well; here
//! it stays open, because the sources of a dependency answer many questions.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::paths::{absolute, decode_percent, real_path, relative_path, shorten};
use crate::real::RealPath;
use crate::walk::Root;

mod sanity;
#[cfg(test)]
mod tests;

pub use sanity::check_sanity;

/// Length of a path on screen.
const DISPLAY_LENGTH: usize = 35;

/// What is to be done with a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Only looked at.
    Read,
    /// Created, changed or removed.
    Write,
}

/// The folders a session works in.
#[derive(Debug, Clone)]
pub struct Workspace {
    roots: Vec<Place>,
    temp: Place,
    memory_files: Vec<PathBuf>,
    readable: Vec<PathBuf>,
    denied: Vec<PathBuf>,
}

/// A folder as given and as it really is.
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
    /// A workspace whose first folder is `target`, the one relative paths start from. `temp` is the project's temp
    /// folder. Both absolute; they need not exist.
    pub fn new(target: PathBuf, temp: PathBuf) -> Self {
        Self {
            roots: vec![Place::new(target)],
            temp: Place::new(temp),
            memory_files: Vec::new(),
            readable: Vec::new(),
            denied: Vec::new(),
        }
    }

    /// Adds a folder; one that is there already is not added twice.
    pub fn add_root(&mut self, root: PathBuf) {
        let root = Place::new(root);
        if self.roots.iter().all(|known| known.real != root.real) {
            self.roots.push(root);
        }
    }

    /// Allows exactly this file (the user's global memory file), wherever it is.
    pub fn allow_memory_file(&mut self, path: &Path) {
        self.memory_files.push(real_path(path).unwrap_or_else(|_| path.into()));
    }

    /// Allows reading below this folder, or this file.
    pub fn allow_reading(&mut self, path: &Path) {
        self.readable.push(real_path(path).unwrap_or_else(|_| path.into()));
    }

    /// Forbids everything below this folder, wherever it is (the memory inbox in the project's temp folder).
    pub fn deny(&mut self, path: &Path) {
        self.denied.push(real_path(path).unwrap_or_else(|_| path.into()));
    }

    /// The folder relative paths start from.
    pub fn target(&self) -> &Path {
        &self.roots[0].given
    }

    /// All folders, the target first.
    pub fn roots(&self) -> impl Iterator<Item = &Path> {
        self.roots.iter().map(|root| root.given.as_path())
    }

    /// The same, to be walked.
    pub fn walk_roots(&self) -> Vec<Root> {
        let root = |root: &Place| Root {
            path: root.given.clone(),
            real: RealPath::assumed(root.real.clone()),
        };
        self.roots.iter().map(root).collect()
    }

    /// The project's temp folder.
    pub fn temp(&self) -> &Path {
        &self.temp.given
    }

    /// The absolute path that `given` means, links not followed.
    ///
    /// # Errors
    /// [`Error::InvalidPath`] for what cannot be a path.
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
        // A name with a percent sign that exists means itself.
        if std::fs::symlink_metadata(&literal).is_err()
            && let Some(decoded) = decode_percent(&given)
        {
            let decoded = decoded.replace('\0', "");
            return Ok(absolute(self.target(), Path::new(&decoded)));
        }
        Ok(literal)
    }

    /// The real path of what `given` means: links followed, missing last components allowed.
    ///
    /// # Errors
    /// [`Error::InvalidPath`] for what cannot be a path, and for loops of links.
    pub fn resolve(&self, given: &str) -> Result<PathBuf> {
        let path = self.absolute(given)?;
        check_sanity(&path)?;
        real_path(&path)
    }

    /// `@/x` means `x`; `@x/y` means itself only when the folder `@x` exists (npm scopes).
    fn without_at_sign<'a>(&self, given: &'a str) -> &'a str {
        let Some(rest) = given.strip_prefix('@') else { return given };
        if rest.starts_with(['/', '\\']) {
            return rest.trim_start_matches(['/', '\\']);
        }
        let scope = given.split(['/', '\\']).next().unwrap_or(given);
        if self.target().join(scope).exists() { given } else { rest }
    }

    /// Whether `path` (absolute, or relative to the target) may be touched, judged by where it really is; what is closed
    /// in a workspace (see the module's description) is closed by its name too, wherever that links to. Gives the real
    /// path that was judged, by which it is to be touched.
    ///
    /// # Errors
    /// [`Error::InvalidPath`] or [`Error::OutsideWorkspace`], both with the message for the model.
    pub fn check(&self, path: &Path, access: Access) -> Result<RealPath> {
        let path = absolute(self.target(), path);
        check_sanity(&path)?;
        let real = real_path(&path)?;
        let below = |folders: &[PathBuf]| folders.iter().any(|folder| real.starts_with(folder));
        let inside = self.roots.iter().any(|root| real.starts_with(&root.real));
        let allowed = !below(&self.denied)
            && (inside && !self.is_closed(&real) && !self.is_closed(&path)
                || real.starts_with(&self.temp.real)
                || self.memory_files.contains(&real)
                || access == Access::Read && below(&self.readable));
        if allowed {
            return Ok(RealPath::assumed(real));
        }
        Err(Error::OutsideWorkspace {
            path,
            roots: self.roots().map(Path::to_path_buf).collect(),
            temp: self.temp().to_path_buf(),
        })
    }

    /// Whether `path` (absolute) lies in the workspace but is closed there, judged by its letters.
    pub fn is_closed(&self, path: &Path) -> bool {
        let below = |root: &Place| {
            let real = path.strip_prefix(&root.real);
            real.or_else(|_| path.strip_prefix(&root.given)).ok().map(Path::to_path_buf)
        };
        let mut ways = self.roots.iter().filter_map(below).peekable();
        ways.peek().is_some() && ways.all(|way| is_closed_way(&way))
    }

    /// The path relative to the target; `.` for the target itself, with `..` outside of it.
    pub fn relative(&self, path: &Path) -> PathBuf {
        let target = &self.roots[0];
        if path.starts_with(&target.given) {
            relative_path(&target.given, path)
        } else {
            relative_path(&target.real, path)
        }
    }

    /// The path for the screen: relative to the target and at most 35 characters.
    pub fn display_path(&self, path: &Path) -> String {
        shorten(&self.relative(path).to_string_lossy(), DISPLAY_LENGTH)
    }

    /// The workspace folder that holds `path`, if one does: the innermost.
    pub fn root_of(&self, path: &Path) -> Option<&Path> {
        let holds = |root: &&Place| path.starts_with(&root.given) || path.starts_with(&root.real);
        let depth = |root: &&Place| root.real.components().count();
        self.roots.iter().filter(holds).max_by_key(depth).map(|root| root.given.as_path())
    }
}

/// Whether a path relative to a workspace folder leads into git's own folder or names an environment file.
fn is_closed_way(below: &Path) -> bool {
    // Without regard to case: on some systems `.GIT` is the same folder.
    below.iter().any(|name| name.eq_ignore_ascii_case(".git"))
        || below.file_name().is_some_and(|name| name == ".env")
}

/// The path of a `file://` URL; `None` when it is not one.
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
