//! Preview of the first request to a model.

use std::sync::Arc;

use pollux_agent::{Section, Situation, Toolset, system_prompt};
use pollux_extensions::skills::Skill;
use pollux_models::names;
use pollux_protocol::{Declaration, Live, ModelLimits, PromptFamily, SelectContext};

use crate::memory::Memory;
use crate::setup::Setup;
use crate::skills::offered_skills;
use crate::subagents::{NoSubagents, offered_agents};
use pollux_protocol::SessionFailure;

/// Placeholder for the session id in paths; a preview has no session.
const SESSION: &str = "SESSION";

/// Everything that would be sent before the first prompt of a session.
pub struct PromptPreview {
    /// Model that would be asked.
    pub model: String,
    /// Family of its prompts.
    pub family: PromptFamily,
    /// Sections of the system instruction.
    pub sections: Vec<(Section, String)>,
    /// Tools that would be offered.
    pub tools: Arc<[Declaration]>,
    /// Block that opens the conversation.
    pub context: String,
}

impl Setup {
    /// Builds everything that would be sent before the first prompt.
    ///
    /// # Errors
    /// [`SessionFailure::General`] if a custom system instruction cannot be read.
    pub async fn preview(&self) -> Result<PromptPreview, SessionFailure> {
        let overrides = self.prompt_overrides()?;
        let (model, limits, family) = self.preferred_model().await;
        let memory = Arc::new(Memory::read(self));
        let tool_context = Arc::new(self.tool_context(SESSION, &memory, Live::new(self.mode)));
        let skills = self.find_skills(&self.accepted);
        let agents = self.find_agents(&self.accepted, &self.loaded.settings);
        let mut toolset = Toolset::new(self.builtin_tools(&tool_context));
        if let Some(tool) = self.agent_tool(Arc::new(NoSubagents)) {
            toolset.insert(tool);
        }
        // Nothing is activated here.
        if let Some(tool) = self.skill_tool(&skills, Arc::new(|_: &Skill| Ok(()))) {
            toolset.insert(tool);
        }
        let offered = toolset.offered(&self.policy(SESSION), None, self.mode, (&model, limits));
        let tools = offered.declarations();
        let offered: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
        let skills = Live::new(offered_skills(&skills));
        let agents = Live::new(offered_agents(&agents));
        let inputs = self.prompt_inputs(SESSION, &overrides, skills, agents);
        let memory_section = Arc::clone(&memory.reported().get().system);
        let situation = Situation {
            mode: self.mode,
            family,
            tools: &offered,
            approved_plan: None,
            topic: None,
            memory: &memory_section,
        };
        let prompt = system_prompt(&inputs, situation);
        let sections = prompt.sections().map(|(section, text)| (section, text.to_owned()));
        let sections = sections.collect();
        let context = self.session_context(&memory).render();
        Ok(PromptPreview { model, family, sections, tools, context })
    }

    /// Returns the model that would be asked. Without credentials its limits and family are derived
    /// from its name.
    async fn preferred_model(&self) -> (String, ModelLimits, PromptFamily) {
        if !self.is_undecided()
            && let Ok(models) = self.models().await
        {
            let (requested, mode) = (self.model.clone(), self.mode);
            let context = SelectContext { requested, mode, ..SelectContext::default() };
            if let Ok(choice) = models.select(&context).await {
                return (choice.name, choice.limits, choice.family);
            }
        }
        let name = names::resolve(&self.model);
        (name.to_owned(), names::limits(name), names::family(name))
    }
}
