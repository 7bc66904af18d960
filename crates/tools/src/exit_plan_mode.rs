//! `exit_plan_mode`: the user reviews the plan.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use pollux_fs::RealPath;
use pollux_protocol::{
    Args, CallId, Confirmation, ConfirmationKind, Declaration, Directive, Display, Effects,
    Invocation, Modification, RunContext, Shortening, SideModels, Tool, ToolError, ToolErrorKind,
    ToolFacts, ToolKind, ToolOutput,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::blocking::blocking;
use crate::context::{ToolContext, outside_plans};
use crate::validation::{Schema, invalid};

/// Name of the tool for models and policies.
const NAME: &str = "exit_plan_mode";

/// Maximum size in bytes of a plan that the user can be expected to read.
const LONGEST_PLAN: u64 = 1 << 20;

/// The tool `exit_plan_mode`.
pub(crate) struct ExitPlanModeTool {
    context: Arc<ToolContext>,
    schema: Schema,
}

impl ExitPlanModeTool {
    /// Creates the tool for a session.
    pub(crate) fn new(context: Arc<ToolContext>) -> Self {
        let schema = Schema::new(json!({
            "type": "object",
            "properties": {
                "plan_filename": {
                    "type": "string",
                    "description": "The file name of the plan in the plans folder, such as feature.md."
                }
            },
            "required": ["plan_filename"]
        }));
        Self { context, schema }
    }

    /// Returns the path of the plan's file and its real path. Both must be in the plans folder.
    fn locate(&self, given: &str) -> Result<(PathBuf, RealPath), ToolError> {
        let plans = &self.context.plans_directory;
        let path = pollux_fs::absolute(plans, Path::new(given));
        let inside = |path: &Path| {
            let real = pollux_fs::real_path(plans).unwrap_or_else(|_| plans.clone());
            path.starts_with(plans) || path.starts_with(real)
        };
        match RealPath::of(&path) {
            Ok(real) if inside(&path) && inside(&real) => Ok((path, real)),
            _ => Err(outside_plans(given, plans)),
        }
    }
}

#[derive(Deserialize)]
struct Params {
    plan_filename: String,
    /// Changes that the user requests. The declaration for the model does not contain this
    /// argument.
    #[serde(default)]
    feedback: Option<String>,
}

/// Beginning of the result if the user wants the plan changed.
const REJECTED: &str = "Plan rejected";

/// Argument that holds the user's feedback.
const FEEDBACK: &str = "feedback";

impl Tool for ExitPlanModeTool {
    fn name(&self) -> &'static str {
        NAME
    }

    fn display_name(&self) -> &'static str {
        "Exit Plan Mode"
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Plan
    }

    fn facts(&self) -> ToolFacts {
        ToolFacts { shortening: Shortening::Never, ..ToolFacts::default() }
    }

    fn declaration(&self) -> Declaration {
        Declaration {
            name: NAME.to_owned(),
            description: format!(
                "Asks the user to approve the finished plan. If the user approves it, plan mode ends and \
                 you can implement the plan. First write the plan to a .md file in {}.",
                self.context.plans_directory.display()
            ),
            parameters: self.schema.document().clone(),
        }
    }

    /// A plan that was refused with feedback is not a failed call, so it is recognised by its
    /// output.
    fn recall(&self, args: &Value, response: &Value) -> Option<Directive> {
        let output = response.get("output").and_then(Value::as_str);
        if output.is_some_and(|output| output.starts_with(REJECTED)) {
            return None;
        }
        let plan = args.get("plan_filename")?.as_str()?.to_owned();
        Some(Directive::LeavePlanMode { plan })
    }

    fn prepare(&self, args: &Args) -> Result<Box<dyn Invocation>, ToolError> {
        let Params { plan_filename, feedback } = self.schema.read(args)?;
        if plan_filename.trim().is_empty() {
            return Err(invalid("plan_filename is required."));
        }
        let (path, real) = self.locate(plan_filename.trim())?;
        Ok(Box::new(ExitPlanMode { path, real, plan_filename, feedback }))
    }
}

struct ExitPlanMode {
    path: PathBuf,
    real: RealPath,
    plan_filename: String,
    feedback: Option<String>,
}

impl ExitPlanMode {
    /// Reads the plan, or returns an error that names the problem.
    async fn read(&self, cancel: &pollux_protocol::CancellationToken) -> Result<String, ToolError> {
        let (path, real) = (self.path.clone(), self.real.clone());
        blocking(cancel, move |_| {
            let shown = path.display();
            match real.read_text(LONGEST_PLAN) {
                Ok(file) if file.text.trim().is_empty() => Err(invalid(format!(
                    "Plan file is empty: {shown}. Write the plan to it before you leave plan mode."
                ))),
                Ok(file) => Ok(file.text),
                Err(error) if error.is_not_found() => Err(invalid(format!(
                    "Plan file does not exist: {shown}. Write the plan to it before you leave plan mode."
                ))),
                Err(error) => Err(ToolError::new(
                    ToolErrorKind::ReadContentFailure,
                    format!("Cannot read the plan: {error}"),
                )),
            }
        })
        .await
    }
}

#[async_trait]
impl Invocation for ExitPlanMode {
    fn effects(&self) -> Effects {
        Effects::read(&self.path)
    }

    fn describe(&self) -> String {
        format!("Requesting plan approval for: {}", self.path.display())
    }

    async fn confirmation(
        &self,
        call_id: &CallId,
        _side_models: &Arc<dyn SideModels>,
    ) -> Result<Confirmation, ToolError> {
        let text = self.read(&pollux_protocol::CancellationToken::new()).await?;
        Ok(Confirmation {
            call_id: call_id.clone(),
            title: "Plan Approval".to_owned(),
            kind: ConfirmationKind::Plan { path: self.path.clone(), text },
        })
    }

    fn modify(&self, modification: &Modification) -> Result<Args, ToolError> {
        let Modification::Feedback(feedback) = modification else {
            return Err(invalid("To modify a plan, edit its file."));
        };
        let mut args = Args::new();
        args.insert("plan_filename".to_owned(), self.plan_filename.as_str().into());
        args.insert(FEEDBACK.to_owned(), feedback.as_str().into());
        Ok(args)
    }

    async fn run(&self, run: RunContext) -> ToolOutput {
        if let Some(feedback) = &self.feedback {
            let path = self.path.display();
            return ToolOutput::quiet(format!(
                "{REJECTED}. User feedback: {feedback}\n\nThe plan is in {path}. Revise it, then request \
                 approval again."
            ))
            .display(Display::Text(format!("Feedback: {feedback}")));
        }
        // In a session without a user, the plan was not read before.
        if let Err(error) = self.read(&run.cancel).await {
            return error.into();
        }
        let path = self.path.display();
        let mut output = ToolOutput::quiet(format!(
            "Plan approved. It is in {path}. Implement it step by step. If you are unsure what it says, read it again."
        ))
        .display(Display::Text(format!("Plan approved: {path}")));
        let plan = self.plan_filename.clone();
        output.directives.push(Directive::LeavePlanMode { plan });
        output
    }
}
