//! Durable events: the contents of the session log, and everything that resuming a session needs.

use std::path::PathBuf;

use crate::{
    CallId, CallStatus, Compression, ConfinementLevel, Decision, Display, Effects, EntryId, Part,
    Severity, Thought, ToolKind, Usage,
};

/// Form in which the user sees a message of the user's side.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum MessageDisplay {
    /// The parts that are sent to the model.
    #[default]
    Parts,
    /// Text that the user typed.
    Text(String),
    /// Nothing, because the message does not come from the user.
    Hidden,
}

impl From<Option<String>> for MessageDisplay {
    fn from(typed: Option<String>) -> Self {
        typed.map_or(Self::Parts, Self::Text)
    }
}

/// Turn of the model in the log.
#[derive(Debug, Clone, PartialEq)]
pub struct MessageRecord {
    /// Id of the entry in the history.
    pub id: EntryId,
    /// Parts that become part of the history: text, media, signed thoughts, and calls with their
    /// signatures.
    pub parts: Vec<Part>,
    /// Thoughts of the model, for display.
    pub thoughts: Vec<Thought>,
    /// Token counts, if the vendor reported them.
    pub usage: Option<Usage>,
    /// Name of the model.
    pub model: String,
    /// True if the user or a failure cut the answer short; `parts` contains the parts received
    /// until then.
    pub interrupted: bool,
    /// Calls among the parts, with their first status.
    pub calls: Vec<CallRecord>,
}

impl MessageRecord {
    /// Creates a message that no model of this session wrote, without calls.
    pub fn of_text(id: EntryId, parts: Vec<Part>) -> Self {
        Self {
            id,
            parts,
            thoughts: Vec::new(),
            usage: None,
            model: String::new(),
            interrupted: false,
            calls: Vec::new(),
        }
    }
}

/// Call in the log.
#[derive(Debug, Clone, PartialEq)]
pub struct CallRecord {
    /// Id of the call.
    pub id: CallId,
    /// Name of the tool.
    pub name: String,
    /// Arguments with which the call ran.
    pub args: serde_json::Value,
    /// Status of the call.
    pub status: CallStatus,
    /// Response parts; `None` until the call has ended.
    pub result: Option<Vec<Part>>,
    /// Output for the user.
    pub result_display: Option<Display>,
    /// Description in one line, for display.
    pub description: String,
    /// Display name of the tool.
    pub display_name: String,
    /// Kind of the tool; `None` if the tool or the log does not name it.
    pub kind: Option<ToolKind>,
    /// Absolute paths of the files and folders that the call touches.
    pub locations: Vec<PathBuf>,
    /// True if the result is Markdown.
    pub render_output_as_markdown: bool,
}

/// Durable event. It is written to the log before its effect takes place.
#[derive(Debug, Clone, PartialEq)]
pub enum Record {
    /// Context that opens the conversation (date, folders, context files).
    Context {
        /// Id of the entry.
        id: EntryId,
        /// Parts that are sent to the model.
        parts: Vec<Part>,
    },
    /// The conversation was cleared: the next entry starts a new one.
    Cleared,
    /// Message of the user.
    User {
        /// Id of the entry.
        id: EntryId,
        /// Parts that are sent to the model.
        parts: Vec<Part>,
        /// Form in which the user sees the message.
        display: MessageDisplay,
    },
    /// Answer of the model. Its calls have not run yet.
    Model(MessageRecord),
    /// Decision whether a call may run.
    Decided {
        /// Id of the call.
        call_id: CallId,
        /// The decision.
        decision: Decision,
    },
    /// A call is about to run.
    CallStarted {
        /// Id of the call.
        call_id: CallId,
        /// Description in one line, for display.
        description: String,
        /// Declared effects.
        effects: Effects,
        /// Confinement of its processes.
        level: ConfinementLevel,
    },
    /// A call has ended.
    CallFinished(CallRecord),
    /// Results of the calls of one turn, as they are sent to the model.
    Responses {
        /// Id of the entry.
        id: EntryId,
        /// Function responses in the order of completion, then accompanying parts; a steering text
        /// may come first.
        parts: Vec<Part>,
        /// Text among the parts that the user typed.
        typed: Option<String>,
    },
    /// The conversation from this entry on was removed.
    Rewound {
        /// First entry that was removed.
        to: EntryId,
    },
    /// Notice that was shown to the user.
    Notice {
        /// Severity of the notice.
        severity: Severity,
        /// Text of the notice.
        text: String,
    },
    /// A part of the conversation is hidden from now on.
    Compressed(Compression),
    /// All of the conversation is visible again.
    Uncompressed,
    /// Work on a prompt has ended.
    PromptEnded {
        /// Id of the prompt.
        prompt_id: String,
    },
}
