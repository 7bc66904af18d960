//! What a frontend asks of the agent.

use crate::{Answer, ApprovalMode, CallId, Part};

/// The id of one prompt: every request and call that it leads to carries it.
pub type PromptId = String;

/// News of something that the session has begun and that has gone on by itself, such as a command in the background.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Report {
    /// Words for the model, which it is sent with the next request: what a program said, so nothing to be obeyed.
    ForModel(String),
    /// Words for the person.
    ForPerson(String),
}

/// One wish of a frontend. All frontends use the same ones, so that whatever one can do, all can.
#[derive(Debug, Clone)]
pub enum Op {
    /// Work on this.
    Prompt {
        /// The id that its events carry.
        id: PromptId,
        /// What the model is sent.
        parts: Vec<Part>,
        /// What the person typed, when it differs.
        display: Option<String>,
    },
    /// Words for the work under way; they reach the model with its next request.
    Steer(String),
    /// Something has happened beside the work.
    Report(Report),
    /// Stop the prompt under way.
    Cancel,
    /// The answer to a confirmation.
    Answer(Answer),
    /// Run a slash command: its name and the rest of the line.
    Command {
        /// The id under which its events come.
        id: PromptId,
        /// Name without the slash.
        name: String,
        /// The rest of the line.
        arguments: String,
    },
    /// Keys for a running program.
    Key {
        /// Whose keys.
        call_id: CallId,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// The window has a new size, in cells.
    Resize {
        /// Columns.
        columns: u16,
        /// Rows.
        rows: u16,
    },
    /// Let a running call go on in the background.
    Background(CallId),
    /// Change the approval mode.
    SetMode(ApprovalMode),
    /// Change the model, by name or alias.
    SetModel(String),
    /// Finish what is under way and end.
    Close,
}
