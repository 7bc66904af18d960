//! Levels of confinement: the operations that the operating system denies to a command.

use serde::{Deserialize, Serialize};

/// Restrictions that the operating system puts on a command and everything that it starts.
///
/// The names are used in policy files (`confinement`), settings, questions and session logs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConfinementLevel {
    /// The command can only read: it cannot change any file outside a private temporary directory,
    /// use the network or sockets, or read credentials and `.env` files.
    Inspect,
    /// The command can change only files in the workspace, temporary directories and named caches,
    /// and cannot read credentials.
    WorkspaceWrite,
    /// The command can do what the user may do, except change the files that decide which code runs
    /// later: start-up files, Git's configuration and hooks, and Pollux's own state.
    Protect,
    /// The command can do what the user may do.
    #[default]
    None,
}

/// Confinement of one call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CallConfinement {
    /// Restrictions on the call's command.
    pub level: ConfinementLevel,
    /// Level that was intended. It differs from [`Self::level`] only if the operating system does
    /// not support it.
    pub intended: ConfinementLevel,
    /// True if the command is known to change the configuration of a Git repository, which
    /// [`ConfinementLevel::Protect`] otherwise forbids.
    pub configures_git: bool,
}

impl ConfinementLevel {
    /// All levels, from strictest to weakest.
    pub const ALL: [Self; 4] = [Self::Inspect, Self::WorkspaceWrite, Self::Protect, Self::None];

    /// Name in policy files, settings and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Inspect => "inspect",
            Self::WorkspaceWrite => "workspace-write",
            Self::Protect => "protect",
            Self::None => "none",
        }
    }

    /// Returns the level of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.as_str() == name)
    }
}
