//! Files and folders that determine the programs and permissions of Pollux, shells, Git or SSH in
//! later runs. The file tools change them only with the user's approval, and confined commands
//! cannot change them.
//!
//! [`ProtectedPlaces::paths`] is the only list of the files that Pollux obeys: the file tools and
//! every confinement level use it. A command could change a file that Pollux obeys and that is
//! missing from this list, and the file would take effect in the next run.
//!
//! The list has one exception: context files, such as `~/.gemini/GEMINI.md`. They are instructions
//! for the model, which have no more rights than a prompt, and the model keeps its memories in
//! them.

use std::path::PathBuf;

use crate::{Environment, GEMINI_DIR, Places, dotenv};

/// Start-up files of shells and sessions, and configuration of git and SSH, relative to a home
/// directory.
const IN_HOME: [(&str, Protection); 44] = [
    (".bash_aliases", Protection::StartUp),
    (".bash_completion", Protection::StartUp),
    (".bash_completion.d", Protection::StartUp),
    (".bash_login", Protection::StartUp),
    (".bash_logout", Protection::StartUp),
    (".bash_profile", Protection::StartUp),
    (".bashrc", Protection::StartUp),
    (".bashrc.d", Protection::StartUp),
    (".cshrc", Protection::StartUp),
    (".elvish", Protection::StartUp),
    (".gnomerc", Protection::StartUp),
    (".i3", Protection::StartUp),
    (".inputrc", Protection::StartUp),
    (".kde/Autostart", Protection::StartUp),
    (".kshrc", Protection::StartUp),
    (".login", Protection::StartUp),
    (".logout", Protection::StartUp),
    (".mkshrc", Protection::StartUp),
    (".pam_environment", Protection::StartUp),
    (".profile", Protection::StartUp),
    (".tcshrc", Protection::StartUp),
    (".xinitrc", Protection::StartUp),
    (".xonshrc", Protection::StartUp),
    (".xprofile", Protection::StartUp),
    (".xserverrc", Protection::StartUp),
    (".xsession", Protection::StartUp),
    (".xsessionrc", Protection::StartUp),
    (".yash_profile", Protection::StartUp),
    (".yashrc", Protection::StartUp),
    (".zlogin", Protection::StartUp),
    (".zlogout", Protection::StartUp),
    (".zprofile", Protection::StartUp),
    (".zshenv", Protection::StartUp),
    (".zshrc", Protection::StartUp),
    (".local/share/bash-completion", Protection::StartUp),
    (".local/share/dbus-1", Protection::StartUp),
    (".local/share/fish/vendor_conf.d", Protection::StartUp),
    (".local/share/nushell", Protection::StartUp),
    (".local/share/systemd", Protection::StartUp),
    ("Documents/PowerShell", Protection::StartUp),
    ("Documents/WindowsPowerShell", Protection::StartUp),
    ("Library/LaunchAgents", Protection::StartUp),
    (".gitconfig", Protection::Git),
    (".ssh", Protection::Ssh),
];

/// Start-up and configuration files relative to a configuration folder such as `~/.config`.
const IN_CONFIGURATION: [(&str, Protection); 21] = [
    ("autostart", Protection::StartUp),
    ("autostart-scripts", Protection::StartUp),
    ("bash_completion", Protection::StartUp),
    ("elvish", Protection::StartUp),
    ("environment.d", Protection::StartUp),
    ("fish", Protection::StartUp),
    ("hypr", Protection::StartUp),
    ("i3", Protection::StartUp),
    ("labwc", Protection::StartUp),
    ("nushell", Protection::StartUp),
    ("openbox", Protection::StartUp),
    ("plasma-workspace", Protection::StartUp),
    ("powershell", Protection::StartUp),
    ("river", Protection::StartUp),
    ("sway", Protection::StartUp),
    ("systemd", Protection::StartUp),
    ("uwsm", Protection::StartUp),
    ("xonsh", Protection::StartUp),
    ("yash", Protection::StartUp),
    ("zsh", Protection::StartUp),
    ("git", Protection::Git),
];

