//! Questions to the user, and the replies.
//!
//! One type serves all decisions of the user. The choices are part of the question, so that a
//! frontend only displays them.

use std::fmt;
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::plain_text::visible;
use crate::{CallId, Confirmation, ConfirmationKind, Form, Origin};

/// Id of a question, unique in the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct QuestionId(u64);

impl QuestionId {
    fn next() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Self(LAST.fetch_add(1, Ordering::Relaxed))
    }
}

/// A question that waits for a [`QuestionReply`].
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
    /// Index of the choice that the Enter key makes; `None` if the user must choose explicitly.
    pub default: Option<usize>,
}

impl Question {
    /// Creates a question with a new id.
    pub fn new(
        from: Arc<Origin>,
        subject: QuestionSubject,
        choices: Vec<QuestionChoice>,
        default: Option<usize>,
    ) -> Self {
        Self { id: QuestionId::next(), from, subject, choices, default }
    }

    /// Creates the reply with this outcome.
    pub fn reply(&self, outcome: QuestionOutcome) -> QuestionReply {
        QuestionReply { question: self.id, outcome, modification: None }
    }

    /// Creates the reply that makes the choice at this index, counted from 0; `None` if there is no
    /// such choice. For consent, the reply makes the same decision about all items.
    pub fn choose(&self, index: usize) -> Option<QuestionReply> {
        let mut reply = self.reply(self.choices.get(index)?.outcome);
        if let QuestionSubject::Consent(items) = &self.subject {
            let is_yes = reply.outcome != QuestionOutcome::Cancel;
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

    /// True if free text is also a valid reply, as [`Modification::Feedback`].
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
    /// A call needs approval, or its tool asks the user a question.
    Call(Confirmation),
    /// The model repeats itself; the user decides whether the work continues.
    Loop {
        /// Evidence, in one or two sentences.
        details: String,
    },
    /// Decision whether the files of a folder may take effect. Each choice is an
    /// [`QuestionOutcome::Option`].
    Trust(TrustRequest),
    /// Items of one kind that take effect only with the user's consent. The reply contains
    /// [`Modification::Consents`].
    Consent(Vec<ConsentItem>),
    /// The user is not signed in and can choose one of several services. Each choice is an
    /// [`QuestionOutcome::Option`].
    SignIn {
        /// Introduction to the choices.
        text: String,
    },
    /// A program asks the user to fill in a form. A reply that accepts contains
    /// [`Modification::Form`].
    Form(Form),
    /// A program asks the user to open an address in a browser.
    Address(AddressRequest),
    /// A program wants something that needs approval, as plain text.
    Request {
        /// The request, in any number of lines.
        text: String,
    },
}

impl fmt::Display for QuestionSubject {
    /// Writes the subject as plain text, for frontends without a richer display. All characters of
    /// a text that the user consents to are made visible.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::Call(confirmation) => match &confirmation.kind {
                ConfirmationKind::Edit { patch: text, .. }
                | ConfirmationKind::Execute { command: text, .. }
                | ConfirmationKind::Plan { text, .. }
                | ConfirmationKind::Information { prompt: text, .. } => {
                    format!("{}\n{text}", confirmation.title)
                }
                ConfirmationKind::ServerTool(call) => {
                    let arguments =
                        serde_json::to_string_pretty(&call.arguments).unwrap_or_default();
                    let (server, tool) = (&call.server, &call.tool);
                    format!("{}\n{server}: {tool}\n{arguments}", confirmation.title)
                }
                ConfirmationKind::Questions(asked) => joined(asked, |one| one.question.clone()),
            },
            Self::Loop { details: text } | Self::SignIn { text } | Self::Request { text } => {
                text.clone()
            }
            Self::Form(form) => format!("{}: {}", form.source, form.message),
            Self::Address(asked) => format!("{}: {}\n{}", asked.source, asked.message, asked.url),
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

/// One decision that the user may make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestionChoice {
    /// Outcome of the reply.
    pub outcome: QuestionOutcome,
    /// Text of the choice.
    pub label: String,
    /// Key that makes the choice in a frontend that reads single keys.
    pub shortcut: Option<char>,
}

impl QuestionChoice {
    /// Creates a choice with a key.
    pub fn new(outcome: QuestionOutcome, label: impl Into<String>, shortcut: char) -> Self {
        Self { outcome, label: label.into(), shortcut: Some(shortcut) }
    }

    /// Creates a numbered list of choices, each an [`QuestionOutcome::Option`].
    pub fn options(labels: impl IntoIterator<Item = String>) -> Vec<Self> {
        let choice = |(index, label)| Self {
            outcome: QuestionOutcome::Option(index),
            label,
            shortcut: None,
        };
        labels.into_iter().enumerate().map(choice).collect()
    }
}

/// Decision of the user. The strings are those of the agent protocols.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuestionOutcome {
    /// Approved for this call only.
    ProceedOnce,
    /// Approved for this session.
    ProceedAlways,
    /// Approved for this and all later sessions.
    ProceedAlwaysAndSave,
    /// All tools of this server are approved.
    ProceedAlwaysServer,
    /// All calls of this tool are approved.
    ProceedAlwaysTool,
    /// Commands with the same programs and subcommands are approved, for this session or
    /// permanently.
    ProceedSubcommand {
        /// True if the approval is saved for all later sessions.
        saved: bool,
    },
    /// Commands with the same programs are approved, for this session or permanently.
    ProceedProgram {
        /// True if the approval is saved for all later sessions.
        saved: bool,
    },
    /// The user wants to change the proposal first; the reply contains
    /// [`Modification::NewContent`].
    ModifyWithEditor,
    /// The choice at this index, for questions that are not about approval.
    Option(usize),
    /// Refused, or not decided.
    Cancel,
}

