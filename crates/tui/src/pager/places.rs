//! Files that a text names, with lines: `src/main.rs:12:5`. Pure.

use pollux_input::FilePlace;

/// Maximum number of files that are looked for in a text.
const MOST: usize = 200;
/// Maximum length of a name, in bytes.
const LONGEST: usize = 1024;

/// Characters that surround names in texts.
const AROUND: &[char] = &['`', '"', '\'', '(', ')', '[', ']', '<', '>', '{', '}', ',', ';', '*'];

/// Returns what may be the name of a file in a text, in the order of the text. Only the disk tells
/// which of them exist.
pub(super) fn in_text(text: &str) -> Vec<FilePlace> {
    let words = text.split(|letter: char| letter.is_whitespace() || AROUND.contains(&letter));
    words.filter_map(place).take(MOST).collect()
}

fn place(word: &str) -> Option<FilePlace> {
    let word = word.strip_prefix("file://").unwrap_or(word).trim_end_matches(['.', '!', '?']);
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
    let line = next.and_then(|line| line.parse().ok()).filter(|line| *line > 0);
    Some(FilePlace { path: path.into(), line })
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
}
