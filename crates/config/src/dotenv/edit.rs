//! Changes of one variable in the text of a `.env` file.

use super::syntax::{Assignment, BREAKS, assignments, parse};

/// Sets a variable in a `.env` text, or removes it. Everything else stays as it is: other
/// variables, comments, `export`, the order, line breaks. Of several assignments of the name, the
/// last one, which is in effect, is changed; all of them are removed.
///
/// Returns `None` if the syntax, which has no escapes, has no form for the value.
pub fn assign(text: &str, name: &str, value: Option<&str>) -> Option<String> {
    let all = assignments(text);
    let own: Vec<&Assignment<'_>> = all.iter().filter(|one| one.name == name).collect();
    let mut expected = parse(text);
    let Some(value) = value else {
        expected.retain(|(known, _)| known != name);
        let changed = without(text, &own);
        return (parse(&changed) == expected).then_some(changed);
    };
    match expected.iter_mut().find(|(known, _)| known == name) {
        Some((_, known)) => value.clone_into(known),
        None => expected.push((name.to_owned(), value.to_owned())),
    }
    let changed = forms(value).map(|form| match own.last() {
        Some(Assignment { written, .. }) => {
            format!("{}{form}{}", &text[..written.start], &text[written.end..])
        }
        None => appended(text, &format!("{name}={form}")),
    });
    // A quotation mark may open or close a quotation elsewhere in the text.
    changed.into_iter().find(|changed| parse(changed) == expected)
}

/// Returns the forms in which a value may be written, the preferred one first.
fn forms(value: &str) -> impl Iterator<Item = String> {
    let needs_quotes = value.contains([' ', '#', '"', '\'', '`']);
    let plain = (!needs_quotes).then(|| value.to_owned());
    plain.into_iter().chain(['"', '\'', '`'].map(|quote| format!("{quote}{value}{quote}")))
}

/// Returns the text without the lines of these assignments.
fn without(text: &str, removed: &[&Assignment<'_>]) -> String {
    let mut kept = String::new();
    let mut from = 0;
    for Assignment { start, written, .. } in removed {
        let line = text[..*start].rfind(BREAKS).map_or(0, |at| at + 1);
        // Only a byte order mark can precede the first line.
        let line = if text[line..].starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { line };
        kept.push_str(&text[from..line]);
        let after = &text[written.end..];
        let below = after.find(BREAKS).map_or("", |at| &after[at..]);
        let below = below.strip_prefix("\r\n").unwrap_or_else(|| below.get(1..).unwrap_or(""));
        from = text.len() - below.len();
    }
    kept + &text[from..]
}

/// Returns the text with another line at its end.
fn appended(text: &str, line: &str) -> String {
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let between = if text.is_empty() || text.ends_with(BREAKS) { "" } else { end };
    format!("{text}{between}{line}{end}")
}
