//! The list of earlier prompts that a search finds, below the input. Pure.

use pollux_input::SearchMatches;

use crate::fold::{cut_row, cut_to};
use crate::row::{Look, Row};

/// Maximum number of prompts that are shown at a time.
const SHOWN: usize = 8;
/// Number of characters before a match that are shown if the beginning of the prompt has no room.
const BEFORE: usize = 12;

/// Returns the rows, at most `height`.
pub(crate) fn rows(found: &SearchMatches<'_>, cells: usize, height: usize) -> Vec<Row> {
    let all = found.lines.len();
    let count = all.min(SHOWN).min(height.saturating_sub(1));
    let selected = found.selected.unwrap_or(0);
    let start = selected.saturating_sub(count / 2).min(all - count);
    let mut rows: Vec<Row> = (start..start + count)
        .map(|index| row(found.lines[index], found.query, found.selected == Some(index), cells))
        .collect();
    let place = match found.selected {
        _ if all == 0 => "no earlier prompt".to_owned(),
        Some(selected) => format!("{} of {all}", selected + 1),
        None => format!("{all} earlier"),
    };
    let hint =
        format!("  {place} \u{b7} Enter sends \u{b7} Tab edits \u{b7} Esc gives the text back");
    rows.push(Row::new(Look::Dim, cut_to(&hint, cells)));
    rows
}

/// Returns a prompt in one row, with its first match.
fn row(line: &str, query: &str, is_selected: bool, cells: usize) -> Row {
    let (mark, look) = if is_selected { ("> ", Look::Cyan) } else { ("  ", Look::Plain) };
    // The same length in bytes, so that positions stay.
    let folded = if query.contains(char::is_uppercase) {
        line.to_owned()
    } else {
        line.to_ascii_lowercase()
    };
    let at = line.find(query).or_else(|| folded.find(query)).unwrap_or(0);
    let end = at + query.len();
    let shown_before = line[..at].chars().count();
    let is_far = mark.len() + shown_before + query.chars().count() > cells;
    let start = if is_far && shown_before > BEFORE {
        let (start, _) = line[..at].char_indices().rev().nth(BEFORE - 1).unwrap_or((0, ' '));
        start
    } else {
        0
    };
    let cut = if start > 0 { "..." } else { "" };
    let row = Row::new(look, mark)
        .with(Look::Dim, cut)
        .with(look, &line[start..at])
        .with(Look::Found, &line[at..end])
        .with(look, &line[end..]);
    cut_row(row, cells)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn texts(rows: &[Row]) -> Vec<String> {
        rows.iter().map(Row::text).collect()
    }

    #[test]
    fn matches_are_listed_with_their_position() {
        let found = SearchMatches {
            query: "it",
            lines: vec!["git pull", "wait\nfor it", "GIT"],
            selected: Some(1),
        };
        let shown = rows(&found, 40, 9);
        assert_eq!(
            texts(&shown),
            [
                "  git pull",
                "> wait for it",
                "  GIT",
                "  2 of 3 \u{b7} Enter sends \u{b7} Tab edits \u{b7} ...",
            ]
        );
        let pieces: Vec<_> = shown[2].pieces().collect();
        assert_eq!(pieces, [(Look::Plain, "  G"), (Look::Found, "IT")]);
        assert_eq!(texts(&rows(&found, 40, 2))[..1], ["> wait for it"]);
        assert_eq!(rows(&found, 40, 2).len(), 2);
        let none = SearchMatches { query: "x", lines: Vec::new(), selected: None };
        assert!(texts(&rows(&none, 40, 9))[0].starts_with("  no earlier prompt"));
    }

    #[test]
    fn a_match_far_from_the_beginning_is_shown() {
        let line = format!("{} needle here", "hay ".repeat(40));
        let found = SearchMatches { query: "needle", lines: vec![&line], selected: None };
        let shown = texts(&rows(&found, 40, 9));
        assert_eq!(shown[0], "  ...ay hay hay  needle here");
        for cells in 2..60 {
            assert!(rows(&found, cells, 9).iter().all(|row| row.width() <= cells), "{cells}");
        }
    }
}
