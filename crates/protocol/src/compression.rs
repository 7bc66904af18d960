//! What takes the place of a conversation that has become too long.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::EntryId;

/// A conversation as it is seen from now on. Nothing is lost by it: the log keeps every message, and
/// [`History::uncompress`](crate::History::uncompress) brings all of them back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Compression {
    /// The id of the message that stands for what is out of sight.
    pub id: EntryId,
    /// That message. None when results became short, and nothing else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<Summary>,
    /// Results that are short from now on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shortened: Vec<Shortened>,
}

/// Words in the place of entries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// What is said in their place.
    pub words: String,
    /// The first entry that is out of sight.
    pub from: EntryId,
    /// The last one.
    pub through: EntryId,
    /// The model is taken to have acknowledged it. It must be, unless an answer of the model follows.
    pub acknowledged: bool,
}

/// Other words in the place of what a tool answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Shortened {
    /// The entry of the answer.
    pub entry: EntryId,
    /// Which of its parts.
    pub part: usize,
    /// The response's new JSON.
    pub response: Value,
}

/// What came of an attempt to compress. The numbers are those of Gemini CLI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompressionStatus {
    /// A summary has taken the place of what was said.
    Compressed = 1,
    /// It would have become longer.
    FailedInflatedTokenCount = 2,
    /// Its tokens could not be counted.
    FailedTokenCountError = 3,
    /// The model had nothing to say, or could not be asked.
    FailedEmptySummary = 4,
    /// There was nothing to do.
    Noop = 5,
    /// Old results of tools became short.
    ContentTruncated = 6,
}

/// The figures of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompressionReport {
    /// Tokens of a request before.
    pub original_tokens: u64,
    /// And after.
    pub new_tokens: u64,
    /// What came of it.
    pub status: CompressionStatus,
}
