//! Questions at the terminal before the conversation begins.
//!
//! The original modes of the terminal stay active: the terminal edits the line, and Ctrl-C and
//! Ctrl-Z work as usual. Without a question the terminal is not touched.

use std::path::Path;

use async_trait::async_trait;
use pollux_config::consent::{by_kind, counted, short};
use pollux_protocol::plain_text::visible;
use pollux_protocol::{
    ConsentItem, Modification, Operator, Question, QuestionOutcome, QuestionReply, QuestionSubject,
    TrustRequest,
};
use tokio::sync::Mutex;

use crate::output::Stdout;
use crate::question::{Decided, Extent, Sheet};
use crate::terminal::{self, Typed};

/// Maximum number of lines that are shown of one item.
const SHOWN_LINES: usize = 16;
/// Maximum number of characters that are shown of one of these lines.
const SHOWN_CHARACTERS: usize = 400;

/// Explanation of the answers about items, shown once.
const ANSWERS: &str = "Each of these takes effect only after your yes: y is yes, Enter is no.\n\
     all is yes to the rest of the group, none is no to everything that is left.";

/// The user at the terminal. A question ends without an answer if its future is dropped.
#[derive(Default)]
pub(crate) struct TerminalOperator(Mutex<Talk>);

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
}

impl TerminalOperator {
    /// Releases the terminal for the conversation, and returns its input if it is being read.
    pub(crate) async fn finish(&self) -> Option<Typed> {
        // The printing thread keeps standard output locked until the `Stdout` value is dropped.
        std::mem::take(&mut *self.0.lock().await).typed
    }

    /// Ends the line of a question that was withdrawn.
    pub(crate) async fn interrupted(&self) {
        let mut talk = self.0.lock().await;
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
        let mut talk = self.0.lock().await;
        let reply = match &asked.subject {
            QuestionSubject::Trust(request) => {
                talk.print(&introduction(request));
                talk.choose(&asked).await
            }
            QuestionSubject::SignIn { .. } => talk.choose(&asked).await,
            QuestionSubject::Consent(items) => talk.consent(&asked, items).await,
            // Questions of these kinds are asked by the conversation.
            QuestionSubject::Call(_) | QuestionSubject::Loop { .. } => {
                asked.reply(QuestionOutcome::Cancel)
            }
        };
        // Text that cannot be printed is lost because the terminal is closed.
        drop(talk.out.send().await);
        reply
    }
}

impl Talk {
    fn print(&mut self, text: &str) {
        self.out.push(text.as_bytes());
    }

    /// Prints all queued text, then `label`, and reads a line; returns `None` at the end of the
    /// input. Text that was typed before the question does not answer it.
    async fn line(&mut self, label: &str) -> Option<String> {
        self.print(label);
        self.is_waiting = true;
        let typed = self.typed.get_or_insert_with(terminal::read);
        while typed.try_recv().is_ok() {}
        self.out.send().await.ok()?;
        let line = typed.recv().await;
        self.is_waiting = false;
        line.map(|line| String::from_utf8_lossy(&line.bytes).into_owned())
    }

    /// Shows a question and asks for one of its numbered choices.
    async fn choose(&mut self, asked: &Question) -> QuestionReply {
        let sheet = Sheet::new(asked, Path::new(""), Extent::Whole);
        self.print(&format!("{}\n", sheet.text));
        let label = sheet.label(false);
        loop {
            let Some(line) = self.line(&label).await else {
                return asked.reply(QuestionOutcome::Cancel);
            };
            match sheet.decision(&line) {
                Some(Decided::Reply(outcome)) => return asked.reply(outcome),
                Some(Decided::ShowAll) | None => self.print(&format!("{}\n", sheet.remark())),
            }
        }
    }

