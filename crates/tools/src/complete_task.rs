//! `complete_task`: a subagent hands in what it was asked for, which ends its work. The main conversation has no such
//! tool: whoever starts a subagent adds one to its tools.

use async_trait::async_trait;
use pollux_protocol::{
    Args, Declaration, Directive, Effects, Invocation, RunContext, Tool, ToolError, ToolKind,
    ToolOutput,
};
use serde_json::{Map, Value, json};

use crate::validation::{Schema, invalid};

/// The name that models and policies use.
const NAME: &str = "complete_task";
/// The argument of a subagent whose output has no shape of its own.
const RESULT: &str = "result";

/// What a subagent is to hand in.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskOutput {
    /// The name of the argument that holds it.
    pub name: String,
    /// What it is, for the model.
    pub description: String,
    /// Its JSON schema.
    pub schema: Value,
}

/// The tool.
pub struct CompleteTaskTool {
    schema: Schema,
    /// The argument that is handed in.
    argument: String,
    has_shape: bool,
}

impl CompleteTaskTool {
    /// The tool of a subagent that is to hand in this, or else its findings as text.
    pub fn new(output: Option<TaskOutput>) -> Self {
        let has_shape = output.is_some();
        let TaskOutput { name, description, schema } = output.unwrap_or_else(|| TaskOutput {
            name: RESULT.to_owned(),
            description: "Everything that you have found out or done, so that whoever reads it needs nothing else."
                .to_owned(),
            schema: json!({ "type": "string" }),
        });
        let schema = described(schema, description);
        let wait = json!({
            "type": "boolean",
            "description": "Wait until all earlier calls of this turn are done. Default: false."
        });
        // A name that comes from a definition wins over our own argument.
        let mut properties = Map::from_iter([("wait_for_previous".to_owned(), wait)]);
        properties.insert(name.clone(), schema);
        let schema =
            Schema::new(json!({ "type": "object", "properties": properties, "required": [&name] }));
        Self { schema, argument: name, has_shape }
    }
}

/// The schema with what the model is told of it; one that says so itself is left alone.
fn described(mut schema: Value, description: String) -> Value {
    if let Some(fields) = schema.as_object_mut() {
        fields.entry("description").or_insert(Value::String(description));
    }
    schema
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
        let what = if self.has_shape {
            "your answer in the shape that is asked for"
        } else {
            "your findings"
        };
        Declaration {
            name: NAME.to_owned(),
            description: format!(
                "Hands in {what} and ends your task. There is no other way to finish: call it once, alone, when \
                 everything is done or nothing more can be done."
            ),
            parameters: self.schema.document().clone(),
        }
    }

    fn prepare(&self, args: &Args) -> Result<Box<dyn Invocation>, ToolError> {
        let args: Args = self.schema.read(args)?;
        let submitted = args.get(&self.argument).cloned().unwrap_or(Value::Null);
        if !self.has_shape && submitted.as_str().is_none_or(|text| text.trim().is_empty()) {
            return Err(invalid(
                "Missing required \"result\" argument. You must provide your findings when calling complete_task.",
            ));
        }
        Ok(Box::new(CompleteTask { submitted, has_shape: self.has_shape }))
    }
}

struct CompleteTask {
    submitted: Value,
    has_shape: bool,
}

#[async_trait]
impl Invocation for CompleteTask {
    fn effects(&self) -> Effects {
        // Nothing comes after it.
        Effects { alone: true, ..Effects::default() }
    }

    fn describe(&self) -> String {
        "Hands in the result".to_owned()
    }

    async fn run(&self, _run: RunContext) -> ToolOutput {
        let what = if self.has_shape { "Output" } else { "Result" };
        let mut output = ToolOutput::text(format!("{what} submitted and task completed."));
        output.directives.push(Directive::CompleteTask(self.submitted.clone()));
        output
    }
}

#[cfg(test)]
mod tests {
    use pollux_protocol::{CallId, CancellationToken};
    use pretty_assertions::assert_eq;
    use std::sync::Arc;

    use super::*;

    async fn call(tool: &CompleteTaskTool, args: Value) -> Result<ToolOutput, String> {
        let Value::Object(args) = args else { panic!("{args}") };
        let invocation = tool.prepare(&args).map_err(|error| error.message)?;
        let run = RunContext {
            call_id: CallId::new("c"),
            prompt_id: "p".into(),
            cancel: CancellationToken::new(),
            output: Arc::new(|_| {}),
            input: Box::pin(futures::stream::empty()),
            room: None,
        };
        Ok(invocation.run(run).await)
    }

    fn report() -> CompleteTaskTool {
        let schema = json!({
            "type": "object",
            "properties": {"summary": {"type": "string"}, "files": {"type": "array", "items": {"type": "string"}}},
            "required": ["summary"]
        });
        let (name, description) = ("report".to_owned(), "The report.".to_owned());
        CompleteTaskTool::new(Some(TaskOutput { name, description, schema }))
    }

    #[tokio::test]
    async fn findings_are_handed_in_as_text() {
        let tool = CompleteTaskTool::new(None);
        let output = call(&tool, json!({"result": "All is well."})).await.unwrap();
        assert_eq!(output.content[0].as_text(), Some("Result submitted and task completed."));
        assert_eq!(output.directives, [Directive::CompleteTask(json!("All is well."))]);
        let missing = "Missing required \"result\" argument. You must provide your findings when calling complete_task.";
        let table = [
            (json!({}), "params must have required property 'result'"),
            (json!({"result": 5}), "params/result must be string"),
            (json!({"result": " "}), missing),
        ];
        for (args, message) in table {
            assert_eq!(call(&tool, args.clone()).await.unwrap_err(), message, "{args}");
        }
    }

    #[tokio::test]
    async fn output_has_the_shape_that_was_asked_for() {
        let tool = report();
        let declared = tool.declaration().parameters;
        assert_eq!(declared["required"], json!(["report"]));
        assert_eq!(declared["properties"]["report"]["description"], "The report.");
        assert_eq!(declared["properties"]["wait_for_previous"]["type"], "boolean");
        let answer = json!({"summary": "s", "files": ["a"]});
        let output =
            call(&tool, json!({"report": answer, "wait_for_previous": true})).await.unwrap();
        assert_eq!(output.content[0].as_text(), Some("Output submitted and task completed."));
        assert_eq!(output.directives, [Directive::CompleteTask(answer)]);
        let table = [
            (json!({}), "params must have required property 'report'"),
            (json!({"report": {}}), "params/report must have required property 'summary'"),
            (
                json!({"report": {"summary": "s", "files": [1]}}),
                "params/report/files/0 must be string",
            ),
            (json!({"result": "s"}), "params must have required property 'report'"),
        ];
        for (args, message) in table {
            assert_eq!(call(&tool, args.clone()).await.unwrap_err(), message, "{args}");
        }
    }

    #[tokio::test]
    async fn a_schema_that_is_none_refuses_nothing() {
        let (name, description) = ("answer".to_owned(), String::new());
        let schema = json!({"type": "no such type"});
        let tool = CompleteTaskTool::new(Some(TaskOutput { name, description, schema }));
        let output = call(&tool, json!({"answer": [1]})).await.unwrap();
        assert_eq!(output.directives, [Directive::CompleteTask(json!([1]))]);
    }
}
