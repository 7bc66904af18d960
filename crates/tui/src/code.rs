//! Colours of code in answers.
//!
//! A worker thread parses the lines of code blocks. It is started, and loads its tables, when the
//! first line of code arrives whose language is named. A line waits for its colours for a short
//! time only, and is written without them if they are late, so an answer never waits for the
//! worker.

use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use crate::row::Look;

mod parser;
mod scopes;

use parser::Parser;

/// Maximum number of lines of a block that are coloured.
pub(crate) const MOST_LINES: usize = 300;
/// Maximum length of a line that is coloured, in bytes.
const LONGEST_LINE: usize = 1000;
/// Maximum number of lines that wait for the worker.
const MOST_WAITING: usize = 1024;
/// Time that the worker spends on a block, and on an answer.
const BLOCK: Duration = Duration::from_millis(500);
const ANSWER: Duration = Duration::from_secs(2);

/// Part of a line, in bytes, with its look.
pub(crate) type ColouredPart = (Range<usize>, Look);
/// Parts of a line that are not plain.
pub(crate) type LineColours = Vec<ColouredPart>;

/// Number of a line that waits for its colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ticket(pub(crate) u64);

/// Block of code of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CodeBlock {
    /// Number of the answer.
    pub(crate) answer: u64,
    /// Number of the block in the answer.
    pub(crate) number: usize,
    /// Language, as its fence names it.
    pub(crate) language: Arc<str>,
}

/// Line of code for the worker.
#[derive(Debug)]
struct Job {
    ticket: Ticket,
    block: CodeBlock,
    text: String,
}

/// Connection to the worker.
#[derive(Debug, Default)]
pub(crate) struct Highlighter {
    channels: Option<Channels>,
    tickets: u64,
    arrived: Arc<Notify>,
}

#[derive(Debug)]
struct Channels {
    jobs: SyncSender<Job>,
    coloured: Receiver<(Ticket, LineColours)>,
}

impl Highlighter {
    /// Asks for the colours of the next line of a block; `None` if it stays plain.
    pub(crate) fn ask(&mut self, block: &CodeBlock, text: &str) -> Option<Ticket> {
        if block.language.is_empty() || text.len() > LONGEST_LINE {
            return None;
        }
        let channels = match &mut self.channels {
            Some(channels) => channels,
            none => none.insert(start(Arc::clone(&self.arrived), (BLOCK, ANSWER))?),
        };
        self.tickets += 1;
        let ticket = Ticket(self.tickets);
        let job = Job { ticket, block: block.clone(), text: text.to_owned() };
        channels.jobs.try_send(job).ok().map(|()| ticket)
    }

    /// Returns the notification about colours that have arrived.
    pub(crate) fn arrived(&self) -> Arc<Notify> {
        Arc::clone(&self.arrived)
    }

    /// Returns the colours that have arrived since the last call.
    pub(crate) fn take(&self) -> impl Iterator<Item = (Ticket, LineColours)> {
        self.channels.iter().flat_map(|channels| channels.coloured.try_iter())
    }
}

/// Starts the worker, with its time for a block and for an answer; `None` if the system has no
/// thread for it.
fn start(arrived: Arc<Notify>, limits: (Duration, Duration)) -> Option<Channels> {
    let (jobs, lines) = sync_channel(MOST_WAITING);
    let (results, coloured) = sync_channel(MOST_WAITING);
    let work = move || work(&lines, &results, &arrived, limits);
    std::thread::Builder::new().name("highlighter".to_owned()).spawn(work).ok()?;
    Some(Channels { jobs, coloured })
}

/// Parses lines until the frontend is gone. Lines for which there is no time stay plain.
fn work(
    lines: &Receiver<Job>,
    results: &SyncSender<(Ticket, LineColours)>,
    arrived: &Notify,
    (for_block, for_answer): (Duration, Duration),
) {
    let mut parser = Parser::default();
    let mut current: Option<CodeBlock> = None;
    let (mut in_block, mut in_answer) = (Duration::ZERO, Duration::ZERO);
    for Job { ticket, block, text } in lines {
        if current.as_ref() != Some(&block) {
            if current.as_ref().is_none_or(|current| current.answer != block.answer) {
                in_answer = Duration::ZERO;
            }
            in_block = Duration::ZERO;
            parser.begin(&block.language);
            current = Some(block);
        }
        let start = Instant::now();
        let has_time = in_block < for_block && in_answer < for_answer;
        let colours = if has_time { parser.line(&text) } else { LineColours::default() };
        let spent = start.elapsed();
        (in_block, in_answer) = (in_block + spent, in_answer + spent);
        if results.send((ticket, colours)).is_err() {
            return;
        }
        arrived.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn block(language: &str) -> CodeBlock {
        CodeBlock { answer: 1, number: 1, language: language.into() }
    }

    #[test]
    fn lines_get_their_colours_in_order() {
        let mut highlighter = Highlighter::default();
        // A loaded machine may need more than the usual time.
        let no_limits = (Duration::MAX, Duration::MAX);
        highlighter.channels = start(highlighter.arrived(), no_limits);
        let lines = ["fn main() { // start", "    \"text\"", "}"];
        let tickets = lines.map(|line| highlighter.ask(&block("rust"), line).unwrap());
        let mut coloured = Vec::new();
        let start = Instant::now();
        while coloured.len() < lines.len() && start.elapsed() < Duration::from_secs(30) {
            coloured.extend(highlighter.take());
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(coloured.iter().map(|(ticket, _)| *ticket).collect::<Vec<_>>(), tickets);
        let looks = |at: usize| coloured[at].1.clone();
        assert_eq!(looks(0)[0], (0..2, Look::Keyword));
        assert!(looks(0).contains(&(12..20, Look::Comment)), "{:?}", looks(0));
        assert_eq!(looks(1), [(4..10, Look::StringText)]);
        assert_eq!(looks(2), []);
    }

    #[test]
    fn no_worker_is_started_without_a_language() {
        let mut highlighter = Highlighter::default();
        assert_eq!(highlighter.ask(&block(""), "fn main() {}"), None);
        assert_eq!(highlighter.ask(&block("rust"), &"x".repeat(LONGEST_LINE + 1)), None);
        assert!(highlighter.channels.is_none());
    }
}
