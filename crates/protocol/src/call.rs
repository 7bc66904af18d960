//! A tool call, from the model's request to its result.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{Display, Effects, Part, ToolError, ToolKind};

/// Reason at the end of the response of a call that the user refused, as in Gemini CLI.
pub const USER_DENIED: &str = "User denied execution.";

/// Id that pairs a call with its response: `<tool name>__<id from the model or from Pollux>`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallId(Arc<str>);

impl CallId {
    /// Creates an id from this text, unchanged.
    pub fn new(id: impl Into<Arc<str>>) -> Self {
        Self(id.into())
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Call as the model requested it.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// Id, unique in the conversation.
    pub id: CallId,
    /// Tool name as the model wrote it.
    pub name: String,
    /// Arguments as the model wrote them, not validated yet.
    pub args: serde_json::Value,
    /// Id of the prompt that the call belongs to.
    pub prompt_id: String,
}

/// State of a call. The strings are those of session files and protocols.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallStatus {
    /// The call is built; hooks and the policy examine it.
    Validating,
    /// The call waits for an approval.
    AwaitingApproval,
    /// The call may run, and waits for the other calls of its group.
    Scheduled,
    /// The call runs.
    Executing,
    /// The call succeeded.
    Success,
    /// The call failed with an error that is sent to the model.
    Error,
    /// The user cancelled the call.
    Cancelled,
}

impl CallStatus {
    /// True for a state that does not change any more.
    pub fn is_final(self) -> bool {
        match self {
            Self::Success | Self::Error | Self::Cancelled => true,
            Self::Validating | Self::AwaitingApproval | Self::Scheduled | Self::Executing => false,
        }
    }

    /// Returns the string of session files and protocols.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Validating => "validating",
            Self::AwaitingApproval => "awaiting_approval",
            Self::Scheduled => "scheduled",
            Self::Executing => "executing",
            Self::Success => "success",
            Self::Error => "error",
            Self::Cancelled => "cancelled",
        }
    }
}

/// Decision whether a call may run. The strings are those of statistics and telemetry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Approved for this call only.
    Accept,
    /// Refused.
    Reject,
    /// Approved after a change.
    Modify,
    /// Approved for this call and later ones.
    AutoAccept,
}

impl Decision {
    /// Returns the string of statistics and telemetry.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::Reject => "reject",
            Self::Modify => "modify",
            Self::AutoAccept => "auto_accept",
        }
    }
}

/// Description of a call whose arguments have been validated, for users and protocols.
#[derive(Debug, Clone, PartialEq)]
pub struct PreparedCall {
    /// The call.
    pub call_id: CallId,
    /// Tool name as the model wrote it.
    pub name: String,
    /// Tool name for display.
    pub display_name: String,
    /// Description of this call in one line.
    pub description: String,
    /// Kind of the tool.
    pub kind: ToolKind,
    /// Absolute paths of the files and folders that the call touches.
    pub locations: Vec<PathBuf>,
    /// Line, from 1, at which the call begins in the first location.
    pub first_line: Option<u64>,
    /// Declared effects.
    pub effects: Effects,
    /// True if the result is Markdown.
    pub is_markdown: bool,
}

/// A call that has ended.
#[derive(Debug, Clone)]
pub struct FinishedCall {
    /// The call.
    pub call: Call,
    /// Final state: success, error or cancelled.
    pub status: CallStatus,
    /// Parts for the model: exactly one function response, followed by media.
    pub response: Vec<Part>,
    /// Output for the user.
    pub display: Option<Display>,
    /// Error of a failed call.
    pub error: Option<ToolError>,
    /// Run time of the call; zero for a call that never ran.
    pub duration: Duration,
    /// Decision about the call; `None` if there was no decision (unknown tool, bad arguments).
    pub decision: Option<Decision>,
}
