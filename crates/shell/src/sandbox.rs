//! Confinement of child processes by the kernel, in three levels (see [`ConfinementLevel`]).
//!
//! A confined child is this program again: `main` calls [`confined_child`] first, which reads a
//! [`SandboxPlan`] from an inherited file, restricts its own process and replaces itself with the
//! program. Restrictions that cannot be made are an error of the start, never a weaker level.
//! - `inspect` uses Landlock (files, signals, other processes) and seccomp (sockets, changes of
//!   metadata), and no namespace. Landlock only grants, so reading is granted around each secret.
//! - `protect` uses a mount namespace: protected files are mounted read-only over themselves, and
//!   credentials are covered. Root keeps its user namespace and loses the capabilities that could
//!   undo this; other users get a user namespace in which they are themselves.
//! - `workspace-write` makes all file systems read-only except the workspace, temporary folders and
//!   caches, with the same covers, and adds Landlock and seccomp.
//!
//! Changes that no mount can block (a protected file that does not exist yet, a folder above it that is
//! replaced) are found afterwards by [`SandboxAudit`]. Only Linux offers these mechanisms; elsewhere
//! no level but `none` holds.

use std::sync::Arc;

use pollux_protocol::ConfinementLevel;

mod audit;
mod evidence;
mod git_config;
mod live_audits;
mod places;
mod plan;
mod support;
mod survey;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
#[path = "sandbox/other.rs"]
mod linux;

pub use audit::{SandboxAudit, SandboxChange, SandboxChangeKind};
pub use evidence::{SandboxWall, wall_in};
pub use linux::{confined_child, set_helper, sweep};
pub use live_audits::{RunningAudit, audit_rest, forget_ended_audits, own_change};
pub use places::SandboxPlaces;
pub use plan::SandboxPlan;
pub use support::{SandboxMechanisms, SandboxSupport};

pub(crate) use linux::{ConfinedStart, confine};

/// Use of the network by a child process at `workspace-write`. `inspect` never allows it,
/// `protect` always does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum NetworkAccess {
    /// No sockets.
    #[default]
    Denied,
    /// All sockets.
    Allowed,
}

/// Change of the repositories' configuration by a child process at `protect`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum GitConfiguration {
    /// `.git/config` is read-only.
    #[default]
    Protected,
    /// `.git/config` is writable; [`SandboxAudit`] takes back changes that could start programs.
    Writable,
}

/// Level of a confined child process, and the places that the level refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxSpec {
    /// Level; at [`ConfinementLevel::None`] the child is not confined.
    pub level: ConfinementLevel,
    /// Folders and files that the level protects, hides or keeps writable.
    pub places: Arc<SandboxPlaces>,
    /// Network at `workspace-write`.
    pub network: NetworkAccess,
    /// Configuration of repositories at `protect` and `workspace-write`.
    pub git_configuration: GitConfiguration,
}

impl SandboxSpec {
    /// A level without network and with protected configuration of repositories.
    pub fn new(level: ConfinementLevel, places: Arc<SandboxPlaces>) -> Self {
        let (network, git_configuration) = Default::default();
        Self { level, places, network, git_configuration }
    }
}
