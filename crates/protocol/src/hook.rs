//! The user's programs at the agent's events: which events there are, and what a program is told at each.
//!
//! Names and keys are those of Gemini CLI, because programs written for it read them.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::Display;

/// A moment at which the user's programs run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum HookEvent {
    /// A session begins, or goes on.
    SessionStart,
    /// A session ends.
    SessionEnd,
    /// A prompt is about to be worked on.
    BeforeAgent,
    /// The work on a prompt would end.
    AfterAgent,
    /// A request is about to be sent.
    BeforeModel,
    /// A piece of an answer has come.
    AfterModel,
    /// The tools of a request are about to be offered.
    BeforeToolSelection,
    /// A call is about to be judged.
    BeforeTool,
    /// A call has run.
    AfterTool,
    /// The conversation is looked at, whether it should be summarised.
    PreCompress,
    /// A person is about to be asked.
    Notification,
}

impl HookEvent {
    /// All of them, in the order in which a session meets them.
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

    /// The name in settings and input.
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

    /// The event of this exact name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|event| event.as_str() == name)
    }
}

impl std::fmt::Display for HookEvent {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// Why a session begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SessionSource {
    /// A new one.
    Startup,
    /// An earlier one goes on.
    Resume,
    /// The one before was put away.
    Clear,
}

/// Why a session ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionEndReason {
    /// The program ends.
    Exit,
    /// Another one takes its place.
    Clear,
    /// The person signs out.
    Logout,
    /// The person left the prompt.
    PromptInputExit,
    /// Any other.
    Other,
}

/// Who wants the conversation summarised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CompressTrigger {
    /// The person.
    Manual,
    /// The agent.
    Auto,
}

/// A call, as programs are told of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ToolCallPayload {
    /// The tool; one of an MCP server by its qualified name.
    pub tool_name: String,
    /// The arguments.
    pub tool_input: Value,
    /// Where an MCP server's tool comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mcp_context: Option<Map<String, Value>>,
    /// The tool that the model called, when this call takes its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub original_request_name: Option<String>,
}

/// What a call gave, as programs are told of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResponsePayload {
    /// What the model would be told: a text, or parts.
    pub llm_content: Value,
    /// What a person would be shown.
    pub return_display: Option<Display>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ToolErrorPayload>,
}

/// Why a call failed, as programs are told of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ToolErrorPayload {
    /// What the model would be told.
    pub message: String,
    /// The kind of failure.
    pub r#type: &'static str,
}

/// What a program is told at an event, beyond what it is told at all of them.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum HookPayload {
    /// [`HookEvent::SessionStart`].
    SessionStart {
        /// Why.
        source: SessionSource,
    },
    /// [`HookEvent::SessionEnd`].
    SessionEnd {
        /// Why.
        reason: SessionEndReason,
    },
    /// [`HookEvent::BeforeAgent`].
    BeforeAgent {
        /// The text of the prompt.
        prompt: String,
    },
    /// [`HookEvent::AfterAgent`].
    AfterAgent {
        /// The text of the prompt.
        prompt: String,
        /// The words of all answers to it.
        prompt_response: String,
        /// The work goes on because a program said so.
        stop_hook_active: bool,
    },
    /// [`HookEvent::BeforeModel`].
    BeforeModel {
        /// The request in the form of the reference.
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
        /// The piece of the answer.
        llm_response: Value,
    },
    /// [`HookEvent::BeforeTool`].
    BeforeTool(ToolCallPayload),
    /// [`HookEvent::AfterTool`].
    AfterTool {
        /// The call.
        #[serde(flatten)]
        call: ToolCallPayload,
        /// Its result.
        tool_response: ToolResponsePayload,
    },
    /// [`HookEvent::PreCompress`].
    PreCompress {
        /// Who wants it.
        trigger: CompressTrigger,
    },
    /// [`HookEvent::Notification`].
    Notification {
        /// What sort of question it is; there is one: `ToolPermission`.
        notification_type: &'static str,
        /// The question in a few words.
        message: String,
        /// What it is about.
        details: Value,
    },
}

impl HookPayload {
    /// The event that it belongs to.
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

    /// The fields as JSON, in their order.
    pub fn fields(&self) -> Map<String, Value> {
        match serde_json::to_value(self) {
            Ok(Value::Object(fields)) => fields,
            _ => Map::new(),
        }
    }

    /// The word that a matcher of this event is held against: the name of a tool, or why the event takes place.
    /// None where every program runs.
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

/// The word that a small enum is written as in JSON.
fn word(value: impl Serialize) -> Option<String> {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => Some(word),
        _ => None,
    }
}

/// What the model may do with the tools of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum ToolMode {
    /// Call what it likes, or nothing.
    Auto,
    /// It must call something.
    Any,
    /// It must not call anything.
    None,
}

/// Which tools the model may, or must, call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolChoice {
    /// How free it is.
    pub mode: ToolMode,
    /// The tools that it may call; all when empty.
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
