//! The system instruction as a pure function of the session's facts. Its texts are in `prompts/`,
//! one file for each section, in the syntax of [`template`].

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pollux_protocol::{ApprovalMode, Live, PromptFamily};

mod built_in;
mod section;
mod template;
#[cfg(test)]
mod tests;

pub use section::Section;

use template::{Facts, render};

/// Sandbox in which the program runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Sandbox {
    /// No sandbox.
    #[default]
    None,
    /// Profile of macOS Seatbelt.
    Seatbelt,
    /// Container, or another kind of sandbox.
    Container,
}

/// Subagent that the model can invoke.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subagent {
    /// Name for invoking the subagent.
    pub name: String,
    /// Description of its purpose, which helps the model to choose.
    pub description: String,
}

/// Skill that the model can activate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfferedSkill {
    /// Name for activating the skill.
    pub name: String,
    /// Description of its purpose, which helps the model to choose.
    pub description: String,
    /// File of the skill.
    pub location: PathBuf,
}

/// Facts for the system instruction that do not change during a session, except for skills and
/// subagents.
#[derive(Debug, Clone, Default)]
pub struct PromptInputs {
    /// True if a user can answer.
    pub interactive: bool,
    /// True if the project is a Git repository.
    pub git: bool,
    /// Sandbox in which the program runs.
    pub sandbox: Sandbox,
    /// True if commands should print little (`tools.shell.enableShellOutputEfficiency`).
    pub brief_output: bool,
    /// Folder in which plan mode may write.
    pub plans_directory: PathBuf,
    /// Folder in which the task tracker keeps its tasks.
    pub tracker_directory: PathBuf,
    /// Folder of the project for temporary files.
    pub temporary_directory: PathBuf,
    /// File name of context files.
    pub context_name: String,
    /// Context file for all projects.
    pub global_memory: PathBuf,
    /// Index of the user's private notes on this project.
    pub private_memory: PathBuf,
    /// Subagents that the model can invoke.
    pub subagents: Live<Vec<Subagent>>,
    /// Skills that the model can activate.
    pub skills: Live<Vec<OfferedSkill>>,
    /// Sections that the user has disabled.
    pub left_out: Vec<Section>,
    /// Text of the user that replaces all built-in sections.
    pub custom: Option<Arc<str>>,
}

/// Facts for the system instruction that may change during a session.
#[derive(Debug, Clone, Copy)]
pub struct Situation<'a> {
    /// Approval mode.
    pub mode: ApprovalMode,
    /// Prompt family of the model.
    pub family: PromptFamily,
    /// Names of the offered tools.
    pub tools: &'a [&'a str],
    /// File of the plan that the user has approved.
    pub approved_plan: Option<&'a Path>,
    /// Topic of the work.
    pub topic: Option<&'a str>,
    /// Contents of the user's own context files, ready to append; empty without such files.
    pub memory: &'a str,
}

/// System instruction in its sections, in order. No section is empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemPrompt(Vec<(Section, String)>);

impl SystemPrompt {
    /// Returns the sections with their texts.
    pub fn sections(&self) -> impl Iterator<Item = (Section, &str)> {
        self.0.iter().map(|(section, text)| (*section, text.as_str()))
    }

    /// Returns the complete text, as it is sent.
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self.sections().map(|(_, text)| text).collect();
        texts.join("\n\n")
    }
}

/// Builds the system instruction.
pub fn system_prompt(inputs: &PromptInputs, situation: Situation<'_>) -> SystemPrompt {
    let Situation { mode, tools, topic, memory, .. } = situation;
    let facts = facts(inputs, situation);
    let own = inputs.custom.as_ref().map(|words| {
        let blocks = [("SubAgents", subagents(inputs)), ("AgentSkills", skills(inputs))];
        template::substitute(words, &blocks, tools)
    });
    let built_in = own.is_none();
    let plan = mode == ApprovalMode::Plan;
    let autonomous = inputs.interactive && mode == ApprovalMode::Yolo;
    let texts: [(Section, bool, &str); 13] = [
        (Section::Preamble, true, include_str!("../prompts/preamble.md")),
        (Section::CoreMandates, true, include_str!("../prompts/mandates.md")),
        (Section::AgentContexts, facts.holds("subagents"), include_str!("../prompts/subagents.md")),
        (Section::AgentSkills, facts.holds("skills"), include_str!("../prompts/skills.md")),
        (Section::HookContext, true, include_str!("../prompts/hooks.md")),
        (Section::PlanningWorkflow, plan, include_str!("../prompts/planning.md")),
        (Section::PrimaryWorkflows, !plan, include_str!("../prompts/workflow.md")),
        (Section::TaskTracker, facts.holds("tracker"), include_str!("../prompts/tracker.md")),
        (Section::OperationalGuidelines, true, include_str!("../prompts/operations.md")),
        (Section::InteractiveYoloMode, autonomous, include_str!("../prompts/autonomous.md")),
        (Section::Sandbox, true, include_str!("../prompts/sandbox.md")),
        (Section::Git, inputs.git, include_str!("../prompts/git.md")),
        (Section::FinalReminder, true, include_str!("../prompts/reminder.md")),
    ];
    let wanted = |section: Section| built_in && !inputs.left_out.contains(&section);
    let built_in = texts
        .iter()
        .filter(|(section, holds, _)| *holds && wanted(*section))
        .map(|(section, _, text)| (*section, render(text, &facts)));
    // A topic is not mentioned if the user has disabled the topic tool since the topic was set.
    let topic =
        topic.filter(|_| facts.holds("topics")).map(|topic| format!("[Active Topic: {topic}]"));
    let sections = own
        .map(|words| (Section::Custom, words))
        .into_iter()
        .chain(built_in)
        .chain([(Section::Memory, memory.to_owned())])
        .chain(topic.map(|topic| (Section::Topic, topic)))
        .map(|(section, text)| (section, template::without_gaps(text.trim())))
        .filter(|(_, text)| !text.is_empty());
    SystemPrompt(sections.collect())
}

