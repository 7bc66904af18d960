//! Hooks: the events of the agent at which the user's programs run, and the input of these
//! programs.
//!
//! The names and keys are those of Gemini CLI, so that programs written for it can read them.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::Display;

/// Event at which the user's hooks run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum HookEvent {
    /// A session starts or is resumed.
    SessionStart,
    /// A session ends.
    SessionEnd,
    /// Work on a prompt is about to start.
    BeforeAgent,
    /// Work on a prompt is about to end.
    AfterAgent,
    /// A request to the model is about to be sent.
    BeforeModel,
    /// A piece of an answer has arrived.
    AfterModel,
    /// The tools of a request are about to be selected.
    BeforeToolSelection,
    /// The approval of a call is about to be decided.
    BeforeTool,
    /// A call has run.
    AfterTool,
    /// The agent checks whether to compress the conversation.
    PreCompress,
    /// The user is about to be asked.
    Notification,
}

impl HookEvent {
    /// All events, in the order in which they occur in a session.
    pub const ALL: [Self; 11] = [
        Self::SessionStart,
        Self::BeforeAgent,
        Self::PreCompress,
        Self::BeforeModel,
        Self::BeforeToolSelection,
        Self::AfterModel,
        Self::BeforeTool,
        Self::Notification,
        Self::AfterTool,
        Self::AfterAgent,
        Self::SessionEnd,
    ];

    /// Returns the name used in settings and input.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SessionStart => "SessionStart",
            Self::SessionEnd => "SessionEnd",
            Self::BeforeAgent => "BeforeAgent",
            Self::AfterAgent => "AfterAgent",
            Self::BeforeModel => "BeforeModel",
            Self::AfterModel => "AfterModel",
            Self::BeforeToolSelection => "BeforeToolSelection",
            Self::BeforeTool => "BeforeTool",
            Self::AfterTool => "AfterTool",
            Self::PreCompress => "PreCompress",
            Self::Notification => "Notification",
        }
    }

    /// Returns the event with this exact name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|event| event.as_str() == name)
    }
}

impl std::fmt::Display for HookEvent {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// Reason for the start of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SessionSource {
    /// A new session.
    Startup,
    /// An earlier session is resumed.
    Resume,
    /// The previous session was cleared.
    Clear,
}

/// Reason for the end of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionEndReason {
    /// The program exits.
    Exit,
    /// Another session replaces this one.
    Clear,
    /// The user signs out.
    Logout,
    /// The user left the prompt.
    PromptInputExit,
    /// Any other reason.
    Other,
}

/// Origin of the request to compress the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CompressTrigger {
    /// The user.
    Manual,
    /// The agent.
    Auto,
}

/// Call in the input of a hook.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ToolCallPayload {
    /// Name of the tool; for a tool of an MCP server its qualified name.
    pub tool_name: String,
    /// Arguments of the call.
    pub tool_input: Value,
    /// Origin of an MCP server's tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mcp_context: Option<Map<String, Value>>,
    /// Tool that the model called, if this call replaces that one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub original_request_name: Option<String>,
}

/// Result of a call in the input of a hook.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResponsePayload {
    /// Content for the model: a text, or parts.
    pub llm_content: Value,
    /// Output for the user.
    pub return_display: Option<Display>,
    /// Error of a failed call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ToolErrorPayload>,
}

/// Error of a call in the input of a hook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ToolErrorPayload {
    /// Message for the model.
    pub message: String,
    /// Kind of failure.
    pub r#type: &'static str,
}

/// Input of a hook at one event, in addition to the input common to all events.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum HookPayload {
    /// [`HookEvent::SessionStart`].
    SessionStart {
        /// Reason for the start.
        source: SessionSource,
    },
    /// [`HookEvent::SessionEnd`].
    SessionEnd {
        /// Reason for the end.
        reason: SessionEndReason,
    },
    /// [`HookEvent::BeforeAgent`].
    BeforeAgent {
        /// Text of the prompt.
        prompt: String,
    },
    /// [`HookEvent::AfterAgent`].
    AfterAgent {
        /// Text of the prompt.
        prompt: String,
        /// Text of all answers to the prompt.
        prompt_response: String,
        /// True if the work continues because a hook has requested it.
        stop_hook_active: bool,
    },
    /// [`HookEvent::BeforeModel`].
    BeforeModel {
        /// The request in the format of Gemini CLI.
        llm_request: Value,
    },
    /// [`HookEvent::BeforeToolSelection`].
    BeforeToolSelection {
        /// The request.
        llm_request: Value,
    },
    /// [`HookEvent::AfterModel`].
    AfterModel {
        /// The request.
        llm_request: Value,
        /// Piece of the answer.
        llm_response: Value,
    },
    /// [`HookEvent::BeforeTool`].
    BeforeTool(ToolCallPayload),
    /// [`HookEvent::AfterTool`].
    AfterTool {
        /// The call.
        #[serde(flatten)]
        call: ToolCallPayload,
        /// Result of the call.
        tool_response: ToolResponsePayload,
    },
    /// [`HookEvent::PreCompress`].
    PreCompress {
        /// Origin of the request to compress.
        trigger: CompressTrigger,
    },
    /// [`HookEvent::Notification`].
    Notification {
        /// Type of the question; the only one is `ToolPermission`.
        notification_type: &'static str,
        /// Short text of the question.
        message: String,
        /// Details of the question.
        details: Value,
    },
}

