//! A skill as a slash command: the user activates it and says what to do.

use std::sync::Arc;

use async_trait::async_trait;
use pollux_extensions::skills::{Skill, SkillOwner};
use pollux_protocol::{
    CommandContext, CommandError, Part, PromptCommand, PromptInput, PromptSource,
};

use super::Skills;
use crate::references::Expander;

/// Command that activates a skill. The user has asked for it, so no rule decides about it.
pub(super) struct SkillCommand {
    /// Name of the command.
    name: String,
    skill: Skill,
    owner: Arc<Skills>,
}

impl SkillCommand {
    pub(super) fn new(skill: Skill, owner: &Arc<Skills>) -> Self {
        let name = match &skill.owner {
            SkillOwner::Extension(extension) => format!("{extension}:{}", skill.name),
            SkillOwner::User | SkillOwner::Project => skill.name.clone(),
        };
        Self { name, skill, owner: Arc::clone(owner) }
    }
}

#[async_trait]
impl PromptCommand for SkillCommand {
    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &str {
        &self.skill.description
    }

    fn arguments(&self) -> Option<&str> {
        Some("[PROMPT]")
    }

    async fn expand(&self, context: &CommandContext) -> Result<PromptInput, CommandError> {
        let (owner, skill) = (Arc::clone(&self.owner), self.skill.clone());
        let activated = tokio::task::spawn_blocking(move || owner.activate(&skill)).await;
        let activated = activated.map_err(|error| CommandError(error.to_string()))?;
        let activated = activated.map_err(CommandError)?;
        let setup = &self.owner.setup;
        setup.workspace.update(|workspace| workspace.allow_reading(&self.skill.folder));
        let request = match context.arguments.trim() {
            "" => format!("Use the skill {}", self.skill.name),
            prompt => prompt.to_owned(),
        };
        let expanded = Expander::new(setup, PromptSource::Typed).expand(&request).await;
        let expanded = expanded.map_err(|failure| CommandError(failure.to_string()))?;
        let mut parts = vec![Part::text(activated.for_model() + "\n\n")];
        parts.extend(expanded);
        Ok(parts.into())
    }
}
