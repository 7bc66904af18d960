//! Search for an earlier line (Ctrl-R).

use std::collections::HashSet;

use super::{LineEditor, tail};
use crate::keys::KeyPress;

/// Maximum number of bytes that are shown of the text of a search.
const SHOWN_QUERY: usize = 30;

/// Search for an earlier line.
#[derive(Debug, Default)]
pub(super) struct HistorySearch {
    query: String,
    /// Index of the line that is shown.
    found: Option<usize>,
    has_failed: bool,
    /// Line before the search.
    typed: (String, String),
}

/// Earlier lines that contain the text of a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchMatches<'a> {
    /// Text of the search. Capital letters count only if it has one.
    pub query: &'a str,
    /// Lines, the newest first, each once.
    pub lines: Vec<&'a str>,
    /// Index of the line that is in the input, if it is there already.
    pub selected: Option<usize>,
}

impl HistorySearch {
    /// Returns the label of the input line, as in shells.
    fn label(&self) -> String {
        let failed = if self.has_failed { "failed " } else { "" };
        let query = tail(&self.query, SHOWN_QUERY);
        format!("({failed}reverse-i-search)`{query}': ")
    }
}

/// Returns the position of `query` in a line. The case of letters counts only if `query` has a
/// capital letter.
fn find(line: &str, query: &str) -> Option<usize> {
    if query.contains(char::is_uppercase) {
        return line.find(query);
    }
    line.find(query).or_else(|| line.to_ascii_lowercase().find(query))
}

impl LineEditor {
    /// Returns the label of a search in the history; `None` without a search.
    pub fn search_label(&self) -> Option<String> {
        self.search.as_ref().map(HistorySearch::label)
    }

    /// Returns the lines that a search in the history finds; `None` without a search.
    pub fn search_matches(&self) -> Option<SearchMatches<'_>> {
        let search = self.search.as_ref()?;
        let query = search.query.as_str();
        let shown = search.found.map(|found| self.history[found].as_str());
        let mut known = HashSet::new();
        let matching = self.history.iter().rev().map(String::as_str);
        let lines: Vec<&str> =
            matching.filter(|line| find(line, query).is_some() && known.insert(*line)).collect();
        let selected = lines.iter().position(|line| Some(*line) == shown);
        Some(SearchMatches { query, lines, selected })
    }

    /// Shows the next older or newer line that a search in the history finds.
    pub fn move_in_search(&mut self, is_older: bool) {
        let Some(matches) = self.search_matches() else { return };
        let next = match matches.selected {
            None => Some(0).filter(|_| is_older),
            Some(at) if is_older => Some(at + 1),
            Some(at) => at.checked_sub(1),
        };
        let Some(line) = next.and_then(|next| matches.lines.get(next)) else { return };
        let (line, found) = ((*line).to_owned(), self.history.iter().rposition(|it| it == line));
        if let Some(search) = &mut self.search {
            (search.found, search.has_failed) = (found, false);
        }
        self.set(line);
    }

    /// Ends a search in the history. The line that it has found can be edited.
    pub fn end_search(&mut self) {
        self.search = None;
    }

    /// Handles the keys of a search in the history. Returns a key that has another meaning.
    pub(super) fn search(&mut self, key: KeyPress) -> Option<KeyPress> {
        let Some(search) = &mut self.search else {
            if key != KeyPress::Search {
                return Some(key);
            }
            let typed = (self.before.clone(), self.after.clone());
            self.search = Some(HistorySearch { typed, ..HistorySearch::default() });
            return None;
        };
        let older = match key {
            KeyPress::Text(text) => {
                search.query.push_str(&text);
                None
            }
            KeyPress::Backspace => {
                search.query.pop();
                None
            }
            KeyPress::Search => Some(search.found.unwrap_or(self.history.len())),
            KeyPress::Escape | KeyPress::ExternalEditor => {
                (self.before, self.after) = std::mem::take(&mut search.typed);
                self.search = None;
                return None;
            }
            KeyPress::PasteBegin | KeyPress::PasteEnd => return None,
            other => {
                self.search = None;
                return Some(other);
            }
        };
        let end = older.or(search.found.map(|at| at + 1)).unwrap_or(self.history.len());
        let query = search.query.as_str();
        let shown = search.found.map(|at| self.history[at].as_str());
        let is_match = |line: &String| find(line, query).is_some();
        let before = &self.history[..end];
        let found = if older.is_some() {
            // The same line again is no other match.
            before.iter().rposition(|line| is_match(line) && Some(line.as_str()) != shown)
        } else {
            let earlier = before.iter().rposition(is_match);
            earlier.or_else(|| self.history.iter().rposition(is_match))
        };
        search.has_failed = found.is_none();
        if let Some(found) = found {
            search.found = Some(found);
            self.set(self.history[found].clone());
        }
        None
    }
}
