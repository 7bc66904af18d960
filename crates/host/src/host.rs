//! Host: opens any number of concurrent sessions.

use std::sync::Arc;

use async_trait::async_trait;
use pollux_config::Environment;
use pollux_protocol::{
    Origin, PreparedSession, SessionEntry, SessionFailure, SessionRequest, SessionStart, Sessions,
    SessionsError,
};
use pollux_session::{SessionError, SessionStore};

use crate::consent::{self, Consent};
use crate::left_behind::revert_left_behind;
use crate::models;
use crate::options::RunOptions;
use crate::prepared::Prepared;
use crate::sessions::new_id;
use crate::setup::{Beginning, Setup, SetupInput};

/// Everything that sessions have in common. Opening a session changes nothing here: sessions of the
/// same host may be in different folders and have different settings. Frontends use it as
/// [`Sessions`].
///
/// Work that waits for the disk runs on threads that may block, so that opening a session does not
/// delay other sessions on the runtime's thread.
pub struct Host {
    /// Environment of the process.
    pub environment: Environment,
    /// Options of the command line, for all sessions.
    pub options: RunOptions,
    /// Name that the program was called by, for hints.
    pub called_as: String,
}

impl Host {
    /// Reads the settings as for a session, for a command that shows them: opens no session, asks
    /// no questions and stores nothing. Blocks the thread.
    ///
    /// # Errors
    /// [`SessionFailure::Config`], [`SessionFailure::Sandbox`], [`SessionFailure::General`].
    pub fn look(&self, request: &SessionRequest) -> Result<Setup, SessionFailure> {
        look(self.input(request))
    }

    /// Reads the settings for a session. Asks the user which items of the project may take effect.
    async fn set_up(&self, request: &SessionRequest) -> Result<Setup, SessionFailure> {
        let input = self.input(request);
        let begun = blocking(move || {
            revert_left_behind(&input.environment, &*input.request.notices)?;
            let mut beginning = Beginning::read(input)?;
            Ok(match consent::consider(&mut beginning) {
                Consent::Settled(accepted) => Begun::SetUp(Setup::read(beginning, accepted)?),
                Consent::Open(open) => Begun::Asking(beginning, open),
            })
        });
        let (mut beginning, open) = match begun.await? {
            Begun::SetUp(setup) => return Ok(setup),
            Begun::Asking(beginning, open) => (beginning, open),
        };
        // Without a service the answers to the questions would be in vain.
        self.check_service(&beginning).await?;
        let answers = open.ask(&beginning).await;
        blocking(move || {
            let accepted = open.settle(&mut beginning, answers);
            Setup::read(beginning, accepted)
        })
        .await
    }

    /// Checks that a service can be used, as far as this does not depend on the project: its
    /// settings and `.env` may select one.
    async fn check_service(&self, beginning: &Beginning) -> Result<(), SessionFailure> {
        if beginning.project_may_select_a_service() {
            return Ok(());
        }
        let input = beginning.input.clone();
        let own = blocking(move || Beginning::read(input)?.without_the_project()).await?;
        models::check_service(&own).await
    }

    fn input(&self, request: &SessionRequest) -> SetupInput {
        let session = match &request.start {
            SessionStart::New(Some(name)) | SessionStart::Resume(name) => name.clone(),
            SessionStart::New(None) | SessionStart::Cleared => new_id(),
            // The imported session gets its id when it is read.
            SessionStart::Import(_) => String::new(),
        };
        SetupInput {
            options: self.options.clone(),
            environment: (request.variables.iter())
                .fold(self.environment.clone(), |all, (name, value)| all.with(name, value)),
            request: request.clone(),
            called_as: self.called_as.clone(),
            origin: Arc::new(Origin { session: session.into(), ..Origin::default() }),
        }
    }

    /// Works on the stored sessions of a folder.
    async fn with_store<T: Send + 'static>(
        &self,
        request: &SessionRequest,
        work: impl FnOnce(&SessionStore) -> Result<T, SessionFailure> + Send + 'static,
    ) -> Result<T, SessionsError> {
        let input = self.input(request);
        let work = move || work(&SessionStore::new(&look(input)?.project));
        Ok(blocking(work).await?)
    }
}

/// State of a session whose own settings are known.
enum Begun {
    /// Nothing needs to be asked.
    SetUp(Setup),
    /// The user decides which items of the project take effect.
    Asking(Beginning, consent::OpenItems),
}

fn look(mut input: SetupInput) -> Result<Setup, SessionFailure> {
    input.options.looks_up = true;
    let mut beginning = Beginning::read(input)?;
    let accepted = consent::pinned(&mut beginning);
    Setup::read(beginning, accepted)
}

#[async_trait]
impl Sessions for Host {
    async fn prepare(
        &self,
        request: SessionRequest,
    ) -> Result<Box<dyn PreparedSession>, SessionsError> {
        let setup = self.set_up(&request).await?;
        Ok(Box::new(Prepared::new(setup).await?))
    }

    async fn list(&self, request: SessionRequest) -> Result<Vec<SessionEntry>, SessionsError> {
        let list = |store: &SessionStore| {
            let mut sessions = store.list()?;
            store.add_subagents(&mut sessions)?;
            Ok(sessions)
        };
        let list = move |store: &SessionStore| {
            list(store).map_err(|error: SessionError| SessionFailure::general(&error))
        };
        self.with_store(&request, list).await
    }

    async fn delete(
        &self,
        request: SessionRequest,
        session: &str,
    ) -> Result<SessionEntry, SessionsError> {
        let session = session.to_owned();
        let delete = move |store: &SessionStore| match store.delete(&session, None) {
            Ok(deleted) => Ok(deleted),
            Err(error @ (SessionError::NothingToDelete | SessionError::InvalidForDeletion(_))) => {
                Err(SessionFailure::input(&error))
            }
            Err(error) => Err(SessionFailure::general(&error)),
        };
        self.with_store(&request, delete).await
    }
}

/// Runs blocking work on a thread of its own.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, SessionFailure> + Send + 'static,
) -> Result<T, SessionFailure> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| match error.try_into_panic() {
        // A panic is reported as if the work had run here.
        Ok(panic) => std::panic::resume_unwind(panic),
        Err(error) => Err(SessionFailure::general(&error)),
    })
}
