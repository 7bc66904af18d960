//! Events of the agent. The stream of events is the single source of truth.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    ApprovalMode, Call, CallId, CallStatus, CommandOutcome, CompressionReport, Exceeded,
    FinishReason, FinishedCall, HookEvent, LiveOutput, ModelError, PreparedCall, Question,
    QuestionId, Record, RetryNotice, SessionStart, Todo, Unsatisfied, UsageReport,
};

/// Severity of a notice. The strings are those of session files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// For information.
    Info,
    /// Needs the user's attention.
    Warning,
    /// Something failed.
    Error,
}

/// A thought of the model, split as `**subject** description`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thought {
    /// Text between the first pair of double asterisks; empty without one.
    pub subject: String,
    /// Rest of the text.
    pub description: String,
}

impl Thought {
    /// Splits the text of a thought.
    pub fn parse(text: &str) -> Self {
        let split = text.split_once("**").and_then(|(before, rest)| {
            rest.split_once("**").map(|(subject, after)| (before, subject, after))
        });
        match split {
            Some((before, subject, after)) => Self {
                subject: subject.trim().to_owned(),
                description: format!("{}{}", before.trim_start(), after).trim().to_owned(),
            },
            None => Self { subject: String::new(), description: text.trim().to_owned() },
        }
    }
}

/// Limit on turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnLimit {
    /// Limit of the whole session, from the settings.
    Session,
    /// Limit of one prompt: this number of turns.
    Prompt(u64),
}

/// Outcome of the work on a prompt.
#[derive(Debug, Clone)]
pub enum PromptOutcome {
    /// The model has finished.
    Done,
    /// The user cancelled the prompt.
    Cancelled,
    /// The answer could not be used, even after all attempts. The kind of the error is
    /// [`crate::ModelErrorKind::Unusable`].
    InvalidStream(ModelError),
    /// The answer of a model for which that is a failure
    /// ([`crate::ModelLimits::fails_when_cut_off`]) was cut off, for this reason; `None` if the
    /// vendor gave no reason.
    CutOff(Option<FinishReason>),
    /// The limit of turns was reached.
    TurnLimit(TurnLimit),
    /// A limit of the budget was reached.
    Budget(Box<Exceeded>),
    /// The answer does not satisfy the requested schema.
    Unsatisfied(Box<Unsatisfied>),
    /// A tool or hook stopped the prompt on purpose, for this reason.
    Stopped(String),
    /// The model repeated itself in a loop, and a hint did not help. The text describes the loop.
    Loop(String),
    /// A tool failed in a way that ends the run, for example because the disk is full.
    FatalTool {
        /// Name of the tool.
        tool: String,
        /// Error message.
        message: String,
    },
    /// The request to the model failed.
    Failed(ModelError),
    /// The session log could not be written; work stopped after that.
    LogFailed(String),
}

/// One event. Durable events come as [`Event::Recorded`], after they were written to the log; all
/// other events are not stored.
#[derive(Debug, Clone)]
pub enum Event {
    /// A durable event, which is now in the log.
    Recorded(Arc<Record>),
    /// Work on a prompt begins. The prompt's id is in the origin.
    PromptStarted,
    /// A request to the model is about to be sent; text streamed earlier belongs to an earlier
    /// turn.
    TurnStarted {
        /// Number of the request in the session, counted from 1.
        turn: u64,
    },
    /// The approval mode has changed to this one.
    ModeChanged(ApprovalMode),
    /// The next request goes to another model.
    ModelChanged {
        /// Name of the model.
        model: String,
        /// Component that chose it.
        reason: String,
    },
    /// The new content of the conversation has more tokens than the model has room for. It is not
    /// sent.
    ContextWillOverflow {
        /// Estimated number of tokens of the new content.
        estimated: u64,
        /// Number of tokens that the model has room for.
        remaining: u64,
    },
    /// Next piece of the answer.
    Text(String),
    /// Thought of the model.
    Thought(Thought),
    /// The answer as a JSON value that satisfies the requested schema. A later answer replaces an
    /// earlier one.
    Answer(Arc<serde_json::Value>),
    /// Sources of the answer, formatted for display.
    Citations(String),
    /// A call as it was received. It may still turn out to be invalid.
    CallRequested(Call),
    /// Arguments of a call are known; sent again when they change before the call runs.
    CallPrepared(Arc<PreparedCall>),
    /// The state of a call has changed.
    CallMoved {
        /// Id of the call.
        call_id: CallId,
        /// New state.
        status: CallStatus,
    },
    /// Live output of a call.
    CallOutput {
        /// Id of the call.
        call_id: CallId,
        /// The output.
        output: LiveOutput,
    },
    /// A question for the user, answered with [`crate::Op::Answer`].
    Question(Box<Question>),
    /// A question that needs no answer any more.
    QuestionWithdrawn(QuestionId),
    /// All calls of a turn have ended. They are in the order of the request.
    CallsFinished(Vec<Arc<FinishedCall>>),
    /// The answer so far is invalid; the model is asked again.
    StreamRestarted,
    /// The connection failed; another attempt follows after a wait.
    Waiting(RetryNotice),
    /// The conversation is being compressed.
    Compressing,
    /// An attempt to compress the conversation has changed it.
    ChatCompressed(CompressionReport),
    /// The to-do list has changed. In a resumed session that has such a list, this is the first
    /// event.
    TodosChanged(Vec<Todo>),
    /// Token counts of a request that was answered.
    Usage(UsageReport),
    /// The settings files were read again, and settings have changed.
    SettingsChanged {
        /// Keys whose new values are in effect.
        changed: Vec<String>,
        /// All keys whose new values take effect at the next start.
        restart: Vec<String>,
    },
    /// The set of tools has changed.
    ToolsChanged,
    /// The set of slash commands has changed.
    CommandsChanged,
    /// Text that a frontend at a terminal puts into the clipboard.
    ForClipboard(String),
    /// Text that a frontend at a terminal puts into its input, unless the user has typed something.
    ForInput(String),
    /// Output of the command that runs.
    CommandOutput(String),
    /// The command that runs has ended.
    CommandEnded(CommandOutcome),
    /// A command asks the frontend to close this session and to open another one, which begins in
    /// this way. The end of the command follows.
    SwitchRequested(SessionStart),
    /// Notice for the user.
    Notice {
        /// Severity of the notice.
        severity: Severity,
        /// Text of the notice.
        text: String,
    },
    /// Message of one of the user's hooks to the user.
    HookMessage {
        /// Event for which the hook ran.
        event: HookEvent,
        /// Name of the hook, or its command line if it has no name.
        hook: String,
        /// Text of the message.
        message: String,
    },
    /// The final answer was cut off, for this reason; `None` if the vendor gave no reason. The
    /// prompt still ends with [`PromptOutcome::Done`].
    AnswerTruncated(Option<FinishReason>),
    /// A hook of the user has blocked the work.
    Blocked {
        /// Reason for the block.
        reason: String,
    },
    /// Work on a prompt or command has ended.
    PromptEnded(PromptOutcome),
}
