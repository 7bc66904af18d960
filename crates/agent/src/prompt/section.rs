//! Sections of a system instruction.

/// Section, named by its subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Section {
    /// Identity of the agent and its user.
    Preamble,
    /// Basic rules: safety, economical use of the context, quality of the work.
    CoreMandates,
    /// Subagents that the model can invoke.
    AgentContexts,
    /// Skills that the model can activate.
    AgentSkills,
    /// Meaning of the context that the user's hooks add.
    HookContext,
    /// Steps of ordinary work.
    PrimaryWorkflows,
    /// Steps of planning, in plan mode.
    PlanningWorkflow,
    /// Tracking of tasks that depend on each other.
    TaskTracker,
    /// Style of communication and rules for using tools.
    OperationalGuidelines,
    /// Behaviour in YOLO mode, where everything is approved in advance.
    InteractiveYoloMode,
    /// Sandbox in which the program runs.
    Sandbox,
    /// Rules for a Git repository.
    Git,
    /// Repetition of the most important rules.
    FinalReminder,
    /// Text of the user that replaces the sections above.
    Custom,
    /// Content of the user's own context files.
    Memory,
    /// Topic of the work.
    Topic,
}

impl Section {
    /// Sections that can be left out. Gemini CLI has the same names, except for `taskTracker`.
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

    /// Returns the name for users and programs. In capitals, it is the end of the name of the
    /// environment variable that disables the section.
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
