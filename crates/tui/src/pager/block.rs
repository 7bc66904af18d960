//! Blocks of a transcript: prompts, thoughts, answers, calls and notices, with their rows. Pure.

use pollux_input::FilePlace;
use pollux_protocol::{CallRecord, Display, TranscriptAnswer, TranscriptItem, text_of};

use crate::calls::{CallLimits, is_refused, recorded_rows, recorded_text, whole_rows};
use crate::diff::Change;
use crate::fold::{Breaks, Room, cut_to, fold};
use crate::markdown::{AnswerRow, Markdown, MarkupMarks};
use crate::places;
use crate::row::{Look, Row};
use crate::story::{compressed, look_of, notice_rows, prompt_rows};

/// Maximum number of bytes of a text that is shown.
const LONGEST: usize = 1 << 20;

/// A block, and its rows if they were needed.
#[derive(Debug)]
pub(super) struct Block {
    content: Content,
    laid: Option<Laid>,
}

#[derive(Debug)]
enum Content {
    Prompt(String),
    /// Thoughts before an answer, with the id of the answer.
    Thoughts(String, String),
    Answer(String),
    Call(Box<CallRecord>),
    Notice(Look, String),
}

/// Rows for a width and a state.
#[derive(Debug)]
struct Laid {
    cells: usize,
    is_folded: bool,
    rows: Vec<Row>,
}

/// Returns the blocks of an item.
pub(super) fn blocks_of(item: TranscriptItem) -> Vec<Block> {
    let contents = match item {
        TranscriptItem::User { parts, .. } => {
            vec![Content::Prompt(bounded(text_of(&parts).trim()))]
        }
        TranscriptItem::Answer(answer) => answer_contents(answer),
        TranscriptItem::Notice { severity, text } => {
            let (look, text) = look_of(severity, &text);
            vec![Content::Notice(look, bounded(&text))]
        }
        TranscriptItem::Compressed { summary, tokens } => {
            let text = format!("{}\n{summary}", compressed(tokens));
            vec![Content::Notice(Look::Dim, bounded(&text))]
        }
    };
    let has_text = |content: &Content| !matches!(content, Content::Prompt(text) if text.is_empty());
    contents.into_iter().filter(has_text).map(|content| Block { content, laid: None }).collect()
}

fn answer_contents(answer: TranscriptAnswer) -> Vec<Content> {
    let mut contents = Vec::new();
    let thoughts = answer.thoughts.iter().map(|thought| {
        format!("{}\n{}", thought.subject.trim(), thought.description.trim()).trim().to_owned()
    });
    let thoughts = thoughts.collect::<Vec<_>>().join("\n\n");
    if !thoughts.is_empty() {
        contents.push(Content::Thoughts(answer.id.as_str().to_owned(), bounded(&thoughts)));
    }
    let text = text_of(&answer.parts);
    if !text.trim().is_empty() {
        contents.push(Content::Answer(bounded(text.trim())));
    }
    contents.extend(answer.calls.into_iter().map(|mut call| {
        // Neither is shown, and both may be large.
        call.args = serde_json::Value::Null;
        if !is_refused(&call) {
            call.result = None;
        }
        Content::Call(Box::new(call))
    }));
    if answer.interrupted {
        contents.push(Content::Notice(Look::Dim, "[the answer was interrupted]".to_owned()));
    }
    contents
}

/// Returns a text of limited length, with a note about the rest.
fn bounded(text: &str) -> String {
    let end = text.floor_char_boundary(LONGEST);
    match text.len() - end {
        0 => text.to_owned(),
        rest => format!("{}\n[{rest} more bytes are not shown]", &text[..end]),
    }
}

impl Block {
    /// Returns true for a prompt of the user.
    pub(super) fn is_prompt(&self) -> bool {
        matches!(self.content, Content::Prompt(_))
    }

    /// Returns the key by which the state of a block that can be folded is kept.
    pub(super) fn fold_key(&self) -> Option<String> {
        match &self.content {
            Content::Call(call) => Some(format!("call {}", call.id)),
            Content::Thoughts(id, _) => Some(format!("thoughts {id}")),
            _ => None,
        }
    }

    /// Returns the size of the texts, in bytes.
    pub(super) fn bytes(&self) -> usize {
        match &self.content {
            Content::Call(call) => call.description.len() + recorded_text(call).len(),
            _ => self.text().len(),
        }
    }

