//! Finished blocks as rows.

use std::sync::Arc;

use crate::fold::{Breaks, Room, fold};
use crate::outbox::CodeLine;
use crate::row::{Look, Row};

use super::AnswerRow;
use super::blocks::{Block, Code, Content};
use super::inline::{MarkupMarks, styled_lines};
use super::table::{ColumnWidths, table_rows};

/// Maximum width of a rule, in cells.
const RULE: usize = 40;

/// Turns blocks into rows.
#[derive(Debug, Clone, Default)]
pub(super) struct Layout {
    marks: MarkupMarks,
    /// Widths of the last table, for its further rows.
    widths: Option<ColumnWidths>,
}

impl Layout {
    pub(super) fn new(marks: MarkupMarks) -> Self {
        Self { marks, widths: None }
    }

    pub(super) fn marks(&self) -> MarkupMarks {
        self.marks
    }

    /// Returns the rows of blocks.
    pub(super) fn rows(&mut self, blocks: Vec<Block>, cells: usize) -> Vec<AnswerRow> {
        let mut rows = Vec::new();
        for block in blocks {
            if block.is_separate {
                rows.push(AnswerRow::Row(Row::default()));
            }
            self.add(&block, cells, &mut rows);
        }
        rows
    }

    fn add(&mut self, block: &Block, cells: usize, rows: &mut Vec<AnswerRow>) {
        if let Content::Code(Code { text, number, language }) = &block.content {
            let [first, further] =
                [&block.first, &block.further].map(|marks| last_cells(marks, cells / 2));
            let line = CodeLine { first, further, text: text.clone(), cells };
            return rows.push(AnswerRow::Code(line, *number, Arc::clone(language)));
        }
        let room = cells - block.first.width().min(cells / 2);
        let content = self.content(&block.content, room);
        for (index, row) in content.into_iter().enumerate() {
            let mut marked =
                last_cells(if index == 0 { &block.first } else { &block.further }, cells / 2);
            if row.is_empty() {
                marked.trim_end();
            }
            marked.append(&row);
            rows.push(AnswerRow::Row(marked));
        }
    }

    fn content(&mut self, content: &Content, cells: usize) -> Vec<Row> {
        let words = |lines: Vec<Row>| {
            lines
                .iter()
                .flat_map(|line| fold(line, Room::new(cells), Breaks::Words))
                .collect::<Vec<_>>()
        };
        match content {
            Content::Paragraph(text) => words(styled_lines(text, Look::Plain, self.marks)),
            Content::Heading(level, text) => {
                let look = if *level == 1 { Look::Title } else { Look::Bold };
                let mut lines = styled_lines(text, look, self.marks);
                if self.marks == MarkupMarks::Shown {
                    let mut first = Row::new(look, format!("{} ", "#".repeat(*level)));
                    first.append(&lines[0]);
                    lines[0] = first;
                }
                words(lines)
            }
            Content::Fence(text) => {
                fold(&Row::new(Look::Dim, text), Room::new(cells), Breaks::Anywhere)
            }
            Content::Code(_) => Vec::new(),
            Content::Rule => vec![Row::new(Look::Dim, "-".repeat(cells.min(RULE)))],
            Content::Table(table) => table_rows(table, cells, self.marks, &mut self.widths),
        }
    }
}

/// Returns the end of a row of marks, which are ASCII, in this number of cells.
fn last_cells(marks: &Row, cells: usize) -> Row {
    let width = marks.width();
    if width <= cells {
        return marks.clone();
    }
    let kept = width - cells..width;
    marks.parts(std::slice::from_ref(&kept)).pop().unwrap_or_default()
}
