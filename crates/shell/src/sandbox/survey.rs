//! Repositories and secrets in the workspace, found by a bounded walk.
//!
//! The listing of a folder is cached as long as the modification time of the folder stays the same,
//! so a later walk only checks each folder once.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use pollux_protocol::ConfinementLevel;

use super::SandboxPlaces;

/// Maximum depth of the search for repositories below a root of the workspace.
const DEPTH: usize = 3;
/// Maximum depth of the walk below `.git/modules`.
const MODULE_DEPTH: usize = 6;
/// Maximum number of folders in which one walk searches for repositories.
const REPOSITORY_FOLDERS: usize = 4_000;
/// Maximum number of folders in which one walk searches for secrets.
const SECRET_FOLDERS: usize = 20_000;
/// Maximum size of a file that contains the path of a repository, in bytes.
const LINK_BYTES: u64 = 64 * 1024;
/// Folders of other programs, which are not searched for repositories.
const SKIPPED: [&str; 6] = ["node_modules", "target", ".venv", "dist", "build", "__pycache__"];
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
    /// Folder of the repository outside of the work tree, if the work tree is known to belong to
    /// it. A `.git` file alone is no proof: it may name any folder.
    pub(crate) readable: Option<PathBuf>,
}

/// Repositories and secrets in a workspace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct WorkspaceSurvey {
    pub(crate) repositories: Vec<RepositoryPlaces>,
    /// Files with secrets; empty if they were not searched for.
    pub(crate) secrets: Vec<PathBuf>,
    /// Roots of the workspace, or repositories around them, whose folders were all searched for
    /// secrets.
    pub(crate) searched: Vec<PathBuf>,
}

impl WorkspaceSurvey {
    /// Walks through the workspace, as far as the level needs it: at `protect` secrets can be read.
    pub(crate) fn of(level: ConfinementLevel, places: &SandboxPlaces) -> Self {
        let mut survey = Self::default();
        let mut folders = REPOSITORY_FOLDERS;
        for root in &places.workspace {
            survey.find_repositories(root, DEPTH, &mut folders);
            // The workspace may be a folder of a repository.
            if let Some(around) = repository_around(root) {
                survey.repositories.push(repository_at(&around.join(".git")));
            }
        }
        if level != ConfinementLevel::Protect {
            let mut folders = SECRET_FOLDERS;
            for root in &places.workspace {
                survey.search(root, places, &mut folders);
            }
        }
        survey
    }

    fn find_repositories(&mut self, folder: &Path, depth: usize, budget: &mut usize) {
        if *budget == 0 {
            return;
        }
        *budget -= 1;
        let Some(listing) = listing(folder) else { return };
        if listing.has_git {
            self.repositories.push(repository_at(&folder.join(".git")));
        }
        if depth > 0 {
            for name in &listing.folders {
                if SKIPPED.iter().all(|skipped| name != skipped) {
                    self.find_repositories(&folder.join(name), depth - 1, budget);
                }
            }
        }
    }

    /// Searches a root of the workspace for secrets, and the repository around it, because Git
    /// reads all of it.
    fn search(&mut self, root: &Path, places: &SandboxPlaces, budget: &mut usize) {
        // A home directory with dotfiles is not the repository of every project in it.
        let is_home = |folder: &Path| places.homes.iter().any(|home| home.starts_with(folder));
        let around = repository_around(root).filter(|around| !is_home(around));
        for folder in around.iter().copied().chain([root]) {
            if self.find_secrets(folder, budget) {
                self.searched.push(folder.to_owned());
                return;
            }
        }
    }

    /// Searches all folders below a root, except `.git`. Returns false if there are too many, or if
    /// a file could be read in one that cannot be searched.
    fn find_secrets(&mut self, root: &Path, budget: &mut usize) -> bool {
        let mut open = vec![root.to_owned()];
        while let Some(folder) = open.pop() {
            let Some(left) = budget.checked_sub(1) else { return false };
            *budget = left;
            let Some(listing) = listing(&folder) else {
                if can_enter(&folder) {
                    return false;
                }
                continue;
            };
            let files = listing.files.iter().map(|name| folder.join(name));
            self.secrets.extend(files.filter(|file| pollux_fs::is_secret_file(file)));
            open.extend(listing.folders.iter().map(|name| folder.join(name)));
        }
        true
    }
}

/// Returns the work tree that a folder is part of, if it is not its root.
fn repository_around(folder: &Path) -> Option<&Path> {
    folder.ancestors().skip(1).find(|above| above.join(".git").exists())
}

/// Returns true if this user can open a file in the folder whose name is known.
fn can_enter(folder: &Path) -> bool {
    #[cfg(unix)]
    {
        rustix::fs::access(folder, rustix::fs::Access::EXEC_OK).is_ok()
    }
    #[cfg(not(unix))]
    {
        folder.exists()
    }
}

/// Relevant entries of a folder.
#[derive(Debug, Default)]
struct Listing {
    modified: Option<SystemTime>,
    read: Option<SystemTime>,
    has_git: bool,
    /// Names of the entries, except folders, that may hold secrets.
    files: Vec<std::ffi::OsString>,
    folders: Vec<std::ffi::OsString>,
}

/// Cached listings of earlier walks.
static LISTINGS: Mutex<Option<HashMap<PathBuf, Arc<Listing>>>> = Mutex::new(None);
/// Maximum number of cached listings.
const REMEMBERED: usize = 2 * SECRET_FOLDERS;

