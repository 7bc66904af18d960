//! A call of a tool, from the model's wish to its result.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{Display, Effects, Part, ToolError, ToolKind};

/// The id that pairs a call with its response: `<tool name>__<id of the model or ours>`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallId(Arc<str>);

impl CallId {
    /// Takes an id as it is.
    pub fn new(id: impl Into<Arc<str>>) -> Self {
        Self(id.into())
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// A call as the model asked for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// Unique in the conversation.
    pub id: CallId,
    /// The tool's name as the model wrote it.
    pub name: String,
    /// The arguments as the model wrote them; not checked yet.
    pub args: serde_json::Value,
    /// The prompt that it belongs to.
    pub prompt_id: String,
}

/// Where a call stands. The strings are those of session files and protocols.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallStatus {
    /// Built; hooks and policy look at it.
    Validating,
    /// Somebody is asked.
    AwaitingApproval,
    /// May run; waits for its group.
    Scheduled,
    /// Runs.
    Executing,
    /// Ended well.
    Success,
    /// Ended with an error that the model is told.
    Error,
    /// Ended by a person.
    Cancelled,
}

impl CallStatus {
    /// Nothing more will happen to the call.
    pub fn is_final(self) -> bool {
        match self {
            Self::Success | Self::Error | Self::Cancelled => true,
            Self::Validating | Self::AwaitingApproval | Self::Scheduled | Self::Executing => false,
        }
    }

    /// The string of session files and protocols.
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

/// Who let a call run, or did not. The strings are those of statistics and telemetry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Let run, this once.
    Accept,
    /// Refused.
    Reject,
    /// Let run after a change.
    Modify,
    /// Let run from now on.
    AutoAccept,
}

impl Decision {
    /// The string of statistics and telemetry.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::Reject => "reject",
            Self::Modify => "modify",
            Self::AutoAccept => "auto_accept",
        }
    }
}

/// Description of a call whose arguments have been checked, for people and protocols.
#[derive(Debug, Clone, PartialEq)]
pub struct PreparedCall {
    /// The call.
    pub call_id: CallId,
    /// Name of the tool as the model wrote it.
    pub name: String,
    /// Name of the tool for people.
    pub display_name: String,
    /// Description of this call in one line.
    pub description: String,
    /// Kind of the tool.
    pub kind: ToolKind,
    /// Files and folders that the call touches, absolute.
    pub locations: Vec<PathBuf>,
    /// Declared effects.
    pub effects: Effects,
    /// The result is Markdown.
    pub is_markdown: bool,
}

/// A call at its end.
#[derive(Debug, Clone)]
pub struct FinishedCall {
    /// The call.
    pub call: Call,
    /// Success, error or cancelled.
    pub status: CallStatus,
    /// What the model is told: exactly one function response, then sibling media.
    pub response: Vec<Part>,
    /// What a person is shown.
    pub display: Option<Display>,
    /// Why it failed.
    pub error: Option<ToolError>,
    /// From the start of its run to its end; zero when it never ran.
    pub duration: Duration,
    /// Who decided; none when it never came to a decision (unknown tool, bad arguments).
    pub decision: Option<Decision>,
}
