//! Short descriptions of items on one line, safe to print.

use std::collections::BTreeMap;

use pollux_protocol::ConsentItem;
use pollux_protocol::plain_text::visible;

/// Maximum number of names on a line. Further names are counted.
const NAMES: usize = 5;
/// Maximum number of characters of a name on a line.
const LETTERS: usize = 80;

/// Returns the items by kind: their count and the first names.
pub fn by_kind(items: &[&ConsentItem]) -> Vec<(String, String)> {
    let mut kinds: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for item in items {
        kinds.entry(&item.kind).or_default().push(&item.name);
    }
    let listed = kinds.into_iter().map(|(kind, names)| {
        let more = names.len().saturating_sub(NAMES);
        let mut shown: Vec<String> = names.iter().take(NAMES).map(|name| short(name)).collect();
        shown.extend((more > 0).then(|| format!("{more} more")));
        (counted(kind, names.len()), shown.join(", "))
    });
    listed.collect()
}

/// Returns a kind with its count: `1 hook`, `2 policies`.
pub fn counted(kind: &str, count: usize) -> String {
    match (count, kind.strip_suffix('y')) {
        (1, _) => format!("1 {kind}"),
        (_, Some(stem)) => format!("{count} {stem}ies"),
        (_, None) => format!("{count} {kind}s"),
    }
}

/// Returns a name that is safe and short enough for one line.
pub fn short(name: &str) -> String {
    let shown = visible(name);
    match shown.char_indices().nth(LETTERS) {
        Some((end, _)) => format!("{}...", &shown[..end]),
        None => shown,
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::super::item;
    use super::*;

    #[test]
    fn kinds_are_listed_with_a_few_names() {
        let hooks: Vec<_> =
            (0..7).map(|number| item("hook", &format!("h{number}"), String::new(), b"")).collect();
        let policy = item("policy", "a\u{1b}[2K\u{202e}", String::new(), b"");
        let all: Vec<_> = hooks.iter().chain([&policy]).collect();
        assert_eq!(
            by_kind(&all),
            [
                ("7 hooks".to_owned(), "h0, h1, h2, h3, h4, 2 more".to_owned()),
                ("1 policy".to_owned(), "a\\u{1b}[2K\\u{202e}".to_owned()),
            ]
        );
        assert_eq!(counted("policy", 2), "2 policies");
        assert_eq!(short(&"x".repeat(100)).len(), 83);
    }
}