fn listing(folder: &Path) -> Option<Arc<Listing>> {
    let modified = folder.metadata().ok()?.modified().ok();
    let mut listings = LISTINGS.lock().unwrap_or_else(PoisonError::into_inner);
    let listings = listings.get_or_insert_default();
    if let Some(known) = listings.get(folder)
        && known.modified == modified
        && is_settled(known)
    {
        return Some(Arc::clone(known));
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
            Ok(kind) if kind.is_dir() => listing.folders.push(name),
            _ if pollux_fs::may_be_secret(&name) => listing.files.push(name),
            _ => {}
        }
    }
    if listings.len() >= REMEMBERED {
        listings.clear();
    }
    let listing = Arc::new(listing);
    listings.insert(folder.to_owned(), Arc::clone(&listing));
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
        let common = common.unwrap_or(&folder);
        add_folder(&mut found, common);
        if is_worktree(git, &folder) || is_submodule(git, &folder) {
            found.readable = Some(common.to_owned());
        }
    }
    found
}

/// Returns true if the folder of a worktree in a repository names this `.git` file.
fn is_worktree(git: &Path, folder: &Path) -> bool {
    let named = pollux_fs::read_bytes(&folder.join("gitdir"), LINK_BYTES).ok();
    let named = named.and_then(|text| String::from_utf8(text).ok());
    let named = named.and_then(|text| folder.join(text.trim()).canonicalize().ok());
    named.is_some() && named == git.canonicalize().ok()
}

/// Returns true if the folder is in `.git/modules` of a repository around the `.git` file.
fn is_submodule(git: &Path, folder: &Path) -> bool {
    let modules = git.ancestors().skip(2).map(|above| above.join(".git/modules"));
    modules.filter_map(|modules| modules.canonicalize().ok()).any(|all| folder.starts_with(all))
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

    fn survey(root: &Path, level: ConfinementLevel) -> WorkspaceSurvey {
        let places = SandboxPlaces { workspace: vec![root.to_owned()], ..Default::default() };
        WorkspaceSurvey::of(level, &places)
    }

    fn write(path: PathBuf, text: &str) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    #[test]
    fn repositories_and_secrets_are_found_and_a_new_one_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for made in ["a/.git/modules/x/y/hooks", "node_modules/.git", "a/b/c/d"] {
            std::fs::create_dir_all(root.join(made)).unwrap();
        }
        write(root.join("a/.git/modules/x/y/HEAD"), "");
        let secrets =
            [".env", "a/b/c/.env.local", "a/b/c/d/e/f/.env", "build/id_rsa", "node_modules/.env"];
        for path in secrets {
            write(root.join(path), "x");
        }
        let key = root.join("server.pem");
        write(key.clone(), "-----BEGIN CERTIFICATE-----");
        write(root.join(".env.example"), "");
        let found = |level| {
            let mut survey = survey(root, level);
            survey.secrets.sort();
            survey
        };
        let inspected = found(ConfinementLevel::Inspect);
        assert_eq!(inspected.secrets, secrets.map(|path| root.join(path)));
        assert_eq!(inspected.searched, [root]);
        let [repository] = &inspected.repositories[..] else { unreachable!("{inspected:?}") };
        assert_eq!(repository.pinned, [root.join("a/.git")]);
        assert!(repository.protected.contains(&root.join("a/.git/modules/x/y/hooks")));
        assert_eq!(found(ConfinementLevel::Protect).secrets, [""; 0].map(PathBuf::from));
        write(root.join("a/.env.new"), "");
        write(key, "-----BEGIN PRIVATE KEY-----");
        assert_eq!(found(ConfinementLevel::Inspect).secrets.len(), secrets.len() + 2);
    }

    #[test]
    fn the_repository_around_the_workspace_is_searched_unless_it_holds_a_home() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("project");
        std::fs::create_dir_all(folder.path().join(".git")).unwrap();
        std::fs::create_dir(&root).unwrap();
        write(folder.path().join("other/.env"), "");
        let searched = |homes: Vec<PathBuf>| {
            let places =
                SandboxPlaces { workspace: vec![root.clone()], homes, ..Default::default() };
            let survey = WorkspaceSurvey::of(ConfinementLevel::Inspect, &places);
            (survey.searched, survey.secrets.len())
        };
        assert_eq!(searched(Vec::new()), (vec![folder.path().to_owned()], 1));
        assert_eq!(searched(vec![folder.path().to_owned()]), (vec![root.clone()], 0));
    }

    #[test]
    fn a_workspace_with_too_many_folders_is_not_searched() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..30 {
            std::fs::create_dir(folder.path().join(number.to_string())).unwrap();
        }
        let mut survey = WorkspaceSurvey::default();
        assert!(survey.find_secrets(folder.path(), &mut 31));
        assert!(!survey.find_secrets(folder.path(), &mut 30));
    }

    #[test]
    fn a_git_file_proves_nothing_on_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        for made in ["main/.git/objects", "main/.git/worktrees/side", "main/.git/modules/sub"] {
            std::fs::create_dir_all(base.join(made)).unwrap();
        }
        let git = |path: &str| base.join("main/.git").join(path);
        write(base.join("side/.git"), &format!("gitdir: {}", git("worktrees/side").display()));
        write(git("worktrees/side/gitdir"), &base.join("side/.git").to_string_lossy());
        write(base.join("main/sub/.git"), "gitdir: ../.git/modules/sub");
        write(base.join("forged/.git"), &format!("gitdir: {}", git("worktrees/side").display()));
        let readable = |path: &str| repository_at(&base.join(path)).readable;
        assert_eq!(readable("side/.git"), Some(git("")));
        assert_eq!(readable("main/sub/.git"), Some(git("")));
        assert_eq!(readable("forged/.git"), None);
    }
}
