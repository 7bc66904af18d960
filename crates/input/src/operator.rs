//! Questions at the terminal before the conversation begins: on the screen, or line by line.
//!
//! Line by line, the original modes of the terminal stay active: the terminal edits the line, and
//! Ctrl-C and Ctrl-Z work as usual. Without a question the terminal is not touched.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use pollux_protocol::{
    ConsentItem, Modification, Operator, Question, QuestionOutcome, QuestionReply, QuestionSubject,
};
use tokio::sync::Mutex;

use crate::consent::{CONSENT_ANSWERS, ConsentAnswer, ConsentSheet};
use crate::console::Console;
use crate::output::Stdout;
use crate::question::{QuestionSheet, SheetDecision, SheetExtent};
use crate::terminal::{self, Typed, columns};
use crate::tone::{Tone, TonedLine};
use crate::user::UserOptions;
use crate::view::QuestionView;
use crate::wrap::rows_of;

/// The user at the terminal. A question ends without an answer if its future is dropped.
pub(crate) struct TerminalOperator {
    options: Arc<UserOptions>,
    talk: Mutex<Talk>,
}

/// State of the questions.
#[derive(Default)]
struct Talk {
    out: Stdout,
    /// Input of the terminal; `None` until a question needs it.
    typed: Option<Typed>,
    /// True while a label is shown and its line has no end yet.
    is_waiting: bool,
    explained: bool,
    /// True if the user has refused all remaining items.
    refuses_rest: bool,
    /// The question on the screen.
    open: Option<(Console, Box<dyn QuestionView>)>,
}

impl TerminalOperator {
    /// Creates the connection to the user.
    pub(crate) fn new(options: Arc<UserOptions>) -> Self {
        Self { options, talk: Mutex::default() }
    }

    /// Releases the terminal for the conversation, and returns its input if it is being read.
    pub(crate) async fn finish(&self) -> Option<Typed> {
        // The printing thread keeps standard output locked until the `Stdout` value is dropped.
        std::mem::take(&mut *self.talk.lock().await).typed
    }

    /// Removes a question that was withdrawn from the screen, or ends its line.
    pub(crate) async fn interrupted(&self) {
        let mut talk = self.talk.lock().await;
        if let Some((mut console, mut view)) = talk.open.take() {
            console.give_back(view.as_mut()).await;
        }
        if std::mem::take(&mut talk.is_waiting) {
            talk.print("\n");
            // Text that cannot be printed is lost because the terminal is closed.
            drop(talk.out.send().await);
        }
    }
}

#[async_trait]
impl Operator for TerminalOperator {
    async fn ask(&self, asked: Question) -> QuestionReply {
        let mut talk = self.talk.lock().await;
        if is_asked_before_a_session(&asked.subject)
            && let Some(show) = (self.options.show_question)()
        {
            let view = show(asked.clone(), &self.options, terminal::size());
            return talk.ask_on_screen(&asked, view).await;
        }
        let reply = match &asked.subject {
            QuestionSubject::Trust(_)
            | QuestionSubject::SignIn { .. }
            | QuestionSubject::Address(_)
            | QuestionSubject::Request { .. } => talk.choose(&asked).await,
            QuestionSubject::Consent(items) => talk.consent(&asked, items).await,
            // Questions of these kinds are asked by the conversation.
            QuestionSubject::Call(_) | QuestionSubject::Loop { .. } | QuestionSubject::Form(_) => {
                asked.reply(QuestionOutcome::Cancel)
            }
        };
        // Text that cannot be printed is lost because the terminal is closed.
        drop(talk.out.send().await);
        reply
    }
}

/// Returns false for a subject about which the conversation asks.
fn is_asked_before_a_session(subject: &QuestionSubject) -> bool {
    !matches!(
        subject,
        QuestionSubject::Call(_) | QuestionSubject::Loop { .. } | QuestionSubject::Form(_)
    )
}

