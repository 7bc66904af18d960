//! The rows that all lists have: title, search and hint around the entries. Pure.

use pollux_input::text_width;

use super::list::SearchList;
use crate::fold::cut_row;
use crate::row::{Look, Row};
use crate::surface::Frame;

/// Label of the search.
const LABEL: &str = "search: ";
/// Number of rows around the entries: title, search and hint.
pub(super) const AROUND: usize = 3;

/// Returns the frame of a list in a room of these cells and rows. If there is little room, the
/// search and the first rows stay.
pub(super) fn layout(
    title: &str,
    list: &SearchList,
    mut rows: Vec<Row>,
    hint: Row,
    (cells, height): (usize, usize),
) -> Frame {
    let (before, after) = list.typed();
    let search = Row::new(Look::Dim, LABEL).with(Look::Plain, before).with(Look::Plain, after);
    let cursor = text_width(LABEL) + text_width(before);
    rows.truncate(room(height));
    rows.insert(0, search);
    let has_title = height > AROUND;
    if has_title {
        rows.insert(0, Row::new(Look::Bold, title));
    }
    if rows.len() < height {
        rows.push(hint);
    }
    let rows = rows.into_iter().map(|row| cut_row(row, cells)).collect();
    Frame { rows, cursor: (usize::from(has_title), cursor.min(cells)) }
}

/// Returns the number of rows for entries, and what else is between search and hint.
pub(super) fn room(height: usize) -> usize {
    height.saturating_sub(AROUND).max(usize::from(height > 1))
}

/// Returns the mark of an entry, and its look.
pub(super) fn mark(is_selected: bool) -> (&'static str, Look) {
    if is_selected { ("> ", Look::Cyan) } else { ("  ", Look::Plain) }
}
