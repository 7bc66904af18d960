//! The plan of one confinement: the restrictions that the helper applies to its own process, as
//! data and as bytes.

use std::path::PathBuf;

use pollux_protocol::ConfinementLevel;

use super::audit::FileState;
use super::encoding::{put_list, take, take_list, take_numbers};
use super::survey::WorkspaceSurvey;
use super::{GitConfiguration, NetworkAccess, SandboxSpec, SignalReach};

/// First bytes of an encoded plan, including the version of the format.
const HEADER: &[u8] = b"pollux-sandbox-plan 2\n";

/// Restrictions that the helper applies to its own process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxPlan {
    /// `inspect`, `workspace-write` or `protect`.
    pub(crate) level: ConfinementLevel,
    /// Permission to use sockets.
    pub(crate) network: NetworkAccess,
    /// Permission to send signals.
    pub(crate) signals: SignalReach,
    /// Processes and threads of Pollux, which get no signals whatever the permission.
    pub(crate) shielded: Vec<u32>,
    /// Existing files and folders to mount read-only.
    pub(crate) read_only: Vec<PathBuf>,
    /// Existing folders to mount over themselves, so that they cannot be moved.
    pub(crate) pinned: Vec<PathBuf>,
    /// Existing files and folders that stay writable.
    pub(crate) writable: Vec<PathBuf>,
    /// Existing files and folders that cannot be read.
    pub(crate) hidden: Vec<PathBuf>,
    /// Existing files and folders that can be read at `inspect`, with links resolved.
    pub(crate) readable: Vec<PathBuf>,
    /// Private temporary folder at `inspect`.
    pub(crate) temporary: Option<PathBuf>,
    /// File in which the shell lists its background jobs.
    pub(crate) job_list: Option<PathBuf>,
}

impl SandboxPlan {
    /// Returns the plan for a child, from its specification and the current contents of the
    /// workspace.
    pub(crate) fn new(spec: &SandboxSpec, survey: &WorkspaceSurvey) -> Self {
        let places = &spec.places;
        let mut plan = Self {
            level: spec.level,
            network: spec.network,
            signals: spec.signals,
            shielded: Vec::new(),
            read_only: Vec::new(),
            pinned: Vec::new(),
            writable: Vec::new(),
            hidden: existing(&places.credentials),
            readable: Vec::new(),
            temporary: None,
            job_list: None,
        };
        if spec.level != ConfinementLevel::Protect {
            plan.hidden.extend(existing(&places.all_secrets()));
            plan.hidden.extend(survey.secrets.iter().cloned());
        }
        if spec.level == ConfinementLevel::Inspect {
            let repositories = survey.repositories.iter();
            let places = places.readable.iter().chain(&survey.searched);
            let places = places.chain(repositories.filter_map(|found| found.readable.as_ref()));
            plan.readable = places.filter_map(|path| path.canonicalize().ok()).collect();
        } else {
            plan.pinned = existing(&places.pinned);
            plan.read_only = existing(&places.protected);
            for repository in &survey.repositories {
                plan.pinned.extend(repository.pinned.iter().cloned());
                plan.read_only.extend(existing(&repository.protected));
                if spec.git_configuration == GitConfiguration::Writable {
                    // A change of such a file could not be taken back.
                    let other = |path: &&PathBuf| FileState::of(path) == FileState::Other;
                    let configurations = repository.configurations.iter();
                    plan.read_only.extend(configurations.filter(other).cloned());
                } else {
                    plan.read_only.extend(existing(&repository.configurations));
                    plan.read_only.extend(existing(&repository.links));
                }
            }
            plan.writable = existing(&places.writable);
        }
        if spec.level == ConfinementLevel::WorkspaceWrite {
            plan.writable.extend(existing(&places.workspace));
            plan.writable.extend(existing(&places.caches));
        }
        #[cfg(target_os = "linux")]
        plan.add_other_names();
        for list in [
            &mut plan.read_only,
            &mut plan.pinned,
            &mut plan.writable,
            &mut plan.hidden,
            &mut plan.readable,
        ] {
            list.sort();
            list.dedup();
        }
        plan
    }

