//! Consent of a user who can be asked.
//!
//! The Enter key never grants trust. Answers are stored only after all of them are given, and the
//! answer about the folder last: a user who leaves early has agreed to nothing.

use std::path::Path;
use std::sync::Arc;

use pollux_config::consent::{
    ConsentMode, ConsentStore, ConsentVerdict, EarlierAnswers, decide, short,
};
use pollux_config::{Accepted, Trust, TrustLevel, TrustSource, TrustState, TrustStore};
use pollux_protocol::{
    ConsentItem, Modification, Operator, Origin, Question, QuestionChoice, QuestionOutcome,
    QuestionSubject, TrustRequest,
};

use super::{Consent, items, pinned, taking_effect};
use crate::setup::Beginning;

/// Items of a folder, some of which the user decides about.
pub(crate) struct OpenItems {
    items: Vec<ConsentItem>,
    verdicts: Vec<ConsentVerdict>,
}

/// Answers of the user.
pub(crate) enum UserAnswers {
    /// The user left without an answer, and has agreed to nothing.
    None,
    /// The folder is not trusted.
    Distrust,
    /// The folder is trusted.
    Trust {
        /// Level of trust, if the user was asked about it.
        level: Option<TrustLevel>,
        /// Decisions about the items.
        items: Vec<(ConsentItem, bool)>,
    },
}

/// Decides which items of the folder take effect, as far as that needs no question.
pub(super) fn with_person(beginning: &mut Beginning) -> Consent {
    let trust = beginning.found.trust;
    if trust.state != TrustState::Unknown && ConsentMode::from(trust) != ConsentMode::Pinned {
        return Consent::Settled(pinned(beginning));
    }
    let store = ConsentStore::load(&beginning.places);
    let known = EarlierAnswers::of(&store, &beginning.input.request.folder);
    let items = items(beginning, known);
    let verdicts = decide(&items, known, ConsentMode::Pinned, true);
    let open = OpenItems { items, verdicts };
    if trust.is_trusted() && open.items().is_empty() {
        if known == EarlierAnswers::Nothing {
            // An empty record is stored too: items that appear later then count as new. A failure
            // to store it does no harm.
            drop(ConsentStore::record(&beginning.places, &beginning.input.request.folder, &[]));
        }
        return Consent::Settled(taking_effect(&open.items, &open.verdicts));
    }
    if trust.is_trusted() {
        match &store {
            Err(error) => {
                let text = format!("{error}. Answers are not saved until the file is fixed.");
                beginning.input.request.notices.warning(&text);
            }
            Ok(_) => beginning.input.request.notices.info(
                "This folder is trusted, and contains items that you have not been asked about.",
            ),
        }
    }
    Consent::Open(open)
}

impl OpenItems {
    fn items(&self) -> Vec<&ConsentItem> {
        let is_open = |(_, verdict): &(_, &ConsentVerdict)| **verdict == ConsentVerdict::Ask;
        self.items.iter().zip(&self.verdicts).filter(is_open).map(|(item, _)| item).collect()
    }

    /// Asks about the folder if it is not trusted, and about the open items.
    pub(crate) async fn ask(&self, beginning: &Beginning) -> UserAnswers {
        let Some(operator) = &beginning.input.request.operator else { return UserAnswers::None };
        let (operator, open) = (operator.as_ref(), self.items());
        let mut level = None;
        if !beginning.found.trust.is_trusted() {
            level = ask_for_trust(beginning, &open, operator).await;
            match level {
                Some(TrustLevel::TrustFolder | TrustLevel::TrustParent) => {}
                Some(TrustLevel::DoNotTrust) => return UserAnswers::Distrust,
                None => return UserAnswers::None,
            }
        }
        match ask_for_items(&open, operator, &beginning.input.origin).await {
            Some(answers) => {
                let items = answers.into_iter().map(|(item, yes)| (item.clone(), yes)).collect();
                UserAnswers::Trust { level, items }
            }
            None => UserAnswers::None,
        }
    }

