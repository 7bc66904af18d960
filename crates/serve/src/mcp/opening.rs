//! Opening the session of a call.
//!
//! The model of the client writes the arguments, so that they cannot open more than the user has
//! opened: a folder outside of the server's must be trusted, further folders outside need the
//! user's yes, and the approval mode cannot exceed that of the user.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pollux_protocol::{
    NoUser, Operator, Question, QuestionChoice, QuestionOutcome, QuestionSubject, SessionRequest,
    SessionStart, SessionsError,
};

use super::call::Call;
use super::elicitation::ClientForms;
use super::session::{CallStatistics, Session, Stop, check_mode};
use super::tools::Task;
use crate::folders;
use crate::forms::FormOperator;

fn refused(reason: impl Into<String>) -> Stop {
    Stop::Refused(reason.into())
}

fn failed(error: &SessionsError) -> Stop {
    refused(error.to_string())
}

impl Call {
    /// Opens a session.
    pub(super) async fn open(&mut self, start: SessionStart, task: &Task) -> Result<Session, Stop> {
        let (context, id) = (Arc::clone(&self.context), self.session.clone());
        let template = &context.options.request;
        let folder = folder_of(&template.folder, task.cwd.as_deref().unwrap_or(Path::new("")))?;
        let is_open = self.is_open(&folder);
        let mut request = SessionRequest {
            model: task.model.clone().or_else(|| template.model.clone()),
            start,
            // The client cancels the call if the user wants to stop.
            continues_after_no: true,
            ..template.clone()
        };
        let forms = context.connection.capabilities().has_forms.then(|| {
            let forms = ClientForms { connection: Arc::clone(&context.connection) };
            Arc::new(FormOperator { forms, folder: folder.clone() }) as Arc<dyn Operator>
        });
        let further = self.further_folders(task, &folder, forms.as_ref()).await?;
        request.further_folders.extend(further);
        let statistics = Arc::<CallStatistics>::default();
        request.observers.push(statistics.clone());
        request.answers_model = forms.is_some();
        request.operator.clone_from(&forms);
        request.folder = folder;
        let shown = request.folder.display().to_string();
        let prepared = self.caller.unless_cancelled(context.sessions.prepare(request)).await?;
        let prepared = prepared.map_err(|error| failed(&error))?;
        let facts = prepared.facts();
        if facts.id != id {
            return Err(refused(format!("There is no session {id} in {shown}.")));
        }
        if !is_open && !facts.is_trusted {
            return Err(refused(format!(
                "The folder {shown} is outside of the server's folder and not trusted. The user can trust it with: pollux trust {shown}"
            )));
        }
        if let Some(mode) = task.mode {
            check_mode(mode, facts.mode)?;
            prepared.check_mode(mode).map_err(|error| failed(&error))?;
        }
        // A start cannot be undone; a call that is cancelled meanwhile ends with its prompt.
        let session = prepared.start().await.map_err(|error| failed(&error))?;
        Ok(Session::new(session, statistics, forms.unwrap_or_else(|| Arc::new(NoUser))))
    }

    /// True for a path in the folder of the server or in a further folder of its command line.
    fn is_open(&self, path: &Path) -> bool {
        let template = &self.context.options.request;
        let further = template.further_folders.iter().map(|folder| template.folder.join(folder));
        std::iter::once(template.folder.clone())
            .chain(further)
            .filter_map(|folder| pollux_fs::real_path(&folder).ok())
            .any(|folder| path.starts_with(folder))
    }

    /// Returns the further folders that a call names. The user decides about those that are not
    /// open.
    async fn further_folders(
        &mut self,
        task: &Task,
        folder: &Path,
        user: Option<&Arc<dyn Operator>>,
    ) -> Result<Vec<PathBuf>, Stop> {
        let mut further = Vec::new();
        for given in task.include_directories.iter().flatten() {
            let path = folder_of(folder, given)?;
            if !self.is_open(&path) && !path.starts_with(folder) {
                let question = question(&path);
                let reply = match user {
                    Some(user) => self.caller.unless_cancelled(user.ask(question)).await?.outcome,
                    None => QuestionOutcome::Cancel,
                };
                if reply != QuestionOutcome::ProceedOnce {
                    let shown = path.display();
                    return Err(refused(format!(
                        "The user has not allowed the folder {shown}. The user can start the server with --include-directories {shown}."
                    )));
                }
            }
            further.push(path);
        }
        Ok(further)
    }
}

/// Returns the real path of a folder that exists.
fn folder_of(base: &Path, given: &Path) -> Result<PathBuf, Stop> {
    let folder = base.join(given);
    folders::check(&folder).map_err(|reason| refused(format!("Cannot work there: {reason}.")))?;
    pollux_fs::real_path(&folder).map_err(|error| refused(error.to_string()))
}

fn question(folder: &Path) -> Question {
    let text = format!("The client wants to work in a further folder: {}", folder.display());
    let choices = vec![
        QuestionChoice::new(QuestionOutcome::ProceedOnce, "Allow for this session", 'y'),
        QuestionChoice::new(QuestionOutcome::Cancel, "Refuse", 'n'),
    ];
    Question::new(Arc::default(), QuestionSubject::Request { text }, choices, None)
}
