//! Files and folders that determine the programs and permissions of Pollux, shells, Git or SSH in
//! later runs. The file tools change them only with the user's approval, and confined commands
//! cannot change them.

use std::path::PathBuf;

use crate::{Environment, Places};

/// Start-up files of shells and sessions, and configuration of git and SSH, relative to a home
/// directory.
const IN_HOME: [(&str, Protection); 31] = [
    (".bash_aliases", Protection::StartUp),
    (".bash_login", Protection::StartUp),
    (".bash_logout", Protection::StartUp),
    (".bash_profile", Protection::StartUp),
    (".bashrc", Protection::StartUp),
    (".cshrc", Protection::StartUp),
    (".inputrc", Protection::StartUp),
    (".kshrc", Protection::StartUp),
    (".login", Protection::StartUp),
    (".logout", Protection::StartUp),
    (".mkshrc", Protection::StartUp),
    (".pam_environment", Protection::StartUp),
    (".profile", Protection::StartUp),
    (".tcshrc", Protection::StartUp),
    (".xinitrc", Protection::StartUp),
    (".xprofile", Protection::StartUp),
    (".xsession", Protection::StartUp),
    (".xsessionrc", Protection::StartUp),
    (".zlogin", Protection::StartUp),
    (".zlogout", Protection::StartUp),
    (".zprofile", Protection::StartUp),
    (".zshenv", Protection::StartUp),
    (".zshrc", Protection::StartUp),
    (".local/share/dbus-1", Protection::StartUp),
    (".local/share/nushell", Protection::StartUp),
    (".local/share/systemd", Protection::StartUp),
    ("Documents/PowerShell", Protection::StartUp),
    ("Documents/WindowsPowerShell", Protection::StartUp),
    ("Library/LaunchAgents", Protection::StartUp),
    (".gitconfig", Protection::Git),
    (".ssh", Protection::Ssh),
];

/// Start-up and configuration files relative to a configuration folder such as `~/.config`.
const IN_CONFIGURATION: [(&str, Protection); 7] = [
    ("autostart", Protection::StartUp),
    ("environment.d", Protection::StartUp),
    ("fish", Protection::StartUp),
    ("nushell", Protection::StartUp),
    ("powershell", Protection::StartUp),
    ("systemd", Protection::StartUp),
    ("git", Protection::Git),
];

/// Entries of a state directory without any exception, each possibly a link to a place outside of
/// it.
pub const STATE_ENTRIES: [&str; 11] = [
    "agents",
    "commands",
    "extensions",
    "hooks",
    "keybindings.json",
    "policies",
    "pollux",
    "settings.json",
    "skills",
    "system.md",
    "trustedFolders.json",
];

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
        Self {
            homes: absolute([Some(places.home.clone()), environment.home(), folder("ZDOTDIR")]),
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

    /// Returns the protected files and folders of the homes and configuration folders, without the
    /// state directories.
    pub fn in_homes(&self) -> Vec<(PathBuf, Protection)> {
        let in_home = self.homes.iter().map(|home| (home.clone(), &IN_HOME[..]));
        let of_homes = self.homes.iter().map(|home| home.join(".config"));
        let configuration = of_homes.chain(self.configuration.iter().cloned());
        in_home
            .chain(configuration.map(|folder| (folder, &IN_CONFIGURATION[..])))
            .flat_map(|(folder, entries)| {
                entries.iter().map(move |(name, protection)| (folder.join(name), *protection))
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn folders_that_variables_name_are_protected_like_those_of_the_home() {
        let environment = Environment::from_pairs([
            ("HOME", "/home/me"),
            ("ZDOTDIR", "/home/me/zsh"),
            ("XDG_CONFIG_HOME", "/home/me/etc"),
        ]);
        let places = ProtectedPlaces::new(&Places::new(&environment), &environment);
        let entries = places.in_homes();
        for (path, protection) in [
            ("/home/me/.bashrc", Protection::StartUp),
            ("/home/me/zsh/.zshrc", Protection::StartUp),
            ("/home/me/.config/git", Protection::Git),
            ("/home/me/etc/git", Protection::Git),
            ("/home/me/etc/systemd", Protection::StartUp),
            ("/home/me/.ssh", Protection::Ssh),
        ] {
            assert!(entries.contains(&(path.into(), protection)), "{path}");
        }
        assert!(entries.iter().all(|(path, _)| path.starts_with(Path::new("/home/me"))));
        let relative = Environment::from_pairs([("HOME", "/home/me"), ("ZDOTDIR", "zsh")]);
        let places = ProtectedPlaces::new(&Places::new(&relative), &relative);
        assert_eq!(places.homes, [Path::new("/home/me")]);
    }
}
