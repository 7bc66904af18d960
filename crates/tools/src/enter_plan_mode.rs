//! `enter_plan_mode`: the model plans first and does not change any files.

use std::sync::Arc;

use async_trait::async_trait;
use pollux_protocol::{
    ApprovalMode, Args, CallId, Confirmation, ConfirmationKind, Declaration, Directive, Display,
    Effects, Invocation, RunContext, Shortening, SideModels, Tool, ToolError, ToolErrorKind,
    ToolFacts, ToolKind, ToolOutput,
};
use serde::Deserialize;
use serde_json::json;

use crate::context::ToolContext;
use crate::validation::Schema;

/// Name of the tool for models and policies.
const NAME: &str = "enter_plan_mode";

/// The tool `enter_plan_mode`.
pub(crate) struct EnterPlanModeTool {
    context: Arc<ToolContext>,
    schema: Schema,
}

impl EnterPlanModeTool {
    /// Creates the tool for a session.
    pub(crate) fn new(context: Arc<ToolContext>) -> Self {
        let schema = Schema::new(json!({
            "type": "object",
            "properties": {
                "reason": {
                    "type": "string",
                    "description": "The reason to plan first, in one sentence."
                }
            }
        }));
        Self { context, schema }
    }
}

#[derive(Deserialize)]
struct Params {
    #[serde(default)]
    reason: String,
}

impl Tool for EnterPlanModeTool {
    fn name(&self) -> &'static str {
        NAME
    }

    fn display_name(&self) -> &'static str {
        "Enter Plan Mode"
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
            description: "Switches to plan mode, in which you can read everything but write only plan \
                          files, until the user approves the plan through exit_plan_mode. Use it for \
                          large, risky or unclear tasks, not for small changes and questions."
                .to_owned(),
            parameters: self.schema.document().clone(),
        }
    }

    fn prepare(&self, args: &Args) -> Result<Box<dyn Invocation>, ToolError> {
        let Params { reason } = self.schema.read(args)?;
        Ok(Box::new(EnterPlanMode { context: Arc::clone(&self.context), reason }))
    }
}

struct EnterPlanMode {
    context: Arc<ToolContext>,
    reason: String,
}

#[async_trait]
impl Invocation for EnterPlanMode {
    fn effects(&self) -> Effects {
        Effects::default()
    }

    fn describe(&self) -> String {
        match self.reason.trim() {
            "" => "Initiating Plan Mode".to_owned(),
            reason => reason.to_owned(),
        }
    }

    async fn confirmation(
        &self,
        call_id: &CallId,
        _side_models: &Arc<dyn SideModels>,
    ) -> Result<Confirmation, ToolError> {
        let prompt = format!("This restricts the agent to reading and planning. {}", self.reason);
        Ok(Confirmation {
            call_id: call_id.clone(),
            title: "Enter Plan Mode".to_owned(),
            kind: ConfirmationKind::Information {
                prompt: prompt.trim_end().to_owned(),
                urls: Vec::new(),
            },
        })
    }

    async fn run(&self, _run: RunContext) -> ToolOutput {
        let plans = &self.context.plans_directory;
        if let Err(error) = pollux_fs::create_private_directories(plans) {
            let message = format!("Cannot create the folder for plans: {error}");
            return ToolError::new(ToolErrorKind::ExecutionFailed, message).into();
        }
        let reason = self.reason.trim();
        let shown = match reason {
            "" => "Switching to Plan mode".to_owned(),
            reason => format!("Switching to Plan mode: {reason}"),
        };
        let mut output = ToolOutput::text("Switching to Plan mode.").display(Display::Text(shown));
        output.directives.push(Directive::SetMode(ApprovalMode::Plan));
        output
    }
}