    /// Stores the answers, and returns the items that take effect. Blocks the thread.
    pub(crate) fn settle(&self, beginning: &mut Beginning, answers: UserAnswers) -> Accepted {
        let (level, answers) = match answers {
            UserAnswers::None => return Accepted::nothing(),
            UserAnswers::Distrust => {
                set_trust(beginning, TrustState::Untrusted);
                keep_level(beginning, TrustLevel::DoNotTrust);
                return Accepted::nothing();
            }
            UserAnswers::Trust { level, items } => (level, items),
        };
        let answers: Vec<_> = answers.iter().map(|(item, yes)| (item, *yes)).collect();
        keep(beginning, &answers, level);
        let agreed = answers.iter().filter(|(_, yes)| *yes).map(|(item, _)| *item);
        let kept = self.items.iter().zip(&self.verdicts);
        let kept = kept.filter(|(_, verdict)| verdict.takes_effect());
        Accepted::only(kept.map(|(item, _)| item).chain(agreed))
    }
}

/// Asks about the folder; returns `None` without an answer.
async fn ask_for_trust(
    beginning: &Beginning,
    open: &[&ConsentItem],
    operator: &dyn Operator,
) -> Option<TrustLevel> {
    let (labels, levels): (Vec<_>, Vec<_>) =
        trust_choices(&beginning.input.request.folder).into_iter().unzip();
    let request = TrustRequest {
        folder: beginning.input.request.folder.clone(),
        items: open.iter().copied().cloned().collect(),
        problems: beginning.found.project_errors().iter().map(ToString::to_string).collect(),
    };
    // The last choice is not to trust the folder.
    let default = levels.len().checked_sub(1);
    let choices = QuestionChoice::options(labels);
    let (from, subject) = (Arc::clone(&beginning.input.origin), QuestionSubject::Trust(request));
    let question = Question::new(from, subject, choices, default);
    match operator.ask(question).await.outcome {
        QuestionOutcome::Option(index) => levels.get(index).copied(),
        _ => None,
    }
}

/// Asks about the items, one kind after the other; returns `None` without an answer.
async fn ask_for_items<'a>(
    open: &[&'a ConsentItem],
    operator: &dyn Operator,
    from: &Arc<Origin>,
) -> Option<Vec<(&'a ConsentItem, bool)>> {
    let mut answers = Vec::with_capacity(open.len());
    for group in groups(open) {
        let subject = QuestionSubject::Consent(group.iter().copied().cloned().collect());
        let choices = vec![
            QuestionChoice::new(QuestionOutcome::ProceedOnce, "Allow", 'y'),
            QuestionChoice::new(QuestionOutcome::Cancel, "Refuse", 'n'),
        ];
        let question = Question::new(Arc::clone(from), subject, choices, None);
        let reply = operator.ask(question).await;
        let (QuestionOutcome::ProceedOnce, Some(Modification::Consents(consents))) =
            (reply.outcome, reply.modification)
        else {
            return None;
        };
        // An item without a decision was not agreed to.
        let consents = consents.into_iter().chain(std::iter::repeat(false));
        answers.extend(group.into_iter().zip(consents));
    }
    Some(answers)
}

/// Groups items by kind, kinds in the order of their first item.
fn groups<'a>(items: &[&'a ConsentItem]) -> Vec<Vec<&'a ConsentItem>> {
    let mut groups: Vec<Vec<&ConsentItem>> = Vec::new();
    for item in items {
        match groups.iter_mut().find(|group| group[0].kind == item.kind) {
            Some(group) => group.push(item),
            None => groups.push(vec![item]),
        }
    }
    groups
}

/// Returns the choices of Gemini CLI's dialog, in its order.
fn trust_choices(folder: &Path) -> Vec<(String, TrustLevel)> {
    let name = |folder: &Path| {
        let last = folder.file_name().map(|name| name.to_string_lossy().into_owned());
        short(&last.unwrap_or_else(|| folder.display().to_string()))
    };
    let mut choices = vec![(format!("Trust folder ({})", name(folder)), TrustLevel::TrustFolder)];
    choices.extend(folder.parent().map(|parent| {
        (format!("Trust parent folder ({})", name(parent)), TrustLevel::TrustParent)
    }));
    choices.push(("Don't trust".to_owned(), TrustLevel::DoNotTrust));
    choices
}

