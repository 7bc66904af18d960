//! Consent before a session: what a folder contains, and the answers about its items. Pure.

use pollux_config::consent::{by_kind, counted, short};
use pollux_protocol::plain_text::visible;
use pollux_protocol::{ConsentItem, TrustRequest};

/// Maximum number of lines that are shown of one item.
const SHOWN_LINES: usize = 16;
/// Maximum number of characters that are shown of one of these lines.
const SHOWN_CHARACTERS: usize = 400;

/// Explanation of the answers about items, for the first group.
pub const CONSENT_ANSWERS: &str = "Nothing takes effect unless you type y. Enter means no.\n\
     `all` accepts the rest of this group; `none` refuses everything that remains.";

/// A group of items, about which the user decides one by one.
#[derive(Debug)]
pub struct ConsentSheet<'a> {
    items: &'a [ConsentItem],
    /// True if the text shows every item whole.
    is_whole: bool,
}

/// Answer about an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConsentAnswer {
    /// Consent to this item, or refusal of it.
    One(bool),
    /// Consent to the rest of the group.
    All,
    /// Refusal of all remaining items.
    None,
}

impl<'a> ConsentSheet<'a> {
    /// Prepares a group of items of the same kind.
    pub fn new(items: &'a [ConsentItem]) -> Self {
        Self { items, is_whole: items.iter().all(is_shown_whole) }
    }

    /// Returns the text of the group: every item with the commands that it would run.
    pub fn text(&self) -> String {
        let Some(first) = self.items.first() else { return String::new() };
        let mut lines = vec![String::new(), format!("{}:", counted(&first.kind, self.items.len()))];
        for (number, item) in (1..).zip(self.items) {
            lines.push(format!("  {number}. {}", short(&item.name)));
            lines.extend(shown(item).into_iter().map(|line| format!("       {line}")));
        }
        lines.join("\n") + "\n"
    }

    /// Returns the label that asks about the item with this number, counted from one.
    pub fn label(&self, number: usize) -> String {
        let item = number.checked_sub(1).and_then(|index| self.items.get(index));
        let name = item.map(|item| short(&item.name)).unwrap_or_default();
        format!("Allow {number}, {name}? [y/N] ")
    }

    /// Returns the answers that can be chosen about the item with this number, each with its label.
    pub fn choices(&self, number: usize) -> Vec<(&'static str, ConsentAnswer)> {
        let mut choices =
            vec![("Allow", ConsentAnswer::One(true)), ("Refuse", ConsentAnswer::One(false))];
        if self.is_whole && number < self.items.len() {
            choices.push(("Allow the rest of this group", ConsentAnswer::All));
        }
        choices.push(("Refuse everything that remains", ConsentAnswer::None));
        choices
    }

    /// Returns the answer of a line. `all` is not accepted for a group of which some text was not
    /// shown. The end of the input, `None`, refuses all remaining items.
    pub fn answer(&self, line: Option<&str>) -> Option<ConsentAnswer> {
        let Some(line) = line else { return Some(ConsentAnswer::None) };
        match line.trim().to_lowercase().as_str() {
            "" | "n" | "no" => Some(ConsentAnswer::One(false)),
            "y" | "yes" => Some(ConsentAnswer::One(true)),
            "all" if self.is_whole => Some(ConsentAnswer::All),
            "none" => Some(ConsentAnswer::None),
            _ => None,
        }
    }

    /// Returns the message for a line that is not an answer.
    pub fn remark(&self) -> &'static str {
        if self.is_whole {
            "Type y, n, all or none and press Enter."
        } else {
            "Type y, n or none and press Enter. all needs a group that is shown whole."
        }
    }
}

/// Returns a description of the folder and its contents.
pub(crate) fn trust_lines(request: &TrustRequest) -> Vec<String> {
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
        lines.push("If you trust the folder, Pollux asks about each item.".to_owned());
    }
    lines.extend(request.problems.iter().map(|problem| visible(problem)));
    lines
}

/// Returns an item's lines. Of a long item, the beginning and the end are shown, with the number of
/// characters between them, and the hash of its full text.
fn shown(item: &ConsentItem) -> Vec<String> {
    let lines: Vec<&str> = item.detail.lines().collect();
    let whole = |line: &&str| shown_line(line);
    if lines.len() <= SHOWN_LINES {
        let mut shown: Vec<String> = lines.iter().map(whole).collect();
        if !is_shown_whole(item) {
            shown.push(format!("[cut above; SHA-256 of all of it: {}]", item.hash));
        }
        return shown;
    }
    let (begin, rest) = lines.split_at(SHOWN_LINES / 2);
    let (middle, end) = rest.split_at(rest.len() - SHOWN_LINES / 2);
    let cut = format!("{} lines with {}", middle.len(), contents(&middle.concat()));
    let note = format!("[{cut} cut here; SHA-256 of all of it: {}]", item.hash);
    begin.iter().map(whole).chain([note]).chain(end.iter().map(whole)).collect()
}

/// Returns a line; of a long one, its beginning and its end.
fn shown_line(line: &str) -> String {
    let letters: Vec<char> = line.chars().collect();
    if letters.len() <= SHOWN_CHARACTERS {
        return visible(line);
    }
    let (begin, rest) = letters.split_at(SHOWN_CHARACTERS / 2);
    let (middle, end) = rest.split_at(rest.len() - SHOWN_CHARACTERS / 2);
    let text = |letters: &[char]| letters.iter().collect::<String>();
    let cut = contents(&text(middle));
    format!("{}[{cut} cut here]{}", visible(&text(begin)), visible(&text(end)))
}

/// Returns what a text that is not shown contains: visible and other characters.
fn contents(text: &str) -> String {
    let count = text.chars().count();
    let blanks = text.chars().filter(|letter| matches!(letter, ' ' | '\t')).count();
    let is_invisible = |letter: &char| *letter != '\t' && visible(&letter.to_string()).len() > 4;
    let invisible = text.chars().filter(is_invisible).count();
    format!("{count} characters ({blanks} blanks, {invisible} invisible)")
}

fn is_shown_whole(item: &ConsentItem) -> bool {
    let lines: Vec<&str> = item.detail.lines().collect();
    lines.len() <= SHOWN_LINES && lines.iter().all(|line| line.chars().count() <= SHOWN_CHARACTERS)
}

#[cfg(test)]
mod tests;
