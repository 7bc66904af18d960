//! `invoke_agent`: gives a task to a subagent.

use std::sync::Arc;

use async_trait::async_trait;
use pollux_protocol::{
    Args, Declaration, Effects, Invocation, RunContext, SubjectArgument, Tool, ToolError,
    ToolFacts, ToolKind, ToolOutput,
};
use serde::Deserialize;
use serde_json::json;

use crate::validation::{Schema, invalid};

/// Name of the tool for models and policies.
const NAME: &str = "invoke_agent";
/// Argument with the name of the subagent.
const AGENT: &str = "agent_name";
/// Maximum size of a task, in bytes.
const MAX_TASK: usize = 1 << 20;

/// The subagents of a session.
#[async_trait]
pub trait Subagents: Send + Sync {
    /// Returns true if a subagent with this name can be invoked.
    fn has(&self, name: &str) -> bool;

    /// Runs a subagent until it ends.
    async fn run(&self, name: &str, task: &str, run: RunContext) -> ToolOutput;
}

/// Returns the tool that invokes these subagents.
pub fn invoke_agent(agents: Arc<dyn Subagents>) -> Arc<dyn Tool> {
    let schema = Schema::new(json!({
        "type": "object",
        "properties": {
            AGENT: {
                "type": "string",
                "description": "The name of the subagent, from <available_subagents>."
            },
            "prompt": {
                "type": "string",
                "description": "The whole task. The subagent knows nothing else: write down the goal, \
                                what you know already, paths, limits, and what its report must \
                                contain."
            },
            Declaration::WAIT: {
                "type": "boolean",
                "description": "Wait until all earlier calls of this turn are finished. Default: false."
            }
        },
        "required": [AGENT, "prompt"]
    }));
    Arc::new(InvokeAgentTool { agents, schema })
}

struct InvokeAgentTool {
    agents: Arc<dyn Subagents>,
    schema: Schema,
}

#[derive(Deserialize)]
struct Params {
    agent_name: String,
    prompt: String,
}

impl Tool for InvokeAgentTool {
    fn name(&self) -> &'static str {
        NAME
    }

    fn display_name(&self) -> &'static str {
        "Invoke Subagent"
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Agent
    }

    fn facts(&self) -> ToolFacts {
        ToolFacts { subject: Some(SubjectArgument::Value(AGENT)), ..ToolFacts::default() }
    }

    fn declaration(&self) -> Declaration {
        Declaration {
            name: NAME.to_owned(),
            description:
                "Gives a task to a subagent and returns its report. Independent tasks may \
                          run side by side: call it several times in one turn."
                    .to_owned(),
            parameters: self.schema.document().clone(),
        }
    }

    fn prepare(&self, args: &Args) -> Result<Box<dyn Invocation>, ToolError> {
        let Params { agent_name, prompt } = self.schema.read(args)?;
        if !self.agents.has(&agent_name) {
            let shown: String = agent_name.chars().take(100).collect();
            return Err(invalid(format!("Subagent '{shown}' not found.")));
        }
        if prompt.len() > MAX_TASK {
            return Err(invalid(format!("The prompt is longer than {MAX_TASK} bytes.")));
        }
        Ok(Box::new(InvokeAgent { agents: Arc::clone(&self.agents), agent_name, prompt }))
    }
}

struct InvokeAgent {
    agents: Arc<dyn Subagents>,
    agent_name: String,
    prompt: String,
}

#[async_trait]
impl Invocation for InvokeAgent {
    /// Returns no effects: each call of the subagent declares its own and is judged for itself.
    fn effects(&self) -> Effects {
        Effects::default()
    }

    fn describe(&self) -> String {
        format!("Delegating to agent '{}'", self.agent_name)
    }

    async fn run(&self, run: RunContext) -> ToolOutput {
        self.agents.run(&self.agent_name, &self.prompt, run).await
    }
}