/// Stores the answers: those about items first, so that a folder is never trusted without them.
fn keep(beginning: &mut Beginning, answers: &[(&ConsentItem, bool)], level: Option<TrustLevel>) {
    let kept = ConsentStore::record(&beginning.places, &beginning.input.request.folder, answers);
    let is_kept = kept.is_ok();
    let text = match kept {
        Ok(()) => summary(answers),
        Err(error) => Some(format!("{error}. The answers apply to this conversation only.")),
    };
    if let Some(text) = text {
        beginning.input.request.notices.info(&text);
    }
    if let Some(level) = level {
        set_trust(beginning, TrustState::Trusted);
        if is_kept {
            keep_level(beginning, level);
        }
    }
}

fn set_trust(beginning: &mut Beginning, state: TrustState) {
    beginning.found.trust = Trust { state, source: TrustSource::File };
}

fn keep_level(beginning: &Beginning, level: TrustLevel) {
    if let Err(error) = TrustStore::set(&beginning.places, &beginning.input.request.folder, level) {
        let text = format!("{error}. The answer applies to this conversation only.");
        beginning.input.request.notices.warning(&text);
    }
}

/// Returns a summary of the answers; `None` if there are no answers.
fn summary(answers: &[(&ConsentItem, bool)]) -> Option<String> {
    let count = |wanted| answers.iter().filter(|(_, yes)| *yes == wanted).count();
    match (count(true), count(false)) {
        (0, 0) => None,
        (yes, no) => Some(format!(
            "Allowed: {yes}. Off: {no}. Pollux asks again about changed items. /permissions shows your answers."
        )),
    }
}

#[cfg(test)]
mod tests {
    use pollux_config::consent::item;
    use pollux_scripted::ScriptedOperator;
    use pretty_assertions::assert_eq;

    use super::*;

    fn hook(name: &str) -> ConsentItem {
        item("hook", name, String::new(), b"")
    }

    #[test]
    fn the_choices_are_the_originals() {
        let labels = |folder: &str| -> Vec<String> {
            trust_choices(Path::new(folder)).into_iter().map(|(label, _)| label).collect()
        };
        assert_eq!(
            labels("/home/you/shop"),
            ["Trust folder (shop)", "Trust parent folder (you)", "Don't trust"]
        );
        assert_eq!(labels("/"), ["Trust folder (/)", "Don't trust"]);
    }

    #[tokio::test]
    async fn items_of_one_kind_are_asked_about_together() {
        let (one, two) = (hook("a"), hook("b"));
        let other = item("policy", "p", String::new(), b"");
        // The second hook gets no decision.
        let operator = ScriptedOperator::new(|asked| {
            let modification = Some(Modification::Consents(vec![true]));
            Some(pollux_protocol::QuestionReply {
                modification,
                ..asked.reply(QuestionOutcome::ProceedOnce)
            })
        });
        let answers =
            ask_for_items(&[&one, &other, &two], &operator, &Arc::default()).await.unwrap();
        assert_eq!(answers, [(&one, true), (&two, false), (&other, true)]);
        assert_eq!(operator.asked().len(), 2);
    }

    #[tokio::test]
    async fn a_person_who_leaves_half_way_has_agreed_to_nothing() {
        let (one, other) = (hook("a"), item("policy", "p", String::new(), b""));
        let operator = ScriptedOperator::new(|asked| match &asked.subject {
            QuestionSubject::Consent(items) if items[0].kind == "hook" => {
                let modification = Some(Modification::Consents(vec![true]));
                Some(pollux_protocol::QuestionReply {
                    modification,
                    ..asked.reply(QuestionOutcome::ProceedOnce)
                })
            }
            _ => Some(asked.reply(QuestionOutcome::Cancel)),
        });
        assert_eq!(ask_for_items(&[&one, &other], &operator, &Arc::default()).await, None);
    }
}
