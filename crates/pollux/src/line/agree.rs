//! May this folder be trusted, and what of it may take effect? The questions at the terminal.
//!
//! Nothing is trusted by Enter. Answers are kept once all of them are given, and the answer about the
//! folder last: a person who leaves half-way has agreed to nothing.

use std::path::Path;

use pollux_config::consent::{ConsentStore, Known, Verdict, Way, decide};
use pollux_config::{
    Accepted, SyntaxError, Trust, TrustLevel, TrustSource, TrustState, TrustStore,
};
use pollux_protocol::ConsentItem;

use super::terminal::{self, Typed};
use super::{ask, question};
use crate::consent::{by_kind, counted, items, pinned, short, taking_effect};
use crate::exit::Failure;
use crate::setup::Beginning;
use crate::signals::Signals;
use crate::stdout::Stdout;

/// Lines of one item that are shown, and characters of one line.
const SHOWN_LINES: usize = 16;
const SHOWN_CHARACTERS: usize = 400;

/// What the word of an answer can be, said once.
const ANSWERS: &str = "Each of these takes effect only after your yes: y is yes, Enter is no.\n\
     all is yes to the rest of the group, none is no to everything that is left.";

/// Asks what is to be asked. Where there is nothing to ask, the terminal is not touched.
///
/// # Errors
/// The person interrupts: nothing of what they answered is kept.
pub(crate) async fn settle(
    beginning: &mut Beginning,
    signals: &mut Signals,
) -> Result<(Accepted, Option<Typed>), Failure> {
    let trust = beginning.found.trust;
    if trust.state != TrustState::Unknown && Way::from(trust) != Way::Pinned {
        return Ok((pinned(beginning), None));
    }
    let items = items(beginning);
    let store = ConsentStore::load(&beginning.places);
    let known = Known::of(&store, &beginning.cwd);
    let verdicts = decide(&items, known, Way::Pinned, true);
    let open: Vec<&ConsentItem> = asked(&items, &verdicts);
    if trust.is_trusted() && open.is_empty() {
        if known == Known::Nothing {
            // Nothing to ask about is an answer too: what comes later is new. Nobody misses it when it
            // cannot be kept.
            drop(ConsentStore::record(&beginning.places, &beginning.cwd, &[]));
        }
        return Ok((taking_effect(&items, &verdicts), None));
    }
    let mut talk = Talk { out: Stdout::default(), typed: terminal::read(), signals };
    let mut level = None;
    if !trust.is_trusted() {
        talk.print(&introduction(&beginning.cwd, &open, beginning.found.project_errors()));
        level = talk.trust(&beginning.cwd).await?;
        match level {
            Some(TrustLevel::TrustFolder | TrustLevel::TrustParent) => {}
            Some(TrustLevel::DoNotTrust) | None => {
                talk.refuse(beginning, level).await;
                return Ok((Accepted::nothing(), Some(talk.typed)));
            }
        }
    } else if let Err(error) = &store {
        talk.print(&format!("{error}. Answers are not kept until it is mended.\n"));
    } else {
        talk.print(
            "This folder is trusted, and brings something that you have not been asked about.\n",
        );
    }
    let answers = talk.items(&open).await?;
    talk.keep(beginning, &answers, level);
    talk.flush().await;
    let agreed = answers.iter().filter(|(_, yes)| *yes).map(|(item, _)| *item);
    let kept = items.iter().zip(&verdicts).filter(|(_, verdict)| verdict.takes_effect());
    Ok((Accepted::only(kept.map(|(item, _)| item).chain(agreed)), Some(talk.typed)))
}

fn asked<'a>(items: &'a [ConsentItem], verdicts: &[Verdict]) -> Vec<&'a ConsentItem> {
    let open = items.iter().zip(verdicts).filter(|(_, verdict)| **verdict == Verdict::Ask);
    open.map(|(item, _)| item).collect()
}

