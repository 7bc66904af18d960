//! Conversations of which a part is hidden by a compression.

use std::sync::Arc;

use super::{EntryId, History, HistoryEntry, INTERRUPTED_RESPONSE};
use crate::{Body, Compression, Content, Part, Role, Shortened, Summary};

/// Text of the acknowledgement that is added after a summary in the name of the model.
const ACKNOWLEDGED: &str = "Understood. I will continue from there.";

/// Entries that one compression has replaced.
#[derive(Debug, Clone)]
pub(super) struct Fold {
    /// Message that replaces the entries; `None` if results were only shortened.
    summary: Option<EntryId>,
    /// Hidden entries.
    entries: Vec<Arc<HistoryEntry>>,
    /// Entries as they were before their results were shortened.
    whole: Vec<Arc<HistoryEntry>>,
}

/// Returns the id of the acknowledgement of a summary.
fn acknowledgement(summary: &EntryId) -> EntryId {
    EntryId::new(format!("{summary}_acknowledged"))
}

impl History {
    /// Replaces entries by a summary, and long results by short ones. Returns false, and changes
    /// nothing, if an entry of the summary does not exist, or if a call would be separated from its
    /// responses.
    pub fn compress(&mut self, compression: &Compression) -> bool {
        let mut fold = Fold { summary: None, entries: Vec::new(), whole: Vec::new() };
        if let Some(summary) = &compression.summary {
            let Some((first, last)) = self.range(summary) else { return false };
            let words = Content::user(vec![Part::text(summary.words.as_str())]);
            let mut instead = vec![HistoryEntry::new(compression.id.clone(), words)];
            if summary.acknowledged {
                let id = acknowledgement(&compression.id);
                instead.push(HistoryEntry::new(id, Content::model(vec![Part::text(ACKNOWLEDGED)])));
            }
            fold.summary = Some(compression.id.clone());
            fold.entries = self.entries.splice(first..=last, instead).collect();
        }
        fold.whole = self.shorten(&compression.shortened);
        let has_changed = fold.summary.is_some() || !fold.whole.is_empty();
        if has_changed {
            self.folds.push(fold);
        }
        has_changed
    }

    /// Restores all hidden entries that are still in memory. False if there are none.
    pub fn uncompress(&mut self) -> bool {
        let is_compressed = !self.folds.is_empty();
        while let Some(fold) = self.folds.pop() {
            let of_fold = |entry: &Arc<HistoryEntry>| Some(&entry.id) == fold.summary.as_ref();
            if let Some(place) = self.entries.iter().position(of_fold) {
                let next = self.entries.get(place + 1);
                let reported =
                    next.is_some_and(|next| next.id == acknowledgement(&self.entries[place].id));
                let end = place + 1 + usize::from(reported);
                let after = place + fold.entries.len();
                self.entries.splice(place..end, fold.entries);
                self.repair_border(after);
            }
            for whole in fold.whole {
                if let Some(short) = self.entries.iter_mut().find(|entry| entry.id == whole.id) {
                    *short = whole;
                }
            }
        }
        is_compressed
    }

    /// True if entries are hidden.
    pub fn is_compressed(&self) -> bool {
        self.is_put_away || !self.folds.is_empty()
    }

    /// Drops the hidden entries from memory, for a conversation whose log contains them. After
    /// that, [`Self::uncompress`] and [`Self::whole`] do not return them.
    pub fn put_away(&mut self) {
        self.is_put_away = self.is_compressed();
        self.folds.clear();
        self.forget_effects();
    }

    /// Returns all entries, including hidden ones, oldest first.
    pub fn whole(&self) -> Vec<Arc<HistoryEntry>> {
        let mut whole = self.clone();
        whole.uncompress();
        whole.entries
    }

    /// Drops hidden entries whose summary is no longer in the history.
    pub(super) fn forget_folds(&mut self) {
        let entries = &self.entries;
        let is_there = |id: &EntryId| entries.iter().any(|entry| entry.id == *id);
        self.folds.retain(|fold| fold.summary.as_ref().is_none_or(is_there));
    }

    /// Returns the first and last index of the entries that a summary replaces, if it is valid.
    fn range(&self, summary: &Summary) -> Option<(usize, usize)> {
        let place = |id: &EntryId| self.entries.iter().position(|entry| entry.id == *id);
        let (first, last) = (place(&summary.from)?, place(&summary.through)?);
        let answers = |entry: &Arc<HistoryEntry>| entry.content.responses().next().is_some();
        let calls = |entry: &Arc<HistoryEntry>| entry.content.calls().next().is_some();
        let before = first.checked_sub(1).map(|before| &self.entries[before]);
        let next = self.entries.get(last + 1);
        let is_whole = !before.is_some_and(|before| calls(before) || answers(before))
            && !answers(&self.entries[first])
            && !next.is_some_and(answers)
            && !calls(&self.entries[last]);
        // Without an answer of the model after them, results would be followed by a text.
        let is_answered = !answers(&self.entries[last])
            || next.is_some_and(|next| next.content.role == Role::Model);
        let is_continued = next.is_some_and(|next| next.content.role == Role::Model);
        let has_words = !summary.words.trim().is_empty() && (summary.acknowledged || is_continued);
        (first <= last && is_whole && is_answered && has_words).then_some((first, last))
    }

    /// Inserts a placeholder for the model's turn between results and a text that follows them
    /// because the turns between them are gone.
    fn repair_border(&mut self, place: usize) {
        let answers = |entry: &HistoryEntry| entry.content.responses().next().is_some();
        let Some([before, next]) = place.checked_sub(1).and_then(|at| self.entries.get(at..=place))
        else {
            return;
        };
        if answers(before) && next.content.role == Role::User && !answers(next) {
            let id = EntryId::new(format!("{}_interrupted", next.id));
            let content = Content::model(vec![Part::text(INTERRUPTED_RESPONSE)]);
            self.entries.insert(place, HistoryEntry::new(id, content));
        }
    }

    /// Shortens results. Returns the changed entries in their original form.
    fn shorten(&mut self, shortened: &[Shortened]) -> Vec<Arc<HistoryEntry>> {
        let mut whole: Vec<Arc<HistoryEntry>> = Vec::new();
        for short in shortened {
            let found = self.entries.iter().position(|entry| entry.id == short.entry);
            let Some(place) = found else { continue };
            let old = Arc::clone(&self.entries[place]);
            let mut content = old.content.clone();
            let part = content.parts.get_mut(short.part);
            let Some(Body::Response(response)) = part.map(|part| &mut part.body) else { continue };
            response.response = short.response.clone();
            self.entries[place] = HistoryEntry::new(old.id.clone(), content);
            if !whole.iter().any(|entry| entry.id == old.id) {
                whole.push(old);
            }
        }
        whole
    }
}
