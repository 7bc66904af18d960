//! Files whose change needs a person's yes in every approval mode: what decides later what Pollux, a shell, git or SSH
//! runs or allows.
//!
//! [`ResolvedPlaces::concerned`] is pure: it compares paths. Links are followed before: tools declare real paths in their
//! [`Effects`](pollux_protocol::Effects), and [`ResolvedPlaces::new`] adds the real paths of the places.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::checker::plain_name;
use crate::facts::Facts;

/// Start-up files of shells and sessions, and configuration of git and SSH, relative to a home directory.
const IN_HOME: [(&str, Protection); 28] = [
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
    ("Documents/PowerShell", Protection::StartUp),
    ("Documents/WindowsPowerShell", Protection::StartUp),
    ("Library/LaunchAgents", Protection::StartUp),
    (".gitconfig", Protection::Git),
    (".ssh", Protection::Ssh),
];

/// The same, relative to a folder of configuration such as `~/.config`.
const IN_CONFIGURATION: [(&str, Protection); 7] = [
    ("autostart", Protection::StartUp),
    ("environment.d", Protection::StartUp),
    ("fish", Protection::StartUp),
    ("nushell", Protection::StartUp),
    ("powershell", Protection::StartUp),
    ("systemd", Protection::StartUp),
    ("git", Protection::Git),
];

/// Name of the state directory in homes and projects.
const STATE: &str = pollux_config::GEMINI_DIR;

/// Files and folders of a state directory that no exception concerns, each possibly a link out of it.
const STATE_ENTRIES: [&str; 12] = [
    "agents",
    "commands",
    "extensions",
    "history",
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
pub(crate) enum Protection {
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
    /// Noun phrase for messages.
    pub(crate) fn in_words(self) -> &'static str {
        match self {
            Self::State => "Pollux's own state and configuration",
            Self::StartUp => "start-up files of shells and sessions",
            Self::Git => "git's configuration and hooks",
            Self::Ssh => "SSH's keys and configuration",
        }
    }
}

/// Places that the protection of files starts from. All paths are absolute.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProtectedPlaces {
    /// Home directories of the person and of Pollux, and other folders in which shells look for start-up files.
    pub homes: Vec<PathBuf>,
    /// Folders of configuration beside `.config` in the homes.
    pub configuration: Vec<PathBuf>,
    /// Files of Pollux's own state outside of the state directories.
    pub files: Vec<PathBuf>,
    /// The project's folder for temporary files, which is free.
    pub temporary: PathBuf,
    /// Names of context files, which are free as Markdown files directly in a state directory.
    pub context_names: Vec<String>,
}

/// Protected places, all links followed.
#[derive(Debug)]
pub(crate) struct ResolvedPlaces<'a> {
    /// State directories: those of the homes and the workspace.
    states: BTreeSet<Vec<String>>,
    /// Other protected files and folders.
    places: BTreeSet<(Vec<String>, Protection)>,
    temporary: Vec<String>,
    facts: &'a Facts,
}

/// A protected place that a change concerns.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ProtectedPlace {
    /// Reason of the protection.
    pub(crate) protection: Protection,
    /// Number of components of the changed path that lead to the place.
    pub(crate) depth: usize,
}

impl<'a> ResolvedPlaces<'a> {
    /// Returns the places of a session; `real` follows the links of a path.
    pub(crate) fn new(facts: &'a Facts, real: impl Fn(&Path) -> PathBuf) -> Self {
        let given = &facts.protected;
        let mut places = BTreeSet::new();
        let mut add = |path: &Path, protection: Protection| {
            places.extend([names(path), names(&real(path))].map(|path| (path, protection)));
        };
        let mut states = BTreeSet::new();
        for folder in given.homes.iter().chain(&facts.workspace).chain([&facts.folder]) {
            let state = folder.join(STATE);
            states.extend([names(&state), names(&real(&state))]);
            for entry in STATE_ENTRIES {
                add(&state.join(entry), Protection::State);
            }
            add(&folder.join(".git"), Protection::Git);
        }
        for home in &given.homes {
            for (path, protection) in IN_HOME {
                add(&home.join(path), protection);
            }
        }
        let configuration = given.homes.iter().map(|home| home.join(".config"));
        for folder in configuration.chain(given.configuration.iter().cloned()) {
            for (path, protection) in IN_CONFIGURATION {
                add(&folder.join(path), protection);
            }
        }
        for file in &given.files {
            add(file, Protection::State);
        }
        let has_temporary = !given.temporary.as_os_str().is_empty();
        let temporary = if has_temporary { names(&real(&given.temporary)) } else { Vec::new() };
        Self { states, places, temporary, facts }
    }

    /// Returns the protected place that a change of `path` concerns; `path` is absolute, its links are followed.
    pub(crate) fn concerned(&self, path: &Path) -> Option<ProtectedPlace> {
        let changed = names(path);
        if !self.temporary.is_empty() && changed.starts_with(&self.temporary) {
            return None;
        }
        // A change of a folder is a change of all that is in it.
        let covers = |place: &[String]| changed.starts_with(place) || place.starts_with(&changed);
        let found = |place: &[String], protection| ProtectedPlace {
            protection,
            depth: place.len().min(changed.len()),
        };
        let is_state =
            |depth: usize| changed[depth - 1] == STATE || self.states.contains(&changed[..depth]);
        for depth in 1..=changed.len() {
            if is_state(depth) && !self.is_free(path, &changed[depth..]) {
                return Some(found(&changed[..depth], Protection::State));
            }
            if changed[depth - 1] == ".git" {
                return Some(found(&changed[..depth], Protection::Git));
            }
        }
        if let Some((place, protection)) = self.places.iter().find(|(place, _)| covers(place)) {
            return Some(found(place, *protection));
        }
        let state = self.states.iter().find(|state| covers(state))?;
        (state.len() > changed.len()).then(|| found(state, Protection::State))
    }

    /// True for what may change in a state directory: context files and plans. `below` leads there from the directory.
    fn is_free(&self, path: &Path, below: &[String]) -> bool {
        let Some(first) = below.first() else { return false };
        if STATE_ENTRIES.iter().any(|entry| entry.eq_ignore_ascii_case(first)) {
            return false;
        }
        let context = &self.facts.protected.context_names;
        let is_context = |name: &String| below.len() == 1 && name.to_lowercase() == *first;
        let is_markdown = Path::new(first).extension().is_some_and(|extension| extension == "md");
        (is_markdown && context.iter().any(is_context)) || self.facts.is_plan(path)
    }
}

/// Components of a path in the form in which they are compared: file systems may ignore case.
fn names(path: &Path) -> Vec<String> {
    path.components().map(|component| plain_name(component.as_os_str())).collect()
}

#[cfg(test)]
mod tests;