/// The terminal before the conversation.
struct Talk<'a> {
    out: Stdout,
    typed: Typed,
    signals: &'a mut Signals,
}

impl Talk<'_> {
    fn print(&mut self, text: &str) {
        self.out.push(text.as_bytes());
    }

    /// What could not be printed is nobody's loss.
    async fn flush(&mut self) {
        drop(self.out.send().await);
    }

    async fn line(&mut self, label: &str) -> Result<Option<String>, Failure> {
        ask::line(&mut self.out, label, &mut self.typed, self.signals).await
    }

    /// The question about the folder; none when the input has ended.
    async fn trust(&mut self, folder: &Path) -> Result<Option<TrustLevel>, Failure> {
        let choices = trust_choices(folder);
        let last = choices.len();
        self.print(&trust_question(&choices));
        loop {
            let label = format!("Choose 1-{last}, Enter for {last}: ");
            let Some(line) = self.line(&label).await? else { return Ok(None) };
            if line.trim().is_empty() {
                return Ok(Some(TrustLevel::DoNotTrust));
            }
            if let Some((_, level)) = question::numbered(&line, &choices) {
                return Ok(Some(*level));
            }
            self.print(&format!("{}\n", question::remark(last)));
        }
    }

    /// Asks about each item, group by group. The end of the input is no to all that is left.
    async fn items<'i>(
        &mut self,
        open: &[&'i ConsentItem],
    ) -> Result<Vec<(&'i ConsentItem, bool)>, Failure> {
        let mut answers = Vec::new();
        let mut said = Said::Each;
        if !open.is_empty() {
            self.print(&format!("\n{ANSWERS}\n"));
        }
        for group in groups(open) {
            if said != Said::None {
                self.print(&group_text(&group));
                said = Said::Each;
            }
            let whole = group.iter().all(|item| is_shown_whole(item));
            for (number, item) in (1..).zip(&group) {
                while said == Said::Each {
                    let label = format!("Allow {number}, {}? [y/N] ", short(&item.name));
                    let line = self.line(&label).await?;
                    match Answer::read(line.as_deref(), whole) {
                        Some(Answer::One(yes)) => {
                            answers.push((*item, yes));
                            break;
                        }
                        Some(Answer::All) => said = Said::All,
                        Some(Answer::None) => said = Said::None,
                        None => self.print(if whole {
                            "Type y, n, all or none and press Enter.\n"
                        } else {
                            "Type y, n or none and press Enter. all needs a group that is shown whole.\n"
                        }),
                    }
                }
                if said != Said::Each {
                    answers.push((*item, said == Said::All));
                }
            }
        }
        Ok(answers)
    }

    /// Keeps a no, or for a person who has gone without an answer, nothing.
    async fn refuse(&mut self, beginning: &mut Beginning, level: Option<TrustLevel>) {
        if let Some(level) = level {
            beginning.found.trust =
                Trust { state: TrustState::Untrusted, source: TrustSource::File };
            self.keep_level(beginning, level);
        }
        self.flush().await;
    }

    /// Keeps the answers: those about items first, so that a folder is never trusted without them.
    fn keep(
        &mut self,
        beginning: &mut Beginning,
        answers: &[(&ConsentItem, bool)],
        level: Option<TrustLevel>,
    ) {
        let kept = ConsentStore::record(&beginning.places, &beginning.cwd, answers);
        let told = match &kept {
            Ok(()) => told(answers),
            Err(error) => format!("{error}. The answers count for this conversation only.\n"),
        };
        self.print(&told);
        if let Some(level) = level {
            beginning.found.trust = Trust { state: TrustState::Trusted, source: TrustSource::File };
            if kept.is_ok() {
                self.keep_level(beginning, level);
            }
        }
    }

    fn keep_level(&mut self, beginning: &Beginning, level: TrustLevel) {
        if let Err(error) = TrustStore::set(&beginning.places, &beginning.cwd, level) {
            self.print(&format!("{error}. The answer counts for this conversation only.\n"));
        }
    }
}

