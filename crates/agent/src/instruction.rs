//! Fixed part of a request: the system instruction and the offered tools.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pollux_fs::WriteOptions;
use pollux_policy::Policy;
use pollux_protocol::{
    ApprovalMode, Choice, Declaration, Live, ModelError, ModelErrorKind, estimate,
};

use crate::memory::{SessionMemory, take_notice};
use crate::prompt::{OfferedSkill, PromptInputs, Situation, Subagent, system_prompt};
use crate::standing::{clean, plan_name};
use crate::toolset::Toolset;

/// System instruction as it was last built. It is built again when mode, model, tools, policy or
/// context files change, and for a new prompt when the topic has changed. Otherwise it keeps
/// exactly the same bytes, because the prompt caches of vendors depend on them.
pub(crate) struct Instruction {
    source: InstructionSource,
    /// Subagent whose instruction it is; `None` for the main agent.
    caller: Option<String>,
    topic: Option<String>,
    /// File of the plan that the user has approved, as the model named it.
    plan: Option<String>,
    made: Option<Made>,
    /// True if the instruction was built and not yet copied to the file.
    is_new: bool,
}

/// Source of an agent's system instruction.
#[derive(Clone)]
pub enum InstructionSource {
    /// Instruction of a session's main agent.
    Session {
        /// Facts about the session.
        inputs: Box<PromptInputs>,
        /// Content of the user's own context files.
        memory: Live<SessionMemory>,
    },
    /// Fixed text, as for subagents.
    Text(Arc<str>),
}

