//! The transcript of the session on the whole screen: the conversation from the session log, with
//! everything that the rows of the conversation shorten. Pages are read as they are needed, and
//! only a bounded part is in memory. Pure: a frontend reads the pages.

use std::collections::HashSet;

use pollux_input::{FilePlace, KeyPress};
use pollux_protocol::{TranscriptFrom, TranscriptPage};

use crate::markdown::MarkupMarks;
use crate::places;
use crate::row::Row;

mod block;
mod drawing;
mod moving;
mod pages;
mod search;
mod seeking;
#[cfg(test)]
mod tests;

use block::Block;
use pages::{Pages, Side};
use search::Search;
use seeking::Seek;

/// Number of rows of a step of the mouse wheel.
const WHEEL: usize = 3;
/// Width of the mark of the chosen block, in cells.
const MARK: usize = 2;
/// Maximum size of a text for the clipboard of the terminal, in bytes. Terminals ignore longer
/// sequences.
const LARGEST_COPY: usize = 74_000;

/// Effect of a key.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum PagerStep {
    /// The transcript stays.
    Open,
    /// Back to the conversation.
    Close,
    /// The text goes to the clipboard.
    Copy(String),
    /// The first of these files that exists is opened in the editor.
    OpenFile(Vec<FilePlace>),
}

/// A row of the transcript: the number of its block, and its number in the block.
type Place = (i64, usize);

/// A page that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    /// First or last page, which replaces everything in memory.
    Start,
    End,
    /// The next page at a side.
    More(Side),
}

/// The transcript on the screen.
#[derive(Debug)]
pub(crate) struct Pager {
    pages: Pages,
    /// Page that must be read.
    wanted: Option<TranscriptFrom>,
    /// Purpose of the page that is wanted or being read.
    asked: Option<Asked>,
    /// First or last page that is asked for after that one.
    queued: Option<Asked>,
    /// First row on the screen.
    top: Place,
    /// True while the end of the transcript stays on the screen.
    is_at_end: bool,
    /// Number of the chosen block.
    chosen: i64,
    /// True if calls and thoughts are folded, except for those of `exceptions`.
    is_folded: bool,
    exceptions: HashSet<String>,
    search: Search,
    seek: Option<Seek>,
    message: Option<String>,
    has_keys: bool,
    marks: MarkupMarks,
    /// Width and height of the screen, in cells.
    size: (usize, usize),
}

impl Pager {
    /// Creates the view of the end of a transcript.
    pub(crate) fn new(marks: MarkupMarks, size: (usize, usize)) -> Self {
        Self {
            pages: Pages::default(),
            wanted: Some(TranscriptFrom::End),
            asked: Some(Asked::End),
            queued: None,
            top: (0, 0),
            is_at_end: true,
            chosen: 0,
            is_folded: false,
            exceptions: HashSet::new(),
            search: Search::default(),
            seek: None,
            message: None,
            has_keys: false,
            marks,
            size,
        }
    }

    /// Takes the request for a page. No other one is made before [`Self::take`].
    pub(crate) fn wanted(&mut self) -> Option<TranscriptFrom> {
        self.wanted.take()
    }

    /// Takes a page, or the message that it cannot be read.
    pub(crate) fn take(&mut self, page: Result<TranscriptPage, String>) {
        let Some(asked) = self.asked.take() else { return };
        let page = match page {
            Ok(page) => page,
            Err(message) => {
                self.seek = None;
                self.message = Some(message);
                return;
            }
        };
        match asked {
            Asked::More(side) => self.pages.add(side, page),
            // The user has gone elsewhere in the meantime.
            Asked::End if !self.is_at_end => {}
            Asked::Start | Asked::End => {
                self.pages = Pages::default();
                self.pages.add(Side::Later, page);
                let numbers = self.pages.numbers();
                let is_end = asked == Asked::End;
                self.top = if is_end { self.last_top() } else { (numbers.start, 0) };
                self.chosen = if is_end { numbers.end - 1 } else { numbers.start };
                self.search.forget();
            }
        }
        if let Some(seek) = self.seek.take() {
            self.seek(seek);
        }
        if let Some(queued) = self.queued.take() {
            self.ask(queued);
        }
    }

    /// Handles new messages of the conversation: reads them if the end is on the screen.
    pub(crate) fn changed(&mut self) {
        if self.is_at_end {
            self.ask(Asked::End);
        }
    }

    /// Sets a new size of the screen.
    pub(crate) fn resize(&mut self, size: (usize, usize)) {
        self.size = size;
        self.top.1 = 0;
    }

    /// Shows a message in the last row until the next key.
    pub(crate) fn say(&mut self, message: String) {
        self.message = Some(message);
    }