/// Details of a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Modification {
    /// Complete new content of the file.
    NewContent(String),
    /// One answer for each question of the model, in order. An empty one is no answer.
    Answers(Vec<String>),
    /// Changes that the user requires before an approval.
    Feedback(String),
    /// One decision for each item, in order.
    Consents(Vec<bool>),
    /// Values of the fields of a form, by name.
    Form(serde_json::Map<String, serde_json::Value>),
}

/// Reply to a [`Question`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestionReply {
    /// Id of the question.
    pub question: QuestionId,
    /// Decision of the user.
    pub outcome: QuestionOutcome,
    /// Details of the decision.
    pub modification: Option<Modification>,
}

/// Question about the trust in a folder whose trust is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustRequest {
    /// Absolute path of the folder.
    pub folder: PathBuf,
    /// Everything in the folder that needs consent.
    pub items: Vec<ConsentItem>,
    /// One message for each file in the folder that cannot be read.
    pub problems: Vec<String>,
}

/// Address that a program wants the user to open in a browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddressRequest {
    /// Program that asks, such as `MCP server 'files'`.
    pub source: String,
    /// Purpose, written by the program.
    pub message: String,
    /// The whole address: `https`, or `http` of this machine.
    pub url: String,
}

/// Item of a folder or an extension that takes effect only with the user's consent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsentItem {
    /// Kind, such as `hook` or `MCP server`.
    pub kind: String,
    /// Name of the item.
    pub name: String,
    /// Description of what the item would run or change, as a basis for the decision.
    pub detail: ItemDetail,
    /// SHA-256 of the content that the user consents to, in hex: changed content needs new consent.
    pub hash: String,
    /// True if only a user may consent to the item: a run without a user does not accept it, not
    /// even at its first use.
    pub needs_user: bool,
}

/// Description of an item. It may be computed when it is first needed: most items are never shown,
/// because the user has agreed to them before.
#[derive(Clone)]
pub struct ItemDetail(Arc<LazyDetail>);

type LazyDetail = LazyLock<String, Box<dyn FnOnce() -> String + Send>>;

impl ItemDetail {
    /// Creates a description that is computed when it is first needed.
    pub fn later(describe: impl FnOnce() -> String + Send + 'static) -> Self {
        Self(Arc::new(LazyLock::new(Box::new(describe))))
    }

    /// Returns the description, in any number of lines.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<String> for ItemDetail {
    fn from(text: String) -> Self {
        Self::later(move || text)
    }
}

impl Deref for ItemDetail {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl PartialEq for ItemDetail {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for ItemDetail {}

impl fmt::Debug for ItemDetail {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), formatter)
    }
}

impl fmt::Display for ItemDetail {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// Interface to the user, implemented by a frontend. A run without a user replies with
/// [`QuestionOutcome::Cancel`].
#[async_trait]
pub trait Operator: Send + Sync {
    /// Asks a question and waits for the reply. Dropping the future withdraws the question.
    async fn ask(&self, question: Question) -> QuestionReply;
}

/// Operator of a run without a user: it replies to each question with
/// [`QuestionOutcome::Cancel`].
#[derive(Debug, Clone, Copy, Default)]
pub struct NoUser;

#[async_trait]
impl Operator for NoUser {
    async fn ask(&self, question: Question) -> QuestionReply {
        question.reply(QuestionOutcome::Cancel)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(name: &str) -> ConsentItem {
        let [kind, detail, hash] = ["hook", "runs\u{202e} it", ""].map(str::to_owned);
        let detail = detail.into();
        ConsentItem { kind, name: name.to_owned(), detail, hash, needs_user: false }
    }

    #[test]
    fn a_choice_about_consent_covers_every_item() {
        let choices = vec![
            QuestionChoice::new(QuestionOutcome::ProceedOnce, "Allow", 'y'),
            QuestionChoice::new(QuestionOutcome::Cancel, "Refuse", 'n'),
        ];
        let subject = QuestionSubject::Consent(vec![item("a"), item("b")]);
        let question = Question::new(Arc::default(), subject, choices.clone(), None);
        for (index, outcome, decision) in
            [(0, QuestionOutcome::ProceedOnce, true), (1, QuestionOutcome::Cancel, false)]
        {
            let reply = question.choose(index).unwrap();
            let consents = Modification::Consents(vec![decision; 2]);
            assert_eq!((reply.outcome, reply.modification), (outcome, Some(consents)));
        }
        assert_eq!(question.choose(2), None);
        let subject = QuestionSubject::Loop { details: String::new() };
        let question = Question::new(Arc::default(), subject, choices, None);
        assert_eq!(question.choose(1), Some(question.reply(QuestionOutcome::Cancel)));
    }

    #[test]
    fn nothing_in_a_subject_is_hidden() {
        let subject = QuestionSubject::Consent(vec![item("a"), item("b")]);
        assert_eq!(subject.to_string(), "hook a: runs\\u{202e} it\nhook b: runs\\u{202e} it");
        let kind = ConfirmationKind::Execute {
            command: "rm\r\nls\u{1b}[2K".to_owned(),
            programs: Vec::new(),
            commands: Vec::new(),
            writes: Vec::new(),
            unknown: Vec::new(),
            starts: Vec::new(),
            reason: None,
            level: crate::ConfinementLevel::None,
            purpose: None,
            folder: None,
            is_background: false,
        };
        let title = "Run it".to_owned();
        let call = Confirmation { call_id: CallId::new("1"), title, kind };
        assert_eq!(QuestionSubject::Call(call).to_string(), "Run it\nrm\nls\\u{1b}[2K");
    }
}
