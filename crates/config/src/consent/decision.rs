//! Decision about items: a pure function of the items, the pinned answers, the kind of trust, and
//! whether a user is present.

use std::path::Path;

use pollux_protocol::ConsentItem;

use super::store::LatestAnswers;
use super::{ConsentStore, FolderPins};
use crate::{SyntaxError, Trust, TrustSource};

/// Kind of trust in the folder, as far as consent depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConsentMode {
    /// The folder is not trusted.
    Untrusted,
    /// The folder is trusted for this run, or the question is switched off: all items are accepted,
    /// and nothing is pinned.
    Unpinned,
    /// The folder is trusted permanently: answers are pinned.
    Pinned,
}

impl From<Trust> for ConsentMode {
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

/// Known earlier answers about a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EarlierAnswers<'a> {
    /// The file of answers cannot be read, so there is no consent to anything.
    Unreadable,
    /// The user was never asked about this folder.
    Nothing,
    /// Earlier answers about this folder.
    Pins(&'a FolderPins),
}

impl<'a> EarlierAnswers<'a> {
    /// Returns the answers about `folder` in the file of answers.
    pub fn of(store: &'a Result<ConsentStore, SyntaxError>, folder: &Path) -> Self {
        match store {
            Ok(store) => store.folder(folder).map_or(Self::Nothing, Self::Pins),
            Err(_) => Self::Unreadable,
        }
    }
}

/// Decision about one item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConsentVerdict {
    /// The item takes effect.
    Accepted,
    /// The item takes effect and is pinned, because the folder was trusted before anything was
    /// pinned and no user is present to ask.
    AcceptedAndPinned,
    /// The user refused the item or the whole folder.
    Refused,
    /// The user must be asked about the item.
    Ask,
    /// The item is new or has changed, and no user is present to ask: it does not take effect.
    Unanswered,
}

impl ConsentVerdict {
    /// Returns true if the item takes effect without a question.
    pub fn takes_effect(self) -> bool {
        matches!(self, Self::Accepted | Self::AcceptedAndPinned)
    }
}

/// Decides about each item, in order.
pub fn decide(
    items: &[ConsentItem],
    known: EarlierAnswers<'_>,
    mode: ConsentMode,
    interactive: bool,
) -> Vec<ConsentVerdict> {
    let answers = match known {
        EarlierAnswers::Pins(pins) => pins.latest(),
        EarlierAnswers::Nothing | EarlierAnswers::Unreadable => LatestAnswers::default(),
    };
    items.iter().map(|item| verdict(item, known, &answers, mode, interactive)).collect()
}

fn verdict(
    item: &ConsentItem,
    known: EarlierAnswers<'_>,
    answers: &LatestAnswers<'_>,
    mode: ConsentMode,
    interactive: bool,
) -> ConsentVerdict {
    match (mode, known) {
        (ConsentMode::Untrusted, _) => ConsentVerdict::Refused,
        (ConsentMode::Unpinned, _) => ConsentVerdict::Accepted,
        (ConsentMode::Pinned, EarlierAnswers::Pins(_)) => match answers.get(item) {
            Some(true) => ConsentVerdict::Accepted,
            Some(false) => ConsentVerdict::Refused,
            None if interactive => ConsentVerdict::Ask,
            None => ConsentVerdict::Unanswered,
        },
        (ConsentMode::Pinned, EarlierAnswers::Nothing | EarlierAnswers::Unreadable)
            if interactive =>
        {
            ConsentVerdict::Ask
        }
        (ConsentMode::Pinned, EarlierAnswers::Nothing) if item.needs_user => {
            ConsentVerdict::Unanswered
        }
        (ConsentMode::Pinned, EarlierAnswers::Nothing) => ConsentVerdict::AcceptedAndPinned,
        (ConsentMode::Pinned, EarlierAnswers::Unreadable) => ConsentVerdict::Unanswered,
    }
}
