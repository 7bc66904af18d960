//! Lines of Markdown as blocks. The structure is that of CommonMark with the tables of GitHub,
//! with a few liberties for what models write: a list item may be indented too far, and lines of
//! code in a list may be indented too little.

use std::sync::Arc;

use crate::code::MOST_LINES;
use crate::row::{Look, Row};

use super::marks::{
    Alignment, Fence, ListMark, after_quote_mark, alignments, fence_language, heading, indent_of,
    is_rule, table_cells, underlined_level, without_indent,
};

/// Maximum depth of quotes and lists; further marks are text.
const DEEPEST: usize = 16;
/// Maximum size of a paragraph in progress, in bytes.
const LONGEST_PARAGRAPH: usize = 4 << 10;
/// Maximum size of a table in progress, in rows and bytes.
const MOST_ROWS: usize = 64;
const LONGEST_TABLE: usize = 8 << 10;
/// Indent of code without a fence.
const CODE_INDENT: usize = 4;

/// A block, or a part of a long one, that does not change any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block {
    /// Marks before the first row and before further rows.
    pub(super) first: Row,
    pub(super) further: Row,
    /// True if a blank row separates the block from the one above.
    pub(super) is_separate: bool,
    pub(super) content: Content,
}

/// Content of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Content {
    /// Lines of text.
    Paragraph(String),
    /// Level and text of a heading.
    Heading(usize, String),
    /// A line of a fence.
    Fence(String),
    /// A line of code.
    Code(Code),
    Rule,
    Table(Table),
}

/// A line of code.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Code {
    pub(super) text: String,
    /// Number of the block of code in the answer.
    pub(super) number: usize,
    /// Language whose colours the line can have; empty if there is none.
    pub(super) language: Arc<str>,
}

impl Code {
    fn plain(text: &str) -> Self {
        Self { text: text.to_owned(), ..Self::default() }
    }
}

/// A table, or rows of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Table {
    pub(super) header: Vec<String>,
    pub(super) alignments: Vec<Alignment>,
    pub(super) rows: Vec<Vec<String>>,
    /// True if the header and earlier rows are finished.
    pub(super) is_continued: bool,
}

/// A quote or list item that is open.
#[derive(Debug, Clone)]
enum Container {
    Quote,
    Item {
        indent: usize,
        mark: String,
        /// True if a block with the mark is finished.
        is_shown: bool,
    },
}

impl Container {
    /// Returns the rest of a line that belongs to the container.
    fn strip<'a>(&self, line: &'a str) -> Option<&'a str> {
        match self {
            Self::Quote => (indent_of(line) < CODE_INDENT).then(|| after_quote_mark(line))?,
            Self::Item { .. } if line.trim().is_empty() => Some(line),
            Self::Item { indent, .. } => {
                (indent_of(line) >= *indent).then(|| without_indent(line, *indent))
            }
        }
    }

    /// Returns the indent of an item.
    fn item_indent(&self) -> Option<usize> {
        match self {
            Self::Quote => None,
            Self::Item { indent, .. } => Some(*indent),
        }
    }

    fn is_item(&self) -> bool {
        matches!(self, Self::Item { .. })
    }
}

/// The block in progress.
#[derive(Debug, Clone, Default)]
enum OpenBlock {
    #[default]
    None,
    Paragraph(String),
    Fence {
        fence: Fence,
        language: Arc<str>,
        /// Number of lines of code.
        lines: usize,
    },
    /// Code by indent, with the number of blank lines after it.
    Indented(usize),
    Table {
        table: Table,
        size: usize,
    },
}

/// Splits lines into blocks.
#[derive(Debug, Clone, Default)]
pub(super) struct Splitter {
    containers: Vec<Container>,
    open: OpenBlock,
    /// True if a blank line precedes the next block.
    is_separate: bool,
    /// True if a block is finished.
    has_blocks: bool,
    /// Number of the blocks of code.
    code_blocks: usize,
    finished: Vec<Block>,
}

impl Splitter {
    /// Returns the blocks that are finished since the last call.
    pub(super) fn take(&mut self) -> Vec<Block> {
        std::mem::take(&mut self.finished)
    }

    /// Returns true if no block with text is in progress.
    pub(super) fn is_empty(&self) -> bool {
        !matches!(self.open, OpenBlock::Paragraph(_) | OpenBlock::Table { .. })
    }

    /// Returns true inside of a fenced block of code.
    pub(super) fn is_code(&self) -> bool {
        matches!(self.open, OpenBlock::Fence { .. })
    }

    /// Ends all blocks.
    pub(super) fn end(&mut self) {
        self.close_containers(0);
        self.end_block();
    }

