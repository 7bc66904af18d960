//! The state of the protected paths before a command as bytes, so that a later run can finish the
//! audit of a run that was killed.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::{FileState, Identity, SandboxAudit, SandboxChange, Watched, links};
use crate::sandbox::SandboxPlaces;
use crate::sandbox::encoding::{
    put_bytes, put_count, put_number, put_path, take, take_absolute_path, take_bytes, take_count,
    take_number, take_path,
};
use crate::sandbox::survey::{RepositoryPlaces, WorkspaceSurvey};

/// Trust in the file numbers of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::sandbox) enum AuditView {
    /// The numbers are those of the record.
    SameNumbers,
    /// The system was started again, and file systems may have other numbers: only new files and
    /// the content of configuration files can be compared.
    NewNumbers,
}

impl SandboxAudit {
    /// Adds the state to `bytes`.
    pub(in crate::sandbox) fn encode(&self, bytes: &mut Vec<u8>) {
        put_count(bytes, self.watched.len());
        for watched in &self.watched {
            put_path(bytes, &watched.path);
            put_identity(bytes, watched.identity.as_ref());
            put_count(bytes, watched.above.len());
            for (folder, identity) in &watched.above {
                put_path(bytes, folder);
                put_identity(bytes, Some(identity));
            }
        }
        for files in [&self.configurations, &self.links] {
            put_count(bytes, files.len());
            for (path, state) in files {
                put_path(bytes, path);
                put_state(bytes, state);
            }
        }
    }

    /// Reads a state to its last byte; `None` if it is damaged. `state` is the private folder of
    /// Pollux.
    pub(in crate::sandbox) fn decode(state: &Path, bytes: &[u8]) -> Option<Self> {
        let rest = &mut &bytes[..];
        let count = take_count(rest)?;
        let watched = (0..count).map(|_| take_watched(rest)).collect::<Option<_>>()?;
        let configurations = take_files(rest)?;
        let links = take_files(rest)?;
        let audit = Self { state: state.to_owned(), watched, configurations, links };
        rest.is_empty().then_some(audit)
    }

    /// Returns true if the root folder is the one that the audit has seen. A container or another
    /// mount namespace has a different one.
    pub(in crate::sandbox) fn has_same_root(&self) -> bool {
        let root = self.watched.iter().flat_map(|watched| &watched.above);
        let mut root = root.filter(|(folder, _)| folder.parent().is_none());
        root.all(|(folder, before)| Identity::of(folder).as_ref() == Some(before))
    }

    /// Reverts the changes that the commands of a killed run left, and returns them. Nothing is
    /// changed except at paths that are audited for `places`: a record may be forged.
    pub(in crate::sandbox) fn finish_left_behind(
        mut self,
        places: &SandboxPlaces,
        view: AuditView,
    ) -> Vec<SandboxChange> {
        if view == AuditView::NewNumbers {
            self.watched.retain(|watched| watched.identity.is_none());
            for folder in self.watched.iter_mut().flat_map(|watched| &mut watched.above) {
                folder.1 = Identity::of(&folder.0).unwrap_or_else(|| folder.1.clone());
            }
        }
        self.watched.retain(|watched| !self.state.starts_with(&watched.path));
        // The links of a worktree lead to the repository whose configuration is audited.
        let audited = audited_paths(places);
        let is_link = |path: &Path| {
            let root = places.workspace.iter().find(|root| path.starts_with(root));
            audited.contains(path) || (root.is_some() && path.ends_with(".git"))
        };
        let mut changes = self.check_links(&is_link);
        let audited = audited_paths(places);
        changes.extend(self.check_watched(&|path| audited.contains(path)));
        changes.extend(self.check_configurations(&|path| audited.contains(path)));
        changes
    }
}

/// Returns all paths that are audited for these places.
fn audited_paths(places: &SandboxPlaces) -> HashSet<PathBuf> {
    let mut paths = places.protected.clone();
    paths.push(places.state.join(super::CONSENT));
    for repository in
        WorkspaceSurvey::of(pollux_protocol::ConfinementLevel::Protect, places).repositories
    {
        let RepositoryPlaces { protected, links, configurations, .. } = repository;
        paths.extend([protected, links, configurations].concat());
    }
    paths.extend(links::on_the_way(&paths));
    paths.into_iter().collect()
}

