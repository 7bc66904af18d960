//! The session of a run: a new one, one that goes on, or one that is imported.

use std::sync::Arc;

use pollux_protocol::{History, Repair, SessionStart};
use pollux_session::{
    RecordedFigures, SessionData, SessionError, SessionLog, SessionStore, Statistics,
};

use crate::error::HostError;
use crate::setup::Setup;

/// The session that a run belongs to, before its agent is started.
pub struct ChosenSession {
    /// Its id.
    pub id: String,
    /// None for a new session: its file is made only when there is something to keep.
    log: Option<SessionLog>,
    /// Its conversation so far.
    pub(crate) history: History,
    /// The figures that this process adds to.
    pub(crate) statistics: Arc<Statistics>,
    /// What it did before.
    pub(crate) figures: RecordedFigures,
}

impl Setup {
    /// Finds or begins the session that `start` names.
    ///
    /// # Errors
    /// [`HostError::Input`] when it cannot be found, read or begun.
    pub fn session(&self, start: &SessionStart) -> Result<ChosenSession, HostError> {
        let store = SessionStore::new(&self.project);
        match start {
            SessionStart::Resume(identifier) => resume(self, &store, identifier),
            SessionStart::Import(path) => {
                let imported = store.import(&self.cwd.join(path)).map_err(|error| {
                    let error = match error {
                        // As it was given.
                        SessionError::Import(_) => SessionError::Import(path.display().to_string()),
                        other => other,
                    };
                    HostError::Input(format!("Error importing session from file: {error}"))
                })?;
                Ok(restore(self, imported))
            }
            SessionStart::New(None) => Ok(fresh()),
            SessionStart::New(Some(id)) => {
                // It begins when there is something to keep: a run that fails before that leaves the id free.
                store.check_new(id).map_err(|error| not_started(&error))?;
                Ok(ChosenSession { id: id.clone(), ..fresh() })
            }
        }
    }
}

fn not_started(error: &SessionError) -> HostError {
    HostError::Input(format!("Error starting session: {error}"))
}

fn resume(
    setup: &Setup,
    store: &SessionStore,
    identifier: &str,
) -> Result<ChosenSession, HostError> {
    let failed = |error: SessionError| HostError::Input(format!("Error resuming session: {error}"));
    match store.find(identifier) {
        Ok(session) => {
            store.resume(&session).map(|resumed| restore(setup, resumed)).map_err(failed)
        }
        Err(error @ SessionError::NoneFound) if identifier == "latest" => {
            setup.notices.notice(&format!("{error} Starting a new session."));
            Ok(fresh())
        }
        Err(error) => Err(failed(error)),
    }
}

fn fresh() -> ChosenSession {
    ChosenSession {
        id: uuid::Uuid::new_v4().to_string(),
        log: None,
        history: History::new(),
        statistics: Arc::default(),
        figures: RecordedFigures::default(),
    }
}

fn restore(setup: &Setup, (log, mut data): (SessionLog, SessionData)) -> ChosenSession {
    data.damage.iter().for_each(|damage| setup.notices.notice(&format!("[WARNING] {damage}")));
    let (history, repairs) = data.history();
    for repair in &repairs {
        setup.notices.notice(&format!("[WARNING] The session was mended: {}", describe(repair)));
    }
    let statistics = Arc::new(Statistics::new());
    // Those of a headless run are its own; a conversation goes on with what it had.
    if setup.options.interactive {
        statistics.hydrate(&data.figures);
    }
    let (id, figures) = (log.session_id().to_owned(), data.figures);
    ChosenSession { id, log: Some(log), history, statistics, figures }
}

fn describe(repair: &Repair) -> String {
    match repair {
        Repair::AnsweredCall(id) => format!("the call {id} had no result"),
        Repair::DroppedResponse(id) => format!("a result belonged to no call ({id})"),
        Repair::DroppedEntry(id) => format!("the message {id} was empty"),
        Repair::AddedStart => "it began with the model".to_owned(),
        Repair::AddedPlaceholder => "an answer was missing".to_owned(),
    }
}

impl ChosenSession {
    /// The log of the session; that of a new session is made now.
    pub(crate) fn take_log(&mut self, setup: &Setup) -> Result<Arc<SessionLog>, HostError> {
        let log = match self.log.take() {
            Some(log) => log,
            None => SessionStore::new(&setup.project).create(Some(&self.id)).map_err(|error| {
                match error {
                    // Another process was faster.
                    SessionError::AlreadyExists(_) => not_started(&error),
                    error => HostError::Log(format!("The session log cannot be written: {error}")),
                }
            })?,
        };
        Ok(Arc::new(log))
    }
}