    /// Applies a key.
    pub(crate) fn press(&mut self, key: KeyPress) -> PagerStep {
        self.message = None;
        if self.search.is_typed() {
            if self.search.type_key(key) {
                self.seek(Seek::Match(Side::Earlier));
            }
            return PagerStep::Open;
        }
        let height = self.body_height();
        match key {
            KeyPress::Text(text) => return self.press_letters(&text),
            KeyPress::Escape if self.seek.take().is_some() => {}
            KeyPress::Escape | KeyPress::Transcript => return PagerStep::Close,
            KeyPress::Up => self.scroll_up(1),
            KeyPress::Down => self.scroll_down(1),
            KeyPress::PageUp => self.scroll_up(height),
            KeyPress::PageDown => self.scroll_down(height),
            KeyPress::WheelUp => self.scroll_up(WHEEL),
            KeyPress::WheelDown => self.scroll_down(WHEEL),
            KeyPress::Home | KeyPress::ScrollStart => self.go_to_start(),
            KeyPress::End | KeyPress::ScrollEnd => self.go_to_end(),
            KeyPress::Tab => self.choose(1),
            KeyPress::CycleMode => self.choose(-1),
            KeyPress::Enter => self.fold_chosen(),
            _ => {}
        }
        PagerStep::Open
    }

    fn press_letters(&mut self, text: &str) -> PagerStep {
        for (at, letter) in text.char_indices() {
            let height = self.body_height();
            match letter {
                'q' => return PagerStep::Close,
                'k' => self.scroll_up(1),
                'j' => self.scroll_down(1),
                'b' => self.scroll_up(height),
                ' ' | 'f' => self.scroll_down(height),
                'u' => self.scroll_up(height / 2),
                'd' => self.scroll_down(height / 2),
                'g' => self.go_to_start(),
                'G' => self.go_to_end(),
                '[' => self.seek(Seek::Prompt(Side::Earlier)),
                ']' => self.seek(Seek::Prompt(Side::Later)),
                'n' => self.seek(Seek::Match(Side::Earlier)),
                'N' => self.seek(Seek::Match(Side::Later)),
                '/' => {
                    self.search.begin(&text[at + 1..]);
                    return PagerStep::Open;
                }
                'a' => {
                    self.is_folded = !self.is_folded;
                    self.exceptions.clear();
                    self.top.1 = 0;
                }
                'y' => return self.copy(),
                'o' => return self.open_file(),
                '?' => self.has_keys = !self.has_keys,
                _ => {}
            }
        }
        PagerStep::Open
    }

    fn copy(&mut self) -> PagerStep {
        let Some(block) = self.pages.get(self.chosen) else { return PagerStep::Open };
        let text = block.text();
        if text.len() > LARGEST_COPY {
            self.message = Some("This part is too long for the clipboard.".to_owned());
            return PagerStep::Open;
        }
        self.message = Some("Copied to the clipboard.".to_owned());
        PagerStep::Copy(text)
    }

    /// Returns the files that the row of the match names, and then those of the chosen block.
    fn open_file(&mut self) -> PagerStep {
        let in_row = match self.search.place() {
            Some((number, row)) => self.rows(number).get(row).map(Row::text).unwrap_or_default(),
            None => String::new(),
        };
        let chosen = self.pages.get(self.chosen).map(Block::places).unwrap_or_default();
        let found: Vec<FilePlace> = places::in_text(&in_row).into_iter().chain(chosen).collect();
        if found.is_empty() {
            self.message = Some("This part names no file.".to_owned());
            return PagerStep::Open;
        }
        PagerStep::OpenFile(found)
    }

    /// Asks for a page: at once, or after the one that is on its way.
    fn ask(&mut self, asked: Asked) {
        if self.asked.is_some() {
            let is_more = matches!(asked, Asked::More(_));
            self.queued = if is_more { self.queued } else { Some(asked) };
            return;
        }
        self.wanted = match asked {
            Asked::Start => Some(TranscriptFrom::Start),
            Asked::End => Some(TranscriptFrom::End),
            Asked::More(side) => self.pages.missing(side),
        };
        self.asked = self.wanted.is_some().then_some(asked);
    }

    fn is_block_folded(&self, key: Option<&String>) -> bool {
        key.is_some_and(|key| self.is_folded != self.exceptions.contains(key))
    }

    /// Returns the rows of a block; none if there is no such block.
    fn rows(&mut self, number: i64) -> &[Row] {
        let key = self.pages.get(number).and_then(Block::fold_key);
        let is_folded = self.is_block_folded(key.as_ref());
        let cells = self.size.0.saturating_sub(MARK).max(2);
        let marks = self.marks;
        self.pages.get_mut(number).map_or(&[], |block| block.rows(cells, is_folded, marks))
    }

    fn fold_chosen(&mut self) {
        let Some(key) = self.pages.get(self.chosen).and_then(Block::fold_key) else {
            self.message = Some("Only calls and thoughts can be folded.".to_owned());
            return;
        };
        if !self.exceptions.remove(&key) {
            self.exceptions.insert(key);
        }
        self.show_start(self.chosen);
    }

    fn unfold(&mut self, number: i64) {
        let key = self.pages.get(number).and_then(Block::fold_key);
        if let Some(key) = key.filter(|key| self.is_block_folded(Some(key)))
            && !self.exceptions.remove(&key)
        {
            self.exceptions.insert(key);
        }
    }
}
