//! The sheet of keys below the input. Pure.

use pollux_input::text_width;

use crate::fold::cut_to;
use crate::row::{Look, Row};

/// Keys with their effects.
const KEYS: [(&str, &str); 23] = [
    ("/", "commands"),
    ("@", "files and folders"),
    ("!", "runs a command line"),
    ("?", "shows these keys"),
    ("Enter", "sends, or queues"),
    ("Ctrl+J", "new line"),
    ("Tab", "completes"),
    ("Up, Down", "earlier, later prompts"),
    ("Ctrl+R", "searches them"),
    ("Ctrl+G", "opens your editor"),
    ("Ctrl+Y", "inserts deleted text"),
    ("Ctrl+_", "undoes"),
    ("Esc", "stops the work"),
    ("Esc Esc", "clears the input"),
    ("Ctrl+C", "stops; twice: exits"),
    ("Ctrl+Z", "stops Pollux until fg"),
    ("Shift+Tab", "approval mode"),
    ("Alt+Up", "chooses a queued prompt"),
    ("Ctrl+B", "background commands"),
    ("Ctrl+T", "to-do list"),
    ("Ctrl+O", "the whole conversation"),
    ("Ctrl+L", "clears the screen"),
    ("/shortcuts", "lists all keys"),
];
/// Width of a column, in cells.
const COLUMN: usize = 39;
/// Width of the keys in it.
const KEY: usize = 12;

/// Returns the rows of the sheet, at most `height`.
pub(crate) fn rows(cells: usize, height: usize) -> Vec<Row> {
    let columns = (cells / COLUMN).clamp(1, 3);
    let count = KEYS.len().div_ceil(columns);
    let is_cut = count > height;
    let shown = if is_cut { height.saturating_sub(1) } else { count };
    let mut rows: Vec<Row> = (0..shown).map(|index| row(index, count, cells)).collect();
    if is_cut && height > 0 {
        let hint = format!("{} more; /shortcuts lists all keys", KEYS.len() - shown * columns);
        rows.push(Row::new(Look::Dim, cut_to(&hint, cells)));
    }
    rows
}

/// Returns a row with one key of each column.
fn row(index: usize, count: usize, cells: usize) -> Row {
    let mut row = Row::default();
    for (column, (key, effect)) in KEYS.iter().skip(index).step_by(count).enumerate() {
        let start = column * COLUMN;
        row.push(Look::Plain, &" ".repeat(start.saturating_sub(row.width())));
        row.push(Look::Cyan, &format!("{key:<KEY$}"));
        let end = cells.min(start + COLUMN - 1);
        row.push(Look::Dim, &cut_to(effect, end.saturating_sub(start + text_width(key).max(KEY))));
    }
    row.cut(cells);
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_listed_if_there_is_room() {
        for cells in [20, 39, 79, 119, 299] {
            let rows = rows(cells, 40);
            let text = rows.iter().map(|row| row.text() + "\n").collect::<String>();
            assert!(rows.iter().all(|row| row.width() <= cells), "{text}");
            for (key, effect) in KEYS {
                let is_whole = cells < 39 || text.contains(effect);
                assert!(text.contains(key) && is_whole, "{key} {cells}:\n{text}");
            }
        }
        assert_eq!(rows(77, 40).len(), 23);
        assert_eq!(rows(79, 40).len(), 12);
        assert_eq!(rows(119, 40).len(), 8);
    }

    #[test]
    fn a_low_window_says_what_is_missing() {
        let rows = rows(39, 5);
        assert_eq!(rows.len(), 5);
        assert!(rows[4].text().starts_with("19 more; /shortcuts"), "{rows:?}");
        assert_eq!(super::rows(39, 0), []);
    }
}
