//! Prompts and messages as rows. Pure.

use pollux_input::Tone;
use pollux_protocol::Severity;

use crate::fold::{Breaks, Room, cut_to, fold};
use crate::row::{Look, Row};

/// Returns the rows of a prompt, at most `most`, with a note if there are more.
pub(crate) fn prompt_rows(text: &str, cells: usize, most: usize) -> Vec<Row> {
    let mut rows = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let (mark, room) = match index {
            0 => ("> ", Room::new(cells).hanging(2)),
            _ => ("", Room::new(cells).indented(2)),
        };
        let line = line.replace('\t', "    ");
        let row = Row::new(Look::Cyan, mark).with(Look::Plain, &line);
        rows.extend(fold(&row, room, Breaks::Words));
        if rows.len() > most {
            rows.truncate(most);
            let count = text.lines().count();
            let note = format!("[prompt of {count} lines; not all of it is shown]");
            rows.push(Row::new(Look::Dim, cut_to(&note, cells)));
            break;
        }
    }
    rows
}

/// Returns the rows of a message of one or more lines.
pub(crate) fn notice_rows(look: Look, text: &str, cells: usize) -> Vec<Row> {
    let rows = |line: &str| {
        let line = line.replace('\t', "    ");
        let indent = line.len() - line.trim_start_matches(' ').len();
        fold(&Row::new(look, line), Room::new(cells).hanging(indent), Breaks::Words)
    };
    text.lines().flat_map(rows).collect()
}

/// Returns the look of a message of this severity, and its text with its mark.
pub(crate) fn look_of(severity: Severity, text: &str) -> (Look, String) {
    match severity {
        Severity::Info => (Look::Plain, text.to_owned()),
        Severity::Warning => (Tone::Warning.into(), format!("! {text}")),
        Severity::Error => (Tone::Error.into(), format!("x {text}")),
    }
}