fn put_identity(bytes: &mut Vec<u8>, identity: Option<&Identity>) {
    let Some(Identity { device, inode, link }) = identity else { return bytes.push(0) };
    bytes.push(if link.is_some() { 2 } else { 1 });
    put_number(bytes, *device);
    put_number(bytes, *inode);
    if let Some(link) = link {
        put_path(bytes, link);
    }
}

/// Reads the identity of a file; `Some(None)` for a missing file.
#[expect(clippy::option_option, reason = "the outer one is the error")]
fn take_identity(bytes: &mut &[u8]) -> Option<Option<Identity>> {
    let kind = take(bytes, 1)?;
    if kind == [0] {
        return Some(None);
    }
    let (device, inode) = (take_number(bytes)?, take_number(bytes)?);
    let link = match kind {
        [1] => None,
        [2] => Some(take_path(bytes)?),
        _ => return None,
    };
    Some(Some(Identity { device, inode, link }))
}

fn take_watched(bytes: &mut &[u8]) -> Option<Watched> {
    let path = take_absolute_path(bytes)?;
    let identity = take_identity(bytes)?;
    let count = take_count(bytes)?;
    let above = (0..count)
        .map(|_| Some((take_absolute_path(bytes)?, take_identity(bytes)??)))
        .collect::<Option<_>>()?;
    Some(Watched { path, identity, above })
}

fn put_state(bytes: &mut Vec<u8>, state: &FileState) {
    match state {
        FileState::Absent => bytes.push(0),
        FileState::Other => bytes.push(1),
        FileState::File { bytes: content, mode } => {
            bytes.push(2);
            put_number(bytes, (*mode).into());
            put_bytes(bytes, content);
        }
    }
}

fn take_state(bytes: &mut &[u8]) -> Option<FileState> {
    Some(match take(bytes, 1)? {
        [0] => FileState::Absent,
        [1] => FileState::Other,
        [2] => {
            let mode = u32::try_from(take_number(bytes)?).ok().filter(|mode| *mode <= 0o777)?;
            FileState::File { mode, bytes: take_bytes(bytes)?.to_owned() }
        }
        _ => return None,
    })
}

fn take_files(bytes: &mut &[u8]) -> Option<Vec<(PathBuf, FileState)>> {
    let count = take_count(bytes)?;
    (0..count).map(|_| Some((take_absolute_path(bytes)?, take_state(bytes)?))).collect()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn audit() -> SandboxAudit {
        let identity = |link: Option<&str>| Identity {
            device: 1,
            inode: 1 << 40,
            link: link.map(PathBuf::from),
        };
        let watched = |path: &str, identity| Watched {
            path: path.into(),
            identity,
            above: vec![("/".into(), Identity { device: 7, inode: 2, link: None })],
        };
        let file = FileState::File { bytes: b"[core]\n".to_vec(), mode: 0o600 };
        SandboxAudit {
            state: "/state".into(),
            watched: vec![
                watched("/home/.zshenv", None),
                watched("/home/.bashrc", Some(identity(Some("dotfiles/line\nbreak")))),
                watched("/home/.ssh", Some(identity(None))),
            ],
            configurations: vec![("/p/.git/config".into(), file)],
            links: vec![
                ("/w/.git".into(), FileState::Absent),
                ("/x/.git".into(), FileState::Other),
            ],
        }
    }

    #[test]
    fn a_state_survives_as_bytes_and_a_damaged_one_is_refused() {
        let mut bytes = Vec::new();
        audit().encode(&mut bytes);
        let decode = |bytes: &[u8]| SandboxAudit::decode(Path::new("/state"), bytes);
        assert_eq!(decode(&bytes), Some(audit()));
        for length in 0..bytes.len() {
            assert_eq!(decode(&bytes[..length]), None, "{length}");
        }
        assert_eq!(decode(&[&bytes[..], b"x"].concat()), None);
        let mut relative = audit();
        relative.configurations[0].0 = "relative".into();
        let mut bytes = Vec::new();
        relative.encode(&mut bytes);
        assert_eq!(decode(&bytes), None);
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic(bytes: Vec<u8>) {
            SandboxAudit::decode(Path::new("/state"), &bytes);
        }
    }
}
