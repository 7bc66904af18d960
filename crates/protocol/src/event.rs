//! What the agent tells: one stream of events is the truth.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    ApprovalMode, Call, CallId, CallStatus, CommandOutcome, CompressionReport, Exceeded,
    FinishedCall, HookEvent, InvalidStream, LiveOutput, ModelError, PreparedCall, Question,
    QuestionId, Record, RetryNotice, Todo, Unsatisfied, UsageReport,
};

/// How grave a notice is. The strings are those of session files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Good to know.
    Info,
    /// Look at this.
    Warning,
    /// This failed.
    Error,
}

/// A thought of the model, split as `**subject** description`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thought {
    /// The first text between double asterisks; empty without one.
    pub subject: String,
    /// The rest.
    pub description: String,
}

impl Thought {
    /// Splits a thought's text.
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

/// A limit of turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnLimit {
    /// That of the whole session, from the settings.
    Session,
    /// That of one prompt: so many.
    Prompt(u64),
}

/// How the work on a prompt ended.
#[derive(Debug, Clone)]
pub enum PromptOutcome {
    /// The model had nothing more to do.
    Done,
    /// The person stopped it.
    Cancelled,
    /// The answer could not be used, after all attempts.
    InvalidStream(InvalidStream),
    /// The limit of turns was reached.
    TurnLimit(TurnLimit),
    /// A limit of what may be spent was reached.
    Budget(Box<Exceeded>),
    /// The answer does not satisfy the schema that it should.
    Unsatisfied(Box<Unsatisfied>),
    /// A tool or hook ended it on purpose, for this reason.
    Stopped(String),
    /// The model went round in circles, and a hint did not help. What shows it.
    Loop(String),
    /// A tool failed in a way that ends the run (the disk is full).
    FatalTool {
        /// The tool.
        tool: String,
        /// What happened.
        message: String,
    },
    /// The model call failed.
    Failed(ModelError),
    /// The session log could not be written; nothing more was done after that.
    LogFailed(String),
}

/// One event. Durable ones come as [`Event::Recorded`], after the log holds them; all others pass.
#[derive(Debug, Clone)]
pub enum Event {
    /// A durable event, now in the log.
    Recorded(Arc<Record>),
    /// Work on a prompt begins. Its id is in the origin.
    PromptStarted,
    /// A request to the model is about to be sent; what streamed before belongs to an earlier turn.
    TurnStarted {
        /// Counts the requests of the session from 1.
        turn: u64,
    },
    /// The approval mode is another one from now on.
    ModeChanged(ApprovalMode),
    /// The model is another one from now on.
    ModelChanged {
        /// Name of the model.
        model: String,
        /// Component that chose it.
        reason: String,
    },
    /// What is new in the conversation has more tokens than the model has room for: it is not sent.
    ContextWillOverflow {
        /// Tokens of what is new, estimated.
        estimated: u64,
        /// Tokens that the model has room for.
        remaining: u64,
    },
    /// More of the answer.
    Text(String),
    /// A thought.
    Thought(Thought),
    /// The answer as a value: it satisfies the schema that was asked for. One that comes later takes its place.
    Answer(Arc<serde_json::Value>),
    /// Sources, ready to print.
    Citations(String),
    /// A call, as it was received. It may still turn out wrong.
    CallRequested(Call),
    /// Arguments of a call are known; sent again when they change before the call runs.
    CallPrepared(Arc<PreparedCall>),
    /// A call has moved on.
    CallMoved {
        /// The call.
        call_id: CallId,
        /// Where it stands now.
        status: CallStatus,
    },
    /// Live output of a call.
    CallOutput {
        /// The call.
        call_id: CallId,
        /// The output.
        output: LiveOutput,
    },
    /// A person must decide: [`crate::Op::Answer`] goes back.
    Question(Box<Question>),
    /// A question needs no reply any more.
    QuestionWithdrawn(QuestionId),
    /// All calls of a turn have ended, in the order of the request.
    CallsFinished(Vec<Arc<FinishedCall>>),
    /// The answer so far is void: it is asked for again.
    StreamRestarted,
    /// The connection failed and is tried again after a wait.
    Waiting(RetryNotice),
    /// The conversation is being compressed.
    Compressing,
    /// An attempt to compress it has changed something.
    ChatCompressed(CompressionReport),
    /// The list of things to do is another one from now on. In a session that goes on with such a list it is the first
    /// event.
    TodosChanged(Vec<Todo>),
    /// Tokens of a request that was answered.
    Usage(UsageReport),
    /// The settings files have been read again, and settings differ.
    SettingsChanged {
        /// Keys whose new values are in force.
        changed: Vec<String>,
        /// All keys whose new values wait for the next start.
        restart: Vec<String>,
    },
    /// The tools are others from now on.
    ToolsChanged,
    /// The slash commands are others from now on.
    CommandsChanged,
    /// Output of the command at work.
    CommandOutput(String),
    /// The command at work has ended.
    CommandEnded(CommandOutcome),
    /// Words for a person.
    Notice {
        /// How grave.
        severity: Severity,
        /// The words.
        text: String,
    },
    /// One of the user's programs has something to say to the person.
    HookSaid {
        /// At which event.
        event: HookEvent,
        /// The hook's name, else its command line.
        hook: String,
        /// The words.
        message: String,
    },
    /// One of the user's programs did not let the work go on as it would have.
    Blocked {
        /// Why.
        reason: String,
    },
    /// Work on a prompt or command has ended.
    PromptEnded(PromptOutcome),
}
