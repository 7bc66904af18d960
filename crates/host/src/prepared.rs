//! A session before its agent is started.

use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use futures::future::BoxFuture;
use pollux_agent::{PinnedContext, Spending};
use pollux_protocol::{
    ApprovalMode, CommandSet, Live, ModelListing, Models, Part, PreparedSession, PromptSource,
    ResumedState, RunningSession, SessionFacts, SessionFailure, SessionsError, SettingValues,
};

use crate::assemble::Launch;
use crate::commands::{self, CommandSubjects};
use crate::host::blocking;
use crate::prompt::SystemPromptOverrides;
use crate::references::Expander;
use crate::reports;
use crate::running::OpenSession;
use crate::sessions::ChosenSession;
use crate::setup::{Setup, approval};
use crate::state::SessionState;

/// A session whose models and limits are known. No file of the session exists yet.
pub(crate) struct Prepared {
    facts: SessionFacts,
    setup: Arc<Setup>,
    chosen: ChosenSession,
    models: Arc<dyn Models>,
    overrides: SystemPromptOverrides,
    spending: Spending,
    /// The session has the commands of files and skills.
    has_prompt_commands: bool,
}

impl Prepared {
    /// Finds or names the session, and selects its models and limits. Asks the user to choose a
    /// local model if no service is configured.
    ///
    /// # Errors
    /// [`SessionFailure::Untrusted`] for an approval mode that the folder does not permit;
    /// [`SessionFailure::Input`] if the session cannot be found, read or created;
    /// [`SessionFailure::Model`] if there is no usable model; [`SessionFailure::Config`] for limits
    /// that cannot be used.
    pub(crate) async fn new(setup: Setup) -> Result<Self, SessionsError> {
        let settings = setup.loaded.settings.values();
        let failed = |failure, session| context(failure, &settings, session);
        setup.check_requested_mode().map_err(|failure| failed(failure, None))?;
        let choosing = move || setup.session().map(|chosen| (setup, chosen));
        let (mut setup, chosen) =
            blocking(choosing).await.map_err(|failure| failed(failure, None))?;
        let id = chosen.id.clone();
        let prepared = async {
            setup.choose_local_model(&id).await;
            setup.check_decided().await?;
            setup.check_checkpoints().await?;
            blocking(move || Self::of(setup, chosen)).await
        };
        prepared.await.map_err(|failure| failed(failure, Some(id.clone())))
    }

    fn of(setup: Setup, chosen: ChosenSession) -> Result<Self, SessionFailure> {
        let models = setup.decided_models()?;
        setup.report_sign_in();
        setup.report_found_service();
        let overrides = setup.prompt_overrides()?;
        let spending = setup.spending(&chosen.figures)?;
        let facts = facts(&setup, &chosen);
        let has_prompt_commands = true;
        let setup = Arc::new(setup);
        Ok(Self { facts, setup, chosen, models, overrides, spending, has_prompt_commands })
    }

    /// Starts the agent on the current runtime. Creates the log file of a new session.
    fn begin(self) -> Result<OpenSession, SessionFailure> {
        let Self { mut facts, setup, mut chosen, models, overrides, spending, .. } = self;
        let log = chosen.take_log(&setup)?;
        let ChosenSession { id, history, statistics, .. } = chosen;
        let hooks = setup.hooks(&id, Some(log.path().to_owned()));
        let (reporter, reports) = reports::channel();
        let state = SessionState::new(&setup, &id, reporter);
        let subjects = CommandSubjects {
            session_id: &id,
            statistics: &statistics,
            hooks: &hooks,
            log: Some(Arc::clone(&log)),
        };
        let mut commands = commands::built_in(&setup, &state, &subjects);
        if self.has_prompt_commands {
            commands::add_prompts(&state, &mut commands);
        }
        let agent = setup.start(Launch {
            models: Arc::clone(&models),
            log: Arc::clone(&log),
            session_id: &id,
            history,
            statistics,
            commands: Live::new(commands),
            hooks,
            overrides,
            spending,
            state: state.clone(),
            reports,
        });
        let PinnedContext { topic, plan, todos, .. } = agent.standing.clone();
        facts.resumed = facts.resumed.map(|earlier| ResumedState { topic, plan, todos, ..earlier });
        Ok(OpenSession {
            facts,
            agent,
            setup,
            log,
            models,
            state,
            prompts: OnceLock::new(),
            paths: Arc::default(),
        })
    }
}

