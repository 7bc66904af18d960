//! Levels of confinement: what the operating system keeps a command from.

use serde::{Deserialize, Serialize};

/// Restrictions that the operating system puts on a command and everything that it starts.
///
/// The names stand in policy files (`confinement`), settings, questions and session logs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConfinementLevel {
    /// Only reads: no file can be changed except in a private temporary directory, no network or
    /// socket can be used, and credentials and `.env` files cannot be read.
    Inspect,
    /// Changes files in the workspace, temporary directories and named caches only; credentials
    /// cannot be read.
    WorkspaceWrite,
    /// Does what the user may do, except changing what decides later which code runs: start-up
    /// files, Git's configuration and hooks, and Pollux's own state.
    Protect,
    /// Does what the user may do.
    #[default]
    None,
}

/// Confinement of one call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CallConfinement {
    /// Restrictions on the call's command.
    pub level: ConfinementLevel,
    /// Level that [`Self::level`] replaces because the operating system cannot give it; otherwise the same.
    pub intended: ConfinementLevel,
    /// The command is known to change the configuration of a Git repository, which
    /// [`ConfinementLevel::Protect`] otherwise keeps as it is.
    pub configures_git: bool,
}

impl ConfinementLevel {
    /// All levels, the strictest first.
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
