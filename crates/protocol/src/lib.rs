//! The words everyone speaks, and the ports between the floors.
//!
//! This crate is the ground floor: plain values (contents, calls, events, effects, usage) and traits
//! (`Model`, `Tool`, `Journal`, `Operator`, …) that the floors above implement and use. It does no I/O,
//! starts no task and knows no vendor's wire; futures and a cancellation token are all it needs of the
//! asynchronous world.
//!
//! The one value with rules of its own is [`History`]: whatever is pushed into it, every request that it
//! yields is one that the vendors accept.

mod agent;
mod approval;
mod bounded;
mod call;
mod command;
mod confirmation;
mod content;
mod effects;
mod event;
mod history;
mod journal;
mod model;
mod op;
mod operator;
mod record;
mod telemetry;
mod tool;
mod usage;

pub use agent::{AgentGone, AgentHandle};
pub use approval::{ApprovalMode, SharedMode, UnknownMode};
pub use call::{Call, CallId, CallStatus, Decision, FinishedCall};
pub use command::{Command, CommandEffect, CommandError};
pub use confirmation::{Answer, Confirmation, ConfirmationKind, Modification, Outcome};
pub use content::{
    Blob, Body, Content, FileReference, FunctionCall, FunctionResponse, Opaque, Part, Role,
};
pub use effects::Effects;
pub use event::{Event, PromptOutcome, Severity, Thought, TurnLimit};
pub use history::{CONTINUE, Entry, EntryId, History, INTERRUPTED_RESPONSE, NotReady, Repair};
pub use journal::{Journal, JournalError, Observer};
pub use model::{
    Choice, Chunk, ChunkStream, Citation, FinishReason, InvalidStream, JsonRequest, Limits, Model,
    ModelError, ModelErrorKind, ModelRole, Models, Request, RetryListener, RetryNotice,
    SelectContext,
};
pub use op::{Op, PromptId};
pub use operator::{ConsentItem, Operator};
pub use record::{CallRecord, MessageRecord, Record};
pub use telemetry::{
    ApiErrorMeasure, ApiRequestMeasure, ApiResponseMeasure, FileOperation, FileOperationKind,
    Measurement, StreamRetryMeasure, ToolCallMeasure,
};
pub use tool::{
    Args, CallInput, Declaration, DiffStat, Directive, Display, FileDiff, Invocation, LiveOutput,
    OutputSink, RunContext, Tool, ToolError, ToolErrorKind, ToolKind, ToolOutput,
};
pub use usage::Usage;

pub use tokio_util::sync::CancellationToken;
