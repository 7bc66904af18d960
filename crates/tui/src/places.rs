//! Files that a text names, with lines: `src/main.rs:12:5`. Pure.

use std::ops::Range;

use pollux_input::FilePlace;

/// Maximum number of files that are looked for in a text.
const MOST: usize = 200;
/// Maximum length of a name, in bytes.
const LONGEST: usize = 1024;

/// Characters that surround names in texts.
const AROUND: &[char] = &['`', '"', '\'', '(', ')', '[', ']', '<', '>', '{', '}', ',', ';', '*'];

/// Returns what may be the name of a file in a text, in the order of the text. Only the disk tells
/// which of them exist.
pub(crate) fn in_text(text: &str) -> Vec<FilePlace> {
    ranges_in_text(text).map(|(_, place)| place).take(MOST).collect()
}

/// Returns what may be the name of a file in a text, with its position in bytes: that of the name
/// with its line and column.
pub(crate) fn ranges_in_text(text: &str) -> impl Iterator<Item = (Range<usize>, FilePlace)> {
    let words = text.split(|letter: char| letter.is_whitespace() || AROUND.contains(&letter));
    words.filter_map(|word| {
        let start = word.as_ptr().addr() - text.as_ptr().addr();
        let (range, place) = place(word)?;
        Some((start + range.start..start + range.end, place))
    })
}

fn place(word: &str) -> Option<(Range<usize>, FilePlace)> {
    let start = if word.starts_with("file://") { "file://".len() } else { 0 };
    let word = word.trim_end_matches(['.', '!', '?']).get(start..)?;
    let mut pieces = word.split(':');
    let path = pieces.next()?;
    let is_name = path.len() <= LONGEST
        && path.contains(['/', '.'])
        && path.contains(char::is_alphanumeric)
        && !path.contains(char::is_control);
    // An address has two slashes after its colon.
    let next = pieces.next().filter(|next| !next.is_empty());
    if !is_name || next.is_some_and(|next| next.starts_with("//")) {
        return None;
    }
    let mut end = start + path.len();
    let line = next.and_then(number).filter(|line| *line > 0);
    if let (Some(next), Some(_)) = (next, line) {
        end += 1 + next.len();
        end += pieces.next().filter(|piece| number(piece).is_some()).map_or(0, |it| 1 + it.len());
    }
    Some((start..end, FilePlace { path: path.into(), line }))
}

/// Returns a number, or the first number of a range such as `7-12`.
fn number(text: &str) -> Option<u32> {
    let (first, last) = text.split_once('-').unwrap_or((text, "0"));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (is_number(first) && is_number(last)).then(|| first.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn names_with_lines_are_found() {
        let text = "See `src/main.rs:12:5`, (a.py), https://a.b/c:1 and 3.5: /etc/hosts. x: y\n\
                    error[E1]: no\n  --> crates/a/b.rs:7:1\nMakefile.am:0 file:///p/q.c:3";
        let found: Vec<(String, Option<u32>)> = in_text(text)
            .into_iter()
            .map(|place| (place.path.display().to_string(), place.line))
            .collect();
        let expected = [
            ("src/main.rs", Some(12)),
            ("a.py", None),
            ("3.5", None),
            ("/etc/hosts", None),
            ("crates/a/b.rs", Some(7)),
            ("Makefile.am", None),
            ("/p/q.c", Some(3)),
        ];
        let expected = expected.map(|(path, line)| (path.to_owned(), line));
        assert_eq!(found, expected);
        assert_eq!(in_text(&"a.b ".repeat(10_000)).len(), MOST);
    }

    #[test]
    fn a_place_includes_its_line_and_column() {
        for (text, expected) in [
            ("a.rs:7", "a.rs:7"),
            ("a.rs:7:12 is", "a.rs:7:12"),
            ("at a.rs:7:", "a.rs:7"),
            ("a.rs:7: error", "a.rs:7"),
            ("a.rs:7:fn main()", "a.rs:7"),
            ("(a.rs:7-12).", "a.rs:7-12"),
            ("a.rs:7-x", "a.rs"),
            ("a.rs:x", "a.rs"),
            ("a.rs:-1", "a.rs"),
            ("a.rs:99999999999", "a.rs"),
            ("\u{6f22} file:///p/q.c:3!", "/p/q.c:3"),
        ] {
            let (range, _) = ranges_in_text(text).next().unwrap();
            assert_eq!(&text[range], expected, "{text}");
        }
    }
}
