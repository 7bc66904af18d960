//! Prediction of the files that a command at `inspect` cannot read.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pollux_protocol::ConfinementLevel;

use super::survey::WorkspaceSurvey;
use super::{SandboxPlaces, SandboxPlan, SandboxSpec};

/// Returns true if a command at `inspect` cannot read this file, although the user can: it is a
/// secret, or outside of everything that the level reads. With `is_tree`, the path may also be a
/// folder whose files are read; otherwise false is returned for a folder, because its names can
/// always be listed. Also returns false for devices and for files that do not exist. Blocks.
pub fn is_closed_at_inspect(places: &SandboxPlaces, path: &Path, is_tree: bool) -> bool {
    let Ok(real) = path.canonicalize() else { return false };
    let is_content = real.is_file() || is_tree && real.is_dir();
    // In `/proc` and `/dev`, a name means something else for each process.
    let is_own = real.starts_with("/proc") || real.starts_with("/dev");
    if !is_content || is_own || !user_can_read(&real) {
        return false;
    }
    let in_workspace = places
        .workspace
        .iter()
        .filter_map(|root| root.canonicalize().ok())
        .any(|root| real.starts_with(root));
    let may_be_secret = real.file_name().is_some_and(pollux_fs::may_be_secret);
    // The survey of the workspace takes time.
    if in_workspace && !may_be_secret {
        return false;
    }
    let spec = SandboxSpec::new(ConfinementLevel::Inspect, Arc::new(places.clone()));
    let plan = SandboxPlan::new(&spec, &WorkspaceSurvey::of(spec.level, places));
    let is_in = |places: &[PathBuf]| {
        places.iter().any(|place| {
            real.starts_with(place)
                || place.canonicalize().is_ok_and(|place| real.starts_with(place))
        })
    };
    is_in(&plan.hidden) || !is_in(&plan.readable)
}

#[cfg(unix)]
fn user_can_read(path: &Path) -> bool {
    rustix::fs::access(path, rustix::fs::Access::READ_OK).is_ok()
}

#[cfg(not(unix))]
fn user_can_read(_: &Path) -> bool {
    true
}
