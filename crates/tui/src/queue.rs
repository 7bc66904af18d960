//! The prompts that wait for the end of the work, as rows. Pure.

use pollux_protocol::plain_text::{for_terminal, one_line};

use crate::fold::cut_to;
use crate::row::{Look, Row};

/// Maximum number of prompts that are shown.
const SHOWN: usize = 3;
/// Title of the queue. Programs wait for it.
const TITLE: &str = "Queued (press \u{2191} to edit):";
/// Title while a prompt is chosen.
const CHOSEN: &str =
    "Queued: Enter edits \u{b7} Delete removes \u{b7} Shift+\u{2191}\u{2193} moves";

/// Returns the rows of the queue, of which one prompt may be chosen.
pub(crate) fn rows(queue: &[&str], chosen: Option<usize>, cells: usize) -> Vec<Row> {
    if queue.is_empty() {
        return Vec::new();
    }
    let title = match chosen {
        Some(_) => CHOSEN.to_owned(),
        None if queue.len() > 1 => format!("{TITLE} Alt+\u{2191} chooses one"),
        None => TITLE.to_owned(),
    };
    let mut rows = vec![Row::new(Look::Dim, cut_to(&title, cells))];
    let start = chosen.map_or(0, |chosen| (chosen + 1).saturating_sub(SHOWN));
    for (index, prompt) in queue.iter().enumerate().skip(start).take(SHOWN) {
        let (mark, look) =
            if chosen == Some(index) { ("> ", Look::Cyan) } else { ("  ", Look::Dim) };
        let text = one_line(&for_terminal(prompt));
        rows.push(Row::new(look, cut_to(&format!("{mark}{text}"), cells)));
    }
    let more = queue.len() - (rows.len() - 1);
    if more > 0 {
        rows.push(Row::new(Look::Dim, cut_to(&format!("  ... (+{more} more)"), cells)));
    }
    rows
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn texts(queue: &[&str], chosen: Option<usize>) -> Vec<String> {
        rows(queue, chosen, 79).iter().map(Row::text).collect()
    }

    #[test]
    fn the_first_prompts_or_the_chosen_one_are_shown() {
        assert_eq!(texts(&[], None), Vec::<String>::new());
        assert_eq!(texts(&["a\nb"], None), ["Queued (press \u{2191} to edit):", "  a b"]);
        let all = ["a", "b", "c", "d", "e"];
        let shown = texts(&all, None);
        assert_eq!(shown[1..], ["  a", "  b", "  c", "  ... (+2 more)"]);
        assert!(shown[0].ends_with("Alt+\u{2191} chooses one"), "{shown:?}");
        let shown = texts(&all, Some(4));
        assert_eq!(shown[1..], ["  c", "  d", "> e", "  ... (+2 more)"]);
        assert!(shown[0].contains("Delete removes"), "{shown:?}");
    }
}
