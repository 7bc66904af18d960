//! Options of a run that no settings file holds: what a command line says.

use std::path::PathBuf;

use pollux_models::ReplaySource;
use pollux_protocol::{ApprovalMode, Resource};

use crate::answer_schema::OutputSchema;

/// Options of a run. They take precedence over the settings; the default leaves everything to these.
#[derive(Debug, Clone, Default)]
pub struct RunOptions {
    /// Model, by name or alias.
    pub model: Option<String>,
    /// Approval mode.
    pub approval_mode: Option<ApprovalMode>,
    /// Allows everything, unless settings or trust forbid it.
    pub yolo: bool,
    /// Options about what may run.
    pub rules: RuleOptions,
    /// Folders to work in beside the project's.
    pub include_directories: Vec<String>,
    /// Limits of one prompt.
    pub limits: PromptLimits,
    /// Schema that an answer must satisfy.
    pub answer_schema: Option<OutputSchema>,
    /// Sandbox on or off.
    pub sandbox: Option<bool>,
    /// More messages.
    pub debug: bool,
    /// True if a person can answer questions.
    pub interactive: bool,
    /// True if the frontend can let a person change a text in an editor.
    pub has_editor: bool,
    /// True if no prompt will be sent: rules that cannot be read are reported, and end nothing.
    pub looks_up: bool,
    /// Name of the output format, for telemetry.
    pub output_format: Option<&'static str>,
    /// Recorded responses instead of a model.
    pub replay: Option<ReplaySource>,
    /// File that the model's responses are appended to.
    pub record: Option<PathBuf>,
}

impl RunOptions {
    /// Returns true for a recorded conversation that the program itself brings: it costs nothing.
    pub(crate) fn is_demonstration(&self) -> bool {
        matches!(self.replay, Some(ReplaySource::Text(_)))
    }
}

/// Options about what may run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RuleOptions {
    /// Policy files or folders instead of the person's own.
    pub policy: Vec<String>,
    /// More policy files or folders of the administrator.
    pub admin_policy: Vec<String>,
    /// Tools, and commands as `run_shell_command(git)`, that run without a question.
    pub allowed_tools: Vec<String>,
    /// Trust in the folder, for this run.
    pub skip_trust: bool,
}

/// Limits of one prompt, in the units of [`Resource`].
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PromptLimits {
    /// Requests to a model.
    pub turns: Option<f64>,
    /// Calls of tools.
    pub tool_calls: Option<f64>,
    /// Tokens.
    pub tokens: Option<f64>,
    /// Dollars.
    pub usd: Option<f64>,
    /// Seconds.
    pub seconds: Option<f64>,
}

impl PromptLimits {
    pub(crate) fn get(&self, resource: Resource) -> Option<f64> {
        match resource {
            Resource::Turns => self.turns,
            Resource::ToolCalls => self.tool_calls,
            Resource::Tokens => self.tokens,
            Resource::Usd => self.usd,
            Resource::Seconds => self.seconds,
        }
    }
}