    /// Takes the rest of a line that is too long for one step.
    pub(super) fn take_rest(&mut self, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        match &self.open {
            OpenBlock::Fence { .. } | OpenBlock::Indented(_) => {
                self.finish(Content::Code(Code::plain(text)));
            }
            OpenBlock::Table { .. } => {
                self.end_block();
                self.add_to_paragraph(text);
            }
            OpenBlock::Paragraph(_) | OpenBlock::None => self.add_to_paragraph(text),
        }
    }

    /// Takes a line without its end.
    pub(super) fn take_line(&mut self, line: &str) {
        let (mut rest, mut depth) = (line, 0);
        for container in &self.containers {
            let Some(inside) = container.strip(rest) else { break };
            (rest, depth) = (inside, depth + 1);
        }
        if let OpenBlock::Fence { fence, .. } = self.open {
            let outer = self.containers[depth..].iter();
            let blanks = outer.map(Container::item_indent).sum::<Option<usize>>();
            if let Some(blanks) = blanks {
                return self.take_code(fence, without_indent(rest, blanks));
            }
            self.open = OpenBlock::None;
        }
        if rest.trim().is_empty() {
            return self.take_blank(depth);
        }
        let (rest, is_opened) = self.open_containers(rest, depth);
        let is_lazy = !is_opened && depth < self.containers.len();
        if is_lazy {
            if matches!(self.open, OpenBlock::Paragraph(_)) && !begins_block(rest) {
                return self.add_to_paragraph(rest);
            }
            self.close_containers(depth);
        }
        self.take_content(rest);
    }

    fn take_code(&mut self, fence: Fence, line: &str) {
        if fence.is_closed_by(line) {
            self.finish(Content::Fence(line.trim().to_owned()));
            self.open = OpenBlock::None;
        } else {
            let mut code = Code::plain(without_indent(line, fence.indent));
            if let OpenBlock::Fence { language, lines, .. } = &mut self.open {
                *lines += 1;
                if *lines <= MOST_LINES {
                    code.language = Arc::clone(language);
                }
            }
            code.number = self.code_blocks;
            self.finish(Content::Code(code));
        }
    }

    fn take_blank(&mut self, depth: usize) {
        if self.containers[depth..].iter().any(|container| !container.is_item()) {
            self.close_containers(depth);
        }
        if let OpenBlock::Indented(blanks) = &mut self.open {
            *blanks += 1;
        } else {
            self.end_block();
        }
        self.is_separate = true;
    }

