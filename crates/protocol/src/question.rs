//! Questions to the person, and their replies.
//!
//! One form serves everything that a person decides. The choices come with the question, so that a
//! frontend only draws them.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::plain_text::visible;
use crate::{CallId, Confirmation, ConfirmationKind, Origin};

/// Id of a question, unique in the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct QuestionId(u64);

impl QuestionId {
    fn next() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Self(LAST.fetch_add(1, Ordering::Relaxed))
    }
}

/// A question that waits for a [`Reply`].
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// Id that the reply names.
    pub id: QuestionId,
    /// Agent that asks.
    pub from: Arc<Origin>,
    /// Subject of the decision.
    pub subject: QuestionSubject,
    /// Possible decisions in the order in which they are shown.
    pub choices: Vec<QuestionChoice>,
    /// Index of the choice that the Enter key makes; `None` when one must be chosen on purpose.
    pub default: Option<usize>,
}

impl Question {
    /// Creates a question with an id of its own.
    pub fn new(
        from: Arc<Origin>,
        subject: QuestionSubject,
        choices: Vec<QuestionChoice>,
        default: Option<usize>,
    ) -> Self {
        Self { id: QuestionId::next(), from, subject, choices, default }
    }

    /// Creates the reply with this outcome.
    pub fn reply(&self, outcome: Outcome) -> Reply {
        Reply { question: self.id, outcome, modification: None }
    }

    /// Creates the reply that makes the choice at this index, counted from 0; `None` without such a choice. For
    /// consent it decides about all items alike.
    pub fn choose(&self, index: usize) -> Option<Reply> {
        let mut reply = self.reply(self.choices.get(index)?.outcome);
        if let QuestionSubject::Consent(items) = &self.subject {
            let is_yes = reply.outcome != Outcome::Cancel;
            reply.modification = Some(Modification::Consents(vec![is_yes; items.len()]));
        }
        Some(reply)
    }

    /// Returns the call that the question is about.
    pub fn call_id(&self) -> Option<&CallId> {
        match &self.subject {
            QuestionSubject::Call(confirmation) => Some(&confirmation.call_id),
            _ => None,
        }
    }

    /// True if free text is a reply too, as [`Modification::Feedback`].
    pub fn takes_feedback(&self) -> bool {
        matches!(
            self.subject,
            QuestionSubject::Call(Confirmation { kind: ConfirmationKind::Plan { .. }, .. })
        )
    }
}

/// Subject of a question.
#[derive(Debug, Clone, PartialEq)]
pub enum QuestionSubject {
    /// A call needs approval, or its tool asks the person something.
    Call(Confirmation),
    /// The model repeats itself: may the work continue?
    Loop {
        /// Evidence, in one or two sentences.
        details: String,
    },
    /// May the files of a folder take effect? Each choice is an [`Outcome::Option`].
    Trust(TrustRequest),
    /// Items of one kind that take effect only after a yes. The reply carries
    /// [`Modification::Consents`].
    Consent(Vec<ConsentItem>),
    /// Nobody is signed in; one of several services can be used. Each choice is an
    /// [`Outcome::Option`].
    SignIn {
        /// Introduction to the choices.
        text: String,
    },
}

impl fmt::Display for QuestionSubject {
    /// The subject in plain text, for frontends that draw nothing richer. Each character of what a person agrees to is
    /// made visible.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::Call(confirmation) => match &confirmation.kind {
                ConfirmationKind::Edit { patch: text, .. }
                | ConfirmationKind::Execute { command: text, .. }
                | ConfirmationKind::Plan { text, .. }
                | ConfirmationKind::Information { prompt: text, .. } => {
                    format!("{}\n{text}", confirmation.title)
                }
                ConfirmationKind::Questions(asked) => joined(asked, |one| one.question.clone()),
            },
            Self::Loop { details: text } | Self::SignIn { text } => text.clone(),
            Self::Trust(request) => format!("Trust the folder {}?", request.folder.display()),
            Self::Consent(items) => {
                joined(items, |item| format!("{} {}: {}", item.kind, item.name, item.detail))
            }
        };
        formatter.write_str(&joined(&text.lines().collect::<Vec<_>>(), |line| visible(line)))
    }
}

fn joined<T>(items: &[T], describe: impl Fn(&T) -> String) -> String {
    items.iter().map(describe).collect::<Vec<_>>().join("\n")
}

/// One decision that a person may make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestionChoice {
    /// Outcome that the reply carries.
    pub outcome: Outcome,
    /// Text of the choice.
    pub label: String,
    /// Key that makes the choice, where the frontend reads single keys.
    pub shortcut: Option<char>,
}

impl QuestionChoice {
    /// Creates a choice with a key.
    pub fn new(outcome: Outcome, label: impl Into<String>, shortcut: char) -> Self {
        Self { outcome, label: label.into(), shortcut: Some(shortcut) }
    }