    /// Adds further names of restricted paths whose folder is mounted more than once.
    #[cfg(target_os = "linux")]
    fn add_other_names(&mut self) {
        let mounts = super::linux::OtherMounts::of_this_process();
        for list in [&mut self.read_only, &mut self.pinned, &mut self.hidden] {
            let names: Vec<PathBuf> = list.iter().flat_map(|path| mounts.names(path)).collect();
            list.extend(existing(&names));
        }
    }

    /// Encodes the plan.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = HEADER.to_vec();
        bytes.push(match self.level {
            ConfinementLevel::Inspect => 1,
            ConfinementLevel::WorkspaceWrite => 2,
            ConfinementLevel::Protect => 3,
            ConfinementLevel::None => 0,
        });
        bytes.push(u8::from(self.network == NetworkAccess::Allowed));
        bytes.push(u8::from(self.signals == SignalReach::Others));
        bytes.extend((self.shielded.len() as u32).to_le_bytes());
        bytes.extend(self.shielded.iter().flat_map(|number| number.to_le_bytes()));
        for list in [&self.read_only, &self.pinned, &self.writable, &self.hidden, &self.readable] {
            put_list(&mut bytes, list.iter());
        }
        put_list(&mut bytes, self.temporary.iter());
        put_list(&mut bytes, self.job_list.iter());
        bytes
    }

    /// Reads an encoded plan; `None` if it is damaged.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let rest = &mut bytes.strip_prefix(HEADER)?;
        let level = match take(rest, 1)? {
            [1] => ConfinementLevel::Inspect,
            [2] => ConfinementLevel::WorkspaceWrite,
            [3] => ConfinementLevel::Protect,
            _ => return None,
        };
        let network = match take(rest, 1)? {
            [0] => NetworkAccess::Denied,
            [1] => NetworkAccess::Allowed,
            _ => return None,
        };
        let signals = match take(rest, 1)? {
            [0] => SignalReach::OwnCommand,
            [1] => SignalReach::Others,
            _ => return None,
        };
        let plan = Self {
            level,
            network,
            signals,
            shielded: take_numbers(rest)?,
            read_only: take_list(rest)?,
            pinned: take_list(rest)?,
            writable: take_list(rest)?,
            hidden: take_list(rest)?,
            readable: take_list(rest)?,
            temporary: take_list(rest)?.pop(),
            job_list: take_list(rest)?.pop(),
        };
        rest.is_empty().then_some(plan)
    }
}

/// Returns the paths that exist, including links.
fn existing(paths: &[PathBuf]) -> Vec<PathBuf> {
    paths.iter().filter(|path| path.symlink_metadata().is_ok()).cloned().collect()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn plan() -> SandboxPlan {
        SandboxPlan {
            level: ConfinementLevel::Protect,
            network: NetworkAccess::Allowed,
            signals: SignalReach::Others,
            shielded: vec![1, 4_000_000],
            read_only: vec!["/a/.git/config".into(), "/line\nbreak".into()],
            pinned: vec!["/a/.git".into()],
            writable: Vec::new(),
            hidden: vec!["/home/u/.netrc".into()],
            readable: vec!["/usr".into()],
            temporary: Some("/tmp/x".into()),
            job_list: None,
        }
    }

    #[test]
    fn a_plan_survives_as_bytes_and_a_damaged_one_is_refused() {
        let bytes = plan().encode();
        assert_eq!(SandboxPlan::decode(&bytes), Some(plan()));
        for length in 0..bytes.len() {
            assert_eq!(SandboxPlan::decode(&bytes[..length]), None, "{length}");
        }
        let longer = [&bytes[..], b"x"].concat();
        assert_eq!(SandboxPlan::decode(&longer), None);
        let mut relative = plan();
        relative.hidden = vec!["relative".into()];
        assert_eq!(SandboxPlan::decode(&relative.encode()), None);
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic(bytes: Vec<u8>) {
            let bytes = [HEADER, &bytes].concat();
            SandboxPlan::decode(&bytes);
        }
    }
}
