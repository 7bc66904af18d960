//! macOS and Windows: only the level `none` is available.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;

use super::{SandboxMechanisms, SandboxSpec, SandboxSupport};
use crate::error::ShellError;

/// Returns no mechanisms.
pub(super) fn probe() -> SandboxMechanisms {
    SandboxMechanisms::default()
}

/// Never constructed.
pub(crate) enum ConfinedStart {}

impl ConfinedStart {
    pub(crate) fn inherited(&self) -> Vec<i32> {
        match *self {}
    }

    pub(crate) fn variables(&self) -> Vec<(&'static str, &OsStr)> {
        match *self {}
    }

    pub(crate) fn wait(self) -> Result<Option<tempfile::TempDir>, ShellError> {
        match self {}
    }
}

/// Always fails.
pub(crate) fn confine(
    spec: &SandboxSpec,
    _program: &Path,
    _arguments: &[OsString],
    _job_list: Option<&Path>,
) -> Result<(Command, ConfinedStart), ShellError> {
    let reason = SandboxSupport::probe().unavailable_reason(spec.level).unwrap_or_default();
    let reason = reason.trim_end_matches('.').to_owned();
    Err(ShellError::Confinement { level: spec.level, reason })
}