/// Returns the flags and values that the texts refer to by name.
fn facts(inputs: &PromptInputs, situation: Situation<'_>) -> Facts {
    let Situation { mode, family, tools, approved_plan, .. } = situation;
    let mut flags: Vec<(&str, bool)> = built_in::conditions(tools).collect();
    let offers = |condition| flags.contains(&(condition, true));
    let known_subagents = inputs.subagents.get();
    let subagents_offered = offers("agents") && !known_subagents.is_empty();
    let skills_offered = offers("skill_tool") && !inputs.skills.get().is_empty();
    let is_investigator = |agent: &Subagent| agent.name == built_in::INVESTIGATOR;
    flags.extend([
        ("interactive", inputs.interactive),
        ("modern", family == PromptFamily::Modern),
        ("plan", mode == ApprovalMode::Plan),
        ("approved_plan", approved_plan.is_some()),
        ("subagents", subagents_offered),
        ("investigator", subagents_offered && known_subagents.iter().any(is_investigator)),
        ("skills", skills_offered),
        ("offered", !tools.is_empty()),
        ("brief_output", inputs.brief_output),
        ("seatbelt", inputs.sandbox == Sandbox::Seatbelt),
        ("container", inputs.sandbox == Sandbox::Container),
    ]);
    let path = |path: &Path| path.display().to_string();
    Facts {
        flags,
        values: vec![
            ("mode", mode_name(mode).to_owned()),
            ("plans_directory", path(&inputs.plans_directory)),
            ("tracker_directory", path(&inputs.tracker_directory)),
            ("temporary_directory", path(&inputs.temporary_directory)),
            ("approved_plan", approved_plan.map(path).unwrap_or_default()),
            ("context_name", inputs.context_name.clone()),
            ("global_memory", path(&inputs.global_memory)),
            ("private_memory", path(&inputs.private_memory)),
            ("subagents", subagents(inputs)),
            ("skills", skills(inputs)),
            ("tools", enumerated(tools)),
        ],
    }
}

/// Returns names as a list in a sentence. A name with characters beyond those of plain names is
/// left out.
fn enumerated(names: &[&str]) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-.:".contains(letter);
    let plain = names.iter().filter(|name| name.chars().all(is_plain));
    plain.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Returns the subagents with name and description; empty without subagents.
fn subagents(inputs: &PromptInputs) -> String {
    let entry = |agent: &Subagent| {
        let (name, description) = (escaped(&agent.name), escaped(&agent.description));
        format!("<subagent><name>{name}</name><description>{description}</description></subagent>")
    };
    block("available_subagents", &inputs.subagents.get().iter().map(entry).collect::<Vec<_>>())
}

/// Returns the skills with name, description and file; empty without skills.
fn skills(inputs: &PromptInputs) -> String {
    let entry = |skill: &OfferedSkill| {
        let (name, description) = (escaped(&skill.name), escaped(&skill.description));
        let location = escaped(&skill.location.display().to_string());
        format!(
            "<skill><name>{name}</name><description>{description}</description><location>{location}</location></skill>"
        )
    };
    block("available_skills", &inputs.skills.get().iter().map(entry).collect::<Vec<_>>())
}

fn block(tag: &str, entries: &[String]) -> String {
    if entries.is_empty() {
        return String::new();
    }
    format!("<{tag}>\n{}\n</{tag}>", entries.join("\n"))
}

/// Escapes a text so that it cannot close its enclosing block.
fn escaped(text: &str) -> String {
    text.trim().replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn mode_name(mode: ApprovalMode) -> &'static str {
    match mode {
        ApprovalMode::Default => "Default",
        ApprovalMode::AutoEdit => "Auto-Edit",
        ApprovalMode::Yolo => "YOLO",
        ApprovalMode::Plan => "Plan",
    }
}
