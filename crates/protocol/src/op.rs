//! Operations: the requests of a frontend to the agent.

use crate::{ApprovalMode, CallId, Content, EntryId, Part, QuestionReply, SessionStart};

/// Id of one prompt or command, carried by all events, requests and calls that result from it.
pub type PromptId = String;

/// Prompt of the user.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PromptInput {
    /// Parts that are sent to the model.
    pub parts: Vec<Part>,
    /// Text that the user typed, if it differs.
    pub display: Option<String>,
    /// Messages that precede the prompt in the conversation, such as those of a prompt that a
    /// server wrote as a dialogue. Messages of the model contain text only.
    pub earlier: Vec<Content>,
}

impl PromptInput {
    /// Creates a prompt that the user sees as `display`.
    pub fn shown(parts: Vec<Part>, display: Option<String>) -> Self {
        Self { parts, display, earlier: Vec::new() }
    }
}

impl From<Vec<Part>> for PromptInput {
    fn from(parts: Vec<Part>) -> Self {
        Self::shown(parts, None)
    }
}

/// Message about an event outside the current work, such as the end of a background command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandReport {
    /// Output of a program, sent to the model with the next request. It is data, not an
    /// instruction.
    ForModel(String),
    /// Command that the user ran, with its output, sent to the model with the next request.
    UserCommand(String),
    /// Text for the user.
    ForUser(String),
    /// Text for the clipboard of the user's terminal; see [`crate::Event::ForClipboard`].
    ForClipboard(String),
    /// Text for the input of the user's terminal; see [`crate::Event::ForInput`].
    ForInput(String),
    /// The settings were read again; see [`crate::Event::SettingsChanged`].
    SettingsChanged {
        /// Keys whose new values are in effect.
        changed: Vec<String>,
        /// Keys whose new values take effect at the next start.
        restart: Vec<String>,
    },
}

/// One operation. All frontends use the same operations and therefore have the same abilities.
///
/// Operations with an id are work: they run one after the other, and each ends with
/// [`crate::Event::PromptEnded`] under its id. All others take effect immediately, even during
/// work.
#[derive(Debug, Clone)]
pub enum Op {
    /// Works on a prompt.
    Prompt {
        /// Id of the work.
        id: PromptId,
        /// The prompt.
        input: PromptInput,
    },
    /// Runs a slash command. A command that only reads runs in parallel with the current work.
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
    /// Restores everything that was compressed.
    Uncompress {
        /// Id of the work.
        id: PromptId,
    },
    /// Clears the conversation; the next prompt opens a new one in the same session.
    Clear {
        /// Id of the work.
        id: PromptId,
    },
    /// Removes the conversation from one entry on.
    Rewind {
        /// Id of the work.
        id: PromptId,
        /// First entry to remove.
        to: EntryId,
    },
    /// Adds text of the user to the current work; the model gets it with its next request.
    Steer(String),
    /// Reports an event outside the current work.
    Report(CommandReport),
    /// Stops the current work.
    Cancel,
    /// Replies to a question.
    Answer(QuestionReply),
    /// Sends keys to a running program.
    Key {
        /// Call that runs the program.
        call_id: CallId,
        /// Bytes as a terminal would send them.
        bytes: Vec<u8>,
    },
    /// Reports the size of the terminal window, in cells.
    Resize {
        /// Columns.
        columns: u16,
        /// Rows.
        rows: u16,
    },
    /// Moves a running call to the background.
    Background(CallId),
    /// Changes the approval mode. Calls that wait for an approval are evaluated again.
    SetMode(ApprovalMode),
    /// Changes the model, by name or alias, from the next request on.
    SetModel(String),
    /// Asks the frontend to open another session in place of this one
    /// ([`crate::Event::SwitchRequested`]). A command returns it if
    /// [`crate::SessionRequest::can_switch`] is set.
    Switch(SessionStart),
    /// Finishes the current work and ends the agent.
    Close,
}

impl Op {
    /// Returns the id of the operation's events; `None` for an operation that takes effect
    /// immediately.
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
            | Self::Switch(_)
            | Self::Close => None,
        }
    }
}
