//! A session from its preparation to its end.

use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use futures::future::BoxFuture;
use pollux_agent::{PinnedContext, Spending};
use pollux_protocol::{
    AgentHandle, Models, Part, ResumedState, RunningSession, SessionFacts, SessionsError,
    TranscriptFrom, TranscriptPage,
};
use pollux_session::{PromptLog, SessionLog, Statistics, recent_prompts};

use crate::assemble::{Assembled, Launch};
use crate::commands;
use crate::error::HostError;
use crate::prompt::SystemPromptOverrides;
use crate::references::{Expander, PromptSource};
use crate::reports;
use crate::sessions::ChosenSession;
use crate::setup::Setup;
use crate::state::SessionState;

/// A session whose models and limits are known. No file of the session exists yet.
pub struct PreparedSession {
    pub(crate) setup: Arc<Setup>,
    pub(crate) chosen: ChosenSession,
    pub(crate) models: Arc<dyn Models>,
    pub(crate) overrides: SystemPromptOverrides,
    pub(crate) spending: Spending,
}

impl PreparedSession {
    /// Returns the id of the session.
    pub fn id(&self) -> &str {
        &self.chosen.id
    }

    /// Returns the settings of the session.
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// Returns an expander for the `@path` references of prompts.
    pub fn expander(&self, source: PromptSource) -> Expander {
        Expander::new(&self.setup, source)
    }

    /// Starts the agent on the current runtime. Creates the log file of a new session.
    ///
    /// # Errors
    /// [`HostError::Log`] if the file cannot be created; [`HostError::Input`] if another process
    /// has created the session in the meantime.
    pub fn start(self) -> Result<OpenSession, HostError> {
        let Self { setup, mut chosen, models, overrides, spending } = self;
        let log = chosen.take_log(&setup)?;
        let ChosenSession { id, history, statistics, earlier, .. } = chosen;
        let hooks = setup.hooks(&id, Some(log.path().to_owned()));
        let (reporter, reports) = reports::channel();
        let state = SessionState::new(&setup, &id, reporter);
        let commands = if setup.is_interactive() {
            commands::interactive(&setup, &id, &statistics, &hooks, &state)
        } else {
            commands::headless(&setup.called_as)
        };
        let is_resumed = !history.is_empty();
        let mut facts = SessionFacts {
            id: id.clone(),
            folder: setup.request.folder.clone(),
            temporary_folder: setup.project.temporary_dir.clone(),
            model: setup.model.clone(),
            mode: setup.mode,
            is_trusted: setup.loaded.trust.is_trusted(),
            is_steered: setup.loaded.settings.boolean("experimental.modelSteering"),
            is_for_screen_reader: setup
                .options
                .screen_reader
                .unwrap_or_else(|| setup.loaded.settings.boolean("ui.accessibility.screenReader")),
            resumed: None,
        };
        let agent = setup.start(Launch {
            models,
            log: Arc::clone(&log),
            session_id: &id,
            history,
            statistics,
            commands,
            hooks,
            overrides,
            spending,
            state: state.clone(),
            reports,
        });
        facts.resumed = is_resumed.then(|| resumed(agent.standing.clone(), earlier));
        Ok(OpenSession { facts, agent, setup, log, state, prompts: OnceLock::new() })
    }
}

fn resumed(standing: PinnedContext, earlier: ResumedState) -> ResumedState {
    let PinnedContext { topic, plan, todos } = standing;
    ResumedState { topic, plan, todos, ..earlier }
}

/// An open session.
pub struct OpenSession {
    facts: SessionFacts,
    agent: Assembled,
    setup: Arc<Setup>,
    log: Arc<SessionLog>,
    state: SessionState,
    /// Log of prompts, opened with the first prompt that is recorded.
    prompts: OnceLock<PromptLog>,
}

impl OpenSession {
    /// Returns the statistics of the session.
    pub fn statistics(&self) -> &Statistics {
        &self.agent.statistics
    }
}

#[async_trait]
impl RunningSession for OpenSession {
    fn facts(&self) -> &SessionFacts {
        &self.facts
    }

    fn handle(&self) -> Arc<dyn AgentHandle> {
        Arc::clone(&self.agent.handle) as Arc<dyn AgentHandle>
    }

    async fn transcript(
        &self,
        from: TranscriptFrom,
        count: usize,
    ) -> Result<TranscriptPage, SessionsError> {
        let page = self.log.transcript(from, count).await;
        page.map_err(|error| SessionsError(error.to_string()))
    }

    fn expand(&self, prompt: String) -> BoxFuture<'static, Result<Vec<Part>, SessionsError>> {
        let expander = Expander::new(&self.setup, PromptSource::Typed);
        Box::pin(async move { expander.expand(&prompt).await.map_err(SessionsError::from) })
    }

    fn complete_path(&self, partial: String) -> BoxFuture<'static, Vec<String>> {
        let expander = Expander::new(&self.setup, PromptSource::Typed);
        Box::pin(async move { expander.complete(partial).await })
    }

    async fn reload_settings(&self) -> Result<(), SessionsError> {
        let settings = self.state.settings.clone();
        let done = tokio::task::spawn_blocking(move || settings.reload()).await;
        let done = done.map_err(|error| SessionsError(error.to_string()))?;
        done.map_err(SessionsError::from)
    }

    fn record_prompt(&self, prompt: &str) {
        let new = || PromptLog::new(&self.setup.project, &self.facts.id);
        self.prompts.get_or_init(new).record(prompt);
    }

    fn recent_prompts(&self, count: usize) -> Vec<String> {
        recent_prompts(&self.setup.project, count)
    }

    async fn close(self: Box<Self>) {
        self.agent.close().await;
    }
}
