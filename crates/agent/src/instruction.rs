//! What a request says before the conversation: the system instruction and the tools on offer.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pollux_fs::WriteOptions;
use pollux_policy::Policy;
use pollux_protocol::{
    ApprovalMode, Choice, Declaration, Live, ModelError, ModelErrorKind, estimate,
};

use crate::memory::{SessionMemory, take_notice};
use crate::prompt::{PromptInputs, Situation, system_prompt};
use crate::standing::{clean, plan_name};
use crate::toolset::Toolset;

/// The instruction as it was last made. It is made anew when mode, model or tools change, and with a new prompt when the topic
/// has; else it is the very same bytes, which is what vendors' caches go by.
pub(crate) struct Instruction {
    source: InstructionSource,
    topic: Option<String>,
    /// The file of the plan that the user has approved, as the model named it.
    plan: Option<String>,
    made: Option<Made>,
    /// It has been made and not been copied.
    is_new: bool,
}

/// Source of an agent's system instruction.
#[derive(Clone)]
pub enum InstructionSource {
    /// The instruction of a session's main agent.
    Session {
        /// Facts about the session that do not change.
        inputs: Box<PromptInputs>,
        /// The user's own context files.
        memory: Live<SessionMemory>,
    },
    /// A text, as subagents have it.
    Text(Arc<str>),
}

struct Made {
    toolset: Arc<Toolset>,
    mode: ApprovalMode,
    model: String,
    topic: Option<String>,
    /// The part of the source that changes, as it was shared.
    memory: Arc<str>,
    system: Arc<str>,
    tools: Arc<[Declaration]>,
}

impl Instruction {
    /// Creates the instruction of a conversation with this topic and this approved plan.
    pub(crate) fn new(
        source: InstructionSource,
        topic: Option<String>,
        plan: Option<String>,
    ) -> Self {
        Self { source, topic, plan, made: None, is_new: false }
    }

    /// Begins anew, for another conversation.
    pub(crate) fn forget(&mut self) {
        (self.topic, self.plan, self.made, self.is_new) = (None, None, None, false);
    }

    /// Takes the message for the next prompt about context files that have changed.
    pub(crate) fn take_notice(&self) -> Option<String> {
        match &self.source {
            InstructionSource::Session { memory, .. } => take_notice(memory),
            InstructionSource::Text(_) => None,
        }
    }

    /// Tokens of what goes with every request, by estimate; none before the first.
    pub(crate) fn tokens(&self) -> f64 {
        self.made
            .as_ref()
            .map_or(0.0, |made| estimate::text(&made.system) + estimate::declarations(&made.tools))
    }

    /// The file of the plan that the user has approved.
    pub(crate) fn plan_file(&self, plans: &Path) -> Option<PathBuf> {
        self.plan.as_ref().map(|name| pollux_fs::absolute(plans, Path::new(name)))
    }

    /// The user has approved the plan in this file: it is worked on from now on.
    pub(crate) fn approve_plan(&mut self, plan: &str) {
        self.plan = plan_name(plan).or(self.plan.take());
    }

    /// The work is about this from now on: the next prompt is told so. A title without words changes nothing.
    pub(crate) fn set_topic(&mut self, title: &str) {
        self.topic = clean(title).or(self.topic.take());
    }

    /// A prompt begins: what names another topic than the present one is out of date.
    pub(crate) fn begin_prompt(&mut self) {
        self.made.take_if(|made| made.topic != self.topic);
    }

    /// Returns system instruction and declarations for this mode and this model.
    pub(crate) fn make(
        &mut self,
        toolset: &Arc<Toolset>,
        policy: &Policy,
        mode: ApprovalMode,
        choice: &Choice,
    ) -> (Arc<str>, Arc<[Declaration]>) {
        let memory = match &self.source {
            InstructionSource::Session { memory, .. } => Arc::clone(&memory.get().system),
            InstructionSource::Text(text) => Arc::clone(text),
        };
        if let Some(made) = &self.made
            && made.mode == mode
            && made.model == choice.name
            && Arc::ptr_eq(&made.toolset, toolset)
            && Arc::ptr_eq(&made.memory, &memory)
        {
            return (Arc::clone(&made.system), Arc::clone(&made.tools));
        }
        let tools = toolset.offered(policy, mode, &choice.name, choice.limits).declarations();
        let system = self.text(mode, choice, &tools, &memory);
        self.is_new = true;
        let (model, again) = (choice.name.clone(), (Arc::clone(&system), Arc::clone(&tools)));
        let (toolset, topic) = (Arc::clone(toolset), self.topic.clone());
        self.made = Some(Made { toolset, mode, model, topic, memory, system, tools });
        again
    }

    fn text(
        &self,
        mode: ApprovalMode,
        choice: &Choice,
        tools: &[Declaration],
        memory: &Arc<str>,
    ) -> Arc<str> {
        let InstructionSource::Session { inputs, .. } = &self.source else {
            return Arc::clone(memory);
        };
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
        let plan = self.plan_file(&inputs.plans_directory);
        let situation = Situation {
            mode,
            family: choice.family,
            tools: &names,
            approved_plan: plan.as_deref(),
            topic: self.topic.as_deref(),
            memory,
        };
        system_prompt(inputs, situation).text().into()
    }

    /// Writes the instruction to the file where the user wants to see it, when it is another than before.
    ///
    /// # Errors
    /// When the file cannot be written: the user would read an old one.
    pub(crate) async fn copy_to(&mut self, file: Option<&Path>) -> Result<(), ModelError> {
        let (Some(file), Some(made)) = (file, &self.made) else { return Ok(()) };
        if !std::mem::take(&mut self.is_new) {
            return Ok(());
        }
        let (path, system) = (file.to_owned(), Arc::clone(&made.system));
        let options = WriteOptions { create_parents: true, ..WriteOptions::default() };
        let writing = move || pollux_fs::write_atomic(&path, system.as_bytes(), &options);
        let told = match tokio::task::spawn_blocking(writing).await {
            Ok(Ok(_)) => return Ok(()),
            Ok(Err(error)) => error.to_string(),
            Err(error) => error.to_string(),
        };
        let message = format!("The system prompt cannot be written to {}: {told}", file.display());
        Err(ModelError::new(ModelErrorKind::Other, message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_topic_with_words_is_the_one_that_counts() {
        let source = InstructionSource::Text("".into());
        let mut instruction = Instruction::new(source, None, None);
        for (title, topic) in [("One", "One"), ("  ", "One"), ("Two", "Two")] {
            instruction.set_topic(title);
            assert_eq!(instruction.topic.as_deref(), Some(topic));
        }
    }
}
