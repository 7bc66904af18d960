//! Inputs to decisions other than rules and calls. Only the workspace changes during a session.

use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};

use pollux_config::protected::ProtectedPlaces;
use pollux_fs::Workspace;
use pollux_protocol::{ApprovalMode, ConfinementLevel, Live};
use pollux_shell::Dialect;
use pollux_shell::sandbox::{SandboxPlaces, SandboxSupport};

use crate::rule::Ruling;

/// Inputs to decisions other than rules and calls.
#[derive(Debug, Clone)]
pub struct Facts {
    /// True if a user can be asked.
    pub interactive: bool,
    /// True if the folder is trusted.
    pub trusted: bool,
    /// Folders of the session, the project's first.
    pub workspace: Live<Workspace>,
    /// Absolute path of the folder in which plan mode may write `.md` files.
    pub plans_directory: PathBuf,
    /// Locations from which the protected places are derived.
    pub protected: ProtectedPlaces,
    /// Shell dialect of command lines.
    pub dialect: Dialect,
    /// Names of the environment variables of commands.
    pub environment: HashSet<String>,
    /// File that stores permanent approvals.
    pub approvals_file: PathBuf,
    /// Levels of confinement that commands get.
    pub confinement: ConfinementFacts,
    /// Home directory that `~` represents in commands.
    pub home: Option<PathBuf>,
    /// True if rules that deny a command are matched only as far as Gemini CLI does: a line that
    /// may hide such a command does not need approval.
    pub original_denials: bool,
    /// True if commands that only read may run in a run without a user, confined, in a trusted
    /// folder (`pollux.policy.headlessReads`).
    pub headless_reads: bool,
    /// True if permanent approvals are ignored (`security.disableAlwaysAllow`).
    pub without_approvals: bool,
    /// True if a policy file is invalid, so that its denials are unknown. Yolo mode and approvals
    /// are ignored until the file is fixed.
    pub is_suspended: bool,
}

/// Confinement levels of commands, from the settings and the operating system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConfinementFacts {
    /// Levels that the operating system supports; `None` to detect them at the first command.
    pub support: Option<SandboxSupport>,
    /// Level of commands that a rule or an approval allows.
    pub allowed: ConfinementLevel,
    /// Level of commands that yolo mode allows.
    pub yolo: ConfinementLevel,
    /// True if every command line may run without a question at [`ConfinementLevel::Inspect`].
    pub auto_inspect: bool,
}

impl ConfinementFacts {
    fn support(&self) -> SandboxSupport {
        self.support.unwrap_or_else(SandboxSupport::probe)
    }

    /// Returns the strictest supported level that allows at least as much as `level`.
    pub(crate) fn strongest(&self, level: ConfinementLevel) -> ConfinementLevel {
        let support = self.support();
        let mut looser = ConfinementLevel::ALL.into_iter().skip_while(|other| *other != level);
        looser.find(|level| support.unavailable_reason(*level).is_none()).unwrap_or_default()
    }

    /// Returns a level of the session. A level that the settings name is required: without support
    /// for it the command does not start. `given` returns the supported replacement for a level.
    pub(crate) fn of_session(
        level: ConfinementLevel,
        given: impl Fn(ConfinementLevel) -> ConfinementLevel,
    ) -> ConfinementLevel {
        if level == ConfinementLevel::WorkspaceWrite { level } else { given(level) }
    }

    /// Returns the level of a command that a rule or an approval allows, and the level that was
    /// intended.
    pub(crate) fn for_allowed(&self) -> (ConfinementLevel, ConfinementLevel) {
        (Self::of_session(self.allowed, |level| self.strongest(level)), self.allowed)
    }

    /// Returns true if the operating system can confine a command to reading.
    pub(crate) fn inspects(&self) -> bool {
        self.support().unavailable_reason(ConfinementLevel::Inspect).is_none()
    }

    /// Returns true if programs such as `sudo` keep their privileges when they are confined.
    pub(crate) fn keeps_privileges(&self) -> bool {
        self.support().mechanisms().mount_namespace
    }
}

impl Default for ConfinementFacts {
    fn default() -> Self {
        Self {
            support: None,
            allowed: ConfinementLevel::Protect,
            yolo: ConfinementLevel::Protect,
            auto_inspect: false,
        }
    }
}

impl Default for Facts {
    fn default() -> Self {
        Self {
            interactive: false,
            trusted: true,
            workspace: Live::new(Workspace::new("/nonexistent".into(), PathBuf::new())),
            plans_directory: PathBuf::new(),
            protected: ProtectedPlaces::default(),
            dialect: Dialect::Bash,
            environment: HashSet::new(),
            approvals_file: PathBuf::new(),
            confinement: ConfinementFacts::default(),
            home: None,
            original_denials: false,
            headless_reads: false,
            without_approvals: false,
            is_suspended: false,
        }
    }
}

impl Facts {
    /// Returns the absolute path of the project's folder.
    pub fn folder(&self) -> PathBuf {
        self.workspace.get().target().to_owned()
    }

    /// Returns the absolute paths of the workspace folders, the project's first.
    pub(crate) fn folders(&self) -> Vec<PathBuf> {
        self.workspace.get().roots().map(Path::to_owned).collect()
    }

    /// Returns the workspace folders that exist, with links resolved.
    pub(crate) fn real_folders(&self) -> Vec<PathBuf> {
        let workspace = self.workspace.get();
        workspace.roots().filter_map(|root| pollux_fs::real_path(root).ok()).collect()
    }

    /// Returns the places that confinement refers to, without those that change nothing about
    /// reading, and without secrets that only the settings name.
    pub(crate) fn sandbox_places(&self) -> SandboxPlaces {
        let (state, temporary) = (PathBuf::new(), PathBuf::new());
        SandboxPlaces::standard(&self.protected, self.folders(), state, temporary)
    }

    /// Returns the ruling for a call to which no rule applies.
    pub(crate) fn default_ruling(&self, mode: ApprovalMode) -> Ruling {
        match mode {
            ApprovalMode::Yolo => Ruling::Allow,
            _ if self.interactive => Ruling::AskUser,
            _ => Ruling::Deny,
        }
    }

    /// True for a file in the folder for plans.
    pub(crate) fn is_plan(&self, path: &Path) -> bool {
        path.starts_with(&self.plans_directory)
            && !self.plans_directory.as_os_str().is_empty()
            && !path.components().any(|component| component == Component::ParentDir)
            && path.extension().is_some_and(|extension| extension == "md")
    }
}

/// Returns a workspace of these folders.
#[cfg(test)]
pub(crate) fn workspace<P: Into<PathBuf>>(folders: impl IntoIterator<Item = P>) -> Live<Workspace> {
    let mut folders = folders.into_iter().map(Into::into);
    let mut workspace = Workspace::new(folders.next().unwrap_or_default(), "/temporary".into());
    folders.for_each(|folder| workspace.add_root(folder));
    Live::new(workspace)
}
