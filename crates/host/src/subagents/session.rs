//! Work of a subagent in a session.

use std::sync::Arc;

use pollux_agent::{
    Activity, AgentParts, AgentServices, HistoryRecorder, InstructionSource, LoopSettings,
    NextSpeakerOptions, Outlet, SubagentLimits, SubagentRun, Toolset,
};
use pollux_extensions::agents::{AgentDefinition, AgentModel, Report};
use pollux_models::names;
use pollux_protocol::{
    ApprovalMode, History, Live, ModelRole, Part, PromptFamily, PromptInput, RunContext, Tool,
    ToolError, ToolErrorKind, ToolKind, ToolOutput, Tuning,
};
use pollux_session::{NewSubagent, SessionLog, SessionStore};
use pollux_tools::{SubmittedReport, ToolContext, complete_task};
use serde_json::Number;

use super::RunningAgent;
use super::outcome::Finished;
use crate::memory::Memory;
use crate::setup::Setup;

/// Rules for every subagent, at the end of its instructions.
const RULES: &str = include_str!("rules.md");
/// Further rule in plan mode.
const PLAN_RULE: &str =
    "- Plan mode is on: you only read. Calls that change something are refused.\n";

/// The parts of a session that its subagents need.
pub(crate) struct SubagentSession {
    pub(crate) setup: Arc<Setup>,
    /// Id of the session.
    pub(crate) id: String,
    pub(crate) services: AgentServices,
    pub(crate) outlet: Outlet,
    pub(crate) toolset: Live<Toolset>,
    pub(crate) requested_model: Live<String>,
    pub(crate) settings: Live<LoopSettings>,
    pub(crate) tools: Arc<ToolContext>,
    pub(crate) memory: Arc<Memory>,
}

impl SubagentSession {
    /// Runs a subagent until it ends. It works in a task of its own: its records are written even
    /// if the caller no longer waits.
    pub(super) async fn run(
        &self,
        agent: AgentDefinition,
        task: &str,
        running: RunningAgent,
        run: RunContext,
    ) -> ToolOutput {
        let log = match self.log(&agent, &running, run.call_id.as_str().to_owned()).await {
            Ok(log) => log,
            Err(message) => return ToolError::new(ToolErrorKind::ExecutionFailed, message).into(),
        };
        let activity = Arc::new(Activity::new(Arc::clone(&run.output)));
        let outlet = self.outlet.child(&agent.name).observed_by(Arc::clone(&activity) as _);
        let report = SubmittedReport::default();
        let mut work = self.subagent(&agent, task, &running.id, log, outlet.clone(), &report);
        let own = self.start_servers(&agent, &work.parts.toolset, &outlet);
        work.parts.loading = own.as_ref().map(|own| own.loading.clone());
        let stop = running.stop.clone();
        let work = tokio::spawn(async move {
            let outcome = Box::pin(work.run(&stop)).await;
            if let Some(own) = own {
                own.servers.close().await;
            }
            outcome
        });
        let outcome = work.await.map_err(|error| error.to_string());
        Finished {
            agent: &agent,
            id: &running.id,
            outcome,
            report: report.get(),
            activity: &activity,
            is_whole_work_cancelled: run.cancel.is_cancelled(),
            room: run.room,
        }
        .output()
    }

    async fn log(
        &self,
        agent: &AgentDefinition,
        running: &RunningAgent,
        call_id: String,
    ) -> Result<SessionLog, String> {
        let store = SessionStore::new(&self.setup.project);
        let folders = self.setup.folders();
        let (parent, id) = (self.id.clone(), running.id.clone());
        let agent = agent.name.clone();
        let create = move || {
            store.create_subagent(&NewSubagent {
                parent: &parent,
                id: &id,
                agent: &agent,
                call_id: &call_id,
                folders,
            })
        };
        let created = tokio::task::spawn_blocking(create).await;
        let created = created.map_err(|error| error.to_string())?;
        created.map_err(|error| format!("The log of the subagent cannot be written: {error}"))
    }

