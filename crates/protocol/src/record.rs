//! The durable events: what the session log keeps, and all that resume needs.

use serde::{Deserialize, Serialize};

use crate::{
    CallId, CallStatus, Compression, ConfinementLevel, Decision, Display, Effects, EntryId, Part,
    Severity, Thought, Usage,
};

/// A turn of the model as the log keeps it.
#[derive(Debug, Clone, PartialEq)]
pub struct MessageRecord {
    /// The id of the entry in the history.
    pub id: EntryId,
    /// Parts that go into the history: text, media, signed thoughts, and calls with their signatures.
    pub parts: Vec<Part>,
    /// What the model thought, for people.
    pub thoughts: Vec<Thought>,
    /// Tokens, when the vendor told them.
    pub usage: Option<Usage>,
    /// The model's name.
    pub model: String,
    /// The answer was cut short by a person or a failure; `parts` is what had come.
    pub interrupted: bool,
    /// The calls among the parts, with their first status.
    pub calls: Vec<CallRecord>,
}

/// A call as the log keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallRecord {
    /// The id.
    pub id: CallId,
    /// The tool.
    pub name: String,
    /// The arguments as they ran.
    pub args: serde_json::Value,
    /// Where it stands.
    pub status: CallStatus,
    /// The response parts, once it is finished.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Vec<Part>>,
    /// What a person was shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_display: Option<Display>,
    /// One line for a person.
    #[serde(default)]
    pub description: String,
    /// The tool's name for a person.
    #[serde(default)]
    pub display_name: String,
    /// The result is Markdown.
    #[serde(default)]
    pub render_output_as_markdown: bool,
}

/// A durable event. It is in the log before its effect takes place.
#[derive(Debug, Clone, PartialEq)]
pub enum Record {
    /// The context that opens the conversation (date, folders, context files).
    Context {
        /// The id of the entry.
        id: EntryId,
        /// What the model is sent.
        parts: Vec<Part>,
    },
    /// The conversation is forgotten: what comes next opens it anew.
    Cleared,
    /// The person said something.
    User {
        /// The id of the entry.
        id: EntryId,
        /// What the model is sent.
        parts: Vec<Part>,
        /// What was typed, when it differs.
        display: Option<String>,
    },
    /// The model answered. Its calls have not run.
    Model(MessageRecord),
    /// It was decided whether a call may run.
    Decided {
        /// The call.
        call_id: CallId,
        /// How.
        decision: Decision,
    },
    /// A call is about to run.
    CallStarted {
        /// The call.
        call_id: CallId,
        /// What it will do.
        effects: Effects,
        /// Confinement of its processes.
        level: ConfinementLevel,
    },
    /// A call has ended.
    CallFinished(CallRecord),
    /// The results of the calls of one turn, as the model is told them.
    Responses {
        /// The id of the entry.
        id: EntryId,
        /// Function responses in completed order, then siblings; a steering text may come first.
        parts: Vec<Part>,
    },
    /// What was said from this entry on is no part of the conversation any more.
    Rewound {
        /// The first entry that is gone.
        to: EntryId,
    },
    /// A notice that people saw.
    Notice {
        /// How grave.
        severity: Severity,
        /// The words.
        text: String,
    },
    /// A part of the conversation is out of sight from now on.
    Compressed(Compression),
    /// All of the conversation is in sight again.
    Uncompressed,
    /// The work on a prompt has ended; the log is brought to the device.
    PromptEnded {
        /// The prompt.
        prompt_id: String,
    },
}
