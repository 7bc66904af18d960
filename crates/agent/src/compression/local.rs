//! What can be done without a model: old results become short, and the oldest messages go.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pollux_protocol::{Entry, EntryId, Shortened, Summary, estimate};

use super::{Cut, Kept, Snapshot, over_budget};
use crate::masking;
use crate::toolset::Toolset;

/// Tokens of a conversation of which the oldest messages went that are left to the words in their place.
const PLACE_OF_WORDS: f64 = 1000.0;

/// The oldest messages, and what takes their place.
pub(crate) struct Dropped {
    pub(crate) summary: Summary,
    pub(crate) kept: Kept,
    pub(crate) messages: usize,
}

/// A result that is to become short.
#[derive(Debug, Clone)]
pub(crate) struct Truncation {
    pub(crate) shortened: Shortened,
    /// Where the whole result goes, and what it is.
    file: PathBuf,
    whole: String,
}

impl Truncation {
    /// Keeps the whole result in its file. False when it cannot be written.
    pub(crate) fn save(&self) -> bool {
        masking::save(&self.file, &self.whole).is_ok()
    }
}

/// The results that do not fit into so many tokens, the newest taken first. What would not become shorter stays.
pub(crate) fn truncate(
    entries: &[Arc<Entry>],
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

/// What takes the place of the oldest messages, so that the rest has at most so many tokens; as little as can be when that
/// is not enough. None when nothing can go.
pub(crate) fn drop_oldest(
    entries: &[Arc<Entry>],
    tokens: f64,
    keep: impl Fn(&[Arc<Entry>]) -> Kept,
) -> Option<Dropped> {
    let cut = Cut::leaving(entries, (tokens - PLACE_OF_WORDS).max(0.0))?;
    let gone = cut.entries(entries);
    let (kept, messages) = (keep(gone), gone.len());
    let words = Snapshot::of_nothing(messages).render(&kept);
    let id = |entry: &Arc<Entry>| EntryId::clone(entry.id());
    let (from, through) = (gone.first().map(id)?, gone.last().map(id)?);
    let acknowledged = cut.is_acknowledged(entries);
    Some(Dropped { summary: Summary { words, from, through, acknowledged }, kept, messages })
}