    /// Opens the quotes and list items that a line begins with; returns the rest of the line, and
    /// true if there are any.
    fn open_containers<'a>(&mut self, line: &'a str, mut depth: usize) -> (&'a str, bool) {
        let (mut rest, mut is_opened) = (line, false);
        while depth < DEEPEST {
            let in_paragraph = matches!(self.open, OpenBlock::Paragraph(_)) && !is_opened;
            let is_inside = in_paragraph && depth == self.containers.len();
            let has_items = self.containers.iter().any(Container::is_item);
            let is_far = indent_of(rest) >= CODE_INDENT && !(in_paragraph && has_items);
            if is_far || is_rule(rest) || (is_inside && underlined_level(rest).is_some()) {
                break;
            }
            let container = if let Some(inside) = after_quote_mark(rest) {
                rest = inside;
                Container::Quote
            } else if let Some(mark) = ListMark::of(rest)
                && (!is_inside || mark.may_interrupt || has_items)
            {
                rest = mark.text;
                Container::Item { indent: mark.indent, mark: mark.shown, is_shown: false }
            } else {
                break;
            };
            self.close_containers(depth);
            self.end_block();
            self.containers.push(container);
            (depth, is_opened) = (depth + 1, true);
        }
        (rest, is_opened)
    }

    /// Takes the text of a line, after the marks of quotes and list items.
    fn take_content(&mut self, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        let in_paragraph = matches!(self.open, OpenBlock::Paragraph(_));
        if indent_of(text) >= CODE_INDENT && !in_paragraph {
            return self.take_indented(text);
        }
        if let Some(fence) = Fence::opened_by(text) {
            self.end_block();
            self.finish(Content::Fence(text.trim().to_owned()));
            self.code_blocks += 1;
            let language = fence_language(text).into();
            self.open = OpenBlock::Fence { fence, language, lines: 0 };
        } else if let Some((level, text)) = heading(text) {
            self.end_block();
            self.finish(Content::Heading(level, text.to_owned()));
        } else if let Some(level) = underlined_level(text).filter(|_| in_paragraph) {
            if let OpenBlock::Paragraph(text) = std::mem::take(&mut self.open) {
                self.finish(Content::Heading(level, text));
            }
        } else if is_rule(text) {
            self.end_block();
            self.finish(Content::Rule);
        } else if let Some(alignments) = alignments(text)
            && let Some(header) = self.take_header(alignments.len())
        {
            let table = Table { header, alignments, ..Table::default() };
            self.open = OpenBlock::Table { table, size: 0 };
        } else {
            self.take_text(text);
        }
    }

    fn take_text(&mut self, text: &str) {
        let OpenBlock::Table { table, size } = &mut self.open else {
            return self.add_to_paragraph(text);
        };
        if !text.contains('|') {
            self.end_block();
            return self.add_to_paragraph(text);
        }
        let mut cells = table_cells(text);
        let columns = table.alignments.len();
        if cells.len() > columns {
            let more = cells.split_off(columns).join(" | ");
            if let Some(last) = cells.last_mut() {
                last.push_str(" | ");
                last.push_str(&more);
            }
        }
        table.rows.push(cells);
        *size += text.len();
        if table.rows.len() >= MOST_ROWS || *size >= LONGEST_TABLE {
            let rows = std::mem::take(&mut table.rows);
            let part = Table { rows, ..table.clone() };
            (table.is_continued, *size) = (true, 0);
            self.finish(Content::Table(part));
        }
    }

    fn take_indented(&mut self, text: &str) {
        let blanks = if let OpenBlock::Indented(blanks) = self.open { blanks } else { 0 };
        if blanks == 0 && !matches!(self.open, OpenBlock::Indented(_)) {
            self.end_block();
        }
        if blanks > 0 {
            self.is_separate = false;
        }
        for _ in 0..blanks {
            self.finish(Content::Code(Code::default()));
        }
        // The indent stays: it is what marks the text as code.
        self.finish(Content::Code(Code::plain(text.trim_end())));
        self.open = OpenBlock::Indented(0);
    }

    /// Takes the last line of the paragraph, if it is a header with this number of columns.
    fn take_header(&mut self, columns: usize) -> Option<Vec<String>> {
        let OpenBlock::Paragraph(text) = &mut self.open else { return None };
        let start = text.rfind('\n').map_or(0, |end| end + 1);
        let header = table_cells(&text[start..]);
        if header.len() != columns || !text[start..].contains('|') {
            return None;
        }
        text.truncate(start.saturating_sub(1));
        if text.is_empty() {
            self.open = OpenBlock::None;
        }
        self.end_block();
        Some(header)
    }

    fn add_to_paragraph(&mut self, text: &str) {
        let text = text.trim();
        if let OpenBlock::Paragraph(paragraph) = &mut self.open
            && paragraph.len() + text.len() <= LONGEST_PARAGRAPH
        {
            paragraph.push('\n');
            paragraph.push_str(text);
        } else {
            self.end_block();
            self.open = OpenBlock::Paragraph(text.to_owned());
        }
    }

    /// Finishes the block in progress.
    fn end_block(&mut self) {
        match std::mem::take(&mut self.open) {
            OpenBlock::Paragraph(text) => self.finish(Content::Paragraph(text)),
            OpenBlock::Table { table, .. } if !(table.is_continued && table.rows.is_empty()) => {
                self.finish(Content::Table(table));
            }
            _ => {}
        }
    }

    /// Closes all quotes and items below this depth. An item without text keeps its mark.
    fn close_containers(&mut self, depth: usize) {
        if depth >= self.containers.len() {
            return;
        }
        self.end_block();
        let is_hidden =
            |container: &Container| matches!(container, Container::Item { is_shown: false, .. });
        if self.containers[depth..].iter().any(is_hidden) {
            self.finish(Content::Paragraph(String::new()));
        }
        self.containers.truncate(depth);
    }

    fn finish(&mut self, content: Content) {
        let (mut first, mut further) = (Row::default(), Row::default());
        for container in &mut self.containers {
            match container {
                Container::Quote => {
                    first.push(Look::Dim, "> ");
                    further.push(Look::Dim, "> ");
                }
                Container::Item { mark, is_shown, .. } => {
                    let blanks = " ".repeat(mark.len());
                    first.push(Look::Plain, if *is_shown { &blanks } else { mark });
                    further.push(Look::Plain, &blanks);
                    *is_shown = true;
                }
            }
        }
        let is_separate = self.is_separate || matches!(content, Content::Heading(..));
        let is_separate = is_separate && self.has_blocks;
        (self.is_separate, self.has_blocks) = (false, true);
        self.finished.push(Block { first, further, is_separate, content });
    }
}

/// Returns true if a line is not the continuation of a paragraph.
fn begins_block(line: &str) -> bool {
    indent_of(line) < CODE_INDENT
        && (Fence::opened_by(line).is_some() || heading(line).is_some() || is_rule(line))
}