/// Files and folders in a state directory that Pollux or Gemini CLI obeys, each possibly a link to
/// a place outside of it.
const IN_STATE: [(&str, Secrecy); 22] = [
    (".env", Secrecy::Credential),
    ("a2a-oauth-tokens.json", Secrecy::Credential),
    ("acknowledgments", Secrecy::Readable),
    ("agents", Secrecy::Readable),
    ("commands", Secrecy::Readable),
    ("extension_integrity.json", Secrecy::Readable),
    ("extensions", Secrecy::Readable),
    ("gemini-credentials.json", Secrecy::Credential),
    ("hooks", Secrecy::Readable),
    ("keybindings.json", Secrecy::Readable),
    ("mcp-oauth-tokens-v2.json", Secrecy::Credential),
    ("mcp-oauth-tokens.json", Secrecy::Credential),
    ("mcp-server-enablement.json", Secrecy::Readable),
    ("oauth_creds.json", Secrecy::Credential),
    ("policies", Secrecy::Readable),
    ("policy_integrity.json", Secrecy::Readable),
    ("pollux", Secrecy::Readable),
    ("settings.json", Secrecy::Readable),
    ("skills", Secrecy::Readable),
    ("system.md", Secrecy::Readable),
    ("trustedFolders.json", Secrecy::Readable),
    ("trusted_hooks.json", Secrecy::Readable),
];

/// Folders of skills in a home or a project, outside of the state directory.
const SKILLS: [&str; 2] = [".agents/skills", ".claude/skills"];

/// Returns true if `name` is an entry of a state directory that Pollux obeys. Letter case is
/// ignored, because file systems may ignore it.
pub fn is_obeyed_in_state(name: &str) -> bool {
    IN_STATE.iter().any(|(entry, _)| entry.eq_ignore_ascii_case(name))
}

/// Restriction on reading a protected path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Secrecy {
    /// Everything can read the path.
    Readable,
    /// Commands at `inspect` and `workspace-write` cannot read the path. At `protect` they can: the
    /// programs of the project may need it.
    Secret,
    /// No confined command and no file tool can read the path: it holds keys of Pollux.
    Credential,
}

/// Path that confined commands cannot change, and that file tools change only with the user's
/// approval.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProtectedPath {
    /// Absolute path of a file or folder, which need not exist.
    pub path: PathBuf,
    /// Reason of the protection.
    pub protection: Protection,
    /// Restriction on reading.
    pub secrecy: Secrecy,
}

impl ProtectedPath {
    fn readable(path: PathBuf, protection: Protection) -> Self {
        Self { path, protection, secrecy: Secrecy::Readable }
    }
}

/// Reason for which a file is protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Protection {
    /// State and configuration of Pollux and Gemini CLI.
    State,
    /// Read or run when a shell or a session of the desktop starts.
    StartUp,
    /// Configuration and hooks of git.
    Git,
    /// Keys and configuration of SSH.
    Ssh,
}

impl Protection {
    /// Returns the protected files as a noun phrase for messages.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::State => "Pollux's own state and configuration",
            Self::StartUp => "start-up files of shells and sessions",
            Self::Git => "git's configuration and hooks",
            Self::Ssh => "SSH's keys and configuration",
        }
    }
}

/// Directories from which the protected paths are derived. All paths are absolute.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProtectedPlaces {
    /// Home directories of the user and of Pollux, and other folders in which shells search for
    /// start-up files.
    pub homes: Vec<PathBuf>,
    /// Configuration folders in addition to `.config` in the homes.
    pub configuration: Vec<PathBuf>,
    /// Files of Pollux's own state outside of the state directories.
    pub files: Vec<PathBuf>,
    /// The project's folder for temporary files, which is not protected.
    pub temporary: PathBuf,
    /// Names of context files. Markdown files with these names directly in a state directory are
    /// not protected.
    pub context_names: Vec<String>,
}