    fn subagent(
        &self,
        agent: &AgentDefinition,
        task: &str,
        id: &str,
        log: SessionLog,
        outlet: Outlet,
        report: &SubmittedReport,
    ) -> SubagentRun {
        let schema = match &agent.report {
            Report::Text => None,
            Report::Value { schema, .. } => Some(schema.clone()),
        };
        let reporting = complete_task(schema, report);
        let requested = String::clone(&self.requested_model.get());
        let (model, conversation_model) = match &agent.model {
            AgentModel::Unset => (self.setup.subagent_model().unwrap_or(requested), None),
            AgentModel::Inherit => (requested, None),
            AgentModel::Named(name) => (name.clone(), None),
            AgentModel::Preferred { modern, legacy } => {
                let is_legacy = names::family(&requested) == PromptFamily::Legacy;
                let alias = if is_legacy { legacy } else { modern };
                ((*alias).to_owned(), Some(requested))
            }
        };
        let settings = LoopSettings {
            next_speaker: NextSpeakerOptions::default(),
            ..LoopSettings::clone(&self.settings.get())
        };
        let instructions = self.instructions(agent, task, &model);
        let parts = AgentParts {
            role: ModelRole::Subagent,
            requested_model: Live::new(model),
            conversation_model,
            tuning: Tuning {
                temperature: agent.temperature.and_then(Number::from_f64),
                ..Tuning::default()
            },
            instruction: InstructionSource::Text(instructions.into()),
            instruction_copy: None,
            toolset: Live::new(self.tools_of(agent, &reporting)),
            loading: None,
            recorder: HistoryRecorder::new(Arc::new(log), outlet),
            history: History::new(),
            is_after_clear: false,
            context: None,
            settings: Live::new(settings),
            fitting: self.setup.fitting(&self.id),
            answer: None,
            kept: None,
        };
        let report = report.clone();
        SubagentRun {
            services: self.services.clone(),
            parts,
            id: id.to_owned(),
            message: PromptInput::shown(
                vec![Part::text(agent.message(task))],
                Some(task.to_owned()).filter(|task| *task != agent.message(task)),
            ),
            limits: SubagentLimits {
                turns: agent.max_turns,
                time: agent.time_limit,
                grace: SubagentLimits::GRACE,
            },
            reporting: Toolset::new(vec![reporting]),
            has_reported: Box::new(move || report.is_submitted()),
        }
    }

    /// Returns the tools of a subagent: those of the session that its definition allows, with a
    /// record of read files of its own. No subagent invokes others, changes the approval mode, or
    /// announces topics; one that does not name `ask_user` does not ask.
    fn tools_of(&self, agent: &AgentDefinition, reporting: &Arc<dyn Tool>) -> Toolset {
        let names = |tool: &str| agent.tools.iter().flatten().any(|name| name == tool);
        let context = Arc::new(self.tools.for_subagent(names("get_internal_docs")));
        let own = self.setup.builtin_tools(&context);
        let is_meant = |tool: &dyn Tool| {
            let is_excluded = match tool.kind() {
                ToolKind::Agent | ToolKind::Plan => true,
                ToolKind::Communicate => !names(tool.name()),
                _ => tool.facts().announces,
            };
            !is_excluded && agent.allows(tool.name())
        };
        let all = self.toolset.get();
        let allowed = all.iter().filter(|tool| is_meant(tool.as_ref()));
        let tools = allowed.map(|tool| {
            let same = own.iter().find(|own| own.name() == tool.name());
            Arc::clone(
                same.filter(|_| tool.source() == pollux_protocol::ToolSource::BuiltIn)
                    .unwrap_or(tool),
            )
        });
        Toolset::new(tools.chain([Arc::clone(reporting)]).collect())
    }

    fn instructions(&self, agent: &AgentDefinition, task: &str, model: &str) -> String {
        let today = jiff::Zoned::now().strftime("%A, %B %-d, %Y").to_string();
        let values =
            [("cliVersion", env!("CARGO_PKG_VERSION")), ("activeModel", model), ("today", &today)];
        let own = agent.instructions(task, &values);
        let context = self.setup.session_context(&self.memory).render();
        let memory = Arc::clone(&self.memory.reported().get().system);
        let plan = match *self.tools.mode.get() {
            ApprovalMode::Plan => PLAN_RULE,
            _ => "",
        };
        let texts = [own.trim(), context.trim(), memory.trim(), RULES.trim(), plan.trim()];
        let texts: Vec<&str> = texts.into_iter().filter(|text| !text.is_empty()).collect();
        texts.join("\n\n")
    }
}
