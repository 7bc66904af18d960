//! Options of a run that come from the command line, not from a settings file.

use std::path::PathBuf;

use pollux_models::ReplaySource;
use pollux_protocol::Resource;

use crate::answer_schema::OutputSchema;

/// Options of a run. They take precedence over the settings; by default the settings decide
/// everything.
#[derive(Debug, Clone, Default)]
pub struct RunOptions {
    /// Allows all calls, unless settings or trust forbid this mode.
    pub yolo: bool,
    /// Options about policy, allowed tools and trust.
    pub rules: RuleOptions,
    /// The only extensions that are active; `none` for no extension.
    pub extensions: Option<Vec<String>>,
    /// Limits of one prompt.
    pub limits: PromptLimits,
    /// Schema that the last answer must satisfy.
    pub answer_schema: Option<OutputSchema>,
    /// Sandbox on or off.
    pub sandbox: Option<bool>,
    /// Screen-reader mode on or off.
    pub screen_reader: Option<bool>,
    /// True for additional diagnostic messages.
    pub debug: bool,
    /// Name of the frontend in requests to models; `cli` by default.
    pub client: Option<String>,
    /// True if the frontend can open a text in an editor for the user.
    pub has_editor: bool,
    /// True if no prompt will be sent: policy files that cannot be read are then reported and do
    /// not end the run.
    pub looks_up: bool,
    /// Name of the output format, for telemetry.
    pub output_format: Option<&'static str>,
    /// Recorded responses instead of a model.
    pub replay: Option<ReplaySource>,
    /// File to which the model's responses are appended.
    pub record: Option<PathBuf>,
    /// Folder in which the requests to models and their responses are recorded.
    pub record_wire: Option<PathBuf>,
}

impl RunOptions {
    /// Returns true for a recorded conversation that is built into the program: it costs nothing.
    pub(crate) fn is_demonstration(&self) -> bool {
        matches!(self.replay, Some(ReplaySource::Text(_)))
    }
}

/// Options about policy, allowed tools and trust.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RuleOptions {
    /// Policy files or folders that replace the user's own.
    pub policy: Vec<String>,
    /// Additional policy files or folders of the administrator.
    pub admin_policy: Vec<String>,
    /// Tools that run without a question; a command is written as `run_shell_command(git)`.
    pub allowed_tools: Vec<String>,
    /// The only MCP servers that may start, in place of `mcp.allowed` and `mcp.excluded`.
    pub allowed_servers: Option<Vec<String>>,
    /// True to trust the folder for this run.
    pub skip_trust: bool,
}

/// Limits of one prompt, in the units of [`Resource`].
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PromptLimits {
    /// Maximum number of requests to a model.
    pub turns: Option<f64>,
    /// Maximum number of tool calls.
    pub tool_calls: Option<f64>,
    /// Maximum number of tokens.
    pub tokens: Option<f64>,
    /// Maximum cost, in US dollars.
    pub usd: Option<f64>,
    /// Maximum duration, in seconds.
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
