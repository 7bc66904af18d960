//! Confinement of child processes by the kernel, in three levels (see [`ConfinementLevel`]).
//!
//! A confined child first runs this same program: `main` begins with a call of
//! [`helper`](crate::helper), which reads a [`SandboxPlan`] from an inherited file, restricts its
//! own process and replaces itself with the target program. If a restriction fails, the child does
//! not start; the level is never weakened.
//! - `inspect` uses Landlock (files, signals, other processes) and seccomp (sockets, changes of
//!   metadata), and no namespace. Landlock can only grant access, so reading is granted around each
//!   secret.
//! - `protect` uses a mount namespace: protected files are mounted read-only over themselves, and
//!   credentials are covered. Root stays in its user namespace and loses the capabilities that
//!   could undo this; other users get a user namespace in which they keep their user id.
//! - `workspace-write` makes all file systems read-only except the workspace, temporary folders and
//!   caches, with the same covers, and adds Landlock and seccomp.
//!
//! Some changes cannot be blocked by a mount: creating a protected file that does not exist yet, or
//! replacing a folder above it. [`RunningAudit`] detects these afterwards, and
//! [`finish_left_behind`] does so for a run that was killed. Only Linux offers these mechanisms; on
//! other systems only the level `none` is available.

use std::sync::Arc;

use pollux_protocol::ConfinementLevel;

mod audit;
mod audit_records;
mod encoding;
mod evidence;
mod git_config;
mod live_audits;
mod places;
mod plan;
mod readable;
mod support;
mod survey;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
#[path = "sandbox/other.rs"]
mod linux;

use audit::SandboxAudit;
pub use audit::{SandboxChange, SandboxChangeKind};
pub use audit_records::{LeftBehind, finish_left_behind};
pub use evidence::{SandboxWall, wall_in};
pub use live_audits::{RunningAudit, audit_rest, forget_ended_audits, own_change};
pub use places::SandboxPlaces;
pub use plan::SandboxPlan;
pub use readable::is_closed_at_inspect;
pub use support::{SandboxMechanisms, SandboxSupport};

#[cfg(target_os = "linux")]
pub(crate) use linux::confined_child;
pub(crate) use linux::{ConfinedStart, confine};

/// Network access of a child process at `workspace-write`. `inspect` never allows it, `protect`
/// always does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum NetworkAccess {
    /// No sockets.
    #[default]
    Denied,
    /// All sockets.
    Allowed,
}

/// Permission of a child process to change the configuration of repositories at `protect`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum GitConfiguration {
    /// `.git/config` is read-only.
    #[default]
    Protected,
    /// `.git/config` is writable; [`RunningAudit`] reverts changes that could start programs.
    Writable,
}

/// Processes to which a child process at `protect` or `workspace-write` may send signals.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SignalReach {
    /// Only processes of the same command, so that the command cannot kill Pollux.
    #[default]
    OwnCommand,
    /// All processes except Pollux, for commands that do nothing else.
    Others,
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
    /// Signals at `protect` and `workspace-write`.
    pub signals: SignalReach,
}

impl SandboxSpec {
    /// Creates a level without network access and with protected configuration of repositories.
    pub fn new(level: ConfinementLevel, places: Arc<SandboxPlaces>) -> Self {
        let (network, git_configuration, signals) = Default::default();
        Self { level, places, network, git_configuration, signals }
    }
}
