//! Detection, after a command, of changes of protected files that no mount can block.
//!
//! A missing file cannot be mounted over, and a folder above a mount can be replaced. A file or
//! folder that was created or replaced while the command ran is moved into the private folder of
//! Pollux, before it can affect the next command. A file that existed all the time was read-only
//! for the command: if it has changed, another program changed it, and the change stays.

use std::fmt;
use std::io;
use std::mem;
use std::path::{Path, PathBuf};

use pollux_protocol::ConfinementLevel;
use pollux_protocol::plain_text::visible;

use super::survey::WorkspaceSurvey;
use super::{GitConfiguration, SandboxSpec, git_config};

mod links;
mod record;
mod restore;

pub(super) use record::AuditView;
use restore::restore;
pub(super) use restore::{FileState, move_aside};

/// Answers of the user about projects, in the private folder of Pollux. A command cannot write the
/// file, but it may be able to replace the home directory.
const CONSENT: &str = "consent.json";

/// Kind of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SandboxChangeKind {
    /// A protected file or folder that did not exist before.
    Appeared,
    /// A protected file or folder was replaced by another one of the same name.
    Replaced,
    /// Keys of a repository's configuration because of which the file was restored.
    Configuration(Vec<String>),
}

/// A detected and reverted change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxChange {
    /// Protected path.
    pub path: PathBuf,
    /// Kind of the change.
    pub kind: SandboxChangeKind,
    /// New path of the changed file or folder; `None` if nothing was moved, or if moving failed.
    pub moved_to: Option<PathBuf>,
    /// Reason for which the change could not be reverted.
    pub error: Option<String>,
}

impl SandboxChange {
    fn new(path: PathBuf, kind: SandboxChangeKind, moved: io::Result<Option<PathBuf>>) -> Self {
        let (moved_to, error) = match moved {
            Ok(moved_to) => (moved_to, None),
            Err(error) => (None, Some(error.to_string())),
        };
        Self { path, kind, moved_to, error }
    }
}

impl fmt::Display for SandboxChange {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = visible(&self.path.to_string_lossy());
        match &self.kind {
            SandboxChangeKind::Appeared => write!(formatter, "{path} is new, and protected"),
            SandboxChangeKind::Replaced => {
                write!(formatter, "{path} was replaced, and is protected")
            }
            SandboxChangeKind::Configuration(keys) => {
                let keys: Vec<String> = keys.iter().map(|key| visible(key)).collect();
                let keys = keys.join(", ");
                write!(
                    formatter,
                    "{path} was restored, because of keys that could start programs: {keys}"
                )
            }
        }?;
        match (&self.moved_to, &self.error) {
            (_, Some(error)) => write!(
                formatter,
                "; Pollux cannot undo this ({error}). Look at the file before you start a shell or a program that reads it"
            ),
            (Some(place), None) => {
                write!(formatter, "; moved to {}", visible(&place.to_string_lossy()))
            }
            (None, None) => Ok(()),
        }?;
        formatter.write_str(".")
    }
}

/// State of the protected paths before a command.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SandboxAudit {
    state: PathBuf,
    watched: Vec<Watched>,
    /// Writable configuration files.
    configurations: Vec<(PathBuf, FileState)>,
    /// Writable files that connect worktrees with their repository.
    links: Vec<(PathBuf, FileState)>,
}

#[derive(Debug, PartialEq, Eq)]
struct Watched {
    path: PathBuf,
    identity: Option<Identity>,
    /// Existing folders above the path, the nearest first.
    above: Vec<(PathBuf, Identity)>,
}

/// Identity of a file or folder; `link` is the target of a symbolic link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Identity {
    device: u64,
    inode: u64,
    link: Option<PathBuf>,
}

impl Identity {
    fn of(path: &Path) -> Option<Self> {
        let link = path.read_link().ok();
        let (device, inode) = numbers(path)?;
        Some(Self { device, inode, link })
    }
}

