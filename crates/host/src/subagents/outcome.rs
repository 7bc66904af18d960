//! End of a subagent, as the result of the call that ran it.

use pollux_agent::{Activity, SubagentEnd, SubagentOutcome};
use pollux_extensions::agents::{AgentDefinition, Report};
use pollux_protocol::{Display, Part, ToolError, ToolErrorKind, ToolOutput};
use serde_json::{Value, json};

/// Maximum length of a report, in characters.
const LONGEST_REPORT: usize = 200_000;
/// Maximum length of a report in an error or on the screen, in characters.
const LONGEST_PARTIAL: usize = 20_000;

/// Subagent that has ended.
pub(super) struct Finished<'a> {
    pub(super) agent: &'a AgentDefinition,
    /// Id of its session.
    pub(super) id: &'a str,
    /// End, or the message about a fault of Pollux.
    pub(super) outcome: Result<SubagentOutcome, String>,
    pub(super) report: Option<Value>,
    pub(super) activity: &'a Activity,
    /// True if the work of the parent was cancelled, too.
    pub(super) is_whole_work_cancelled: bool,
    /// Number of characters that the parent's model has room for.
    pub(super) room: Option<usize>,
}

impl Finished<'_> {
    /// Returns the result. Only a subagent that has done its work and reported is a success.
    pub(super) fn output(self) -> ToolOutput {
        let name = &self.agent.name;
        let (end, last_text) = match &self.outcome {
            Ok(outcome) => (outcome.end.clone(), outcome.last_text.clone()),
            Err(message) => (SubagentEnd::Failed(message.clone()), String::new()),
        };
        let report = self.report.as_ref().map(|report| self.text_of(report));
        let reason = reason_of(&end);
        if end == SubagentEnd::Done {
            let room = self.room.unwrap_or(LONGEST_REPORT).min(LONGEST_REPORT);
            let result = cut(report.unwrap_or_default(), room);
            let display = self.display("completed", reason, &result);
            let text = format!(
                "Subagent '{name}' finished.\nTermination Reason: {reason}\nResult:\n{result}"
            );
            let content = vec![Part::text(text)];
            return ToolOutput { content, display: Some(display), ..ToolOutput::default() };
        }
        let partial = report.unwrap_or(last_text);
        let partial = cut(partial, LONGEST_PARTIAL);
        let mut text = format!("{}\nTermination Reason: {reason}", self.explanation(&end));
        if partial.is_empty() {
            text.push_str("\nIt has left no result.");
        } else {
            text.push_str("\nWhat it has so far, which is not complete:\n");
            text.push_str(&partial);
        }
        let state = if end == SubagentEnd::Cancelled { "cancelled" } else { "error" };
        let display = self.display(state, reason, &partial);
        if self.is_whole_work_cancelled {
            let content = vec![Part::text(text)];
            return ToolOutput { content, display: Some(display), ..ToolOutput::default() };
        }
        let error = ToolError::new(ToolErrorKind::ExecutionFailed, text);
        ToolOutput { display: Some(display), error: Some(error), ..ToolOutput::default() }
    }

    fn text_of(&self, report: &Value) -> String {
        match &self.agent.report {
            Report::Text => report.as_str().unwrap_or_default().to_owned(),
            Report::Value { text, .. } => text.of(report),
        }
    }

    fn explanation(&self, end: &SubagentEnd) -> String {
        let name = &self.agent.name;
        match end {
            SubagentEnd::Done => format!("Subagent '{name}' finished."),
            SubagentEnd::NoReport => {
                format!("Subagent '{name}' failed. Error: it stopped without a report.")
            }
            SubagentEnd::Turns(turns) => {
                format!("Subagent '{name}' did not finish: it has used its {turns} turns.")
            }
            SubagentEnd::Time(limit) => format!(
                "Subagent '{name}' did not finish: it has used its {} minutes.",
                limit.as_secs_f64() / 60.0
            ),
            SubagentEnd::Cancelled if self.is_whole_work_cancelled => {
                format!("Subagent '{name}' was cancelled.")
            }
            SubagentEnd::Cancelled => {
                format!("Subagent '{name}' was stopped by the user. Do not start it again unasked.")
            }
            SubagentEnd::Budget(message) => {
                format!("Subagent '{name}' did not finish: {message}")
            }
            SubagentEnd::Failed(message) => format!("Subagent '{name}' failed. Error: {message}"),
        }
    }

    /// Returns the display in the form of Gemini CLI, with the id of the subagent's session.
    fn display(&self, state: &str, reason: &str, result: &str) -> Display {
        Display::Structured(json!({
            "isSubagentProgress": true,
            "agentName": self.agent.name,
            "recentActivity": self.activity.recent(),
            "state": state,
            "result": cut(result.to_owned(), LONGEST_PARTIAL),
            "terminateReason": reason,
            "agentId": self.id,
        }))
    }
}

/// Returns the name of an end in Gemini CLI. Gemini CLI has no budget.
fn reason_of(end: &SubagentEnd) -> &'static str {
    match end {
        SubagentEnd::Done => "GOAL",
        SubagentEnd::NoReport => "ERROR_NO_COMPLETE_TASK_CALL",
        SubagentEnd::Turns(_) => "MAX_TURNS",
        SubagentEnd::Time(_) => "TIMEOUT",
        SubagentEnd::Cancelled => "ABORTED",
        SubagentEnd::Budget(_) => "BUDGET",
        SubagentEnd::Failed(_) => "ERROR",
    }
}

/// Cuts a text to a number of characters, and says so.
fn cut(text: String, limit: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(limit) else { return text };
    format!("{}\n[The rest of {} bytes is left out.]", &text[..end], text.len() - end)
}
