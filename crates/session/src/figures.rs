//! Figures stored in a session file, from which the statistics continue.

use indexmap::IndexMap;
use pollux_protocol::{CallStatus, Usage};

/// Figures of the work that a session file records.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordedFigures {
    /// Figures per model, by the model's name, in order of first use.
    pub models: IndexMap<String, ModelFigures>,
    /// Figures per tool, by the tool's name, in order of first use.
    pub tools: IndexMap<String, ToolFigures>,
    /// Total tokens of the last model response, which is the context usage at that time.
    pub context_tokens: u64,
}

/// Figures of the responses of one model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ModelFigures {
    /// Number of recorded responses.
    pub requests: u64,
    /// Tokens of these responses.
    pub usage: Usage,
}

/// Figures of the calls of one tool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ToolFigures {
    /// Number of recorded calls, including cancelled ones.
    pub count: u64,
    /// Number of calls that succeeded.
    pub success: u64,
    /// Number of calls that ended with an error.
    pub fail: u64,
}

impl RecordedFigures {
    /// Counts one response of a model.
    pub(crate) fn add_answer(&mut self, model: &str, usage: Option<Usage>) {
        let figures = self.models.entry(model.to_owned()).or_default();
        figures.requests += 1;
        if let Some(usage) = usage {
            figures.usage += usage;
            self.context_tokens = usage.total;
        }
    }

    /// Counts one call.
    pub(crate) fn add_call(&mut self, tool: &str, status: Option<CallStatus>) {
        let figures = self.tools.entry(tool.to_owned()).or_default();
        figures.count += 1;
        match status {
            Some(CallStatus::Success) => figures.success += 1,
            Some(CallStatus::Error) => figures.fail += 1,
            _ => {}
        }
    }
}
