//! Persistent session data: the session log, resume, the list of sessions, statistics.
//!
//! A session is one file of JSON lines in the project's `chats` folder, in the layout of Gemini CLI
//! 0.61, so that either program can continue a session of the other. [`SessionLog`] writes the
//! file, one line before each effect; [`SessionStore`] creates, lists, finds, resumes, imports and
//! deletes sessions; [`SessionData`] is the result of resuming. [`Transcript`] reads a
//! conversation for display. [`PromptLog`] keeps the prompts that users typed, across sessions.
//! [`TaggedConversations`] are conversations that the user has saved under a tag.
//! [`GitCheckpoints`] keeps the files of the project before calls change them.
//! [`Statistics`] collects the events of a run into the figures of the JSON output.
//!
//! Out of scope: the conversation itself is `pollux_protocol::History`, and the agent decides how
//! to use a resumed conversation. This crate never shortens a session, and deletes one only at the
//! user's request.
//!
//! The functions of [`SessionStore`] block the thread; those of the log do not.

#![cfg_attr(test, allow(clippy::disallowed_methods, clippy::disallowed_types))]

mod checkpoints;
mod contents;
mod elsewhere;
mod encoder;
mod error;
mod figures;
mod layout;
mod listing;
mod log;
mod preview;
mod prompts;
mod reader;
mod rebuild;
mod renamed;
mod resume;
mod share;
mod source;
mod spending;
mod statistics;
mod store;
mod stored;
mod subagents;
mod tagged;
mod transcript;

pub use checkpoints::{
    ChangedFile, CheckpointCall, CheckpointRecord, CheckpointRecords, FileChange, GitCheckpoints,
    RepositoryError, ShadowRepository, SharedCheckpoints,
};
pub use elsewhere::SessionElsewhere;
pub use error::SessionError;
pub use figures::{ModelFigures, RecordedFigures, ToolFigures};
pub use listing::{age, format_deleted, format_list, format_list_as_json};
pub use log::SessionLog;
pub use prompts::{PromptLog, recent_prompts};
pub use resume::{SessionData, conversation};
pub use share::{export, to_json, to_markdown};
pub use spending::SpendingFile;
pub use statistics::Statistics;
pub use store::SessionStore;
pub use subagents::NewSubagent;
pub use tagged::{TaggedConversation, TaggedConversations};
pub use transcript::Transcript;
