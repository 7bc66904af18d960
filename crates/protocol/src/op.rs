//! Operations: the requests of a frontend to the agent.

use crate::{ApprovalMode, CallId, EntryId, Part, Reply};

/// Id of one prompt or command: every event, request and call that it leads to carries it.
pub type PromptId = String;

/// Message about something that has happened beside the work, such as the end of a command in the
/// background.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Report {
    /// Output of a program, for the model with its next request. It is data, not an instruction.
    ForModel(String),
    /// Text for the person.
    ForPerson(String),
    /// Settings have been read again; see [`crate::Event::SettingsChanged`].
    SettingsChanged {
        /// Keys whose new values are in force.
        changed: Vec<String>,
        /// Keys whose new values wait for the next start.
        restart: Vec<String>,
    },
}

/// One operation. All frontends use the same ones, so that whatever one can do, all can.
///
/// Operations with an id are work: one runs after the other, and each ends with
/// [`crate::Event::PromptEnded`] under its id. All others act at once, also while work is under way.
#[derive(Debug, Clone)]
pub enum Op {
    /// Works on a prompt.
    Prompt {
        /// Id of the work.
        id: PromptId,
        /// Parts that the model gets.
        parts: Vec<Part>,
        /// Text that the person typed, when it differs.
        display: Option<String>,
    },
    /// Runs a slash command. One that only reads runs beside the work under way.
    Command {
        /// Id of the work.
        id: PromptId,
        /// Name without the slash.
        name: String,
        /// Rest of the line.
        arguments: String,
    },
    /// Compresses the conversation.
    Compress {
        /// Id of the work.
        id: PromptId,
    },
    /// Brings back everything that was compressed.
    Uncompress {
        /// Id of the work.
        id: PromptId,
    },
    /// Forgets the conversation; the next prompt opens a new one in the same session.
    Clear {
        /// Id of the work.
        id: PromptId,
    },
    /// Forgets the conversation from one entry on.
    Rewind {
        /// Id of the work.
        id: PromptId,
        /// First entry to forget.
        to: EntryId,
    },
    /// Adds text of the person to the work under way; the model gets it with its next request.
    Steer(String),
    /// Reports something that has happened beside the work.
    Report(Report),
    /// Stops the work under way.
    Cancel,
    /// Replies to a question.
    Answer(Reply),
    /// Sends keys to a running program.
    Key {
        /// Call that runs the program.
        call_id: CallId,
        /// Bytes as a terminal would send them.
        bytes: Vec<u8>,
    },
    /// Reports the size of the window, in cells.
    Resize {
        /// Columns.
        columns: u16,
        /// Rows.
        rows: u16,
    },
    /// Moves a running call to the background.
    Background(CallId),
    /// Changes the approval mode. Calls that wait for an answer are judged again.
    SetMode(ApprovalMode),
    /// Changes the model, by name or alias, from the next request on.
    SetModel(String),
    /// Finishes the work under way and ends the agent.
    Close,
}

impl Op {
    /// Returns the id under which the operation's events come; `None` for one that acts at once.
    pub fn id(&self) -> Option<&PromptId> {
        match self {
            Self::Prompt { id, .. }
            | Self::Command { id, .. }
            | Self::Compress { id }
            | Self::Uncompress { id }
            | Self::Clear { id }
            | Self::Rewind { id, .. } => Some(id),
            Self::Steer(_)
            | Self::Report(_)
            | Self::Cancel
            | Self::Answer(_)
            | Self::Key { .. }
            | Self::Resize { .. }
            | Self::Background(_)
            | Self::SetMode(_)
            | Self::SetModel(_)
            | Self::Close => None,
        }
    }
}
