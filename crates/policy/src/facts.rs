//! What decisions rest on beside the rules, for a whole session.

use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};

use pollux_shell::Dialect;

use crate::protected::ProtectedPlaces;

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
    /// Approvals that a person gave for good do not count (`security.disableAlwaysAllow`).
    pub without_approvals: bool,
    /// A policy file is broken: nobody knows what it would have denied. Yolo and approvals do not count until it is mended.
    pub is_suspended: bool,
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
