//! State of a session that may change while it runs.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;

use pollux_agent::Toolset;
use pollux_policy::Policy;
use pollux_protocol::{ApprovalMode, Live};
use pollux_session::SharedCheckpoints;
use pollux_tools::{Reporter, ToolContext};

use crate::consent::SessionConsent;
use crate::custom_commands::CustomCommands;
use crate::memory::Memory;
use crate::reload::LiveSettings;
use crate::servers::SessionServers;
use crate::setup::Setup;
use crate::skills::Skills;
use crate::subagents::Subagents;

/// Live values of a session, each in the only place where it is kept: everything that shows a value
/// or changes it gets it from here. Clones share the values.
#[derive(Clone)]
pub(crate) struct SessionState {
    /// Approval mode.
    pub(crate) mode: Live<ApprovalMode>,
    /// Rules that decide which calls may run.
    pub(crate) policy: Live<Policy>,
    /// All tools.
    pub(crate) toolset: Live<Toolset>,
    /// Context that the built-in tools share.
    pub(crate) tools: Arc<ToolContext>,
    /// Context files.
    pub(crate) memory: Arc<Memory>,
    /// MCP servers.
    pub(crate) servers: Arc<SessionServers>,
    /// Custom commands.
    pub(crate) custom_commands: Arc<CustomCommands>,
    /// Skills.
    pub(crate) skills: Arc<Skills>,
    /// Subagents.
    pub(crate) subagents: Arc<Subagents>,
    /// Settings that can be reloaded.
    pub(crate) settings: LiveSettings,
    /// Checkpoints of files; `None` if they are off.
    pub(crate) checkpoints: Option<SharedCheckpoints>,
    /// True if the session is deleted when it is closed.
    pub(crate) is_deleted_at_end: Arc<AtomicBool>,
}

impl SessionState {
    /// Creates the state of a session that is about to start. Reports about background commands go
    /// to `reporter`.
    pub(crate) fn new(setup: &Arc<Setup>, session_id: &str, reporter: Reporter) -> Self {
        let consent = Arc::new(SessionConsent::new(setup));
        // Each of them reads many small files.
        let (memory, skills, subagents) = thread::scope(|scope| {
            let skills = scope.spawn(|| Arc::new(Skills::new(setup, &consent)));
            let memory = Arc::new(Memory::read(setup));
            let subagents = Arc::new(Subagents::new(setup, &consent));
            let skills = skills.join().unwrap_or_else(|panic| resume_unwind(panic));
            (memory, skills, subagents)
        });
        let mode = Live::new(setup.mode);
        let tools = Arc::new(ToolContext {
            reporter: Some(reporter),
            ..setup.tool_context(session_id, &memory, mode.clone())
        });
        let mut toolset = Toolset::new(setup.builtin_tools(&tools));
        if let Some(tool) = subagents.tool() {
            toolset.insert(tool);
        }
        if let Some(tool) = skills.tool() {
            toolset.insert(tool);
        }
        Self {
            policy: Live::new(setup.policy(session_id)),
            toolset: Live::new(toolset),
            servers: Arc::new(SessionServers::new(setup, session_id)),
            custom_commands: Arc::new(CustomCommands::new(setup, &tools, &consent)),
            skills,
            subagents,
            settings: LiveSettings::new(setup),
            checkpoints: setup.checkpoints(session_id),
            is_deleted_at_end: Arc::default(),
            mode,
            tools,
            memory,
        }
    }
}
