//! The sheet of keys below the input. Pure.

use pollux_input::{KeyMap, KeyPress, text_width};

use crate::fold::cut_to;
use crate::row::{Look, Row};

/// Keys with their effects, and what they are for the decoder if the user can change them.
const KEYS: [(&str, Option<KeyPress>, &str); 24] = [
    ("/", None, "commands"),
    ("@", None, "files and folders"),
    ("!", None, "runs a command line"),
    ("?", None, "shows these keys"),
    ("Enter", Some(KeyPress::Enter), "sends, or queues"),
    ("Ctrl+J", Some(KeyPress::Newline), "new line"),
    ("Tab", Some(KeyPress::Tab), "completes"),
    ("Up, Down", None, "earlier, later prompts"),
    ("Ctrl+R", Some(KeyPress::Search), "searches them"),
    ("Ctrl+G", Some(KeyPress::ExternalEditor), "opens your editor"),
    ("Ctrl+Y", Some(KeyPress::Yank), "inserts deleted text"),
    ("Ctrl+_", Some(KeyPress::Undo), "undoes"),
    ("Esc", None, "stops the work"),
    ("Esc Esc", None, "clears the input"),
    ("Ctrl+C", None, "stops; twice: exits"),
    ("Ctrl+Z", None, "stops Pollux until fg"),
    ("Shift+Tab", Some(KeyPress::CycleMode), "approval mode"),
    ("Alt+Up", Some(KeyPress::AltUp), "chooses a queued prompt"),
    ("Ctrl+B", Some(KeyPress::Background), "background commands"),
    ("Ctrl+T", Some(KeyPress::Todos), "to-do list"),
    ("Ctrl+O", Some(KeyPress::Transcript), "the whole conversation"),
    ("Ctrl+V", Some(KeyPress::Paste), "image of the clipboard"),
    ("Ctrl+L", Some(KeyPress::ClearScreen), "clears the screen"),
    ("/shortcuts", None, "lists all keys"),
];
/// Width of a column, in cells.
const COLUMN: usize = 39;
/// Width of the keys in it.
const KEY: usize = 12;

/// Returns the rows of the sheet, at most `height`.
pub(crate) fn rows(keys: &KeyMap, cells: usize, height: usize) -> Vec<Row> {
    let columns = (cells / COLUMN).clamp(1, 3);
    let count = KEYS.len().div_ceil(columns);
    let is_cut = count > height;
    let shown = if is_cut { height.saturating_sub(1) } else { count };
    let mut rows: Vec<Row> = (0..shown).map(|index| row(keys, index, count, cells)).collect();
    if is_cut && height > 0 {
        let hint = format!("{} more; /shortcuts lists all keys", KEYS.len() - shown * columns);
        rows.push(Row::new(Look::Dim, cut_to(&hint, cells)));
    }
    rows
}

/// Returns a row with one key of each column.
fn row(keys: &KeyMap, index: usize, count: usize, cells: usize) -> Row {
    let mut row = Row::default();
    for (column, (key, press, effect)) in KEYS.iter().skip(index).step_by(count).enumerate() {
        let start = column * COLUMN;
        row.push(Look::Plain, &" ".repeat(start.saturating_sub(row.width())));
        let changed = press.as_ref().and_then(|press| keys.changed(press));
        let changed = changed.map(|names| match names.last() {
            Some(name) => name.replace('-', "+"),
            None => "no key".to_owned(),
        });
        let key = changed.as_deref().unwrap_or(key);
        row.push(Look::Cyan, &format!("{key:<KEY$}"));
        let end = cells.min(start + COLUMN - 1);
        row.push(Look::Dim, &cut_to(effect, end.saturating_sub(start + text_width(key).max(KEY))));
    }
    row.cut(cells);
    row
}

#[cfg(test)]
mod tests {
    use pollux_input::KeyBinding;

    use super::*;

    #[test]
    fn every_key_is_listed_if_there_is_room() {
        for cells in [20, 39, 79, 119, 299] {
            let rows = rows(&KeyMap::default(), cells, 40);
            let text = rows.iter().map(|row| row.text() + "\n").collect::<String>();
            assert!(rows.iter().all(|row| row.width() <= cells), "{text}");
            for (key, _, effect) in KEYS {
                let is_whole = cells < 39 || text.contains(effect);
                assert!(text.contains(key) && is_whole, "{key} {cells}:\n{text}");
            }
        }
        assert_eq!(rows(&KeyMap::default(), 77, 40).len(), 24);
        assert_eq!(rows(&KeyMap::default(), 79, 40).len(), 12);
        assert_eq!(rows(&KeyMap::default(), 119, 40).len(), 8);
    }

    #[test]
    fn a_low_window_says_what_is_missing() {
        let rows = rows(&KeyMap::default(), 39, 5);
        assert_eq!(rows.len(), 5);
        assert!(rows[4].text().starts_with("20 more; /shortcuts"), "{rows:?}");
        assert_eq!(super::rows(&KeyMap::default(), 39, 0), []);
    }

    #[test]
    fn keys_of_the_user_are_shown() {
        let bindings = [("history.search.start", "f3"), ("-app.showFullTodos", "ctrl+t")];
        let binding = |(command, key): (&str, &str)| KeyBinding {
            line: 1,
            command: command.to_owned(),
            key: key.to_owned(),
        };
        let (keys, messages) = KeyMap::with(&bindings.map(binding), "k");
        assert_eq!(messages, [""; 0]);
        let text: Vec<String> = super::rows(&keys, 39, 40).iter().map(Row::text).collect();
        assert!(text.contains(&"F3          searches them".to_owned()), "{text:#?}");
        assert!(text.contains(&"no key      to-do list".to_owned()), "{text:#?}");
    }
}
