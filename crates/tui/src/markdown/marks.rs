//! Marks at the beginning of lines: quotes, list items, headings, fences, rules, tables.

/// Maximum number of columns of a table; further cells belong to the last column.
const MOST_COLUMNS: usize = 40;

/// Returns the number of blanks at the beginning of a line.
pub(super) fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// Returns a line without this number of blanks at its beginning, or without those that it has.
pub(super) fn without_indent(line: &str, indent: usize) -> &str {
    &line[indent_of(line).min(indent)..]
}

/// Returns the text after the mark of a quote.
pub(super) fn after_quote_mark(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches(' ').strip_prefix('>')?;
    Some(rest.strip_prefix(' ').unwrap_or(rest))
}

/// Mark of a list item.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ListMark<'a> {
    /// The mark as it is shown, with a blank.
    pub(super) shown: String,
    /// Columns before the text of the item.
    pub(super) indent: usize,
    /// True for a bullet, and for the number 1.
    pub(super) may_interrupt: bool,
    /// Text of the item.
    pub(super) text: &'a str,
}

impl<'a> ListMark<'a> {
    /// Returns the mark at the beginning of a line.
    pub(super) fn of(line: &'a str) -> Option<Self> {
        let start = indent_of(line);
        let body = &line[start..];
        let digits = body.len() - body.trim_start_matches(|it: char| it.is_ascii_digit()).len();
        let (length, is_first) = match body.as_bytes().get(digits)? {
            b'-' | b'*' | b'+' if digits == 0 => (1, true),
            b'.' | b')' if (1..10).contains(&digits) => (digits + 1, &body[..digits] == "1"),
            _ => return None,
        };
        let (mark, rest) = body.split_at(length);
        if !rest.is_empty() && !rest.starts_with(' ') {
            return None;
        }
        let blanks = match indent_of(rest) {
            blanks @ 1..=4 if blanks < rest.len() => blanks,
            _ => 1,
        };
        let text = without_indent(rest, blanks);
        let indent = start + length + blanks;
        let is_bullet = digits == 0;
        let task = ["[ ] ", "[x] ", "[X] "].into_iter().find(|task| text.starts_with(task));
        let (shown, text) = match task.filter(|_| is_bullet) {
            Some(task) => (task.to_lowercase(), &text[task.len()..]),
            None if is_bullet => ("- ".to_owned(), text),
            None => (format!("{mark} "), text),
        };
        let may_interrupt = is_first && !text.trim().is_empty();
        Some(Self { shown, indent, may_interrupt, text })
    }
}

/// Returns the level and the text of a heading.
pub(super) fn heading(line: &str) -> Option<(usize, &str)> {
    let text = line.trim();
    let rest = text.trim_start_matches('#');
    let level = text.len() - rest.len();
    if !(1..=6).contains(&level) || !(rest.is_empty() || rest.starts_with(' ')) {
        return None;
    }
    let closed = rest.trim_end_matches('#');
    let text = if closed.is_empty() || closed.ends_with(' ') { closed } else { rest };
    Some((level, text.trim()))
}

/// Returns the level of the heading that a line under its text makes. A single `-` makes none: a
/// model begins a list with it.
pub(super) fn underlined_level(line: &str) -> Option<usize> {
    let text = line.trim();
    let is_all = |mark: char| text.len() > 2 && text.chars().all(|letter| letter == mark);
    if is_all('=') { Some(1) } else { is_all('-').then_some(2) }
}

/// Returns true for a line that draws a rule.
pub(super) fn is_rule(line: &str) -> bool {
    let mut marks = line.chars().filter(|letter| *letter != ' ');
    let Some(first) = marks.next().filter(|first| matches!(first, '-' | '*' | '_')) else {
        return false;
    };
    let mut count = 1;
    let are_same = marks.all(|mark| {
        count += 1;
        mark == first
    });
    are_same && count >= 3
}

/// Fence of a code block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fence {
    mark: char,
    length: usize,
    /// Number of blanks before the fence, which the lines of code do not keep.
    pub(super) indent: usize,
}

impl Fence {
    /// Returns the fence that a line opens.
    pub(super) fn opened_by(line: &str) -> Option<Self> {
        let indent = indent_of(line);
        let text = &line[indent..];
        let mark = text.chars().next().filter(|first| matches!(first, '`' | '~'))?;
        let rest = text.trim_start_matches(mark);
        let length = text.len() - rest.len();
        let is_code_in_text = mark == '`' && rest.contains('`');
        (length >= 3 && !is_code_in_text).then_some(Self { mark, length, indent })
    }

    /// Returns true if a line ends the block.
    pub(super) fn is_closed_by(self, line: &str) -> bool {
        let text = line.trim();
        text.len() >= self.length && text.chars().all(|letter| letter == self.mark)
    }
}

/// Returns the name of the language after a fence, in small letters.
pub(super) fn fence_language(line: &str) -> String {
    let text = line.trim().trim_start_matches(['`', '~', ' ', '{', '.']);
    let is_end = |letter: char| !(letter.is_ascii_alphanumeric() || "+#-_".contains(letter));
    text[..text.find(is_end).unwrap_or(text.len())].to_lowercase()
}

/// Alignment of a column.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Alignment {
    #[default]
    Left,
    Right,
    Center,
}

/// Returns the alignments of the columns, if the line is the one below the header of a table.
pub(super) fn alignments(line: &str) -> Option<Vec<Alignment>> {
    if !line.contains('-') || !line.contains(['|', ':']) {
        return None;
    }
    let alignment = |cell: &String| {
        let (left, right) = (cell.starts_with(':'), cell.ends_with(':'));
        let rule = cell.trim_matches(':');
        let is_rule = !rule.is_empty() && rule.chars().all(|letter| letter == '-');
        is_rule.then_some(match (left, right) {
            (true, true) => Alignment::Center,
            (false, true) => Alignment::Right,
            _ => Alignment::Left,
        })
    };
    table_cells(line).iter().map(alignment).collect()
}

/// Returns the cells of a row of a table.
pub(super) fn table_cells(line: &str) -> Vec<String> {
    let text = line.trim();
    let text = text.strip_prefix('|').unwrap_or(text);
    let (mut cells, mut cell, mut is_escaped) = (Vec::new(), String::new(), false);
    for letter in text.chars() {
        match letter {
            '|' if is_escaped => {
                cell.pop();
                cell.push('|');
            }
            '|' if cells.len() + 1 < MOST_COLUMNS => cells.push(std::mem::take(&mut cell)),
            letter => cell.push(letter),
        }
        is_escaped = letter == '\\' && !is_escaped;
    }
    if !cell.trim().is_empty() || cells.is_empty() {
        cells.push(cell);
    }
    cells.iter().map(|cell| cell.trim().to_owned()).collect()
}

/// Returns true if more text may turn a line of code into the end of the code.
pub(super) fn may_become_fence(line: &str) -> bool {
    line.trim_start().chars().all(|letter| matches!(letter, '`' | '~'))
}

/// Returns true if more text may turn a line into a mark, or into another mark. Such a line is not
/// shown before its end.
pub(super) fn may_become_mark(line: &str) -> bool {
    line.trim_start().len() < 12
        && line.chars().all(|letter| " -=*_#`~|:+>.)".contains(letter) || letter.is_ascii_digit())
}