/// What was said about more than one item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Said {
    /// Nothing: each is asked about.
    Each,
    /// Yes to the rest of the group.
    All,
    /// No to everything that is left.
    None,
}

/// An answer about an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    One(bool),
    All,
    None,
}

impl Answer {
    /// Reads a line. `whole` says that all of the group could be seen; otherwise nobody can agree to all
    /// of it at once. The end of the input is a no to everything.
    fn read(line: Option<&str>, whole: bool) -> Option<Self> {
        let Some(line) = line else { return Some(Self::None) };
        match line.trim().to_lowercase().as_str() {
            "" | "n" | "no" => Some(Self::One(false)),
            "y" | "yes" => Some(Self::One(true)),
            "all" if whole => Some(Self::All),
            "none" => Some(Self::None),
            _ => None,
        }
    }
}

/// What the folder is and what is in it.
fn introduction(folder: &Path, items: &[&ConsentItem], broken: &[SyntaxError]) -> String {
    let mut lines = vec![
        "Do you trust the files in this folder?".to_owned(),
        format!("  {}", question::visible(&folder.display().to_string())),
    ];
    if items.is_empty() {
        lines.push("Nothing in it would run a program or loosen a rule. Its GEMINI.md, its settings and its .env would be read.".to_owned());
    } else {
        lines.push("This folder contains:".to_owned());
        lines.extend(by_kind(items).iter().map(|(kind, names)| format!("  {kind}: {names}")));
        lines.push("Each of these is asked about on its own if you trust the folder.".to_owned());
    }
    lines.extend(broken.iter().map(|error| question::visible(&error.to_string())));
    lines.join("\n") + "\n"
}

/// The choices of the original's dialog, in its order.
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

fn trust_question(choices: &[(String, TrustLevel)]) -> String {
    let numbered = (1..).zip(choices);
    let lines: Vec<_> =
        numbered.map(|(number, (words, _))| format!("  {number}. {words}")).collect();
    lines.join("\n") + "\n"
}

/// Items of one kind together, kinds in the order of their first item.
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

/// A group as it is shown: every item with what it would run.
fn group_text(group: &[&ConsentItem]) -> String {
    let mut lines = vec![String::new(), format!("{}:", counted(&group[0].kind, group.len()))];
    for (number, item) in (1..).zip(group) {
        lines.push(format!("  {number}. {}", short(&item.name)));
        lines.extend(shown(item).into_iter().map(|line| format!("       {line}")));
    }
    lines.join("\n") + "\n"
}

/// An item's lines, cut where they are too long; what is cut is named by the hash of all of it.
fn shown(item: &ConsentItem) -> Vec<String> {
    let cut = |line: &str| -> String { line.chars().take(SHOWN_CHARACTERS).collect() };
    let lines = item.detail.lines().take(SHOWN_LINES);
    let mut lines: Vec<String> = lines.map(|line| question::visible(&cut(line))).collect();
    if !is_shown_whole(item) {
        lines.push(format!("[cut here; SHA-256 of all of it: {}]", item.hash));
    }
    lines
}

fn is_shown_whole(item: &ConsentItem) -> bool {
    let lines: Vec<&str> = item.detail.lines().collect();
    lines.len() <= SHOWN_LINES && lines.iter().all(|line| line.chars().count() <= SHOWN_CHARACTERS)
}

/// What comes of the answers.
fn told(answers: &[(&ConsentItem, bool)]) -> String {
    let count = |wanted| answers.iter().filter(|(_, yes)| *yes == wanted).count();
    match (count(true), count(false)) {
        (0, 0) => String::new(),
        (yes, no) => format!(
            "\nAllowed: {yes}. Off: {no}. What changes is asked about again; /permissions tells what was answered.\n\n"
        ),
    }
}

#[cfg(test)]
mod tests;