impl ProtectedPlaces {
    /// Returns the places of the user and the system. [`temporary`](Self::temporary) and
    /// [`context_names`](Self::context_names) depend on the session and are empty.
    pub fn new(places: &Places, environment: &Environment) -> Self {
        let folder = |name| environment.non_empty(name).map(PathBuf::from);
        let absolute = |folders: [Option<PathBuf>; 3]| -> Vec<PathBuf> {
            let mut folders: Vec<PathBuf> =
                folders.into_iter().flatten().filter(|folder| folder.is_absolute()).collect();
            folders.sort();
            folders.dedup();
            folders
        };
        // A relative home is one in the current folder.
        let home = |folder: PathBuf| std::path::absolute(&folder).unwrap_or(folder);
        let homes =
            [Some(home(places.home.clone())), environment.home().map(home), folder("ZDOTDIR")];
        Self {
            homes: absolute(homes),
            configuration: absolute([folder("XDG_CONFIG_HOME"), None, None]),
            files: vec![
                places.trusted_folders.clone(),
                places.system_settings.clone(),
                places.system_defaults.clone(),
                places.system_policies(),
            ],
            ..Self::default()
        }
    }

    /// Returns every protected path of a session with these workspace folders, except those of
    /// repositories and of the state directories' other entries.
    pub fn paths(&self, workspace: &[PathBuf]) -> Vec<ProtectedPath> {
        let mut paths = self.in_homes();
        for folder in self.homes.iter().chain(workspace) {
            let state = folder.join(GEMINI_DIR);
            let obeyed = |(name, secrecy): (&str, Secrecy)| ProtectedPath {
                path: state.join(name),
                protection: Protection::State,
                secrecy,
            };
            paths.extend(IN_STATE.into_iter().map(obeyed));
            let skills = SKILLS.map(|name| folder.join(name));
            paths.extend(skills.map(|path| ProtectedPath::readable(path, Protection::State)));
        }
        let files = self.files.iter().cloned();
        paths.extend(files.map(|path| ProtectedPath::readable(path, Protection::State)));
        paths.extend(self.environment_files(workspace));
        paths.sort();
        // A path with two entries has the stricter one.
        paths.reverse();
        paths.dedup_by(|next, kept| next.path == kept.path);
        paths
    }

    /// Returns the `.env` files that a run in one of these folders may read.
    ///
    /// A `.env` directly in a workspace folder is missing: programs of the project write it, and
    /// its variables take effect only after the user's consent. The files of the folders above are
    /// included, because other projects use them, too.
    fn environment_files(&self, workspace: &[PathBuf]) -> Vec<ProtectedPath> {
        let of_homes = self.homes.iter().flat_map(|home| dotenv::files_in(home));
        let credential = |path| (path, Secrecy::Credential);
        let mut files: Vec<_> = of_homes.map(credential).collect();
        for folder in workspace.iter().flat_map(|folder| folder.ancestors().skip(1)) {
            let [own, plain] = dotenv::files_in(folder);
            files.push((own, Secrecy::Credential));
            let is_home = self.homes.iter().any(|home| home == folder);
            if !is_home && !workspace.iter().any(|root| folder.starts_with(root)) {
                files.push((plain, Secrecy::Secret));
            }
        }
        let state =
            |(path, secrecy)| ProtectedPath { path, protection: Protection::State, secrecy };
        files.into_iter().map(state).collect()
    }

    /// Returns the protected files and folders of the homes and configuration folders, without the
    /// state directories.
    fn in_homes(&self) -> Vec<ProtectedPath> {
        let in_home = self.homes.iter().map(|home| (home.clone(), &IN_HOME[..]));
        let of_homes = self.homes.iter().map(|home| home.join(".config"));
        let configuration = of_homes.chain(self.configuration.iter().cloned());
        in_home
            .chain(configuration.map(|folder| (folder, &IN_CONFIGURATION[..])))
            .flat_map(|(folder, entries)| {
                entries.iter().map(move |(name, protection)| {
                    ProtectedPath::readable(folder.join(name), *protection)
                })
            })
            .collect()
    }
}

#[cfg(test)]
mod tests;