impl HookPayload {
    /// Returns the event of this input.
    pub fn event(&self) -> HookEvent {
        match self {
            Self::SessionStart { .. } => HookEvent::SessionStart,
            Self::SessionEnd { .. } => HookEvent::SessionEnd,
            Self::BeforeAgent { .. } => HookEvent::BeforeAgent,
            Self::AfterAgent { .. } => HookEvent::AfterAgent,
            Self::BeforeModel { .. } => HookEvent::BeforeModel,
            Self::BeforeToolSelection { .. } => HookEvent::BeforeToolSelection,
            Self::AfterModel { .. } => HookEvent::AfterModel,
            Self::BeforeTool(_) => HookEvent::BeforeTool,
            Self::AfterTool { .. } => HookEvent::AfterTool,
            Self::PreCompress { .. } => HookEvent::PreCompress,
            Self::Notification { .. } => HookEvent::Notification,
        }
    }

    /// Returns the fields as JSON, in their order.
    pub fn fields(&self) -> Map<String, Value> {
        match serde_json::to_value(self) {
            Ok(Value::Object(fields)) => fields,
            _ => Map::new(),
        }
    }

    /// Returns the text that a matcher of this event is compared with: the name of a tool, or the
    /// reason of the event. `None` for an event at which every hook runs.
    pub fn subject(&self) -> Option<String> {
        match self {
            Self::SessionStart { source } => word(source),
            Self::SessionEnd { reason } => word(reason),
            Self::PreCompress { trigger } => word(trigger),
            Self::BeforeTool(call) | Self::AfterTool { call, .. } => Some(call.tool_name.clone()),
            _ => None,
        }
    }
}

/// Returns the string that a simple enum is written as in JSON.
fn word(value: impl Serialize) -> Option<String> {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => Some(word),
        _ => None,
    }
}

/// Freedom of the model to call the tools of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum ToolMode {
    /// The model may call any tool, or none.
    Auto,
    /// The model must call a tool.
    Any,
    /// The model must not call a tool.
    None,
}

/// Tools that the model may, or must, call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolChoice {
    /// Freedom of the model to call tools.
    pub mode: ToolMode,
    /// Names of the tools that the model may call; empty for all.
    pub allowed: Vec<String>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_are_found_again() {
        for event in HookEvent::ALL {
            assert_eq!(HookEvent::of_name(event.as_str()), Some(event));
        }
        assert_eq!(HookEvent::of_name("beforeTool"), None);
    }

    #[test]
    fn payloads_have_the_keys_of_the_original() {
        let call = ToolCallPayload {
            tool_name: "glob".into(),
            tool_input: json!({"pattern": "*"}),
            mcp_context: None,
            original_request_name: Some("grep_search".into()),
        };
        let table = [
            (
                HookPayload::SessionStart { source: SessionSource::Startup },
                json!({"source": "startup"}),
            ),
            (
                HookPayload::SessionEnd { reason: SessionEndReason::PromptInputExit },
                json!({"reason": "prompt_input_exit"}),
            ),
            (
                HookPayload::AfterTool {
                    call,
                    tool_response: ToolResponsePayload {
                        llm_content: "x".into(),
                        return_display: Some(Display::Text("y".into())),
                        error: None,
                    },
                },
                json!({"tool_name": "glob", "tool_input": {"pattern": "*"}, "original_request_name": "grep_search",
                    "tool_response": {"llmContent": "x", "returnDisplay": "y"}}),
            ),
        ];
        for (payload, expected) in table {
            assert_eq!(Value::Object(payload.fields()), expected);
        }
    }

    #[test]
    fn matchers_see_tools_and_reasons() {
        let subject = |payload: HookPayload| payload.subject();
        assert_eq!(
            subject(HookPayload::PreCompress { trigger: CompressTrigger::Auto }).as_deref(),
            Some("auto")
        );
        assert_eq!(subject(HookPayload::BeforeAgent { prompt: "x".into() }), None);
    }
}
