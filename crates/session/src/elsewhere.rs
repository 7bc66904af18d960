//! Sessions of other projects. The state of a project is stored by the path of its folder, so a
//! project that was moved or renamed has lost its sessions; by their ids, they are found again.

use std::path::PathBuf;

use pollux_config::ProjectIdentity;
use pollux_fs::{AppendLog, EntryKind};
use pollux_protocol::SessionEntry;

use crate::error::SessionError;
use crate::listing::summarise;
use crate::store::{SessionStore, claim, is_valid};

/// Session of another project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionElsewhere {
    /// The session.
    pub session: SessionEntry,
    /// Folder of the project; `None` if it is not recorded.
    pub folder: Option<PathBuf>,
}

impl SessionElsewhere {
    /// Returns the folder of the project if it still exists.
    pub fn existing_folder(&self) -> Option<&PathBuf> {
        let is_folder = |folder: &&PathBuf| {
            pollux_fs::info(folder).is_ok_and(|info| info.kind == EntryKind::Directory)
        };
        self.folder.as_ref().filter(is_folder)
    }
}

impl SessionStore {
    /// Finds a session of another project by its whole id; if several projects have one, the one
    /// that was used last.
    pub fn find_elsewhere(&self, id: &str) -> Option<SessionElsewhere> {
        let id = id.trim();
        // A number is a position in the list.
        if !is_valid(id) || id.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let projects = pollux_fs::list_directory(self.state().parent()?).ok()?;
        let others = projects
            .into_iter()
            .filter(|project| project.kind == EntryKind::Directory && project.path != self.state());
        let found = others.flat_map(|project| {
            let sessions = self.of_project(&project.path).files_of(id).collect::<Vec<_>>();
            let entry = |path: PathBuf| summarise(&path).filter(|session| !session.is_damaged);
            let folder = ProjectIdentity::root_of_state(&project.path);
            let elsewhere = move |session| SessionElsewhere { session, folder: folder.clone() };
            sessions.into_iter().filter_map(entry).map(elsewhere).collect::<Vec<_>>()
        });
        found.max_by(|left, right| left.session.last_updated.cmp(&right.session.last_updated))
    }

    /// Moves the file of a session of another project to this project.
    ///
    /// # Errors
    /// [`SessionError::InUse`] when another process has the session open; [`SessionError::Files`].
    pub fn adopt(&self, mut session: SessionEntry) -> Result<SessionEntry, SessionError> {
        claim(&mut AppendLog::open(&session.path)?, &session.id)?;
        let stem = session.path.file_stem().unwrap_or_default().to_string_lossy();
        let extension = session.path.extension().unwrap_or_default().to_string_lossy();
        let path = self.free_path(&stem, &extension);
        pollux_fs::create_private_directories(self.folder())?;
        pollux_fs::rename(&session.path, &path)?;
        session.path = path;
        Ok(session)
    }
}
