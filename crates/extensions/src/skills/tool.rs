//! `activate_skill`: the model reads the instructions of a skill.

use std::sync::Arc;

use async_trait::async_trait;
use pollux_protocol::{
    Args, CallId, Confirmation, ConfirmationKind, Declaration, Directive, Display, Effects,
    Invocation, RunContext, Shortening, SideModels, SubjectArgument, Tool, ToolError,
    ToolErrorKind, ToolFacts, ToolKind, ToolOutput,
};
use serde_json::{Value, json};

use super::set::SkillSet;
use super::skill::{ActivatedSkill, Skill};

/// Name of the tool for models and policies.
const NAME: &str = "activate_skill";
/// Its only argument.
const ARGUMENT: &str = "name";

/// Function that returns the message about a skill that must not be activated as it is now. Called
/// on a thread that may block.
pub type SkillCheck = Arc<dyn Fn(&Skill) -> Result<(), String> + Send + Sync>;

/// Returns the tool that activates these skills; `None` if none is enabled.
pub fn activate_skill(skills: &Arc<SkillSet>, check: SkillCheck) -> Option<Arc<dyn Tool>> {
    skills.enabled().next()?;
    Some(Arc::new(ActivateSkillTool { skills: Arc::clone(skills), check }))
}

struct ActivateSkillTool {
    skills: Arc<SkillSet>,
    check: SkillCheck,
}

impl ActivateSkillTool {
    fn names(&self) -> Vec<&str> {
        self.skills.enabled().map(|skill| skill.name.as_str()).collect()
    }

    fn named(&self, name: &str) -> Option<&Skill> {
        self.skills.get(name).filter(|skill| self.skills.is_enabled(skill))
    }
}

impl Tool for ActivateSkillTool {
    fn name(&self) -> &'static str {
        NAME
    }

    fn display_name(&self) -> &'static str {
        "Activate Skill"
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Other
    }

    fn facts(&self) -> ToolFacts {
        ToolFacts {
            subject: Some(SubjectArgument::Value(ARGUMENT)),
            shortening: Shortening::Never,
            ..ToolFacts::default()
        }
    }

    fn declaration(&self) -> Declaration {
        Declaration {
            name: NAME.to_owned(),
            description: "Loads the instructions of a skill of <available_skills>, with a list of \
                          the files that belong to it. Call it before you begin a task that the \
                          description of the skill fits."
                .to_owned(),
            parameters: json!({
                "type": "object",
                "properties": {
                    ARGUMENT: {
                        "type": "string",
                        "enum": self.names(),
                        "description": "The name of the skill."
                    }
                },
                "required": [ARGUMENT],
                "additionalProperties": false,
                "$schema": "http://json-schema.org/draft-07/schema#"
            }),
        }
    }

    fn recall(&self, args: &Value, _response: &Value) -> Option<Directive> {
        let skill = self.named(args.get(ARGUMENT)?.as_str()?)?;
        Some(Directive::OpenFolder(skill.folder.clone()))
    }

    fn prepare(&self, args: &Args) -> Result<Box<dyn Invocation>, ToolError> {
        let invalid = |message: String| ToolError::new(ToolErrorKind::InvalidToolParams, message);
        let name = match args.get(ARGUMENT) {
            Some(Value::String(name)) => name,
            Some(_) => return Err(invalid(format!("params/{ARGUMENT} must be string"))),
            None => {
                let text = format!("params must have required property '{ARGUMENT}'");
                return Err(invalid(text));
            }
        };
        if args.len() > 1 {
            return Err(invalid("params must NOT have additional properties".to_owned()));
        }
        let skill = self.named(name).ok_or_else(|| {
            let names = self.names().join(", ");
            invalid(format!("Skill \"{name}\" not found. Available skills are: {names}"))
        })?;
        Ok(Box::new(ActivateSkill { skill: skill.clone(), check: Arc::clone(&self.check) }))
    }
}

struct ActivateSkill {
    skill: Skill,
    check: SkillCheck,
}

impl ActivateSkill {
    /// Does something with the skill on a thread that may block.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Skill) -> T + Send + 'static,
    ) -> Result<T, ToolError> {
        let (skill, check) = (self.skill.clone(), Arc::clone(&self.check));
        let checked = move || check(&skill).map(|()| work(&skill));
        let failed = |message: String| ToolError::new(ToolErrorKind::ExecutionFailed, message);
        let done = tokio::task::spawn_blocking(checked).await;
        done.map_err(|error| failed(error.to_string()))?.map_err(failed)
    }

    async fn activated(&self) -> Result<ActivatedSkill, ToolError> {
        self.blocking(Skill::activate)
            .await?
            .map_err(|error| ToolError::new(ToolErrorKind::ExecutionFailed, error.to_string()))
    }
}

#[async_trait]
impl Invocation for ActivateSkill {
    fn effects(&self) -> Effects {
        Effects::default()
    }

    fn describe(&self) -> String {
        format!("\"{}\": {}", self.skill.name, self.skill.description)
    }

    async fn confirmation(
        &self,
        call_id: &CallId,
        _side_models: &Arc<dyn SideModels>,
    ) -> Result<Confirmation, ToolError> {
        let tree = self.blocking(Skill::tree).await?;
        Ok(Confirmation {
            call_id: call_id.clone(),
            title: format!("Activate Skill: {}", self.skill.name),
            kind: ConfirmationKind::Information {
                prompt: format!(
                    "{}\n\nThe model follows the instructions of this skill, and can read its files:\n\n{tree}",
                    self.skill.description
                ),
                urls: Vec::new(),
            },
        })
    }

    async fn run(&self, _run: RunContext) -> ToolOutput {
        let activated = match self.activated().await {
            Ok(activated) => activated,
            Err(error) => return error.into(),
        };
        let folder = &self.skill.folder;
        let display = format!(
            "Skill **{}** activated. Resources loaded from `{}`:\n\n{}",
            activated.name,
            folder.display(),
            activated.tree
        );
        let output = ToolOutput::quiet(activated.for_model()).display(Display::Text(display));
        ToolOutput { directives: vec![Directive::OpenFolder(folder.clone())], ..output }
    }
}
