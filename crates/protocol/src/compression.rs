//! Compression: the summary and the shortened results that replace parts of a long conversation.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::EntryId;

/// Replacement of parts of a conversation. No message is lost: the log keeps every message, and
/// [`History::uncompress`](crate::History::uncompress) restores all of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Compression {
    /// Id of the message that replaces the hidden entries.
    pub id: EntryId,
    /// Text of that message. `None` if results were only shortened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<Summary>,
    /// Results that are replaced by shorter ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shortened: Vec<Shortened>,
    /// Tokens of a request before and after the compression, if they were counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<(u64, u64)>,
}

/// Text that replaces entries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// Replacement text.
    pub words: String,
    /// First hidden entry.
    pub from: EntryId,
    /// Last hidden entry.
    pub through: EntryId,
    /// True if an acknowledgement by the model is added after the summary. Required unless an
    /// answer of the model follows.
    pub acknowledged: bool,
}

/// Shorter text that replaces a tool's response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Shortened {
    /// Entry of the response.
    pub entry: EntryId,
    /// Index of the part in the entry.
    pub part: usize,
    /// New JSON of the response.
    pub response: Value,
}

/// Result of an attempt to compress. The numbers are those of Gemini CLI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompressionStatus {
    /// A summary has replaced part of the conversation.
    Compressed = 1,
    /// The conversation would have become longer.
    FailedInflatedTokenCount = 2,
    /// The tokens could not be counted.
    FailedTokenCountError = 3,
    /// The model returned no summary, or could not be asked.
    FailedEmptySummary = 4,
    /// There was nothing to compress.
    Noop = 5,
    /// Old tool results were shortened.
    ContentTruncated = 6,
}

/// Token counts of an attempt to compress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompressionReport {
    /// Tokens of a request before the attempt.
    pub original_tokens: u64,
    /// Tokens of a request after the attempt.
    pub new_tokens: u64,
    /// Result of the attempt.
    pub status: CompressionStatus,
}
