//! Opening a session for a client.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use agent_client_protocol_schema::v1::{
    ElicitationRequestScope, ElicitationScope, Error, RequestId, SessionId,
};
use async_trait::async_trait;
use pollux_protocol::{
    Operator, PreparedSession, Question, QuestionOutcome, QuestionReply, QuestionSubject,
    RunningSession, SessionRequest, Sessions, SessionsError, TranscriptFrom,
};

use super::connection::Connection;
use super::costs::Costs;
use super::elicitation::ClientForms;
use super::files::ClientFiles;
use super::notices::ClientNotices;
use super::options::SessionOptions;
use super::outcome::DescribeOutcome;
use super::questions::PermissionOperator;
use super::session::{OpenedAnswer, Running, Session};
use super::{commands, errors, replay};
use crate::forms::FormOperator;
use crate::json_rpc::outbox::ClientGone;

/// Maximum time for the list of models: a session does not wait longer for a slow server.
const LISTING: Duration = Duration::from_millis(500);
/// Number of messages of a page of the transcript.
const PAGE: usize = 100;

/// Everything that a session of a client is opened with.
pub(crate) struct SessionContext {
    pub(crate) sessions: Arc<dyn Sessions>,
    pub(crate) connection: Arc<Connection>,
    pub(crate) session: SessionId,
    /// Request for the session, without a user.
    pub(crate) request: SessionRequest,
    pub(crate) notices: Arc<ClientNotices>,
    pub(crate) costs: Arc<Costs>,
    pub(crate) describe_failure: DescribeOutcome,
}

/// Decision of the user about a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trusted {
    Yes,
    No,
}

/// Kind of the request that opens a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `session/new`.
    New,
    /// `session/load`: the conversation is sent again.
    Load,
    /// `session/resume`: the client knows the conversation.
    Resume,
}

impl SessionContext {
    /// Creates the context of a session. `template` has everything that sessions have in common.
    pub(crate) fn new(
        sessions: Arc<dyn Sessions>,
        connection: Arc<Connection>,
        session: SessionId,
        template: SessionRequest,
        describe_failure: DescribeOutcome,
    ) -> Self {
        let log = Arc::clone(&template.notices);
        let notices = ClientNotices::new(Arc::clone(&connection), session.clone(), log);
        let (notices, costs) = (Arc::new(notices), Arc::<Costs>::default());
        let folder = template.folder.clone();
        let files = ClientFiles {
            connection: Arc::clone(&connection),
            session: session.clone(),
            real_folder: pollux_fs::real_path(&folder).unwrap_or_else(|_| folder.clone()),
            folder,
        };
        let mut request = SessionRequest {
            answers_model: connection.has_forms(),
            // As in Gemini CLI: the client cancels the prompt if the user wants to stop.
            continues_after_no: true,
            notices: notices.clone(),
            files: Arc::new(files),
            ..template
        };
        request.observers.push(costs.clone());
        Self { sessions, connection, session, request, notices, costs, describe_failure }
    }

    /// Returns the user of the client.
    pub(crate) fn operator(&self) -> PermissionOperator {
        PermissionOperator {
            connection: Arc::clone(&self.connection),
            session: self.session.clone(),
            folder: self.request.folder.clone(),
        }
    }

    /// Returns the user of a client that has forms.
    pub(crate) fn forms(&self, scope: impl Into<ElicitationScope>) -> FormOperator<ClientForms> {
        let connection = Arc::clone(&self.connection);
        FormOperator {
            forms: ClientForms { connection, scope: scope.into() },
            folder: self.request.folder.clone(),
        }
    }

    fn request_for(&self, operator: Arc<dyn Operator>) -> SessionRequest {
        SessionRequest { operator: Some(operator), ..self.request.clone() }
    }

    /// Prepares the session. The user decides about the folder by permission requests.
    pub(crate) async fn prepare_with_question(
        self: Arc<Self>,
    ) -> Result<Box<dyn PreparedSession>, SessionsError> {
        self.sessions.prepare(self.request_for(Arc::new(self.operator()))).await
    }

    /// Lets the user decide about the folder of a session that is running.
    pub(crate) async fn ask_for_trust(self: Arc<Self>) -> Result<Trusted, SessionsError> {
        let prepared = self.prepare_with_question().await?;
        Ok(if prepared.facts().is_trusted { Trusted::Yes } else { Trusted::No })
    }

    /// Opens the session. It answers the request as soon as it runs and can be found under its id.
    ///
    /// # Errors
    /// The error for the client.
    pub(crate) async fn open(
        self: Arc<Self>,
        request: RequestId,
        kind: Kind,
    ) -> Result<Session, Error> {
        let later = Arc::new(LaterOperator::default());
        let operator: Arc<dyn Operator> = if self.connection.has_forms() {
            Arc::new(self.forms(ElicitationRequestScope::new(request.clone())))
        } else {
            later.clone()
        };
        let prepared = self.sessions.prepare(self.request_for(operator)).await;
        let prepared = prepared.map_err(|error| errors::opening(&error))?;
        let asks_for_trust = later.is_asked.load(Ordering::Relaxed);
        let options = SessionOptions::of(prepared.as_ref()).await;
        let (running, commands) = if asks_for_trust && kind == Kind::New {
            // The session begins with its first prompt, when the user has decided.
            let mut commands =
                prepared.commands().await.map_err(|error| errors::opening(&error))?;
            commands::retain_offered(&mut commands);
            (None, Some(commands))
        } else {
            let session = prepared.start().await.map_err(|error| errors::opening(&error))?;
            (Some(Running::new(session)), None)
        };
        if let (Some(running), Kind::Load) = (&running, kind) {
            self.replay(running.session.as_ref()).await?;
        }
        let is_new = kind == Kind::New;
        let opened = options.opened(is_new.then(|| self.session.clone()));
        let answer = OpenedAnswer { request, opened, commands };
        Ok(Session::new(self, options, running, asks_for_trust, is_new, answer))
    }

    /// Sends the earlier conversation.
    async fn replay(&self, session: &dyn RunningSession) -> Result<(), Error> {
        let mut from = TranscriptFrom::Start;
        loop {
            let page = session.transcript(from, PAGE).await;
            let page = page.map_err(|error| errors::opening(&error))?;
            for update in page.items.into_iter().flat_map(replay::updates) {
                let sent = self.connection.update(&self.session, update).await;
                sent.map_err(|ClientGone| errors::stopped())?;
            }
            match page.after {
                Some(after) => from = TranscriptFrom::After(after),
                None => return Ok(()),
            }
        }
    }
}

/// User who is asked later: each question is refused for now.
#[derive(Default)]
struct LaterOperator {
    /// True if there was a question about the folder.
    is_asked: AtomicBool,
}

#[async_trait]
impl Operator for LaterOperator {
    async fn ask(&self, question: Question) -> QuestionReply {
        if let QuestionSubject::Trust(_) | QuestionSubject::Consent(_) = question.subject {
            self.is_asked.store(true, Ordering::Relaxed);
        }
        question.reply(QuestionOutcome::Cancel)
    }
}

impl SessionOptions {
    async fn of(prepared: &dyn PreparedSession) -> Self {
        let (facts, settings) = (prepared.facts(), prepared.settings());
        let models = tokio::time::timeout(LISTING, prepared.models()).await.unwrap_or_default();
        let has_plan = settings.get("general.plan.enabled").and_then(serde_json::Value::as_bool);
        Self {
            mode: facts.mode,
            model: facts.model.clone(),
            models,
            has_plan: has_plan.unwrap_or(true),
        }
    }
}
