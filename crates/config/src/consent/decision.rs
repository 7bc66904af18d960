//! Who may take effect: a pure function of items, pins, the way of trust, and whether somebody is there.

use std::path::Path;

use pollux_protocol::ConsentItem;

use super::{ConsentStore, FolderPins};
use crate::{SyntaxError, Trust, TrustSource};

/// How the folder came to be trusted, as far as consent cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// It is not trusted.
    Untrusted,
    /// For this run, or by switching the question off: everything is accepted, and nothing pinned.
    Unpinned,
    /// For good: answers are pinned.
    Pinned,
}

impl From<Trust> for Way {
    fn from(trust: Trust) -> Self {
        if !trust.is_trusted() {
            return Self::Untrusted;
        }
        match trust.source {
            TrustSource::Flag | TrustSource::Environment | TrustSource::Disabled => Self::Unpinned,
            TrustSource::Ide | TrustSource::File | TrustSource::Nobody => Self::Pinned,
        }
    }
}

/// What is known about a folder's earlier answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known<'a> {
    /// The file of answers cannot be read: nobody has agreed to anything.
    Unreadable,
    /// Nothing was ever asked here.
    Nothing,
    /// These answers.
    Pins(&'a FolderPins),
}

impl<'a> Known<'a> {
    /// What the file of answers, as it could be read, knows about `folder`.
    pub fn of(store: &'a Result<ConsentStore, SyntaxError>, folder: &Path) -> Self {
        match store {
            Ok(store) => store.folder(folder).map_or(Self::Nothing, Self::Pins),
            Err(_) => Self::Unreadable,
        }
    }
}

/// What becomes of one item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It takes effect.
    Accepted,
    /// It takes effect, and that is pinned: the folder was trusted before anything was pinned, and
    /// nobody is there to ask.
    AcceptedAndPinned,
    /// The person said no to it, or to the whole folder.
    Refused,
    /// It is asked about.
    Ask,
    /// It is new or has changed, and nobody is there to ask: it stays off.
    Unanswered,
}

impl Verdict {
    /// Whether the item takes effect without a question.
    pub fn takes_effect(self) -> bool {
        matches!(self, Self::Accepted | Self::AcceptedAndPinned)
    }
}

/// Decides about each item, in order.
pub fn decide(
    items: &[ConsentItem],
    known: Known<'_>,
    way: Way,
    interactive: bool,
) -> Vec<Verdict> {
    items.iter().map(|item| verdict(item, known, way, interactive)).collect()
}

fn verdict(item: &ConsentItem, known: Known<'_>, way: Way, interactive: bool) -> Verdict {
    match (way, known) {
        (Way::Untrusted, _) => Verdict::Refused,
        (Way::Unpinned, _) => Verdict::Accepted,
        (Way::Pinned, Known::Pins(pins)) => match pins.answer(item) {
            Some(true) => Verdict::Accepted,
            Some(false) => Verdict::Refused,
            None if interactive => Verdict::Ask,
            None => Verdict::Unanswered,
        },
        (Way::Pinned, Known::Nothing | Known::Unreadable) if interactive => Verdict::Ask,
        (Way::Pinned, Known::Nothing) if item.needs_person => Verdict::Unanswered,
        (Way::Pinned, Known::Nothing) => Verdict::AcceptedAndPinned,
        (Way::Pinned, Known::Unreadable) => Verdict::Unanswered,
    }
}
