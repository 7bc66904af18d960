//! Compression without a model: old results are shortened, and the oldest messages are dropped.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pollux_protocol::{EntryId, HistoryEntry, Shortened, Summary, estimate};

use super::{CompressionSnapshot, Cut, Kept, over_budget};
use crate::masking;
use crate::toolset::Toolset;

/// Number of tokens that are reserved for the text in place of the dropped messages.
const PLACE_OF_WORDS: f64 = 1000.0;

/// Dropped oldest messages and their replacement.
pub(crate) struct Dropped {
    pub(crate) summary: Summary,
    pub(crate) kept: Kept,
    pub(crate) messages: usize,
}

/// Shortening of one result.
#[derive(Debug, Clone)]
pub(crate) struct Truncation {
    pub(crate) shortened: Shortened,
    /// File that receives the complete result, and the content for it.
    file: PathBuf,
    whole: String,
}

impl Truncation {
    /// Saves the complete result in its file. Returns false if the file cannot be written.
    pub(crate) fn save(&self) -> bool {
        masking::save(&self.file, &self.whole).is_ok()
    }
}

/// Returns shortenings of the results that do not fit into `tokens` tokens if the newest are taken
/// first. A result that would not become shorter stays complete.
pub(crate) fn truncate(
    entries: &[Arc<HistoryEntry>],
    toolset: &Toolset,
    tokens: f64,
    directory: &Path,
) -> Vec<Truncation> {
    let contents: Vec<_> = entries.iter().map(|entry| entry.content()).collect();
    let over = over_budget(&contents, tokens).into_iter();
    over.filter_map(|(place, number)| {
        let part = &contents[place].parts[number];
        let (file, response, whole) = masking::short(part.as_response()?, toolset, directory)?;
        let is_shorter = estimate::json_length(&response) < whole.len();
        let entry = entries[place].id().clone();
        let shortened = Shortened { entry, part: number, response };
        is_shorter.then_some(Truncation { shortened, file, whole })
    })
    .collect()
}

/// Returns a replacement for the oldest messages, so that the rest has at most `tokens` tokens, or
/// as few as possible if that cannot be reached. `None` if no message can be dropped.
pub(crate) fn drop_oldest(
    entries: &[Arc<HistoryEntry>],
    tokens: f64,
    keep: impl Fn(&[Arc<HistoryEntry>]) -> Kept,
) -> Option<Dropped> {
    let cut = Cut::leaving(entries, (tokens - PLACE_OF_WORDS).max(0.0))?;
    let gone = cut.entries(entries);
    let (kept, messages) = (keep(gone), gone.len());
    let words = CompressionSnapshot::of_nothing(messages).render(&kept);
    let id = |entry: &Arc<HistoryEntry>| EntryId::clone(entry.id());
    let (from, through) = (gone.first().map(id)?, gone.last().map(id)?);
    let acknowledged = cut.is_acknowledged(entries);
    Some(Dropped { summary: Summary { words, from, through, acknowledged }, kept, messages })
}
