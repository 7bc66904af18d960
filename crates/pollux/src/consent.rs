//! What the folder brings and who may agree to it: the one place where the items of all crates meet.
//!
//! It runs before anything of the project takes effect. A person is asked (by the frontend, one by one);
//! without one, what is pinned counts, and what is new or has changed stays off and is told.

use std::collections::BTreeMap;

use pollux_config::consent::{ConsentStore, Known, MAX_ITEMS, Verdict, Way, decide};
use pollux_config::{Accepted, Found};
use pollux_protocol::ConsentItem;

use crate::exit::Failure;
use crate::headless::stderr_line;
use crate::line::{Typed, agree, visible};
use crate::setup::Beginning;
use crate::signals::Signals;

/// Names that one line on standard error tells.
const TOLD: usize = 5;

/// What of the project takes effect in this run. When a person was asked, what is typed on the terminal
/// is being read, and goes on to be read from the second value.
///
/// # Errors
/// The person interrupts.
pub(crate) async fn settle(
    beginning: &mut Beginning,
    signals: &mut Signals,
) -> Result<(Accepted, Option<Typed>), Failure> {
    if !beginning.is_prompted() {
        return Ok((pinned(beginning), None));
    }
    if beginning.interactive {
        return agree::settle(beginning, signals).await;
    }
    Ok((without_a_person(beginning), None))
}

/// What is pinned, for a run that only looks something up: nobody is asked, nothing is pinned or told.
pub(crate) fn pinned(beginning: &mut Beginning) -> Accepted {
    match Way::from(beginning.found.trust) {
        Way::Untrusted => Accepted::nothing(),
        Way::Unpinned => Accepted::everything(),
        Way::Pinned => {
            let (store, mut items) = (ConsentStore::load(&beginning.places), all_items(beginning));
            items.truncate(MAX_ITEMS);
            let known = Known::of(&store, &beginning.cwd);
            taking_effect(&items, &decide(&items, known, Way::Pinned, false))
        }
    }
}

/// What the folder brings, as much of it as is looked at; that there is more is told. Nothing of it is in effect.
pub(crate) fn items(beginning: &mut Beginning) -> Vec<ConsentItem> {
    let mut items = all_items(beginning);
    if items.len() > MAX_ITEMS {
        stderr_line(&format!(
            "[WARNING] This folder brings {} things that need a yes; everything after the first {MAX_ITEMS} stays off.",
            items.len()
        ));
        items.truncate(MAX_ITEMS);
    }
    items
}

fn all_items(beginning: &mut Beginning) -> Vec<ConsentItem> {
    let found: &mut Found = &mut beginning.found;
    found.look();
    let mut items = found.items();
    items.extend(crate::hooks::items(found, &beginning.cwd));
    items.extend(pollux_policy::consent_items(&beginning.cwd));
    items
}

/// The items whose verdict says so.
pub(crate) fn taking_effect(items: &[ConsentItem], verdicts: &[Verdict]) -> Accepted {
    let kept = items.iter().zip(verdicts).filter(|(_, verdict)| verdict.takes_effect());
    Accepted::only(kept.map(|(item, _)| item))
}

fn without_a_person(beginning: &mut Beginning) -> Accepted {
    let way = Way::from(beginning.found.trust);
    if way != Way::Pinned {
        return pinned(beginning);
    }
    let items = items(beginning);
    let store = ConsentStore::load(&beginning.places);
    let known = Known::of(&store, &beginning.cwd);
    let verdicts = decide(&items, known, way, false);
    let of = |wanted| -> Vec<&ConsentItem> {
        let kept = items.iter().zip(&verdicts).filter(|(_, verdict)| **verdict == wanted);
        kept.map(|(item, _)| item).collect()
    };
    if let Err(error) = &store {
        stderr_line(&format!(
            "[WARNING] {error}. Nobody has agreed to anything until it is mended."
        ));
    }
    // A broken settings file ends the run: nothing of it was agreed to.
    if known == Known::Nothing && beginning.found.project_errors().is_empty() {
        pin(beginning, &of(Verdict::AcceptedAndPinned));
    }
    for (kind, names) in by_kind(&of(Verdict::Unanswered)) {
        stderr_line(&format!(
            "[WARNING] Off until somebody agrees at the terminal, new or changed in this folder: {kind}: {names}. \
             --skip-trust accepts everything for one run."
        ));
    }
    taking_effect(&items, &verdicts)
}

/// Keeps what a trusted folder brings when it is used for the first time, and tells it.
fn pin(beginning: &Beginning, items: &[&ConsentItem]) {
    let answers: Vec<_> = items.iter().map(|item| (*item, true)).collect();
    let kept = ConsentStore::record(&beginning.places, &beginning.cwd, &answers);
    if items.is_empty() {
        // Without items nothing is lost by a home that cannot be written.
        return;
    }
    match kept {
        Ok(()) => {
            let told: Vec<_> = by_kind(items)
                .into_iter()
                .map(|(kind, names)| format!("{kind}: {names}"))
                .collect();
            stderr_line(&format!(
                "[INFO] This folder is trusted, and from now on what it brings is pinned as it is: {}.",
                told.join("; ")
            ));
        }
        Err(error) => {
            stderr_line(&format!("[WARNING] {error}. What the folder brings is not pinned."));
        }
    }
}

/// The names of each kind, in a few words.
pub(crate) fn by_kind(items: &[&ConsentItem]) -> Vec<(String, String)> {
    let mut kinds: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for item in items {
        kinds.entry(&item.kind).or_default().push(&item.name);
    }
    let told = kinds.into_iter().map(|(kind, names)| {
        let more = names.len().saturating_sub(TOLD);
        let mut words: Vec<String> = names.iter().take(TOLD).map(|name| short(name)).collect();
        words.extend((more > 0).then(|| format!("{more} more")));
        (counted(kind, names.len()), words.join(", "))
    });
    told.collect()
}

/// `1 hook`, `2 policies`.
pub(crate) fn counted(kind: &str, count: usize) -> String {
    match (count, kind.strip_suffix('y')) {
        (1, _) => format!("1 {kind}"),
        (_, Some(stem)) => format!("{count} {stem}ies"),
        (_, None) => format!("{count} {kind}s"),
    }
}

/// A name as it can be shown in a line.
pub(crate) fn short(name: &str) -> String {
    const LETTERS: usize = 80;
    let shown = visible(name);
    match shown.char_indices().nth(LETTERS) {
        Some((end, _)) => format!("{}...", &shown[..end]),
        None => shown,
    }
}

#[cfg(test)]
mod tests {
    use pollux_config::consent::item;
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn kinds_are_told_with_a_few_names() {
        let hooks: Vec<_> =
            (0..7).map(|number| item("hook", &format!("h{number}"), String::new(), b"")).collect();
        let policy = item("policy", "a\u{1b}[2K\u{202e}", String::new(), b"");
        let all: Vec<_> = hooks.iter().chain([&policy]).collect();
        assert_eq!(
            by_kind(&all),
            [
                ("7 hooks".to_owned(), "h0, h1, h2, h3, h4, 2 more".to_owned()),
                ("1 policy".to_owned(), "a\\u{1b}[2K\\u{202e}".to_owned()),
            ]
        );
        assert_eq!(counted("policy", 2), "2 policies");
        assert_eq!(short(&"x".repeat(100)).len(), 83);
    }
}
