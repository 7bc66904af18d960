//! Repositories and secrets in the workspace, found by a bounded walk.
//!
//! The listing of a folder is cached as long as the modification time of the folder stays the same,
//! so a later walk only checks each folder once.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use super::SandboxPlaces;

/// Maximum depth of the walk below a root of the workspace.
const DEPTH: usize = 3;
/// Maximum depth of the walk below `.git/modules`.
const MODULE_DEPTH: usize = 6;
/// Maximum number of folders that one walk enters.
const FOLDERS: usize = 4_000;
/// Maximum size of a file that contains the path of a repository, in bytes.
const LINK_BYTES: u64 = 64 * 1024;
/// Folders of other programs, which are not entered.
const SKIPPED: [&str; 7] =
    ["node_modules", "target", ".git", ".venv", "dist", "build", "__pycache__"];
/// Minimum time between the last change of a folder and the reading of its listing. Within a
/// shorter time, the folder may change again without a new modification time, because the clock is
/// too coarse.
const RESOLUTION: Duration = Duration::from_millis(50);

/// Protected parts of a repository, each of which may be missing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RepositoryPlaces {
    /// Existing folders that must not be moved.
    pub(crate) pinned: Vec<PathBuf>,
    /// Hooks, and `commondir`, which could set another path for the hooks.
    pub(crate) protected: Vec<PathBuf>,
    /// Existing files that connect worktrees and submodules with their repository. They are removed
    /// together with a worktree.
    pub(crate) links: Vec<PathBuf>,
    /// Configuration files.
    pub(crate) configurations: Vec<PathBuf>,
}

/// Repositories and secrets in a workspace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct WorkspaceSurvey {
    pub(crate) repositories: Vec<RepositoryPlaces>,
    /// Files with secrets.
    pub(crate) secrets: Vec<PathBuf>,
}

impl WorkspaceSurvey {
    /// Walks through the workspace.
    pub(crate) fn of(places: &SandboxPlaces) -> Self {
        let mut survey = Self::default();
        let mut folders = FOLDERS;
        for root in &places.workspace {
            survey.enter(root, DEPTH, &mut folders, &places.secret_names);
            // The workspace may be a folder of a repository.
            if let Some(repository) =
                root.ancestors().skip(1).map(|folder| folder.join(".git")).find(|git| git.exists())
            {
                survey.repositories.push(repository_at(&repository));
            }
        }
        survey
    }

    fn enter(&mut self, folder: &Path, depth: usize, budget: &mut usize, names: &[String]) {
        if *budget == 0 {
            return;
        }
        *budget -= 1;
        let Some(listing) = listing(folder) else { return };
        if listing.has_git {
            self.repositories.push(repository_at(&folder.join(".git")));
        }
        let secrets = listing.files.iter().filter(|name| is_secret(name, names));
        self.secrets.extend(secrets.map(|name| folder.join(name)));
        if depth > 0 {
            for name in &listing.folders {
                self.enter(&folder.join(name), depth - 1, budget, names);
            }
        }
    }
}

fn is_secret(name: &OsStr, names: &[String]) -> bool {
    let name = name.as_encoded_bytes();
    name == b".env"
        || name.starts_with(b".env.")
        || names.iter().any(|known| known.as_bytes() == name)
}

/// Relevant entries of a folder.
#[derive(Debug, Clone, Default)]
struct Listing {
    modified: Option<SystemTime>,
    read: Option<SystemTime>,
    has_git: bool,
    /// Names of all entries except folders.
    files: Vec<std::ffi::OsString>,
    folders: Vec<std::ffi::OsString>,
}

/// Cached listings of earlier walks.
static LISTINGS: Mutex<Option<HashMap<PathBuf, Listing>>> = Mutex::new(None);
/// Maximum number of cached listings.
const REMEMBERED: usize = 20_000;

