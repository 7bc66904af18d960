//! What is remembered: the session log, resume, the list of sessions, statistics.
//!
//! A session is one file of JSON lines in the project's `chats` folder, in the layout of Gemini CLI 0.61, so that
//! either program can go on with the other's session. [`SessionLog`] writes it, one line before each effect;
//! [`SessionStore`] creates, lists, finds, resumes, imports and deletes sessions; [`SessionData`] is what resume gives
//! back. [`PromptLog`] keeps what people typed, across sessions. [`Statistics`] folds the events of a run into the figures of the JSON output.
//!
//! What is not here: the conversation itself is `pollux_protocol::History`; what to do with a resumed one is the
//! agent's business. Nothing in this crate ever shortens or deletes a session that nobody asked to delete.
//!
//! The functions of [`SessionStore`] block the thread; the log's do not.

mod encoder;
mod error;
mod figures;
mod layout;
mod listing;
mod log;
mod prompts;
mod reader;
mod rebuild;
mod renamed;
mod resume;
mod source;
mod spending;
mod statistics;
mod store;
mod stored;

pub use error::SessionError;
pub use figures::{ModelFigures, RecordedFigures, ToolFigures};
pub use listing::{SessionSummary, age, format_deleted, format_list};
pub use log::SessionLog;
pub use prompts::{PromptLog, recent_prompts};
pub use resume::SessionData;
pub use spending::SpendingFile;
pub use statistics::Statistics;
pub use store::SessionStore;
