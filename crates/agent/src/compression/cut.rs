//! Choice of the part of a conversation that a summary replaces.

use std::sync::Arc;

use pollux_protocol::{EntryId, HistoryEntry, Role, estimate};

use super::split::{begins_something, split_point, split_point_within};

/// Range of the entries that a summary replaces: from `first` up to, but not including, `end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cut {
    pub(crate) first: usize,
    pub(crate) end: usize,
}

impl Cut {
    /// Returns the cut at the place where Gemini CLI cuts, or within the current piece of work if
    /// that has become more than half of the conversation. The context block at the start and
    /// messages without an answer yet always stay. `None` if the cut would be empty or hold no
    /// answer of the model.
    pub(crate) fn of(entries: &[Arc<HistoryEntry>]) -> Option<Self> {
        let (first, answered) = answered(entries);
        let weighed: Vec<_> = entries[first..answered]
            .iter()
            .map(|entry| (entry.content(), estimate::json_length(entry.content())))
            .collect();
        let weight = |end: usize| weighed[..end].iter().map(|(_, weight)| weight).sum::<usize>();
        let between = split_point(&weighed);
        let point = if weight(between) * 2 < weight(weighed.len()) {
            split_point_within(&weighed).max(between)
        } else {
            between
        };
        // A prompt without an answer needs no summary.
        let gone = &weighed[..point];
        let is_worth_it = gone.iter().any(|(content, _)| content.role == Role::Model);
        is_worth_it.then_some(Self { first, end: first + point })
    }

    /// Returns the smallest cut after which the rest has at most `tokens` tokens, or the largest
    /// possible cut if no cut is sufficient.
    pub(crate) fn leaving(entries: &[Arc<HistoryEntry>], tokens: f64) -> Option<Self> {
        let (first, answered) = answered(entries);
        let mut rest: f64 =
            entries[first..].iter().map(|entry| estimate::content(entry.content())).sum();
        let mut end = first;
        for place in first..=answered {
            let is_worth_it =
                entries[first..place].iter().any(|entry| entry.content().role == Role::Model);
            if is_worth_it && may_end(entries, place, answered) {
                end = place;
                if rest <= tokens {
                    break;
                }
            }
            rest -= entries.get(place).map_or(0.0, |entry| estimate::content(entry.content()));
        }
        (end > first).then_some(Self { first, end })
    }

    /// Returns the index of the first entry that the model has not answered yet.
    pub(crate) fn unanswered(entries: &[Arc<HistoryEntry>]) -> usize {
        answered(entries).1
    }

    /// True if the model must acknowledge the summary, because no message of the model follows the
    /// cut.
    pub(crate) fn is_acknowledged(self, entries: &[Arc<HistoryEntry>]) -> bool {
        entries.get(self.end).is_none_or(|next| next.content().role == Role::User)
    }

    pub(crate) fn entries(self, entries: &[Arc<HistoryEntry>]) -> &[Arc<HistoryEntry>] {
        &entries[self.first..self.end]
    }
}

/// Returns the range that may be cut: from after the context block to the model's last message.
fn answered(entries: &[Arc<HistoryEntry>]) -> (usize, usize) {
    let opening = |entry: &Arc<HistoryEntry>| entry.id().as_str() == EntryId::CONTEXT;
    let first = usize::from(entries.first().is_some_and(opening));
    let last = entries.iter().rposition(|entry| entry.content().role == Role::Model);
    (first, last.map_or(first, |last| (last + 1).max(first)))
}

/// True if the cut may end before this entry.
fn may_end(entries: &[Arc<HistoryEntry>], place: usize, answered: usize) -> bool {
    let before = entries[place - 1].content();
    if place == answered {
        return before.calls().next().is_none();
    }
    let content = entries[place].content();
    begins_something(content) && before.responses().next().is_none()
        || content.role == Role::Model && before.role == Role::User
}
