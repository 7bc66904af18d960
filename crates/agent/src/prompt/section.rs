//! The sections of a system instruction.

/// A section by what it is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Section {
    /// Who speaks to whom.
    Preamble,
    /// Safety, care for space, craft.
    CoreMandates,
    /// The subagents on offer.
    AgentContexts,
    /// The skills on offer.
    AgentSkills,
    /// What programs of the user add.
    HookContext,
    /// How work is done.
    PrimaryWorkflows,
    /// How a plan is made, in plan mode.
    PlanningWorkflow,
    /// Tasks that depend on each other.
    TaskTracker,
    /// Habits of speaking and of using tools.
    OperationalGuidelines,
    /// Everything has been approved in advance.
    InteractiveYoloMode,
    /// What the program runs in.
    Sandbox,
    /// The project is a Git repository.
    Git,
    /// What matters most, once more.
    FinalReminder,
    /// The user's own words instead of the sections above.
    Custom,
    /// The user's own context files.
    Memory,
    /// What the work is about.
    Topic,
}

impl Section {
    /// The sections that can be left out. Gemini CLI has the same names, but for `taskTracker`.
    pub const OPTIONAL: [Self; 13] = [
        Self::Preamble,
        Self::CoreMandates,
        Self::AgentContexts,
        Self::AgentSkills,
        Self::HookContext,
        Self::PrimaryWorkflows,
        Self::PlanningWorkflow,
        Self::TaskTracker,
        Self::OperationalGuidelines,
        Self::InteractiveYoloMode,
        Self::Sandbox,
        Self::Git,
        Self::FinalReminder,
    ];

    /// The name for people and programs. In capitals it ends the name of the variable that leaves the section out.
    pub fn name(self) -> &'static str {
        match self {
            Self::Preamble => "preamble",
            Self::CoreMandates => "coreMandates",
            Self::AgentContexts => "agentContexts",
            Self::AgentSkills => "agentSkills",
            Self::HookContext => "hookContext",
            Self::PrimaryWorkflows => "primaryWorkflows",
            Self::PlanningWorkflow => "planningWorkflow",
            Self::TaskTracker => "taskTracker",
            Self::OperationalGuidelines => "operationalGuidelines",
            Self::InteractiveYoloMode => "interactiveYoloMode",
            Self::Sandbox => "sandbox",
            Self::Git => "git",
            Self::FinalReminder => "finalReminder",
            Self::Custom => "custom",
            Self::Memory => "memory",
            Self::Topic => "topic",
        }
    }
}