fn listing(folder: &Path) -> Option<Listing> {
    let modified = folder.metadata().ok()?.modified().ok();
    let mut listings = LISTINGS.lock().unwrap_or_else(PoisonError::into_inner);
    let listings = listings.get_or_insert_default();
    if let Some(known) = listings.get(folder)
        && known.modified == modified
        && is_settled(known)
    {
        return Some(known.clone());
    }
    let read = SystemTime::now();
    let mut listing = Listing { modified, read: Some(read), ..Listing::default() };
    for entry in folder.read_dir().ok()?.flatten() {
        let name = entry.file_name();
        if name == ".git" {
            listing.has_git = true;
            continue;
        }
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => {
                if SKIPPED.iter().all(|skipped| name != *skipped) {
                    listing.folders.push(name);
                }
            }
            _ => listing.files.push(name),
        }
    }
    if listings.len() >= REMEMBERED {
        listings.clear();
    }
    listings.insert(folder.to_owned(), listing.clone());
    Some(listing)
}

fn is_settled(listing: &Listing) -> bool {
    let (Some(modified), Some(read)) = (listing.modified, listing.read) else { return false };
    read.duration_since(modified).is_ok_and(|age| age > RESOLUTION)
}

/// Returns the protected parts of the repository at `git`, which is a folder or the file of a
/// worktree or submodule.
fn repository_at(git: &Path) -> RepositoryPlaces {
    let mut found = RepositoryPlaces::default();
    let Ok(kind) = git.symlink_metadata() else { return found };
    if kind.is_dir() {
        add_folder(&mut found, git);
        return found;
    }
    found.links.push(git.to_owned());
    if let Some(folder) = linked_folder(git) {
        // A worktree shares the configuration and hooks of its repository.
        let common = folder.ancestors().find(|above| above.join("objects").is_dir());
        add_folder(&mut found, common.unwrap_or(&folder));
    }
    found
}

fn linked_folder(git: &Path) -> Option<PathBuf> {
    let text = pollux_fs::read_bytes(git, LINK_BYTES).ok()?;
    let text = String::from_utf8(text).ok()?;
    let target = text.strip_prefix("gitdir:")?.trim();
    git.parent()?.join(target).canonicalize().ok()
}

fn add_folder(found: &mut RepositoryPlaces, git: &Path) {
    found.pinned.push(git.to_owned());
    found.configurations.extend([git.join("config"), git.join("config.worktree")]);
    found.protected.extend([git.join("hooks"), git.join("commondir")]);
    for worktree in folders_in(&git.join("worktrees")) {
        found.configurations.push(worktree.join("config.worktree"));
        found.links.extend([worktree.join("commondir"), worktree.join("gitdir")]);
    }
    add_modules(found, &git.join("modules"), MODULE_DEPTH);
}

/// Adds the repositories of submodules. The name of a submodule may have several components.
fn add_modules(found: &mut RepositoryPlaces, folder: &Path, depth: usize) {
    if depth == 0 {
        return;
    }
    for module in folders_in(folder) {
        if module.join("HEAD").exists() {
            found.configurations.extend([module.join("config"), module.join("config.worktree")]);
            found.protected.extend([module.join("hooks"), module.join("commondir")]);
            add_modules(found, &module.join("modules"), depth - 1);
        } else {
            add_modules(found, &module, depth - 1);
        }
    }
}

fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = folder.read_dir() else { return Vec::new() };
    entries
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .map(|entry| entry.path())
        .collect()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn repositories_and_secrets_are_found_and_a_new_one_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for made in ["a/.git/modules/x/y/hooks", "node_modules/.git", "a/b/c/d"] {
            std::fs::create_dir_all(root.join(made)).unwrap();
        }
        for made in [
            ".env",
            "a/b/c/.env.local",
            "a/b/c/d/.env",
            "node_modules/.env",
            "a/.git/modules/x/y/HEAD",
        ] {
            std::fs::write(root.join(made), "").unwrap();
        }
        let places = SandboxPlaces { workspace: vec![root.to_owned()], ..Default::default() };
        let survey = WorkspaceSurvey::of(&places);
        assert_eq!(survey.secrets, [root.join(".env"), root.join("a/b/c/.env.local")]);
        let [repository] = &survey.repositories[..] else { unreachable!("{survey:?}") };
        assert_eq!(repository.pinned, [root.join("a/.git")]);
        assert!(repository.protected.contains(&root.join("a/.git/modules/x/y/hooks")));
        std::fs::write(root.join("a/.env.new"), "").unwrap();
        assert_eq!(WorkspaceSurvey::of(&places).secrets.len(), 3);
    }
}