    /// Asks about each item of a group. The end of the input refuses all remaining items.
    async fn consent(&mut self, asked: &Question, group: &[ConsentItem]) -> QuestionReply {
        if !std::mem::replace(&mut self.explained, true) {
            self.print(&format!("\n{ANSWERS}\n"));
        }
        if !self.refuses_rest {
            self.print(&group_text(group));
        }
        let is_whole = group.iter().all(is_shown_whole);
        let mut allows_rest = false;
        let mut consents = Vec::with_capacity(group.len());
        for (number, item) in (1..).zip(group) {
            while !allows_rest && !self.refuses_rest && consents.len() < number {
                let label = format!("Allow {number}, {}? [y/N] ", short(&item.name));
                let line = self.line(&label).await;
                match ItemAnswer::read(line.as_deref(), is_whole) {
                    Some(ItemAnswer::One(yes)) => consents.push(yes),
                    Some(ItemAnswer::All) => allows_rest = true,
                    Some(ItemAnswer::None) => self.refuses_rest = true,
                    None if is_whole => self.print("Type y, n, all or none and press Enter.\n"),
                    None => self.print(
                        "Type y, n or none and press Enter. all needs a group that is shown whole.\n",
                    ),
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

/// Answer about an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ItemAnswer {
    /// Consent to this item, or refusal of it.
    One(bool),
    /// Consent to the rest of the group.
    All,
    /// Refusal of all remaining items.
    None,
}

impl ItemAnswer {
    /// Parses a line. `all` is not accepted for a group of which some text was not shown. The end
    /// of the input refuses all remaining items.
    fn read(line: Option<&str>, is_whole: bool) -> Option<Self> {
        let Some(line) = line else { return Some(Self::None) };
        match line.trim().to_lowercase().as_str() {
            "" | "n" | "no" => Some(Self::One(false)),
            "y" | "yes" => Some(Self::One(true)),
            "all" if is_whole => Some(Self::All),
            "none" => Some(Self::None),
            _ => None,
        }
    }
}

/// Returns a description of the folder and its contents.
fn introduction(request: &TrustRequest) -> String {
    let mut lines = vec![
        "Do you trust the files in this folder?".to_owned(),
        format!("  {}", visible(&request.folder.display().to_string())),
    ];
    if request.items.is_empty() {
        lines.push("Nothing in it would run a program or loosen a rule. Its GEMINI.md, its settings and its .env would be read.".to_owned());
    } else {
        let items: Vec<&ConsentItem> = request.items.iter().collect();
        lines.push("This folder contains:".to_owned());
        lines.extend(by_kind(&items).iter().map(|(kind, names)| format!("  {kind}: {names}")));
        lines.push("Each of these is asked about on its own if you trust the folder.".to_owned());
    }
    lines.extend(request.problems.iter().map(|problem| visible(problem)));
    lines.join("\n") + "\n"
}

/// Returns the text of a group: every item with the commands that it would run.
fn group_text(group: &[ConsentItem]) -> String {
    let Some(first) = group.first() else { return String::new() };
    let mut lines = vec![String::new(), format!("{}:", counted(&first.kind, group.len()))];
    for (number, item) in (1..).zip(group) {
        lines.push(format!("  {number}. {}", short(&item.name)));
        lines.extend(shown(item).into_iter().map(|line| format!("       {line}")));
    }
    lines.join("\n") + "\n"
}

/// Returns an item's lines. A long item is cut, and identified by the hash of its full text.
fn shown(item: &ConsentItem) -> Vec<String> {
    let cut = |line: &str| -> String { line.chars().take(SHOWN_CHARACTERS).collect() };
    let lines = item.detail.lines().take(SHOWN_LINES);
    let mut lines: Vec<String> = lines.map(|line| visible(&cut(line))).collect();
    if !is_shown_whole(item) {
        lines.push(format!("[cut here; SHA-256 of all of it: {}]", item.hash));
    }
    lines
}

fn is_shown_whole(item: &ConsentItem) -> bool {
    let lines: Vec<&str> = item.detail.lines().collect();
    lines.len() <= SHOWN_LINES && lines.iter().all(|line| line.chars().count() <= SHOWN_CHARACTERS)
}

#[cfg(test)]
mod tests;