struct Made {
    toolset: Arc<Toolset>,
    policy: Arc<Policy>,
    mode: ApprovalMode,
    model: String,
    topic: Option<String>,
    /// Variable parts of the source at the time of building.
    memory: [Arc<str>; 2],
    skills: Option<Arc<Vec<OfferedSkill>>>,
    subagents: Option<Arc<Vec<Subagent>>>,
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
        Self { source, caller: None, topic, plan, made: None, is_new: false }
    }

    /// Makes it the instruction of a subagent; `None` for the main agent.
    pub(crate) fn of(self, caller: Option<String>) -> Self {
        Self { caller, ..self }
    }

    /// Resets everything for a new conversation.
    pub(crate) fn forget(&mut self) {
        (self.topic, self.plan, self.made, self.is_new) = (None, None, None, false);
    }

    /// Takes the message for the next prompt about changed context files.
    pub(crate) fn take_notice(&self) -> Option<String> {
        match &self.source {
            InstructionSource::Session { memory, .. } => take_notice(memory),
            InstructionSource::Text(_) => None,
        }
    }

    /// Returns the estimated tokens of the system instruction and the tools; 0 before the first
    /// request.
    pub(crate) fn tokens(&self) -> f64 {
        self.made
            .as_ref()
            .map_or(0.0, |made| estimate::text(&made.system) + estimate::declarations(&made.tools))
    }

    /// Returns the file of the plan that the user has approved.
    pub(crate) fn plan_file(&self, plans: &Path) -> Option<PathBuf> {
        self.plan.as_ref().map(|name| pollux_fs::absolute(plans, Path::new(name)))
    }

    /// True if the user has approved a plan in this conversation.
    pub(crate) fn has_plan(&self) -> bool {
        self.plan.is_some()
    }

    /// Sets the plan that the user has approved. The agent works on it from now on.
    pub(crate) fn approve_plan(&mut self, plan: &str) {
        self.plan = plan_name(plan).or(self.plan.take());
    }

    /// Sets the topic of the work, for the instruction of the next prompt. An empty title changes
    /// nothing.
    pub(crate) fn set_topic(&mut self, title: &str) {
        self.topic = clean(title).or(self.topic.take());
    }

    /// Discards an instruction with an outdated topic, at the start of a prompt.
    pub(crate) fn begin_prompt(&mut self) {
        self.made.take_if(|made| made.topic != self.topic);
    }

    /// Returns system instruction and tool declarations for this mode and this model.
    pub(crate) fn make(
        &mut self,
        toolset: &Arc<Toolset>,
        policy: &Arc<Policy>,
        mode: ApprovalMode,
        choice: &Choice,
    ) -> (Arc<str>, Arc<[Declaration]>) {
        let memory = match &self.source {
            InstructionSource::Session { memory, .. } => {
                let memory = memory.get();
                [Arc::clone(&memory.system), Arc::clone(&memory.servers)]
            }
            InstructionSource::Text(text) => [Arc::clone(text), Arc::default()],
        };
        let (skills, subagents) = match &self.source {
            InstructionSource::Session { inputs, .. } => {
                (Some(inputs.skills.get()), Some(inputs.subagents.get()))
            }
            InstructionSource::Text(_) => (None, None),
        };
        if let Some(made) = &self.made
            && made.mode == mode
            && made.model == choice.name
            && Arc::ptr_eq(&made.toolset, toolset)
            && Arc::ptr_eq(&made.policy, policy)
            && made.skills.as_ref().map(Arc::as_ptr) == skills.as_ref().map(Arc::as_ptr)
            && made.subagents.as_ref().map(Arc::as_ptr) == subagents.as_ref().map(Arc::as_ptr)
            && made.memory.iter().zip(&memory).all(|(made, now)| Arc::ptr_eq(made, now))
        {
            return (Arc::clone(&made.system), Arc::clone(&made.tools));
        }
        let (caller, model) = (self.caller.as_deref(), (choice.name.as_str(), choice.limits));
        let tools = toolset.offered(policy, caller, mode, model).declarations();
        let system = self.text(mode, choice, &tools, &memory);
        self.is_new = true;
        let (model, again) = (choice.name.clone(), (Arc::clone(&system), Arc::clone(&tools)));
        let (toolset, policy) = (Arc::clone(toolset), Arc::clone(policy));
        let topic = self.topic.clone();
        let made =
            Made { toolset, policy, mode, model, topic, memory, skills, subagents, system, tools };
        self.made = Some(made);
        again
    }

    fn text(
        &self,
        mode: ApprovalMode,
        choice: &Choice,
        tools: &[Declaration],
        [memory, servers]: &[Arc<str>; 2],
    ) -> Arc<str> {
        let InstructionSource::Session { inputs, .. } = &self.source else {
            return Arc::clone(memory);
        };
        let memory = if servers.is_empty() {
            Arc::clone(memory)
        } else {
            format!("{memory}\n\n{servers}").trim_start().into()
        };
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
        let plan = self.plan_file(&inputs.plans_directory);
        let situation = Situation {
            mode,
            family: choice.family,
            tools: &names,
            approved_plan: plan.as_deref(),
            topic: self.topic.as_deref(),
            memory: &memory,
        };
        system_prompt(inputs, situation).text().into()
    }

    /// Writes the instruction to the file that the user configured, if the instruction has changed.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written, because the user would read an outdated
    /// instruction.
    pub(crate) async fn copy_to(&mut self, file: Option<&Path>) -> Result<(), ModelError> {
        let (Some(file), Some(made)) = (file, &self.made) else { return Ok(()) };
        if !std::mem::take(&mut self.is_new) {
            return Ok(());
        }
        let (path, system) = (file.to_owned(), Arc::clone(&made.system));
        let options = WriteOptions { create_parents: true, ..WriteOptions::default() };
        let writing = move || pollux_fs::write_atomic(&path, system.as_bytes(), &options);
        let reported = match tokio::task::spawn_blocking(writing).await {
            Ok(Ok(_)) => return Ok(()),
            Ok(Err(error)) => error.to_string(),
            Err(error) => error.to_string(),
        };
        let message = format!("Cannot write the system prompt to {}: {reported}", file.display());
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