#[cfg(unix)]
fn numbers(path: &Path) -> Option<(u64, u64)> {
    let info = rustix::fs::lstat(path).ok()?;
    Some((info.st_dev, info.st_ino))
}

#[cfg(not(unix))]
fn numbers(path: &Path) -> Option<(u64, u64)> {
    path.symlink_metadata().is_ok().then_some((0, 0))
}

impl SandboxAudit {
    /// Records the protected paths before a command starts.
    pub(super) fn begin(spec: &SandboxSpec) -> Self {
        let mut audit = Self {
            state: spec.places.state.clone(),
            watched: Vec::new(),
            configurations: Vec::new(),
            links: Vec::new(),
        };
        if matches!(spec.level, ConfinementLevel::Inspect | ConfinementLevel::None) {
            return audit;
        }
        let mut paths = spec.places.protected.clone();
        for repository in WorkspaceSurvey::of(spec.level, &spec.places).repositories {
            paths.extend(repository.protected);
            match spec.git_configuration {
                GitConfiguration::Protected => {
                    paths.extend(repository.configurations);
                    paths.extend(repository.links);
                }
                GitConfiguration::Writable => {
                    let with_state = |path: PathBuf| {
                        let state = FileState::of(&path);
                        (path, state)
                    };
                    let configurations = repository.configurations.into_iter();
                    audit.configurations.extend(configurations.map(with_state));
                    audit.links.extend(repository.links.into_iter().map(with_state));
                }
            }
        }
        paths.extend(links::on_the_way(&paths));
        // The private folder of Pollux is created by Pollux itself.
        paths.retain(|path| !audit.state.starts_with(path));
        paths.push(audit.state.join(CONSENT));
        paths.sort();
        paths.dedup();
        audit.watched = paths.into_iter().map(Watched::new).collect();
        audit
    }

    /// Accepts the current state at and above a path as the state before the command.
    pub(super) fn accept(&mut self, path: &Path) {
        for watched in self.watched.iter_mut().filter(|watched| path.starts_with(&watched.path)) {
            *watched = Watched::new(mem::take(&mut watched.path));
        }
    }

    /// Reverts the changes of the command until now, and returns them. The command may still run.
    pub(super) fn check(&mut self) -> Vec<SandboxChange> {
        let mut changes = self.check_watched(&|_| true);
        changes.extend(self.check_configurations(&|_| true));
        changes.extend(self.check_links(&|_| true));
        changes
    }

    /// Reverts new and replaced files at the paths for which `may_revert` returns true.
    fn check_watched(&mut self, may_revert: &dyn Fn(&Path) -> bool) -> Vec<SandboxChange> {
        let mut changes = Vec::new();
        for watched in &mut self.watched {
            if let Some((path, kind)) = watched.change(&self.state) {
                let moved = if may_revert(&watched.path) {
                    move_aside(&self.state, &path, watched.identity.as_ref()).map(Some)
                } else {
                    Err(not_audited())
                };
                changes.push(SandboxChange::new(path, kind, moved));
                // Each change is reported once.
                watched.identity = Identity::of(&watched.path);
            }
        }
        changes
    }

    /// Restores configuration files with keys that could start programs, as
    /// [`check_watched`](Self::check_watched).
    fn check_configurations(&self, may_revert: &dyn Fn(&Path) -> bool) -> Vec<SandboxChange> {
        let keys = |(path, before): &(PathBuf, FileState)| forbidden_keys(path, before);
        let changed = self.configurations.iter().map(|entry| (entry, keys(entry)));
        changed
            .filter(|(_, keys)| !keys.is_empty())
            .map(|((path, before), keys)| {
                self.revert(path, before, SandboxChangeKind::Configuration(keys), may_revert)
            })
            .collect()
    }

