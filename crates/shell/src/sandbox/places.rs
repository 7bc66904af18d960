//! Folders and files that the levels of confinement refer to.

use std::path::{Path, PathBuf};

use pollux_config::GEMINI_DIR;
use pollux_config::protected::{ProtectedPlaces, Secrecy};

/// Keys and credentials of other programs, relative to a home directory.
const SECRETS_IN_HOME: [&str; 19] = [
    ".aws/credentials",
    ".aws/sso",
    ".azure",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".config/gcloud",
    ".config/gh/hosts.yml",
    ".config/hub",
    ".docker/config.json",
    ".git-credentials",
    ".config/git/credentials",
    ".gnupg",
    ".kube/config",
    ".local/share/keyrings",
    ".netrc",
    ".npmrc",
    ".password-store",
    ".pypirc",
    ".terraform.d/credentials.tfrc.json",
];

/// Entries of `.ssh` that are not secret.
const READABLE_IN_SSH: [&str; 2] = ["known_hosts", "config"];

/// Caches that package managers write, relative to a home directory.
const CACHES_IN_HOME: [&str; 12] = [
    ".bun/install/cache",
    ".cache",
    ".cargo/git",
    ".cargo/registry",
    ".gradle",
    ".ivy2",
    ".local/share/pnpm",
    ".m2/repository",
    ".npm",
    ".nuget/packages",
    ".yarn",
    "go/pkg",
];

/// Places that the levels of confinement refer to. All paths are absolute; they need not exist.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SandboxPlaces {
    /// Roots of the workspace, which are searched for repositories and `.env` files.
    pub workspace: Vec<PathBuf>,
    /// Private folder of Pollux, for files that [`SandboxAudit`](super::SandboxAudit) moves aside.
    pub state: PathBuf,
    /// Home directories; entries of `~/.ssh` are secrets except `known_hosts` and `config`.
    pub homes: Vec<PathBuf>,
    /// Files and folders that are read-only at `protect`.
    pub protected: Vec<PathBuf>,
    /// Folders above protected paths. At `protect` they cannot be moved, but stay writable.
    pub pinned: Vec<PathBuf>,
    /// Writable exceptions inside protected folders.
    pub writable: Vec<PathBuf>,
    /// Files and folders that are unreadable at every level: the credentials of Pollux.
    pub credentials: Vec<PathBuf>,
    /// Files and folders that are unreadable at `inspect` and `workspace-write`.
    pub secrets: Vec<PathBuf>,
    /// Names of files in the workspace that are secrets, in addition to `.env` and `.env.*`.
    pub secret_names: Vec<String>,
    /// Folders that are writable at `workspace-write`: temporary folders and caches.
    pub caches: Vec<PathBuf>,
}

impl SandboxPlaces {
    /// Returns the places for a workspace. `state` is the private folder of Pollux, and `temporary`
    /// the folder for temporary files.
    pub fn standard(
        protected: &ProtectedPlaces,
        workspace: Vec<PathBuf>,
        state: PathBuf,
        temporary: PathBuf,
    ) -> Self {
        let mut places = Self { caches: vec![temporary, "/dev/shm".into()], ..Self::default() };
        for entry in protected.paths(&workspace) {
            match entry.secrecy {
                Secrecy::Readable => {}
                Secrecy::Secret => places.secrets.push(entry.path.clone()),
                Secrecy::Credential => places.credentials.push(entry.path.clone()),
            }
            places.protected.push(entry.path);
        }
        let folders = protected.homes.iter().chain(&workspace);
        places.pinned.extend(folders.map(|folder| folder.join(GEMINI_DIR)));
        for home in &protected.homes {
            places.writable.push(home.join(".ssh/known_hosts"));
            places.secrets.extend(below(home, &SECRETS_IN_HOME));
            places.caches.extend(below(home, &CACHES_IN_HOME));
        }
        places.protected.push(state.clone());
        Self { workspace, state, homes: protected.homes.clone(), ..places }
    }

    /// Returns the existing secrets of the home directories, including entries of `.ssh`.
    pub(crate) fn all_secrets(&self) -> Vec<PathBuf> {
        let mut secrets = self.secrets.clone();
        for home in &self.homes {
            let Ok(entries) = home.join(".ssh").read_dir() else { continue };
            let is_secret =
                |name: &std::ffi::OsStr| READABLE_IN_SSH.iter().all(|free| name != *free);
            secrets.extend(
                entries
                    .flatten()
                    .filter(|entry| is_secret(&entry.file_name()))
                    .map(|entry| entry.path()),
            );
        }
        secrets
    }
}

fn below(folder: &Path, names: &[&str]) -> Vec<PathBuf> {
    names.iter().map(|name| folder.join(name)).collect()
}
