//! Checkpoints of the project's files.

use std::sync::Arc;

use pollux_protocol::{Checkpoints, NoCheckpoints, SessionFailure};
use pollux_session::{CheckpointRecords, GitCheckpoints, ShadowRepository, SharedCheckpoints};

use crate::setup::Setup;
use crate::state::SessionState;

impl Setup {
    /// True if checkpoints are made: only a user can restore them.
    fn has_checkpoints(&self) -> bool {
        self.is_interactive() && self.loaded.settings.boolean("general.checkpointing.enabled")
    }

    /// Returns the checkpoints of a session; `None` if they are off.
    pub(crate) fn checkpoints(&self, session: &str) -> Option<SharedCheckpoints> {
        let records = CheckpointRecords::new(self.project.checkpoints_dir());
        let checkpoints = || GitCheckpoints::new(self.shadow_repository(), records, session);
        self.has_checkpoints().then(|| Arc::new(checkpoints()))
    }

    /// Checks that checkpoints can be made, if they are on.
    ///
    /// # Errors
    /// [`SessionFailure::Config`] without Git.
    pub(crate) async fn check_checkpoints(&self) -> Result<(), SessionFailure> {
        if !self.has_checkpoints() {
            return Ok(());
        }
        self.shadow_repository().check().await.map_err(|error| SessionFailure::config(&error))
    }

    fn shadow_repository(&self) -> ShadowRepository {
        let path = self.loaded.environment.get("PATH").unwrap_or_default();
        let (folder, project) = (self.project.history_dir.clone(), self.project.root.clone());
        ShadowRepository::new(folder, project, path.into())
    }
}

impl SessionState {
    /// Returns the checkpoints as the agent uses them.
    pub(crate) fn agent_checkpoints(&self) -> Arc<dyn Checkpoints> {
        match &self.checkpoints {
            Some(checkpoints) => Arc::clone(checkpoints) as _,
            None => Arc::new(NoCheckpoints),
        }
    }
}
