//! Folders and files that the levels of confinement refer to.

use std::path::{Path, PathBuf};

use pollux_config::GEMINI_DIR;
use pollux_config::protected::{ProtectedPlaces, Secrecy};

/// Keys and credentials of other programs, relative to a home directory.
const SECRETS_IN_HOME: [&str; 30] = [
    ".aws/credentials",
    ".aws/sso",
    ".azure",
    ".boto",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".claude/.credentials.json",
    ".codex/auth.json",
    ".config/gcloud",
    ".config/gh/hosts.yml",
    ".config/hub",
    ".config/rclone",
    ".docker/config.json",
    ".git-credentials",
    ".config/git/credentials",
    ".gnupg",
    ".gradle/gradle.properties",
    ".kube/config",
    ".local/share/keyrings",
    ".m2/settings-security.xml",
    ".m2/settings.xml",
    ".my.cnf",
    ".netrc",
    ".npmrc",
    ".password-store",
    ".pgpass",
    ".pypirc",
    ".s3cfg",
    ".terraform.d/credentials.tfrc.json",
    ".vault-token",
];

/// Secret files of the system, which root can read.
const SECRETS_OF_SYSTEM: [&str; 14] = [
    "/etc/NetworkManager/system-connections",
    "/etc/docker/key.json",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/krb5.keytab",
    "/etc/kubernetes",
    "/etc/letsencrypt",
    "/etc/pki/tls/private",
    "/etc/ppp/chap-secrets",
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/ssl/private",
    "/etc/sudoers.d",
    "/etc/wireguard",
];

/// Folders of the system that are readable at `inspect`.
const SYSTEM: [&str; 26] = [
    "/bin",
    "/etc",
    "/gnu/store",
    "/home/linuxbrew",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix",
    "/opt",
    "/proc",
    "/run/current-system",
    "/sbin",
    "/snap",
    "/sys",
    "/usr",
    "/var/db",
    "/var/guix",
    "/var/lib/apk",
    "/var/lib/apt",
    "/var/lib/dpkg",
    "/var/lib/flatpak",
    "/var/lib/pacman",
    "/var/lib/rpm",
    "/var/lib/snapd",
    "/var/run/current-system",
];

/// Toolchains and the configuration of Git, relative to a home directory.
const READABLE_IN_HOME: [&str; 49] = [
    ".asdf",
    ".bun",
    ".cabal",
    ".cargo/bin",
    ".cargo/config",
    ".cargo/config.toml",
    ".cargo/env",
    ".cargo/git",
    ".cargo/registry",
    ".conda",
    ".config/git",
    ".deno",
    ".dotnet",
    ".elan",
    ".fnm",
    ".gem",
    ".ghcup",
    ".gitattributes",
    ".gitconfig",
    ".gitignore",
    ".gitignore_global",
    ".goenv",
    ".gradle/wrapper",
    ".jenv",
    ".juliaup",
    ".linuxbrew",
    ".local/bin",
    ".local/lib",
    ".local/pipx",
    ".local/share/fnm",
    ".local/share/mise",
    ".local/share/pnpm",
    ".local/share/uv",
    ".m2/repository",
    ".nix-profile",
    ".npm-global",
    ".nvm",
    ".opam",
    ".phpenv",
    ".pyenv",
    ".rbenv",
    ".rustup",
    ".rvm",
    ".sdkman",
    ".stack",
    ".terminfo",
    ".volta",
    "go",
    "sdk",
];

/// Variables that name the folder of a toolchain or a configuration file of Git.
const READABLE_BY_VARIABLE: [&str; 18] = [
    "ASDF_DATA_DIR",
    "BUN_INSTALL",
    "CONDA_PREFIX",
    "DENO_INSTALL",
    "DOTNET_ROOT",
    "GEM_HOME",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GOMODCACHE",
    "GOPATH",
    "GOROOT",
    "JAVA_HOME",
    "MISE_DATA_DIR",
    "NVM_DIR",
    "PYENV_ROOT",
    "RUSTUP_HOME",
    "VIRTUAL_ENV",
    "VOLTA_HOME",
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
    /// Private folder of Pollux, for files that [`RunningAudit`](super::RunningAudit) moves aside.
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
    /// Files and folders outside of the workspace that are readable at `inspect`: the system,
    /// toolchains and the configuration of Git.
    pub readable: Vec<PathBuf>,
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
        let mut places = Self {
            caches: vec![temporary, "/dev/shm".into()],
            secrets: SECRETS_OF_SYSTEM.map(PathBuf::from).into(),
            readable: readable(&protected.homes, &|name| std::env::var_os(name)),
            ..Self::default()
        };
        if !protected.temporary.as_os_str().is_empty() {
            places.readable.push(protected.temporary.clone());
        }
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

/// Returns the files and folders outside of the workspace that are readable at `inspect`.
fn readable(
    homes: &[PathBuf],
    variable: &dyn Fn(&str) -> Option<std::ffi::OsString>,
) -> Vec<PathBuf> {
    let mut readable = SYSTEM.map(PathBuf::from).to_vec();
    readable.extend(homes.iter().flat_map(|home| below(home, &READABLE_IN_HOME)));
    // A command can run Pollux, wherever it is installed.
    readable.extend(std::env::current_exe());
    // A folder that holds a home directory would open everything in it.
    let is_narrow = |path: &Path| {
        path.is_absolute()
            && path.parent().is_some()
            && homes.iter().all(|home| !home.starts_with(path) && path != home.join(".local"))
    };
    let named = READABLE_BY_VARIABLE.iter().filter_map(|name| variable(name)).map(PathBuf::from);
    readable.extend(named.filter(|path| is_narrow(path)));
    let searched = variable("PATH").unwrap_or_default();
    for folder in std::env::split_paths(&searched).filter(|folder| is_narrow(folder)) {
        // The libraries of a toolchain are beside its `bin`.
        let toolchain = folder.parent().filter(|_| folder.ends_with("bin"));
        let toolchain = toolchain.filter(|parent| is_narrow(parent) && !is_dotted(parent));
        readable.extend(toolchain.map(Path::to_owned));
        readable.push(folder);
    }
    readable
}

/// Returns true for a folder such as `~/.config`, which holds more than one toolchain.
fn is_dotted(folder: &Path) -> bool {
    folder.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
}

fn below(folder: &Path, names: &[&str]) -> Vec<PathBuf> {
    names.iter().map(|name| folder.join(name)).collect()
}
