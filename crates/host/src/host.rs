//! Host: opens any number of concurrent sessions.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use pollux_config::{Environment, Places, ProjectIdentity};
use pollux_protocol::{
    Origin, RunningSession, SessionEntry, SessionRequest, SessionStart, Sessions, SessionsError,
};
use pollux_session::{SessionStore, SessionSummary};

use crate::consent;
use crate::error::HostError;
use crate::options::RunOptions;
use crate::running::{OpenSession, PreparedSession};
use crate::sessions::{ChosenSession, new_id};
use crate::setup::{Beginning, Setup, Start};

/// Everything that sessions have in common. Opening a session changes nothing here: sessions of the
/// same host may be in different folders and have different settings.
pub struct Host {
    /// Environment of the process.
    pub environment: Environment,
    /// Options of the command line, for all sessions.
    pub options: RunOptions,
    /// Name that the program was called by, for hints.
    pub called_as: String,
}

impl Host {
    /// Opens a session.
    ///
    /// # Errors
    /// [`HostError`]; its variant names the kind of failure.
    pub async fn open(&self, request: &SessionRequest) -> Result<OpenSession, HostError> {
        let setup = self.set_up(request).await?;
        let chosen = setup.session(&request.start)?;
        self.prepare(setup, chosen).await?.start()
    }

    /// Reads the settings for a session. Asks the user which items of the project may take effect.
    ///
    /// # Errors
    /// [`HostError::Config`], [`HostError::Sandbox`], [`HostError::General`].
    pub async fn set_up(&self, request: &SessionRequest) -> Result<Setup, HostError> {
        let mut beginning = Beginning::read(self.start(request))?;
        let accepted = consent::settle(&mut beginning).await;
        Setup::read(beginning, accepted)
    }

    /// Reads the settings without opening a session: asks no questions and pins nothing.
    ///
    /// # Errors
    /// As [`Self::set_up`].
    pub fn look(&self, request: &SessionRequest) -> Result<Setup, HostError> {
        let mut beginning = Beginning::read(self.start(request))?;
        let accepted = consent::pinned(&mut beginning);
        Setup::read(beginning, accepted)
    }

    /// Selects the models and the limits of a session. Asks the user to choose a local model if no
    /// service is configured.
    ///
    /// # Errors
    /// [`HostError::Model`] if there is no usable model; [`HostError::Config`] for limits that
    /// cannot be used.
    pub async fn prepare(
        &self,
        mut setup: Setup,
        chosen: ChosenSession,
    ) -> Result<PreparedSession, HostError> {
        setup.choose_local_model(&chosen.id).await;
        let models = setup.models().await?;
        let overrides = setup.prompt_overrides()?;
        let spending = setup.spending(&chosen.figures)?;
        Ok(PreparedSession { setup: Arc::new(setup), chosen, models, overrides, spending })
    }

    fn start(&self, request: &SessionRequest) -> Start {
        let session = match &request.start {
            SessionStart::New(Some(name)) | SessionStart::Resume(name) => name.clone(),
            SessionStart::New(None) => new_id(),
            // The imported session gets its id when it is read.
            SessionStart::Import(_) => String::new(),
        };
        Start {
            options: self.options.clone(),
            environment: self.environment.clone(),
            request: request.clone(),
            called_as: self.called_as.clone(),
            origin: Arc::new(Origin { session: session.into(), ..Origin::default() }),
        }
    }

    fn store(&self, folder: &Path) -> SessionStore {
        let places = Places::new(&self.environment);
        SessionStore::new(&ProjectIdentity::resolve(&places, folder))
    }
}

impl From<HostError> for SessionsError {
    fn from(error: HostError) -> Self {
        Self(error.to_string())
    }
}

#[async_trait]
impl Sessions for Host {
    async fn open(
        &self,
        request: SessionRequest,
    ) -> Result<Box<dyn RunningSession>, SessionsError> {
        Ok(Box::new(Self::open(self, &request).await?))
    }

    async fn list(&self, folder: &Path) -> Result<Vec<SessionEntry>, SessionsError> {
        let store = self.store(folder);
        let listed = blocking(move || store.list()).await?;
        Ok(listed.into_iter().map(entry).collect())
    }

    async fn delete(&self, folder: &Path, session: &str) -> Result<(), SessionsError> {
        let (store, session) = (self.store(folder), session.to_owned());
        blocking(move || store.delete(&session, None)).await?;
        Ok(())
    }
}

/// Runs blocking work on a thread of its own.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, pollux_session::SessionError> + Send + 'static,
) -> Result<T, SessionsError> {
    let done = tokio::task::spawn_blocking(work).await;
    let done = done.map_err(|error| SessionsError(error.to_string()))?;
    done.map_err(|error| SessionsError(error.to_string()))
}

fn entry(summary: SessionSummary) -> SessionEntry {
    SessionEntry {
        index: summary.index,
        title: summary.title().to_owned(),
        is_damaged: summary.is_damaged,
        id: summary.id,
        last_updated: summary.last_updated,
    }
}