    /// Creates the choices of a list, numbered by [`Outcome::Option`].
    pub fn options(labels: impl IntoIterator<Item = String>) -> Vec<Self> {
        let choice =
            |(index, label)| Self { outcome: Outcome::Option(index), label, shortcut: None };
        labels.into_iter().enumerate().map(choice).collect()
    }
}

/// Decision of a person. The strings are those of the agent protocols.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Yes, this once.
    ProceedOnce,
    /// Yes, for this session.
    ProceedAlways,
    /// Yes, for all sessions to come.
    ProceedAlwaysAndSave,
    /// Yes to everything of this server.
    ProceedAlwaysServer,
    /// Yes to everything of this tool.
    ProceedAlwaysTool,
    /// Yes to commands with the same programs and subcommands, for this session or for all to come.
    ProceedSubcommand {
        /// For all sessions to come.
        saved: bool,
    },
    /// Yes to commands with the same programs, for this session or for all to come.
    ProceedProgram {
        /// For all sessions to come.
        saved: bool,
    },
    /// Change it first; the reply carries [`Modification::NewContent`].
    ModifyWithEditor,
    /// The choice at this index, for questions that are not about permission.
    Option(usize),
    /// No, or no decision.
    Cancel,
}

/// Details of a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Modification {
    /// Whole new content of the file in question.
    NewContent(String),
    /// One answer for each question of the model, in order.
    Answers(Vec<String>),
    /// Changes that the person wants before they agree.
    Feedback(String),
    /// One decision for each item, in order.
    Consents(Vec<bool>),
}

/// Reply to a [`Question`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// Id of the question.
    pub question: QuestionId,
    /// Decision of the person.
    pub outcome: Outcome,
    /// Details of the decision.
    pub modification: Option<Modification>,
}

/// A folder about whose trust nothing is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustRequest {
    /// The folder, absolute.
    pub folder: PathBuf,
    /// Everything in it that would need consent.
    pub items: Vec<ConsentItem>,
    /// Files in it that cannot be read, one message each.
    pub problems: Vec<String>,
}

/// Something that a folder or an extension brings and that takes effect only after a yes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsentItem {
    /// Kind, such as `hook` or `MCP server`.
    pub kind: String,
    /// Name of the item.
    pub name: String,
    /// Description of what it would run or change, for a person to judge.
    pub detail: String,
    /// SHA-256 of the agreed content, in hex: a change asks again.
    pub hash: String,
    /// True if only a person may agree to it: a run without one does not take it, not even at its first use.
    pub needs_person: bool,
}

/// The person. A frontend implements it; a run without a person replies with [`Outcome::Cancel`].
#[async_trait]
pub trait Operator: Send + Sync {
    /// Asks a question and waits for the reply. Dropping the future withdraws the question.
    async fn ask(&self, question: Question) -> Reply;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(name: &str) -> ConsentItem {
        let [kind, detail, hash] = ["hook", "runs\u{202e} it", ""].map(str::to_owned);
        ConsentItem { kind, name: name.to_owned(), detail, hash, needs_person: false }
    }

    #[test]
    fn a_choice_about_consent_covers_every_item() {
        let choices = vec![
            QuestionChoice::new(Outcome::ProceedOnce, "Allow", 'y'),
            QuestionChoice::new(Outcome::Cancel, "Refuse", 'n'),
        ];
        let subject = QuestionSubject::Consent(vec![item("a"), item("b")]);
        let question = Question::new(Arc::default(), subject, choices.clone(), None);
        for (index, outcome, decision) in
            [(0, Outcome::ProceedOnce, true), (1, Outcome::Cancel, false)]
        {
            let reply = question.choose(index).unwrap();
            let consents = Modification::Consents(vec![decision; 2]);
            assert_eq!((reply.outcome, reply.modification), (outcome, Some(consents)));
        }
        assert_eq!(question.choose(2), None);
        let subject = QuestionSubject::Loop { details: String::new() };
        let question = Question::new(Arc::default(), subject, choices, None);
        assert_eq!(question.choose(1), Some(question.reply(Outcome::Cancel)));
    }

    #[test]
    fn nothing_in_a_subject_is_hidden() {
        let subject = QuestionSubject::Consent(vec![item("a"), item("b")]);
        assert_eq!(subject.to_string(), "hook a: runs\\u{202e} it\nhook b: runs\\u{202e} it");
        let kind = ConfirmationKind::Execute {
            command: "rm\r\nls\u{1b}[2K".to_owned(),
            programs: Vec::new(),
            writes: Vec::new(),
            unknown: Vec::new(),
            starts: Vec::new(),
            reason: None,
            level: crate::ConfinementLevel::None,
        };
        let title = "Run it".to_owned();
        let call = Confirmation { call_id: CallId::new("1"), title, kind };
        assert_eq!(QuestionSubject::Call(call).to_string(), "Run it\nrm\nls\\u{1b}[2K");
    }
}
