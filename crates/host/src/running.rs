//! A session that is open.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use futures::future::BoxFuture;
use pollux_fs::Access;
use pollux_protocol::{
    AgentHandle, ApprovalMode, BackgroundCommand, Completions, Live, ModelListing, Models, Part,
    PromptSource, RunningSession, ServerListing, SessionEntry, SessionFacts, SessionFailure,
    SessionPreview, SessionsError, SettingEntry, SettingValues, TranscriptFrom, TranscriptPage,
};
use pollux_session::{PromptLog, SessionLog, SessionStore, recent_prompts};

use crate::assemble::Assembled;
use crate::commands::settings;
use crate::host::blocking;
use crate::prepared::listed;
use crate::references::{Expander, PathCompleter, PathIndex};
use crate::servers::server_listing;
use crate::setting_entries::setting_entries;
use crate::setup::{Setup, approval};
use crate::state::SessionState;

/// An open session.
pub(crate) struct OpenSession {
    pub(crate) facts: SessionFacts,
    pub(crate) agent: Assembled,
    pub(crate) setup: Arc<Setup>,
    pub(crate) log: Arc<SessionLog>,
    pub(crate) models: Arc<dyn Models>,
    pub(crate) state: SessionState,
    /// Log of prompts, opened with the first prompt that is recorded.
    pub(crate) prompts: OnceLock<PromptLog>,
    /// Paths for the completion of a path.
    pub(crate) paths: Arc<PathIndex>,
}

impl OpenSession {
    /// Returns the names of the subagents that the model can invoke.
    fn agent_names(&self) -> Vec<String> {
        let subagents = &self.state.subagents;
        let offered = subagents.tool().map(|_| subagents.offered().get()).unwrap_or_default();
        offered.iter().map(|agent| agent.name.clone()).collect()
    }
}

#[async_trait]
impl RunningSession for OpenSession {
    fn facts(&self) -> &SessionFacts {
        &self.facts
    }

    fn settings(&self) -> SettingValues {
        self.setup.setting_values(&self.state.settings.current().get())
    }

    fn setting_entries(&self) -> BoxFuture<'static, Result<Vec<SettingEntry>, SessionsError>> {
        let files = settings::files(&self.setup);
        let read = move || setting_entries(&files).map_err(|error| SessionFailure::config(&error));
        Box::pin(async move { Ok(blocking(read).await?) })
    }

    fn handle(&self) -> Arc<dyn AgentHandle> {
        Arc::clone(&self.agent.handle) as Arc<dyn AgentHandle>
    }

    fn background(&self) -> Live<Vec<BackgroundCommand>> {
        self.agent.background()
    }

    fn models(&self) -> BoxFuture<'static, Vec<ModelListing>> {
        listed(&self.models)
    }

    fn check_mode(&self, mode: ApprovalMode) -> Result<(), SessionsError> {
        Ok(approval::check(self.setup.approval_request(), mode)?)
    }

    async fn transcript(
        &self,
        from: TranscriptFrom,
        count: usize,
    ) -> Result<TranscriptPage, SessionsError> {
        let page = self.log.transcript(from, count).await;
        Ok(page.map_err(|error| SessionFailure::general(&error))?)
    }

    fn preview(&self, session: SessionEntry) -> BoxFuture<'static, Option<SessionPreview>> {
        let store = SessionStore::new(&self.setup.project);
        let read = blocking(move || Ok(store.preview(&session)));
        Box::pin(async move { read.await.ok().flatten() })
    }

    fn ready(&self) -> BoxFuture<'static, ()> {
        self.state.servers.ready()
    }

    fn expand(
        &self,
        prompt: String,
        source: PromptSource,
    ) -> BoxFuture<'static, Result<Vec<Part>, SessionsError>> {
        let servers = self.state.servers.servers();
        let expander = Expander::new(&self.setup, source)
            .with_servers(servers)
            .with_agents(self.agent_names());
        Box::pin(async move { expander.expand(&prompt).await.map_err(SessionsError::from) })
    }

    fn expand_links(
        &self,
        links: String,
        allowed: Vec<PathBuf>,
    ) -> BoxFuture<'static, Result<Vec<Part>, SessionsError>> {
        let expander = Expander::new(&self.setup, PromptSource::Linked).allowing(&allowed);
        Box::pin(async move { expander.expand(&links).await.map_err(SessionsError::from) })
    }

    fn servers(&self) -> Vec<ServerListing> {
        self.state.servers.statuses().into_iter().map(server_listing).collect()
    }

    fn is_readable(&self, path: &Path) -> bool {
        self.setup.workspace.get().allows(path, Access::Read)
    }

    fn complete_path(&self, partial: String, limit: Duration) -> BoxFuture<'static, Completions> {
        let servers = self.state.servers.servers();
        let agents = self.agent_names();
        let completer = PathCompleter::new(&self.setup, &self.paths, servers, agents);
        Box::pin(completer.complete(partial, limit))
    }

    async fn reload_settings(&self) -> Result<(), SessionsError> {
        let settings = self.state.settings.clone();
        Ok(blocking(move || settings.reload()).await?)
    }

    fn record_prompt(&self, prompt: &str) {
        let new = || PromptLog::new(&self.setup.project, &self.facts.id);
        self.prompts.get_or_init(new).record(prompt);
    }

    fn recent_prompts(&self, count: usize) -> Vec<String> {
        recent_prompts(&self.setup.project, count)
    }

    fn is_deleted_at_end(&self) -> bool {
        self.state.is_deleted_at_end.load(Ordering::Relaxed)
    }

    async fn close(self: Box<Self>) {
        let is_deleted = self.is_deleted_at_end();
        let Self { facts, agent, setup, log, .. } = *self;
        agent.close().await;
        // The last owner of the log unlocks its file.
        drop(log);
        if is_deleted {
            let store = SessionStore::new(&setup.project);
            let discard =
                move || store.discard(&facts.id).map_err(|error| SessionFailure::general(&error));
            if let Err(failure) = blocking(discard).await {
                let warning = format!("[WARNING] The session could not be deleted: {failure}");
                setup.input.request.notices.warning(&warning);
            }
        }
    }
}
