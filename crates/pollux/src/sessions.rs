//! The session of a run: a new one, one that goes on, or one that is imported. And the flags that only
//! list and delete.

use std::sync::Arc;

use jiff::Timestamp;
use pollux_protocol::{History, Repair};
use pollux_session::{
    RecordedFigures, SessionData, SessionError, SessionLog, SessionStore, Statistics,
    format_deleted, format_list,
};

use crate::exit::Failure;
use crate::headless::stderr_line;
use crate::setup::Setup;

/// A session that is ready to go on.
pub(crate) struct Opened {
    pub(crate) id: String,
    /// None for a new session: its file is made only when there is something to keep.
    log: Option<SessionLog>,
    pub(crate) history: History,
    pub(crate) statistics: Arc<Statistics>,
    /// What it did before.
    pub(crate) figures: RecordedFigures,
}

/// Does what `--list-sessions` or `--delete-session` ask for and gives the text to print; none when
/// neither was asked for.
pub(crate) fn serve(setup: &Setup) -> Option<Result<String, Failure>> {
    let store = SessionStore::new(&setup.project);
    if setup.arguments.list_sessions {
        let listed = store.list().map(|sessions| format_list(&sessions, None, Timestamp::now()));
        return Some(listed.map_err(|error| Failure::general(error.to_string())));
    }
    let identifier = setup.arguments.delete_session.as_ref()?;
    Some(match store.delete(identifier, None) {
        Ok(session) => Ok(format!("{}\n", format_deleted(&session, Timestamp::now()))),
        // Gemini CLI exits 0 after these messages, and scripts rely on it.
        Err(error @ (SessionError::NothingToDelete | SessionError::InvalidForDeletion(_))) => {
            stderr_line(&error.to_string());
            Ok(String::new())
        }
        Err(error) => Err(Failure::general(error.to_string())),
    })
}

/// Opens the session that the flags name.
pub(crate) fn open(setup: &Setup) -> Result<Opened, Failure> {
    let store = SessionStore::new(&setup.project);
    let arguments = &setup.arguments;
    if let Some(identifier) = &arguments.resume {
        return resume(&store, identifier, setup.interactive);
    }
    if let Some(path) = &arguments.session_file {
        let imported = store.import(&setup.cwd.join(path)).map_err(|error| {
            let error = match error {
                // As it was given.
                SessionError::Import(_) => SessionError::Import(path.display().to_string()),
                other => other,
            };
            Failure::input(format!("Error importing session from file: {error}"))
        })?;
        return Ok(restore(imported, setup.interactive));
    }
    let Some(id) = &arguments.session_id else { return Ok(fresh()) };
    // It begins when there is something to keep: a run that fails before that leaves the id free.
    store.check_new(id).map_err(|error| not_started(&error))?;
    Ok(Opened { id: id.clone(), ..fresh() })
}

fn not_started(error: &SessionError) -> Failure {
    Failure::input(format!("Error starting session: {error}"))
}

fn resume(store: &SessionStore, identifier: &str, interactive: bool) -> Result<Opened, Failure> {
    let failed = |error: SessionError| Failure::input(format!("Error resuming session: {error}"));
    match store.find(identifier) {
        Ok(session) => {
            store.resume(&session).map(|resumed| restore(resumed, interactive)).map_err(failed)
        }
        Err(error @ SessionError::NoneFound) if identifier == "latest" => {
            stderr_line(&format!("{error} Starting a new session."));
            Ok(fresh())
        }
        Err(error) => Err(failed(error)),
    }
}

fn fresh() -> Opened {
    Opened {
        id: uuid::Uuid::new_v4().to_string(),
        log: None,
        history: History::new(),
        statistics: Arc::default(),
        figures: RecordedFigures::default(),
    }
}

fn restore((log, mut data): (SessionLog, SessionData), interactive: bool) -> Opened {
    data.damage.iter().for_each(|damage| stderr_line(&format!("[WARNING] {damage}")));
    let (history, repairs) = data.history();
    for repair in &repairs {
        stderr_line(&format!("[WARNING] The session was mended: {}", describe(repair)));
    }
    let statistics = Arc::new(Statistics::new());
    // Those of a headless run are its own; a conversation goes on with what it had.
    if interactive {
        statistics.hydrate(&data.figures);
    }
    let (id, figures) = (log.session_id().to_owned(), data.figures);
    Opened { id, log: Some(log), history, statistics, figures }
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

impl Opened {
    /// The log of the session; that of a new session is made now.
    pub(crate) fn take_log(&mut self, setup: &Setup) -> Result<Arc<SessionLog>, Failure> {
        let log = match self.log.take() {
            Some(log) => log,
            None => SessionStore::new(&setup.project).create(Some(&self.id)).map_err(|error| {
                match error {
                    // Another process was faster.
                    SessionError::AlreadyExists(_) => not_started(&error),
                    error => Failure::tool(format!("The session log cannot be written: {error}")),
                }
            })?,
        };
        Ok(Arc::new(log))
    }
}