impl Talk {
    /// Asks a question on the screen. The end of the input, and a terminal that is lost, refuse.
    async fn ask_on_screen(
        &mut self,
        asked: &Question,
        view: Box<dyn QuestionView>,
    ) -> QuestionReply {
        if let QuestionSubject::Consent(items) = &asked.subject
            && self.refuses_rest
        {
            let modification = Some(Modification::Consents(vec![false; items.len()]));
            return QuestionReply { modification, ..asked.reply(QuestionOutcome::ProceedOnce) };
        }
        let refusal = asked.reply(QuestionOutcome::Cancel);
        let Ok(console) = Console::open(self.typed.take(), true) else { return refusal };
        if !console.modes.raw {
            return refusal;
        }
        // Stays here if this future is dropped, so that the question can be removed.
        let (console, view) = self.open.insert((console, view));
        let reply = console.ask(view.as_mut()).await;
        if let Some((mut console, mut view)) = self.open.take() {
            console.give_back(view.as_mut()).await;
            self.refuses_rest = view.refuses_rest();
            self.typed = Some(console.typed);
        }
        reply.unwrap_or(refusal)
    }

    fn print(&mut self, text: &str) {
        self.out.push(text.as_bytes());
    }

    /// Prints lines, broken between words as their kind requires.
    fn lines(&mut self, lines: impl IntoIterator<Item = TonedLine>) {
        for line in lines {
            self.print(&(rows_of(&line, columns()) + "\n"));
        }
    }

    fn prose(&mut self, text: &str) {
        self.lines(text.lines().map(|line| TonedLine::prose(Tone::Plain, line)));
    }

    /// Prints all queued text, then `label`, and reads a line; returns `None` at the end of the
    /// input. Text that was typed before the question does not answer it.
    async fn line(&mut self, label: &str) -> Option<String> {
        self.print(label);
        self.is_waiting = true;
        let typed = self.typed.get_or_insert_with(|| {
            terminal::repair();
            terminal::read()
        });
        while typed.try_recv().is_ok() {}
        self.out.send().await.ok()?;
        let line = typed.recv().await;
        self.is_waiting = false;
        line.map(|line| String::from_utf8_lossy(&line.bytes).into_owned())
    }

    /// Shows a question and asks for one of its numbered choices.
    async fn choose(&mut self, asked: &Question) -> QuestionReply {
        let sheet = QuestionSheet::new(asked, Path::new(""), SheetExtent::Whole);
        self.lines(sheet.lines());
        let label = sheet.label(false);
        loop {
            let Some(line) = self.line(&label).await else {
                return asked.reply(QuestionOutcome::Cancel);
            };
            match sheet.decision(&line) {
                Some(SheetDecision::Reply(outcome)) => return asked.reply(outcome),
                Some(SheetDecision::ShowAll) | None => self.prose(&sheet.remark()),
            }
        }
    }

    /// Asks about each item of a group. The end of the input refuses all remaining items.
    async fn consent(&mut self, asked: &Question, group: &[ConsentItem]) -> QuestionReply {
        if !std::mem::replace(&mut self.explained, true) {
            self.prose(&format!("\n{CONSENT_ANSWERS}"));
        }
        let sheet = ConsentSheet::new(group);
        if !self.refuses_rest {
            // Indented lines are commands and names.
            let lines: Vec<TonedLine> =
                sheet.text().lines().map(|line| TonedLine::new(Tone::Plain, line)).collect();
            self.lines(lines);
        }
        let mut allows_rest = false;
        let mut consents = Vec::with_capacity(group.len());
        for number in 1..=group.len() {
            while !allows_rest && !self.refuses_rest && consents.len() < number {
                let line = self.line(&sheet.label(number)).await;
                match sheet.answer(line.as_deref()) {
                    Some(ConsentAnswer::One(yes)) => consents.push(yes),
                    Some(ConsentAnswer::All) => allows_rest = true,
                    Some(ConsentAnswer::None) => self.refuses_rest = true,
                    None => self.prose(sheet.remark()),
                }
            }
            if consents.len() < number {
                consents.push(allows_rest);
            }
        }
        let modification = Some(Modification::Consents(consents));
        QuestionReply { modification, ..asked.reply(QuestionOutcome::ProceedOnce) }
    }
}
