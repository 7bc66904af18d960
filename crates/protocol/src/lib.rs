//! Shared vocabulary of all crates, and the traits between the layers.
//!
//! This crate is the lowest layer: plain values (contents, calls, events, effects, usage) and
//! traits (`Model`, `Tool`, `Journal`, `Operator`, …) that higher layers implement and use. It
//! does no I/O, starts no task and knows no vendor's wire format; the only asynchronous types it
//! needs are futures and a cancellation token.
//!
//! The only value with invariants is [`History`]: whatever is added to it, every request that it
//! returns is one that the vendors accept.

#![cfg_attr(test, allow(clippy::disallowed_methods, clippy::disallowed_types))]

mod agent;
mod ansi;
mod answer;
mod approval;
mod bounded;
mod budget;
mod call;
mod checkpoint;
mod clipboard;
mod command;
mod compression;
mod confinement;
mod confirmation;
mod content;
mod declaration;
mod editor;
mod effects;
pub mod estimate;
mod event;
mod facts;
mod files;
mod form;
mod grounding;
mod history;
mod hook;
mod journal;
mod listing;
mod live;
mod model;
mod model_error;
mod notices;
mod op;
mod origin;
pub mod plain_text;
mod price;
mod question;
mod record;
mod reference;
mod server_listing;
mod sessions;
mod sessions_error;
mod setting_entry;
mod setting_values;
mod side;
pub mod spelling;
mod telemetry;
mod todo;
mod tool;
mod transcript;
pub mod truncation;
pub mod untrusted;
mod usage;

pub use agent::{AgentGone, AgentHandle};
pub use ansi::{AnsiOutput, AnsiToken};
pub use answer::{AnswerSchema, Unsatisfied};
pub use approval::{ApprovalMode, UnknownMode};
pub use budget::{
    Amounts, Booked, Ceilings, DayEntry, DayLedger, Exceeded, LedgerError, Limit, Period, Resource,
};
pub use call::{Call, CallId, CallStatus, Decision, FinishedCall, PreparedCall, USER_DENIED};
pub use checkpoint::{CheckpointError, Checkpoints, NoCheckpoints, PendingCall};
pub use clipboard::{Clipboard, ClipboardContent};
pub use command::{
    Command, CommandCalls, CommandContext, CommandError, CommandExplainer, CommandOutcome,
    CommandOutput, CommandSet, CommandSource, OpSender, PromptCommand, RenamedCommand, SessionView,
};
pub use compression::{Compression, CompressionReport, CompressionStatus, Shortened, Summary};
pub use confinement::{CallConfinement, ConfinementLevel};
pub use confirmation::{
    Confirmation, ConfirmationKind, Rewrite, ServerToolCall, SurveyKind, SurveyOption,
    SurveyQuestion,
};
pub use content::{
    Blob, Body, Content, FileReference, FunctionCall, FunctionResponse, Opaque, Part, Role, text_of,
};
pub use declaration::Declaration;
pub use editor::ExternalEditor;
pub use effects::Effects;
pub use event::{Event, PromptOutcome, Severity, Thought, TurnLimit};
pub use facts::{Shortening, SubjectArgument, ToolFacts};
pub use files::{Files, LocalFiles, TextWritten};
pub use form::{FieldFormat, FieldKind, Form, FormField, FormOption};
pub use grounding::{Grounding, RetrievedUrl, Support, WebSource};
pub use history::{
    CONTINUE, CUT_SHORT, EntryId, History, HistoryEntry, INTERRUPTED_RESPONSE, NotReady, Repair,
};
pub use hook::{
    CompressTrigger, HookEvent, HookPayload, SessionEndReason, SessionSource, ToolCallPayload,
    ToolChoice, ToolErrorPayload, ToolMode, ToolResponsePayload,
};
pub use journal::{Journal, JournalError, Observer};
pub use listing::{Abilities, ListingOrigin, ModelDates, ModelListing};
pub use live::{Live, LiveWatch};
pub use model::{
    Adjustments, Choice, ChunkStream, Citation, Classifier, FIRST_LISTED, FinishReason,
    JsonRequest, Model, ModelLimits, ModelRequest, ModelRole, ModelTier, Models, OmissionListener,
    PromptFamily, ResponseChunk, RetryListener, RetryNotice, SelectContext, ToolOmission, Tuning,
};
pub use model_error::{InvalidStream, ModelError, ModelErrorKind, VendorLimit, VendorRefusal};
pub use notices::Notices;
pub use op::{CommandReport, Op, PromptId, PromptInput};
pub use origin::{AgentPath, Envelope, Origin};
pub use price::{Money, Price, Prices, Rates};
pub use question::{
    AddressRequest, ConsentItem, ItemDetail, Modification, NoUser, Operator, Question,
    QuestionChoice, QuestionId, QuestionOutcome, QuestionReply, QuestionSubject, TrustRequest,
};
pub use record::{CallRecord, MessageDisplay, MessageRecord, Record};
pub use reference::{escaped_path, unescaped_path};
pub use server_listing::{ServerItem, ServerItemKind, ServerListing, ServerStanding};
pub use sessions::{
    BackgroundCommand, Completions, PreparedSession, PromptSource, ResumedState, RunningSession,
    SessionEntry, SessionFacts, SessionPreview, SessionRequest, SessionStart, Sessions,
};
pub use sessions_error::{SessionFailure, SessionsError};
pub use setting_entry::{SettingEntry, SettingEntryKind};
pub use setting_values::SettingValues;
pub use side::SideModels;
pub use telemetry::{
    ApiErrorMeasure, ApiRequestMeasure, ApiResponseMeasure, ConsecaPolicyMeasure,
    ConsecaVerdictMeasure, FileOperation, FileOperationKind, HookCallMeasure, LoopKind,
    LoopMeasure, Measurement, NextSpeakerMeasure, Speaker, StreamRetryMeasure, ToolCallMeasure,
    WebFetchFallback,
};
pub use todo::{Todo, TodoStatus};
pub use tool::{
    Args, AwaitedInput, CallInput, DISCOVERED_CONTEXT, DiffStat, Directive, Display, FileDiff,
    Invocation, LiveOutput, OutputSink, RunContext, Tool, ToolError, ToolErrorKind, ToolKind,
    ToolOutput, ToolSource,
};
pub use transcript::{
    TranscriptAnswer, TranscriptFrom, TranscriptItem, TranscriptPage, TranscriptPosition,
};
pub use usage::{Usage, UsageReport};

pub use tokio_util::sync::CancellationToken;
