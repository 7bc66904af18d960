//! Evidence that a level of confinement made a command fail.

use std::path::{Path, PathBuf};

use pollux_protocol::ConfinementLevel;

use super::survey::WorkspaceSurvey;
use super::{SandboxPlan, SandboxSpec};

/// Texts of the errors that the mechanisms cause, as English messages and as error names.
const ERRORS: [&str; 10] = [
    "Permission denied",
    "Operation not permitted",
    "Read-only file system",
    "No such device or address",
    "Device or resource busy",
    "EACCES",
    "EPERM",
    "EROFS",
    "ENXIO",
    "EBUSY",
];

/// Restriction that made a command fail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SandboxWall {
    /// A path that the level makes read-only or unreadable.
    Path(PathBuf),
    /// A root of the workspace with too many folders to search for secrets.
    Unsearched(PathBuf),
    /// A network address, at a level without network.
    Address(String),
}

/// Returns the restriction that a failed command names in its output: a path that the level
/// restricts, or an address if the level has no network. An error text without a path or address is
/// no evidence.
pub fn wall_in(
    spec: &SandboxSpec,
    folder: &Path,
    succeeded: bool,
    output: &str,
) -> Option<SandboxWall> {
    if succeeded || spec.level == ConfinementLevel::None {
        return None;
    }
    let plan = SandboxPlan::new(spec, &WorkspaceSurvey::of(spec.level, &spec.places));
    let home = spec.places.homes.first().map(PathBuf::as_path);
    let is_error = |line: &&str| ERRORS.iter().any(|error| line.contains(error));
    output.lines().filter(is_error).find_map(|line| {
        line.split(|character: char| {
            character.is_whitespace() || "'\"`‘’“”:;,()[]<>=".contains(character)
        })
        .filter(|word| !word.is_empty())
        .find_map(|word| restricted(&plan, spec, &absolute(word, folder, home)?))
        .or_else(|| address(spec, line))
    })
}

fn absolute(word: &str, folder: &Path, home: Option<&Path>) -> Option<PathBuf> {
    let path = match word.strip_prefix("~/") {
        Some(rest) => home?.join(rest),
        None => folder.join(word.strip_prefix("./").unwrap_or(word)),
    };
    // A plain word counts as a path only if it contains a slash or names an existing file.
    let exists = |path: &Path| path.symlink_metadata().is_ok();
    let is_path = word.contains('/') || exists(&path);
    (is_path && (exists(&path) || path.parent().is_some_and(exists))).then_some(path)
}

fn restricted(plan: &SandboxPlan, spec: &SandboxSpec, path: &Path) -> Option<SandboxWall> {
    let is_in = |paths: &[PathBuf]| paths.iter().any(|place| path.starts_with(place));
    let is_device = path.starts_with("/dev");
    let is_restricted = match spec.level {
        ConfinementLevel::Inspect => {
            let is_private = plan.temporary.iter().any(|free| path.starts_with(free));
            let is_readable = is_in(&plan.readable) || is_device || is_private;
            is_in(&plan.hidden) || !is_readable || !is_device && !is_private && is_writable(path)
        }
        ConfinementLevel::WorkspaceWrite => {
            is_in(&plan.hidden)
                || is_in(&plan.read_only)
                || !is_in(&plan.writable) && !is_device && is_writable(path)
        }
        ConfinementLevel::Protect => {
            is_in(&plan.hidden)
                || is_in(&plan.read_only) && !is_in(&plan.writable)
                || plan.pinned.iter().any(|pinned| pinned == path)
        }
        ConfinementLevel::None => false,
    };
    let is_unsearched = spec.level == ConfinementLevel::Inspect && !is_in(&plan.readable);
    let mut roots = spec.places.workspace.iter();
    let root = roots.find(|root| is_unsearched && path.starts_with(root));
    let wall = || {
        root.map_or(SandboxWall::Path(path.to_owned()), |root| {
            SandboxWall::Unsearched(root.clone())
        })
    };
    is_restricted.then(wall)
}

/// Returns true if the user could write or create the file without confinement. Otherwise the level
/// is not the reason for the failure.
fn is_writable(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use rustix::fs::{Access, access};
        match access(path, Access::EXISTS) {
            Ok(()) => access(path, Access::WRITE_OK).is_ok(),
            Err(_) => path.parent().is_some_and(|folder| access(folder, Access::WRITE_OK).is_ok()),
        }
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        true
    }
}

/// Returns the address in a line, at a level without network: `scheme://host` or `host:port`.
fn address(spec: &SandboxSpec, line: &str) -> Option<SandboxWall> {
    let has_network = match spec.level {
        ConfinementLevel::Inspect => false,
        ConfinementLevel::WorkspaceWrite => spec.network == super::NetworkAccess::Allowed,
        ConfinementLevel::Protect | ConfinementLevel::None => true,
    };
    if has_network {
        return None;
    }
    let is_port = |port: &str| port.parse::<u16>().is_ok();
    line.split_whitespace()
        .map(|word| word.trim_matches(|one: char| "'\"`()[]<>,;:.".contains(one)))
        .find(|word| {
            word.contains("://")
                || word
                    .rsplit_once(':')
                    .is_some_and(|(host, port)| host.contains('.') && is_port(port))
                || word.parse::<std::net::IpAddr>().is_ok()
        })
        .map(|word| SandboxWall::Address(word.to_owned()))
}

#[cfg(test)]
mod tests {
    use pollux_config::protected::ProtectedPlaces;
    use std::sync::Arc;

    use pretty_assertions::assert_eq;

    use super::super::SandboxPlaces;
    use super::*;

    #[test]
    fn only_a_named_place_of_the_level_is_evidence() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        std::fs::create_dir_all(root.join(".git/hooks")).unwrap();
        std::fs::write(root.join("free"), "").unwrap();
        let places = SandboxPlaces::standard(
            &ProtectedPlaces::default(),
            vec![root.to_owned()],
            root.join("state"),
            root.join("t"),
        );
        let places = Arc::new(places);
        let wall = |level, output: &str| {
            wall_in(&SandboxSpec::new(level, Arc::clone(&places)), root, false, output)
        };
        let path = |name: &str| Some(SandboxWall::Path(root.join(name)));
        let (inspect, protect) = (ConfinementLevel::Inspect, ConfinementLevel::Protect);
        let hook = "sh: 1: cannot create .git/hooks/pre-commit: Read-only file system";
        assert_eq!(wall(protect, hook), path(".git/hooks/pre-commit"));
        assert_eq!(wall(protect, "sh: 1: cannot create ./free: Permission denied"), None);
        assert_eq!(wall(inspect, "sh: 1: cannot create ./free: Permission denied"), path("free"));
        assert_eq!(wall(protect, "the tests print: Permission denied"), None);
        assert_eq!(wall(inspect, "all good at .git/hooks/pre-commit"), None);
        let refused = "connect to 10.0.0.1:80: Operation not permitted";
        assert_eq!(wall(inspect, refused), Some(SandboxWall::Address("10.0.0.1:80".into())));
        assert_eq!(wall(protect, refused), None);
        let spec = SandboxSpec::new(protect, Arc::clone(&places));
        assert_eq!(wall_in(&spec, root, true, hook), None);
    }
}
