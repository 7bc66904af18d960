//! What decisions rest on beside the rules, for a whole session.

use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};

use pollux_config::protected::ProtectedPlaces;
use pollux_protocol::ConfinementLevel;
use pollux_shell::Dialect;
use pollux_shell::sandbox::SandboxSupport;

/// What decisions rest on beside the rules.
#[derive(Debug, Clone)]
pub struct Facts {
    /// A person can be asked.
    pub interactive: bool,
    /// The folder is trusted.
    pub trusted: bool,
    /// The folder of the project, absolute.
    pub folder: PathBuf,
    /// The folders of the workspace, absolute.
    pub workspace: Vec<PathBuf>,
    /// Where plan mode may write its `.md` files, absolute.
    pub plans_directory: PathBuf,
    /// Places that the protection of files starts from.
    pub protected: ProtectedPlaces,
    /// How command lines are read.
    pub dialect: Dialect,
    /// Names of the variables that commands find in their environment.
    pub environment: HashSet<String>,
    /// The file that keeps what a person allows for good.
    pub approvals_file: PathBuf,
    /// Levels of confinement that commands get.
    pub confinement: ConfinementFacts,
    /// Home directory that `~` stands for in commands.
    pub home: Option<PathBuf>,
    /// Rules that deny a command look for it only as far as Gemini CLI does: what may hide one is not asked about.
    pub original_denials: bool,
    /// Approvals that a person gave for good do not count (`security.disableAlwaysAllow`).
    pub without_approvals: bool,
    /// A policy file is broken: nobody knows what it would have denied. Yolo and approvals do not count until it is mended.
    pub is_suspended: bool,
}

/// Levels of confinement that commands get, as settings and the operating system have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConfinementFacts {
    /// Levels that the operating system can give; `None` to ask it when the first command is judged.
    pub support: Option<SandboxSupport>,
    /// Level of what a rule or an approval allows.
    pub allowed: ConfinementLevel,
    /// Level of what yolo mode allows.
    pub yolo: ConfinementLevel,
    /// Every command line may run unasked at [`ConfinementLevel::Inspect`].
    pub auto_inspect: bool,
}

impl ConfinementFacts {
    fn support(&self) -> SandboxSupport {
        self.support.unwrap_or_else(SandboxSupport::probe)
    }

    /// Returns the strictest level that can be given and that allows at least what `level` does.
    pub(crate) fn strongest(&self, level: ConfinementLevel) -> ConfinementLevel {
        let support = self.support();
        let mut looser = ConfinementLevel::ALL.into_iter().skip_while(|other| *other != level);
        looser.find(|level| support.lack(*level).is_none()).unwrap_or_default()
    }

    /// Returns a level of the session: one that the settings name must be given, or the command does not start.
    /// `given` is the level that is given for another.
    pub(crate) fn of_session(
        level: ConfinementLevel,
        given: impl Fn(ConfinementLevel) -> ConfinementLevel,
    ) -> ConfinementLevel {
        if level == ConfinementLevel::WorkspaceWrite { level } else { given(level) }
    }

    /// Returns true if the operating system can confine a command to reading.
    pub(crate) fn inspects(&self) -> bool {
        self.support().lack(ConfinementLevel::Inspect).is_none()
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
            folder: PathBuf::new(),
            workspace: Vec::new(),
            plans_directory: PathBuf::new(),
            protected: ProtectedPlaces::default(),
            dialect: Dialect::Bash,
            environment: HashSet::new(),
            approvals_file: PathBuf::new(),
            confinement: ConfinementFacts::default(),
            home: None,
            original_denials: false,
            without_approvals: false,
            is_suspended: false,
        }
    }
}

impl Facts {
    /// True for the file of a plan.
    pub(crate) fn is_plan(&self, path: &Path) -> bool {
        path.starts_with(&self.plans_directory)
            && !self.plans_directory.as_os_str().is_empty()
            && !path.components().any(|component| component == Component::ParentDir)
            && path.extension().is_some_and(|extension| extension == "md")
    }
}
