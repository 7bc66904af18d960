//! Size of a conversation's context, without counting old entries again.

use std::sync::Arc;

use pollux_protocol::{Body, EntryId, History, HistoryEntry, Part, Role, estimate};

/// Number of tokens in a conversation as last counted by the vendor, and the entries that the count
/// covers. Later entries are estimated separately, so that a turn has the same cost in a
/// conversation of any length.
#[derive(Debug, Default)]
pub(crate) struct ContextUsage {
    tokens: u64,
    /// Number of counted entries, and the id of the last of them. A different id at that position
    /// means a different conversation.
    counted: Option<(usize, EntryId)>,
    /// True if the count comes from the vendor.
    is_reported: bool,
}

/// Size of a request that is about to be sent.
pub(crate) struct Load<'a> {
    /// Number of tokens that were sent before.
    pub(crate) held: u64,
    /// Entries of the user's side since then: prompts and results.
    pub(crate) new: Vec<&'a Arc<HistoryEntry>>,
}

impl ContextUsage {
    /// Stores the vendor's count for a request with this whole conversation.
    pub(crate) fn counted(&mut self, history: &History, tokens: u64) {
        let last = history.entries().last();
        if let Some(last) = last.filter(|_| tokens > 0) {
            self.tokens = tokens;
            self.counted = Some((history.entries().len(), last.id().clone()));
            self.is_reported = true;
        }
    }

    /// Forgets the count, because the conversation was replaced.
    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }

    /// Returns the tokens of the last request. If the vendor has not counted it, returns an
    /// estimate for the entries before the last messages of the user's side.
    pub(crate) fn tokens(&mut self, history: &History) -> u64 {
        self.load(history);
        let number = self.counted.as_ref().map_or(0, |(number, _)| *number);
        let entries = history.entries();
        let before = before_the_user(entries);
        if !self.is_reported && before > number {
            self.tokens += estimated(&entries[number..before]);
            self.counted = entries[..before].last().map(|last| (before, last.id().clone()));
        }
        self.tokens
    }

    /// Returns the size of the next request. A conversation without a valid count is estimated
    /// once.
    pub(crate) fn load<'a>(&mut self, history: &'a History) -> Load<'a> {
        let entries = history.entries();
        let is_known = |(number, id): &(usize, EntryId)| {
            number.checked_sub(1).and_then(|last| entries.get(last)).is_some_and(|it| it.id() == id)
        };
        if !self.counted.as_ref().is_some_and(is_known) {
            let before = before_the_user(entries);
            let held = &entries[..before];
            self.tokens = estimated(held);
            self.counted = held.last().map(|last| (before, last.id().clone()));
            self.is_reported = false;
        }
        let number = self.counted.as_ref().map_or(0, |(number, _)| *number);
        let new = entries[number..].iter().filter(|entry| entry.content().role == Role::User);
        Load { held: self.tokens, new: new.collect() }
    }
}

/// Returns the number of entries before the last messages of the user's side.
fn before_the_user(entries: &[Arc<HistoryEntry>]) -> usize {
    let is_new = |entry: &&Arc<HistoryEntry>| {
        entry.content().role == Role::User && entry.id().as_str() != EntryId::CONTEXT
    };
    entries.len() - entries.iter().rev().take_while(is_new).count()
}

fn estimated(entries: &[Arc<HistoryEntry>]) -> u64 {
    entries.iter().map(|entry| estimate::content(entry.content())).sum::<f64>() as u64
}

impl Load<'_> {
    /// Returns the estimated tokens of the new entries, without a request to the vendor.
    pub(crate) fn estimate(&self) -> u64 {
        self.new.iter().map(|entry| estimate::content(entry.content())).sum::<f64>() as u64
    }

    /// True if a new entry contains media, whose tokens only the vendor can count.
    pub(crate) fn has_media(&self) -> bool {
        self.new.iter().any(|entry| entry.content().parts.iter().any(is_media))
    }
}

fn is_media(part: &Part) -> bool {
    match &part.body {
        Body::Inline(_) | Body::File(_) => true,
        Body::Response(response) => response.parts.iter().any(is_media),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    fn id(number: usize) -> EntryId {
        EntryId::new(format!("e{number}"))
    }

    fn load(usage: &mut ContextUsage, history: &History) -> (u64, u64) {
        let load = usage.load(history);
        (load.held, load.estimate())
    }

    #[test]
    fn only_what_was_said_since_is_estimated() {
        let (mut usage, mut history) = (ContextUsage::default(), History::new());
        history.push_user(EntryId::new(EntryId::CONTEXT), vec![Part::text("x".repeat(40))]);
        history.push_user(id(1), vec![Part::text("y".repeat(80))]);
        assert_eq!(load(&mut usage, &history), (10, 20));
        usage.counted(&history, 5000);
        history.push_model(id(2), vec![Part::call("c", "glob", json!({}))]);
        history.push_responses(id(3), vec![Part::output("c", "glob", "12345")]);
        // Tokens of `glob` and `{"output":"12345"}`.
        assert_eq!(load(&mut usage, &history), (5000, 5));
        usage.counted(&history, 0);
        assert_eq!(
            load(&mut usage, &history),
            (5000, 5),
            "a vendor that counts nothing says nothing"
        );
    }

    #[test]
    fn a_conversation_that_was_rewritten_is_estimated_again() {
        let (mut usage, mut history) = (ContextUsage::default(), History::new());
        for number in 0..10 {
            history.push_user(id(2 * number), vec![Part::text("x".repeat(400))]);
            history.push_model(id(2 * number + 1), vec![Part::text("y".repeat(400))]);
        }
        usage.counted(&history, 900_000);
        let mut shorter = History::new();
        shorter.push_user(id(100), vec![Part::text("summary!")]);
        shorter.push_model(id(101), vec![Part::text("yes.")]);
        shorter.push_user(id(102), vec![Part::text("go on, go on")]);
        assert_eq!(load(&mut usage, &shorter), (3, 3));
        history.rewind(&id(19));
        assert_eq!(load(&mut usage, &history).1, 100);
    }

    #[test]
    fn without_a_vendor_who_counts_what_was_said_is_estimated_as_it_comes() {
        let (mut usage, mut history) = (ContextUsage::default(), History::new());
        history.push_user(id(1), vec![Part::text("x".repeat(40))]);
        assert_eq!(usage.tokens(&history), 0);
        for number in 1..4 {
            history.push_model(id(2 * number), vec![Part::text("y".repeat(40))]);
            history.push_user(id(2 * number + 1), vec![Part::text("x".repeat(40))]);
            assert_eq!(usage.tokens(&history), 20 * number as u64);
        }
        usage.counted(&history, 700);
        history.push_model(id(20), vec![Part::text("y".repeat(40))]);
        assert_eq!(usage.tokens(&history), 700);
        usage.forget();
        assert_eq!(usage.tokens(&history), 80);
    }

    #[test]
    fn media_are_seen_wherever_they_are() {
        let mut history = History::new();
        history.push_user(id(1), vec![Part::text("look")]);
        assert!(!ContextUsage::default().load(&history).has_media());
        history.push_user(id(2), vec![Part::inline("image/png", "AAAA")]);
        assert!(ContextUsage::default().load(&history).has_media());
    }
}
