//! Transcript of a session: the conversation as the user saw it, read page by page.

use crate::{CallRecord, EntryId, Part, Severity, Thought};

/// Place between two messages of a transcript. It stays valid while the conversation grows. After
/// messages were taken back, it may lie behind the end; it then counts as the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TranscriptPosition(usize);

impl TranscriptPosition {
    /// Creates the position behind this number of messages of the session log.
    pub fn new(messages: usize) -> Self {
        Self(messages)
    }

    /// Returns the number of messages of the session log that lie before the position.
    pub fn messages(self) -> usize {
        self.0
    }
}

/// Page of a transcript that is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TranscriptFrom {
    /// First page.
    Start,
    /// Last page.
    End,
    /// Page that begins at this position.
    After(TranscriptPosition),
    /// Page that ends at this position.
    Before(TranscriptPosition),
}

/// Consecutive items of a transcript.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TranscriptPage {
    /// Items, oldest first. Empty if the messages of the page have nothing to show.
    pub items: Vec<TranscriptItem>,
    /// Position before the items; `None` if nothing precedes them.
    pub before: Option<TranscriptPosition>,
    /// Position after the items; `None` if nothing follows them at present.
    pub after: Option<TranscriptPosition>,
}

/// Item of a transcript.
#[derive(Debug, Clone, PartialEq)]
pub enum TranscriptItem {
    /// Message of the user.
    User {
        /// Id of the entry in the history.
        id: EntryId,
        /// Text as the user typed it, and media.
        parts: Vec<Part>,
    },
    /// Answer of the model.
    Answer(TranscriptAnswer),
    /// Notice that was shown to the user.
    Notice {
        /// Severity of the notice.
        severity: Severity,
        /// Text of the notice.
        text: String,
    },
    /// A summary has replaced the items before this one for the model. The items stay in the
    /// transcript.
    Compressed {
        /// Text of the summary.
        summary: String,
        /// Tokens of a request before and after the compression, if the log names them.
        tokens: Option<(u64, u64)>,
    },
}

/// Answer of the model, in the order in which it is shown: thoughts, content, calls.
#[derive(Debug, Clone, PartialEq)]
pub struct TranscriptAnswer {
    /// Id of the entry in the history.
    pub id: EntryId,
    /// Name of the model; empty if the log does not name it.
    pub model: String,
    /// Thoughts of the model.
    pub thoughts: Vec<Thought>,
    /// Text and media.
    pub parts: Vec<Part>,
    /// True if the user or a failure cut the answer short.
    pub interrupted: bool,
    /// Calls in the order of the answer. A status that is not final means that the call is running
    /// now; events report how it continues.
    pub calls: Vec<CallRecord>,
}
