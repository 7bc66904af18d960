//! Figures that a session file holds, for statistics to go on from.

use indexmap::IndexMap;
use pollux_protocol::{CallStatus, Usage};

/// What a session file says about the work done so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordedFigures {
    /// By the model's name, in order of first use.
    pub models: IndexMap<String, ModelFigures>,
    /// By the tool's name, in order of first use.
    pub tools: IndexMap<String, ToolFigures>,
    /// All tokens of the last answer: how full the context was.
    pub context_tokens: u64,
}

/// Answers of one model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ModelFigures {
    /// Answers recorded.
    pub requests: u64,
    /// Their tokens.
    pub usage: Usage,
}

/// Calls of one tool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ToolFigures {
    /// Calls recorded, cancelled ones included.
    pub count: u64,
    /// Those that ended well.
    pub success: u64,
    /// Those that ended with an error.
    pub fail: u64,
}

impl RecordedFigures {
    /// Counts one answer of a model.
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