    /// Returns the whole text, for a search and for the clipboard.
    pub(super) fn text(&self) -> String {
        match &self.content {
            Content::Prompt(text)
            | Content::Thoughts(_, text)
            | Content::Answer(text)
            | Content::Notice(_, text) => text.clone(),
            Content::Call(call) => {
                let text = recorded_text(call);
                format!("{} {}\n{text}", call.display_name, call.description)
            }
        }
    }

    /// Returns the files that the block names, in their order; names are relative to the folder of
    /// the project or absolute.
    pub(super) fn places(&self) -> Vec<FilePlace> {
        let Content::Call(call) = &self.content else { return places::in_text(&self.text()) };
        let line = match &call.result_display {
            Some(Display::Diff(diff)) => Change::of_patch(&diff.file_diff).first_changed(),
            _ => None,
        };
        let touched = call.locations.iter().map(|path| FilePlace { path: path.clone(), line });
        touched.chain(places::in_text(&self.text())).collect()
    }

    /// Returns the rows for this width. They are kept until [`Self::forget_rows`].
    pub(super) fn rows(&mut self, cells: usize, is_folded: bool, marks: MarkupMarks) -> &[Row] {
        let is_current = self
            .laid
            .as_ref()
            .is_some_and(|laid| (laid.cells, laid.is_folded) == (cells, is_folded));
        if !is_current {
            let mut rows = self.content.rows(cells, is_folded, marks);
            rows.push(Row::default());
            self.laid = Some(Laid { cells, is_folded, rows });
        }
        self.laid.as_ref().map_or(&[], |laid| &laid.rows)
    }

    /// Frees the memory of the rows.
    pub(super) fn forget_rows(&mut self) {
        self.laid = None;
    }
}

impl Content {
    fn rows(&self, cells: usize, is_folded: bool, marks: MarkupMarks) -> Vec<Row> {
        match self {
            Self::Prompt(text) => prompt_rows(text, cells, usize::MAX),
            Self::Thoughts(_, text) if is_folded => {
                let title = text.lines().next().unwrap_or_default();
                vec![Row::new(Look::Dim, cut_to(&format!("thoughts · {title}"), cells))]
            }
            Self::Thoughts(_, text) => notice_rows(Look::Dim, text, cells),
            Self::Answer(text) => {
                let mut answer = Markdown::new(marks);
                let mut rows = answer.push(text, cells);
                rows.extend(answer.end(cells));
                rows.into_iter().flat_map(AnswerRow::into_rows).collect()
            }
            Self::Call(call) if is_folded => recorded_rows(call, cells, CallLimits::new(true)),
            Self::Call(call) => whole_rows(call, cells),
            Self::Notice(look, text) => notice_rows(*look, text, cells),
        }
    }
}

/// Returns a row in which the parts that contain `query` have the look of a match. The case of
/// ASCII letters makes no difference if `query` has no capital letter.
pub(super) fn highlighted(row: &Row, query: &str) -> Row {
    let text = row.text();
    let (mut ranges, mut start) = (Vec::new(), 0);
    while let Some(at) = find(&text[start..], query).map(|at| start + at) {
        ranges.push((start..at, false));
        ranges.push((at..at + query.len(), true));
        start = at + query.len();
    }
    ranges.push((start..text.len(), false));
    let parts = row.parts(&ranges.iter().map(|(range, _)| range.clone()).collect::<Vec<_>>());
    let mut shown = Row::default();
    for (part, (_, is_match)) in parts.iter().zip(&ranges) {
        if *is_match {
            shown.push(Look::Found, &part.text());
        } else {
            shown.append(part);
        }
    }
    shown
}

/// Returns the position of `query` in a text. The case of ASCII letters makes no difference if
/// `query` has no capital letter.
pub(super) fn find(text: &str, query: &str) -> Option<usize> {
    if query.is_empty() {
        return None;
    }
    if query.contains(|letter: char| letter.is_ascii_uppercase()) {
        return text.find(query);
    }
    text.to_ascii_lowercase().find(query)
}

/// Returns the rows of a list of keys.
pub(super) fn key_rows(keys: &[(&str, &str)], cells: usize) -> Vec<Row> {
    let row = |(key, effect): &(&str, &str)| {
        let row = Row::new(Look::Cyan, format!("{key:<16}")).with(Look::Dim, effect);
        fold(&row, Room::new(cells).hanging(16), Breaks::Words)
    };
    keys.iter().flat_map(row).collect()
}
