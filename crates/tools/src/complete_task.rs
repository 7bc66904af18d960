//! `complete_task`: a subagent submits its report and ends its work.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use pollux_protocol::{
    Args, Declaration, Directive, Effects, Invocation, RunContext, Tool, ToolError, ToolKind,
    ToolOutput,
};
use serde_json::{Value, json};

use crate::validation::{Schema, invalid};

/// Name of the tool for models and policies.
const NAME: &str = "complete_task";
/// Argument with a report that is a text.
const RESULT: &str = "result";
/// Argument with a report that satisfies a schema.
const REPORT: &str = "report";
/// Message of Gemini CLI about a text without content.
const NO_RESULT: &str = "Missing required \"result\" argument. You must provide your findings when calling complete_task.";

/// Report of a subagent, once it is submitted. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct SubmittedReport(Arc<Mutex<Option<Value>>>);

impl SubmittedReport {
    /// Returns the report; `None` before it is submitted.
    pub fn get(&self) -> Option<Value> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// True once the report is submitted.
    pub fn is_submitted(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    fn set(&self, report: Value) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(report);
    }
}

/// Returns the tool with which one subagent submits its report: a text, or a value that satisfies
/// `schema`.
pub fn complete_task(schema: Option<Value>, report: &SubmittedReport) -> Arc<dyn Tool> {
    let argument = if schema.is_some() { REPORT } else { RESULT };
    let mut of_report = schema.unwrap_or_else(|| {
        json!({
            "type": "string",
            "description": "The whole report: the results, and what is not finished or not checked."
        })
    });
    if of_report.get("description").is_none() {
        of_report["description"] = json!("The whole report.");
    }
    let schema = Schema::new(json!({
        "type": "object",
        "properties": {
            argument: of_report,
            Declaration::WAIT: {
                "type": "boolean",
                "description": "Wait until all earlier calls of this turn are finished. Default: false."
            }
        },
        "required": [argument]
    }));
    Arc::new(CompleteTaskTool { schema, argument, report: report.clone() })
}

struct CompleteTaskTool {
    schema: Schema,
    argument: &'static str,
    report: SubmittedReport,
}

impl Tool for CompleteTaskTool {
    fn name(&self) -> &'static str {
        NAME
    }

    fn display_name(&self) -> &'static str {
        "Complete Task"
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Other
    }

    fn declaration(&self) -> Declaration {
        Declaration {
            name: NAME.to_owned(),
            description:
                "Submits your report and ends your work. It is the only way to end it. Call \
                          it alone, when nothing is left to do."
                    .to_owned(),
            parameters: self.schema.document().clone(),
        }
    }

    fn prepare(&self, args: &Args) -> Result<Box<dyn Invocation>, ToolError> {
        let mut args: Args = self.schema.read(args)?;
        let value = args.remove(self.argument).unwrap_or_default();
        if self.argument == RESULT && value.as_str().is_some_and(|text| text.trim().is_empty()) {
            return Err(invalid(NO_RESULT));
        }
        let noun = if self.argument == REPORT { "Output" } else { "Result" };
        Ok(Box::new(CompleteTask { value, noun, report: self.report.clone() }))
    }
}

struct CompleteTask {
    value: Value,
    noun: &'static str,
    report: SubmittedReport,
}

#[async_trait]
impl Invocation for CompleteTask {
    fn effects(&self) -> Effects {
        Effects::default()
    }

    fn describe(&self) -> String {
        "Completing task and submitting results.".to_owned()
    }

    async fn run(&self, _run: RunContext) -> ToolOutput {
        self.report.set(self.value.clone());
        let output = ToolOutput::text(format!("{} submitted and task completed.", self.noun));
        ToolOutput { directives: vec![Directive::Finish], ..output }
    }
}
