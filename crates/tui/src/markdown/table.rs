//! Tables as rows: columns with their alignment, or lines with the names of the columns where there
//! is no room for columns.

use crate::fold::{Breaks, Room, fold};
use crate::row::{Look, Row};

use super::blocks::Table;
use super::inline::{MarkupMarks, styled_lines};
use super::marks::Alignment;

/// Minimum width of a screen, in cells, on which a table has columns.
const NARROW: usize = 60;
/// Number of blanks between two columns.
const GAP: usize = 2;
/// Minimum width of a column that is made narrower than its text, in cells.
const NARROW_COLUMN: usize = 8;

/// Widths of the columns of a table; `None` if it has no columns on the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ColumnWidths {
    /// Width of the screen for which they were computed, in cells.
    cells: usize,
    columns: Option<Vec<usize>>,
}

/// Text of a cell: its lines.
type CellLines = Vec<Row>;

/// Returns the rows of a table, or of a part of it. `widths` are those of the last part.
pub(super) fn table_rows(
    table: &Table,
    cells: usize,
    marks: MarkupMarks,
    widths: &mut Option<ColumnWidths>,
) -> Vec<Row> {
    let columns = table.alignments.len();
    let header: Vec<CellLines> =
        table.header.iter().map(|text| styled_lines(text, Look::Bold, marks)).collect();
    let body: Vec<Vec<CellLines>> = table
        .rows
        .iter()
        .map(|row| {
            let text = |column| row.get(column).map_or("", String::as_str);
            (0..columns).map(|column| styled_lines(text(column), Look::Plain, marks)).collect()
        })
        .collect();
    let kept = widths.take().filter(|kept| table.is_continued && kept.cells == cells);
    let kept = kept.unwrap_or_else(|| {
        let all = body.iter().chain((!table.is_continued).then_some(&header));
        ColumnWidths { cells, columns: column_widths(all, columns, cells) }
    });
    let rows = match &kept.columns {
        None => listed_rows(&header, &body, cells, table.is_continued),
        Some(columns) => {
            let aligned = |row: &Vec<CellLines>| aligned_rows(row, columns, &table.alignments);
            let mut rows = Vec::new();
            if !table.is_continued {
                rows.extend(aligned(&header));
                let rules: Vec<String> = columns.iter().map(|width| "-".repeat(*width)).collect();
                rows.push(Row::new(Look::Dim, rules.join(&" ".repeat(GAP))));
            }
            rows.extend(body.iter().flat_map(aligned));
            rows
        }
    };
    *widths = Some(kept);
    rows
}

/// Returns the widths of columns; `None` if there is no room for columns.
fn column_widths<'a>(
    rows: impl Iterator<Item = &'a Vec<CellLines>>,
    columns: usize,
    cells: usize,
) -> Option<Vec<usize>> {
    let room = cells.checked_sub(GAP * columns.saturating_sub(1)).filter(|_| cells >= NARROW)?;
    let mut widths = vec![1; columns];
    for row in rows {
        for (width, lines) in widths.iter_mut().zip(row) {
            *width = lines.iter().map(Row::width).fold(*width, usize::max);
        }
    }
    if widths.iter().sum::<usize>() <= room {
        return Some(widths);
    }
    // The widest columns share what the others leave.
    let mut sorted = widths.clone();
    sorted.sort_unstable();
    let (mut left, mut most) = (room, 0);
    for (index, width) in sorted.iter().enumerate() {
        most = left / (columns - index);
        if *width > most {
            break;
        }
        left -= width;
    }
    (most >= NARROW_COLUMN).then(|| widths.iter().map(|width| *width.min(&most)).collect())
}

/// Returns the rows of one row of a table in columns.
fn aligned_rows(row: &[CellLines], widths: &[usize], alignments: &[Alignment]) -> Vec<Row> {
    let fold_cell = |(lines, width): (&CellLines, &usize)| {
        lines
            .iter()
            .flat_map(|line| fold(line, Room::new(*width), Breaks::Words))
            .collect::<Vec<_>>()
    };
    let cells: Vec<Vec<Row>> = row.iter().zip(widths).map(fold_cell).collect();
    let height = cells.iter().map(Vec::len).max().unwrap_or_default();
    let mut rows = Vec::with_capacity(height);
    for at in 0..height {
        let mut joined = Row::default();
        for (column, (lines, width)) in cells.iter().zip(widths).enumerate() {
            let blank = Row::default();
            let text = lines.get(at).unwrap_or(&blank);
            let room = width.saturating_sub(text.width());
            let before = match alignments.get(column).copied().unwrap_or_default() {
                Alignment::Left => 0,
                Alignment::Right => room,
                Alignment::Center => room / 2,
            };
            let gap = if column > 0 { GAP } else { 0 };
            joined.push(Look::Plain, &" ".repeat(gap + before));
            joined.append(text);
            joined.push(Look::Plain, &" ".repeat(room - before));
        }
        joined.trim_end();
        rows.push(joined);
    }
    rows
}

/// Returns a table as lines, each with the name of its column.
fn listed_rows(
    header: &[CellLines],
    body: &[Vec<CellLines>],
    cells: usize,
    is_continued: bool,
) -> Vec<Row> {
    let mut rows = Vec::new();
    if body.is_empty() && !is_continued {
        for lines in header {
            rows.extend(fold(&joined(lines), Room::new(cells), Breaks::Words));
        }
    }
    for (index, row) in body.iter().enumerate() {
        if index > 0 || is_continued {
            rows.push(Row::default());
        }
        for (name, lines) in header.iter().zip(row) {
            let text = joined(lines);
            let mut line = joined(name);
            if text.is_empty() {
                continue;
            }
            line.push(Look::Bold, if line.is_empty() { "" } else { ": " });
            line.append(&text);
            rows.extend(fold(&line, Room::new(cells).hanging(2), Breaks::Words));
        }
    }
    rows
}

/// Returns the lines of a cell as one line.
fn joined(lines: &[Row]) -> Row {
    let mut all = Row::default();
    for line in lines {
        if !all.is_empty() && !line.is_empty() {
            all.push(Look::Plain, " ");
        }
        all.append(line);
    }
    all
}
