//! Lists that the user opens. What they show is read, and changed, while the conversation
//! continues.

use std::sync::Arc;

use futures::future::BoxFuture;
use pollux_protocol::{
    ModelListing, RunningSession, ServerListing, SessionEntry, SessionPreview, SessionRequest,
    Sessions, SessionsError, SettingEntry, Severity,
};

/// Request of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListRequest {
    /// The sessions of the project.
    Sessions,
    /// Facts about one of them, for which its file is read.
    Preview(Box<SessionEntry>),
    /// The sessions without this one, which is deleted: its id.
    DeleteSession(String),
    /// The models that can be requested.
    Models,
    /// All settings with their sources.
    Settings,
    /// The MCP servers.
    Servers,
}

/// Answer to a request of a list.
#[derive(Debug, Clone, PartialEq)]
pub enum ListAnswer {
    /// The sessions of the project, with those of their subagents.
    Sessions(Vec<SessionEntry>),
    /// Facts about the session with this id; `None` if its file is not read.
    Preview(String, Option<SessionPreview>),
    /// The models that can be requested.
    Models(Vec<ModelListing>),
    /// All settings with their sources.
    Settings(Vec<SettingEntry>),
    /// The MCP servers, with their tools, prompts and resources.
    Servers(Vec<ServerListing>),
}

/// Answer that is awaited, or the message why there is none.
pub type ListRead<'a> = BoxFuture<'a, Result<ListAnswer, String>>;

/// Function that answers the requests of lists.
pub type ReadList<'a> = Box<dyn Fn(ListRequest) -> ListRead<'a> + 'a>;

/// The session of a conversation, and the access to the others of its project.
pub(crate) struct OpenSession<'a> {
    pub(crate) session: &'a dyn RunningSession,
    pub(crate) sessions: &'a dyn Sessions,
    /// Request that other sessions are opened with.
    pub(crate) request: &'a SessionRequest,
}

impl OpenSession<'_> {
    /// Answers a request of a list.
    ///
    /// # Errors
    /// The message for the user.
    pub(crate) async fn read_list(&self, request: ListRequest) -> Result<ListAnswer, String> {
        match request {
            ListRequest::Sessions => self.list().await,
            ListRequest::DeleteSession(id) => {
                let deleted = self.sessions.delete(self.quiet_request(), &id).await;
                deleted.map_err(|error| error.to_string())?;
                self.list().await
            }
            ListRequest::Servers => Ok(ListAnswer::Servers(self.session.servers())),
            ListRequest::Models => Ok(ListAnswer::Models(self.session.models().await)),
            ListRequest::Settings => {
                let entries = self.session.setting_entries().await;
                entries.map(ListAnswer::Settings).map_err(|error| error.to_string())
            }
            ListRequest::Preview(session) => {
                let id = session.id.clone();
                Ok(ListAnswer::Preview(id, self.session.preview(*session).await))
            }
        }
    }

    async fn list(&self) -> Result<ListAnswer, String> {
        let listed = self.sessions.list(self.quiet_request()).await;
        listed.map(ListAnswer::Sessions).map_err(|error: SessionsError| error.to_string())
    }

    /// Returns a request that does not repeat the messages about the settings.
    fn quiet_request(&self) -> SessionRequest {
        let notices = Arc::new(|_: Severity, _: &str| {});
        SessionRequest { notices, operator: None, ..self.request.clone() }
    }
}