fn facts(setup: &Setup, chosen: &ChosenSession) -> SessionFacts {
    let settings = &setup.loaded.settings;
    let screen_reader = setup.input.options.screen_reader;
    SessionFacts {
        id: chosen.id.clone(),
        folder: setup.input.request.folder.clone(),
        temporary_folder: setup.project.temporary_dir.clone(),
        model: setup.model.clone(),
        mode: setup.mode,
        is_trusted: setup.loaded.trust.is_trusted(),
        is_steered: settings.boolean("experimental.modelSteering"),
        is_for_screen_reader: screen_reader
            .unwrap_or_else(|| settings.boolean("ui.accessibility.screenReader")),
        is_debug: setup.input.options.debug,
        resumed: (!chosen.history.is_empty()).then(|| chosen.earlier.clone()),
    }
}

/// Returns the models that can be requested.
pub(crate) fn listed(models: &Arc<dyn Models>) -> BoxFuture<'static, Vec<ModelListing>> {
    let models = Arc::clone(models);
    Box::pin(async move { models.list().await })
}

fn context(
    failure: SessionFailure,
    settings: &SettingValues,
    session: Option<String>,
) -> SessionsError {
    SessionsError { session, settings: Some(settings.clone()), ..failure.into() }
}

#[async_trait]
impl PreparedSession for Prepared {
    fn facts(&self) -> &SessionFacts {
        &self.facts
    }

    fn settings(&self) -> SettingValues {
        self.setup.setting_values(&self.setup.loaded.settings)
    }

    fn models(&self) -> BoxFuture<'static, Vec<ModelListing>> {
        listed(&self.models)
    }

    async fn commands(&self) -> Result<CommandSet, SessionsError> {
        let (setup, id) = (Arc::clone(&self.setup), self.chosen.id.clone());
        let statistics = Arc::clone(&self.chosen.statistics);
        let listing = move || {
            let state = SessionState::new(&setup, &id, reports::channel().0);
            let hooks = setup.hooks(&id, None);
            let subjects = CommandSubjects {
                session_id: &id,
                statistics: &statistics,
                hooks: &hooks,
                log: None,
            };
            let mut commands = commands::built_in(&setup, &state, &subjects);
            commands::add_prompts(&state, &mut commands);
            Ok(commands)
        };
        Ok(blocking(listing).await?)
    }

    fn check_mode(&self, mode: ApprovalMode) -> Result<(), SessionsError> {
        Ok(approval::check(self.setup.approval_request(), mode)?)
    }

    fn names_server(&self, prompt: &str) -> bool {
        prompt.contains('@')
            && self
                .setup
                .configured_servers()
                .iter()
                .any(|server| prompt.contains(&format!("@{}:", server.name)))
    }

    fn expand(
        &self,
        prompt: String,
        source: PromptSource,
    ) -> BoxFuture<'static, Result<Vec<Part>, SessionsError>> {
        let setup = Arc::clone(&self.setup);
        Box::pin(async move {
            let named = Arc::clone(&setup);
            let agents = if prompt.contains('@') {
                blocking(move || Ok(named.agent_names())).await?
            } else {
                Vec::new()
            };
            Ok(Expander::new(&setup, source).with_agents(agents).expand(&prompt).await?)
        })
    }

    fn leave_out_prompt_commands(&mut self) {
        self.has_prompt_commands = false;
    }

    async fn start(self: Box<Self>) -> Result<Box<dyn RunningSession>, SessionsError> {
        let (id, settings) = (self.facts.id.clone(), self.settings());
        match blocking(move || self.begin()).await {
            Ok(session) => Ok(Box::new(session)),
            Err(failure) => Err(context(failure, &settings, Some(id))),
        }
    }
}
