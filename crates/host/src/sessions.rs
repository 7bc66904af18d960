//! Session of a run: new, resumed or imported.

use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use pollux_protocol::{
    EntryId, History, Part, Repair, ResumedState, Role, SessionEntry, SessionStart,
};
use pollux_session::{
    RecordedFigures, SessionData, SessionError, SessionLog, SessionStore, Statistics,
};

use crate::setup::Setup;
use pollux_protocol::SessionFailure;

/// The session that a run belongs to, before its agent is started.
pub(crate) struct ChosenSession {
    /// Id of the session.
    pub(crate) id: String,
    /// Log of the session; `None` for a new session, whose file is created only when there is
    /// something to keep.
    log: Option<SessionLog>,
    /// Conversation so far.
    pub(crate) history: History,
    /// Statistics that this process adds to.
    pub(crate) statistics: Arc<Statistics>,
    /// Figures from before this process.
    pub(crate) figures: RecordedFigures,
    /// Title and time of a resumed session.
    pub(crate) earlier: ResumedState,
}

impl Setup {
    /// Finds, imports or creates the session that the request names.
    ///
    /// # Errors
    /// [`SessionFailure::Input`] if the session cannot be found, read or created.
    pub(crate) fn session(&self) -> Result<ChosenSession, SessionFailure> {
        let store = SessionStore::new(&self.project);
        match &self.input.request.start {
            SessionStart::Resume(identifier) => resume(self, &store, identifier),
            SessionStart::Import(path) => {
                let imported =
                    store.import(&self.input.request.folder.join(path)).map_err(|error| {
                        let error = match error {
                            // The message shows the path as the user typed it.
                            SessionError::Import(_) => {
                                SessionError::Import(path.display().to_string())
                            }
                            other => other,
                        };
                        SessionFailure::Input(format!("Error importing session from file: {error}"))
                    })?;
                Ok(restore(self, imported))
            }
            // The questions so far have the same id.
            SessionStart::New(None) | SessionStart::Cleared => {
                Ok(fresh(self.input.origin.session.to_string()))
            }
            SessionStart::New(Some(id)) => {
                // The file is created when there is something to keep: a run that fails earlier
                // leaves the id free.
                store.check_new(id).map_err(|error| not_started(&error))?;
                Ok(fresh(id.clone()))
            }
        }
    }
}

fn not_started(error: &SessionError) -> SessionFailure {
    SessionFailure::Input(format!("Error starting session: {error}"))
}

fn resume(
    setup: &Setup,
    store: &SessionStore,
    identifier: &str,
) -> Result<ChosenSession, SessionFailure> {
    let failed =
        |error: SessionError| SessionFailure::Input(format!("Error resuming session: {error}"));
    match store.find(identifier) {
        Ok(session) => {
            store.resume(&session).map(|resumed| restore(setup, resumed)).map_err(failed)
        }
        Err(error @ SessionError::NoneFound) if identifier == "latest" => {
            setup.input.request.notices.info(&format!("{error} Starting a new session."));
            Ok(fresh(new_id()))
        }
        Err(error @ (SessionError::NoneFound | SessionError::InvalidIdentifier { .. })) => {
            let session = moved_here(setup, store, identifier, error).map_err(failed)?;
            store.resume(&session).map(|resumed| restore(setup, resumed)).map_err(failed)
        }
        Err(error) => Err(failed(error)),
    }
}

/// Finds a session of a project that was moved or renamed, and makes it a session of this project.
/// Its workspace is then the present folder, as for any other session.
fn moved_here(
    setup: &Setup,
    store: &SessionStore,
    id: &str,
    not_found: SessionError,
) -> Result<SessionEntry, SessionError> {
    let Some(elsewhere) = store.find_elsewhere(id) else { return Err(not_found) };
    if let Some(folder) = elsewhere.existing_folder() {
        let (folder, file) = (folder.clone(), elsewhere.session.path);
        return Err(SessionError::OtherProject { id: elsewhere.session.id, folder, file });
    }
    let before = elsewhere.folder.map_or_else(
        || "in a folder that is not recorded".to_owned(),
        |folder| format!("in {}, which no longer exists", folder.display()),
    );
    let session = store.adopt(elsewhere.session)?;
    let here = setup.project.root.display();
    setup.input.request.notices.info(&format!(
        "Session {} began {before}. It continues in {here}, which is now its workspace.",
        session.id
    ));
    Ok(session)
}

/// Creates the id of a new session.
pub(crate) fn new_id() -> String {
    uuid::Uuid::new_v4().to_string()
}

fn fresh(id: String) -> ChosenSession {
    ChosenSession {
        id,
        log: None,
        history: History::new(),
        statistics: Arc::default(),
        figures: RecordedFigures::default(),
        earlier: ResumedState::default(),
    }
}

fn restore(setup: &Setup, (log, mut data): (SessionLog, SessionData)) -> ChosenSession {
    data.damage
        .iter()
        .for_each(|damage| setup.input.request.notices.warning(&format!("[WARNING] {damage}")));
    let earlier = earlier(&data);
    let (history, repairs) = data.history();
    for repair in &repairs {
        setup
            .input
            .request
            .notices
            .warning(&format!("[WARNING] The session was repaired: {}", describe(repair)));
    }
    let statistics = Arc::new(Statistics::new());
    // Statistics of a headless run cover that run only; those of a conversation continue.
    if setup.is_interactive() {
        statistics.hydrate(&data.figures);
    }
    let (id, figures) = (log.session_id().to_owned(), data.figures);
    ChosenSession { id, log: Some(log), history, statistics, figures, earlier }
}

/// Returns the title and the time of a stored session.
fn earlier(data: &SessionData) -> ResumedState {
    let prompts = data
        .contents
        .iter()
        .filter(|(id, content)| id.as_str() != EntryId::CONTEXT && content.role == Role::User);
    // The first part of a prompt is what the user typed; files follow.
    let first = prompts.filter_map(|(_, content)| content.parts.iter().find_map(Part::as_text));
    let first = first.map(str::trim).find(|text| !text.is_empty()).unwrap_or_default();
    let title = data.summary.as_deref().unwrap_or(first);
    let local = |time: Timestamp| time.to_zoned(TimeZone::system());
    let time = data.last_updated.parse().map(local);
    ResumedState {
        title: title.lines().next().unwrap_or_default().to_owned(),
        last_used: time.map(|time| time.strftime("%Y-%m-%d %H:%M").to_string()).unwrap_or_default(),
        ..ResumedState::default()
    }
}

fn describe(repair: &Repair) -> String {
    match repair {
        Repair::AnsweredCall(id) => format!("the call {id} had no result"),
        Repair::DroppedResponse(id) => format!("a result had no call ({id})"),
        Repair::DroppedEntry(id) => format!("the message {id} was empty"),
        Repair::AddedStart => "it began with the model".to_owned(),
        Repair::AddedPlaceholder => "an answer was missing".to_owned(),
    }
}

impl ChosenSession {
    /// Returns the log of the session. Creates the file of a new session.
    pub(crate) fn take_log(&mut self, setup: &Setup) -> Result<Arc<SessionLog>, SessionFailure> {
        let log = match self.log.take() {
            Some(log) => log,
            None => SessionStore::new(&setup.project).create(Some(&self.id)).map_err(|error| {
                match error {
                    // Another process has created the session first.
                    SessionError::AlreadyExists(_) => not_started(&error),
                    error => {
                        SessionFailure::Log(format!("The session log cannot be written: {error}"))
                    }
                }
            })?,
        };
        Ok(Arc::new(log))
    }
}
