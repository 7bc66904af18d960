//! Consent for items of the folder. This is the one place that knows the items of all crates.
//!
//! It runs before anything of the project takes effect. The user is asked if possible; otherwise
//! only pinned items take effect, and new or changed items stay off and are reported.

use pollux_config::consent::{
    ConsentMode, ConsentStore, ConsentVerdict, EarlierAnswers, MAX_ITEMS, by_kind, decide,
};
use pollux_config::{Accepted, PendingSettings};
use pollux_protocol::ConsentItem;

use crate::hooks::consent_items as hook_items;
use crate::setup::Beginning;

mod person;
mod session;

pub(crate) use person::OpenItems;
pub(crate) use session::SessionConsent;

/// Decision about the items of a folder.
pub(crate) enum Consent {
    /// These items take effect.
    Settled(Accepted),
    /// The user decides.
    Open(OpenItems),
}

/// Decides which items take effect: by the user if possible, otherwise by the pins.
pub(crate) fn consider(beginning: &mut Beginning) -> Consent {
    match beginning.input.request.operator {
        Some(_) => person::with_person(beginning),
        None => Consent::Settled(without_a_person(beginning)),
    }
}

/// Returns all pinned items, for a run without a session: asks nothing, pins nothing, reports
/// nothing.
pub(crate) fn pinned(beginning: &mut Beginning) -> Accepted {
    known(beginning, false)
}

/// Returns all items that a user has agreed to, for a session that is already running. New and
/// changed items wait for the next question, even in a folder for which nobody was ever asked.
pub(crate) fn agreed(beginning: &mut Beginning) -> Accepted {
    known(beginning, true)
}

fn known(beginning: &mut Beginning, is_asked_about: bool) -> Accepted {
    match ConsentMode::from(beginning.found.trust) {
        ConsentMode::Untrusted => Accepted::nothing(),
        ConsentMode::Unpinned => Accepted::everything(),
        ConsentMode::Pinned => {
            let store = ConsentStore::load(&beginning.places);
            let known = EarlierAnswers::of(&store, &beginning.input.request.folder);
            let mut items = all_items(beginning, known);
            items.truncate(MAX_ITEMS);
            taking_effect(&items, &decide(&items, known, ConsentMode::Pinned, is_asked_about))
        }
    }
}

/// Returns the items of the folder up to the maximum number, and reports if there are more.
fn items(beginning: &mut Beginning, known: EarlierAnswers<'_>) -> Vec<ConsentItem> {
    let mut items = all_items(beginning, known);
    if items.len() > MAX_ITEMS {
        beginning.input.request.notices.warning(&format!(
            "[WARNING] This folder contains {} items that need your consent. All items after the first {MAX_ITEMS} are disabled.",
            items.len()
        ));
        items.truncate(MAX_ITEMS);
    }
    items
}

fn all_items(beginning: &mut Beginning, known: EarlierAnswers<'_>) -> Vec<ConsentItem> {
    let found: &mut PendingSettings = &mut beginning.found;
    found.look(known);
    let mut items = found.items();
    items.extend(hook_items(found, &beginning.input.request.folder));
    items.extend(pollux_policy::consent_items(&beginning.input.request.folder));
    items
}

/// Returns the items whose verdict lets them take effect.
fn taking_effect(items: &[ConsentItem], verdicts: &[ConsentVerdict]) -> Accepted {
    let kept = items.iter().zip(verdicts).filter(|(_, verdict)| verdict.takes_effect());
    Accepted::only(kept.map(|(item, _)| item))
}

/// Decides which items take effect in a run without a user, and reports those that stay off.
fn without_a_person(beginning: &mut Beginning) -> Accepted {
    let mode = ConsentMode::from(beginning.found.trust);
    if mode != ConsentMode::Pinned {
        return pinned(beginning);
    }
    let store = ConsentStore::load(&beginning.places);
    let known = EarlierAnswers::of(&store, &beginning.input.request.folder);
    let items = items(beginning, known);
    let verdicts = decide(&items, known, mode, false);
    let of = |wanted| -> Vec<&ConsentItem> {
        let kept = items.iter().zip(&verdicts).filter(|(_, verdict)| **verdict == wanted);
        kept.map(|(item, _)| item).collect()
    };
    if let Err(error) = &store {
        beginning
            .input
            .request
            .notices
            .warning(&format!("[WARNING] {error}. Nothing is approved until the file is fixed."));
    }
    // A broken settings file ends the run, so none of its items may be pinned.
    if known == EarlierAnswers::Nothing && beginning.found.project_errors().is_empty() {
        pin(beginning, &of(ConsentVerdict::AcceptedAndPinned));
    }
    let (by_person, changed): (Vec<_>, Vec<_>) =
        of(ConsentVerdict::Unanswered).into_iter().partition(|item| item.needs_user);
    for (reason, items) in [
        ("it cannot be approved automatically", by_person),
        ("new or changed in this folder", changed),
    ] {
        for (kind, names) in by_kind(&items) {
            beginning.input.request.notices.warning(&format!(
                "[WARNING] Disabled until you approve it at the terminal ({reason}): {kind}: {names}. \
                 --skip-trust accepts everything for one run."
            ));
        }
    }
    taking_effect(&items, &verdicts)
}

/// Pins the items of a trusted folder on first use, and reports this.
fn pin(beginning: &Beginning, items: &[&ConsentItem]) {
    let answers: Vec<_> = items.iter().map(|item| (*item, true)).collect();
    let kept = ConsentStore::record(&beginning.places, &beginning.input.request.folder, &answers);
    if items.is_empty() {
        // Without items nothing is lost if the home directory is not writable.
        return;
    }
    match kept {
        Ok(()) => {
            let kinds: Vec<_> = by_kind(items)
                .into_iter()
                .map(|(kind, names)| format!("{kind}: {names}"))
                .collect();
            beginning.input.request.notices.info(&format!(
                "[INFO] This folder is trusted. Its current items are now pinned: {}.",
                kinds.join("; ")
            ));
        }
        Err(error) => {
            beginning
                .input
                .request
                .notices
                .warning(&format!("[WARNING] {error}. The items of the folder are not pinned."));
        }
    }
}