    /// Restores links of worktrees, as [`check_watched`](Self::check_watched).
    fn check_links(&self, may_revert: &dyn Fn(&Path) -> bool) -> Vec<SandboxChange> {
        let is_changed = |path: &Path, before: &FileState| {
            let now = FileState::of(path);
            // A worktree that was removed has no links.
            now != *before && now != FileState::Absent
        };
        let changed = self.links.iter().filter(|(path, before)| is_changed(path, before));
        changed
            .map(|(path, before)| {
                self.revert(path, before, SandboxChangeKind::Replaced, may_revert)
            })
            .collect()
    }

    fn revert(
        &self,
        path: &Path,
        before: &FileState,
        kind: SandboxChangeKind,
        may_revert: &dyn Fn(&Path) -> bool,
    ) -> SandboxChange {
        let restored =
            if may_revert(path) { restore(&self.state, path, before) } else { Err(not_audited()) };
        SandboxChange::new(path.to_owned(), kind, restored)
    }
}

/// Returns the error for a change at a path that only a record names.
fn not_audited() -> io::Error {
    io::Error::other("this run does not protect the path")
}

impl Watched {
    fn new(path: PathBuf) -> Self {
        let identity = Identity::of(&path);
        let above = path
            .ancestors()
            .skip(1)
            .filter_map(|folder| Some((folder.to_owned(), Identity::of(folder)?)))
            .collect();
        Self { path, identity, above }
    }

    /// Returns the path to move aside, and the kind of its change. `state` is the private folder of
    /// Pollux, in which Pollux itself creates files.
    fn change(&self, state: &Path) -> Option<(PathBuf, SandboxChangeKind)> {
        let now = Identity::of(&self.path)?;
        if self.identity.as_ref() == Some(&now) {
            return None;
        }
        let is_moved =
            self.above.iter().any(|(folder, before)| Identity::of(folder).as_ref() != Some(before));
        let kind = match &self.identity {
            None if !is_moved && self.path.starts_with(state) => return None,
            None => SandboxChangeKind::Appeared,
            // A link can be replaced, because nothing is mounted over it.
            Some(before) if is_moved || before.link.is_some() => SandboxChangeKind::Replaced,
            Some(_) => return None,
        };
        // A new link above the path leads to another folder, whose contents must not be moved.
        let existed = |folder: &Path| {
            self.above.iter().any(|(known, before)| {
                known == folder && Identity::of(folder).as_ref() == Some(before)
            })
        };
        let mut new: Vec<&Path> =
            self.path.ancestors().skip(1).take_while(|folder| !existed(folder)).collect();
        new.reverse();
        let link = new.into_iter().find(|folder| folder.is_symlink());
        let path = link.unwrap_or(&self.path).to_owned();
        (!is_harmless(&path)).then_some((path, kind))
    }
}

/// Returns the keys because of which a configuration must return to its state before the command.
fn forbidden_keys(path: &Path, before: &FileState) -> Vec<String> {
    let now = FileState::of(path);
    let is_same = now == *before || *before == FileState::Other;
    // A repository or worktree that was removed has no configuration.
    let is_removed = || path.parent().is_none_or(|folder| folder.symlink_metadata().is_err());
    if is_same || (now == FileState::Absent && is_removed()) {
        return Vec::new();
    }
    let old = if let FileState::File { bytes, .. } = before { bytes.as_slice() } else { b"" };
    match now {
        FileState::File { bytes, .. } => git_config::forbidden(path, old, &bytes),
        FileState::Absent | FileState::Other => None,
    }
    .unwrap_or_else(|| vec!["(the file cannot be read)".to_owned()])
}

/// Returns true for the folder that Git creates from its templates: a folder of hooks of which no
/// hook is active.
fn is_harmless(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "hooks")
        && !path.is_symlink()
        && pollux_fs::list_directory(path).is_ok_and(|entries| {
            entries.iter().all(|entry| {
                Path::new(&entry.name).extension().is_some_and(|ending| ending == "sample")
            })
        })
}

#[cfg(all(test, unix))]
#[allow(clippy::unwrap_used, reason = "these are tests")]
mod tests;
