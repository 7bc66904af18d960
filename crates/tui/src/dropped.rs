//! Files that are dragged into the terminal: it pastes their paths. Pure, apart from the look at
//! the disk that the caller gives.

use std::path::Path;

use pollux_protocol::escaped_path;

/// Maximum length of a pasted text that may be paths, in bytes.
const LONGEST: usize = 4096;

/// Returns the references to the files that a pasted text consists of, absolute paths or `file:`
/// addresses; `None` for any other text. `is_readable` looks at the disk.
pub(crate) fn references(text: &str, is_readable: &dyn Fn(&Path) -> bool) -> Option<String> {
    let text = text.trim();
    if text.len() > LONGEST || !text.starts_with(['/', '\'', '"', 'f']) {
        return None;
    }
    let is_file = |path: &str| path.starts_with('/') && is_readable(Path::new(path));
    let paths = if is_file(text) { vec![text.to_owned()] } else { words(text)? };
    let paths: Vec<String> = paths.into_iter().map(plain).collect::<Option<_>>()?;
    let is_dropped = !paths.is_empty() && paths.iter().all(|path| is_file(path));
    let reference = |path: &String| format!("@{} ", escaped_path(path));
    is_dropped.then(|| paths.iter().map(reference).collect())
}

/// Returns the path of a `file:` address, and every other text unchanged.
fn plain(word: String) -> Option<String> {
    let Some(address) = word.strip_prefix("file://") else { return Some(word) };
    let address = address.strip_prefix("localhost").unwrap_or(address);
    let path = percent_encoding::percent_decode_str(address).decode_utf8().ok()?;
    Some(path.into_owned())
}

/// Splits a text as a shell does; `None` if a quote has no end.
fn words(text: &str) -> Option<Vec<String>> {
    let (mut words, mut word) = (Vec::new(), None::<String>);
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\'' | '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match letters.next()? {
                        end if end == letter => break,
                        '\\' if letter == '"' => word.push(letters.next()?),
                        inside => word.push(inside),
                    }
                }
            }
            '\\' => word.get_or_insert_default().push(letters.next()?),
            blank if blank.is_whitespace() => words.extend(word.take()),
            letter => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    Some(words)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn pasted_files_become_references() {
        let files = ["/p/a.png", "/p/b c.png", "/p/it's", "/p/d\\e"];
        let is_readable = |path: &Path| files.iter().any(|file| Path::new(file) == path);
        for (text, expected) in [
            ("/p/a.png", Some("@/p/a.png ")),
            ("/p/a.png ", Some("@/p/a.png ")),
            ("/p/b c.png", Some("@/p/b\\ c.png ")),
            ("/p/b\\ c.png", Some("@/p/b\\ c.png ")),
            ("'/p/a.png' '/p/b c.png' ", Some("@/p/a.png @/p/b\\ c.png ")),
            ("\"/p/it's\"", Some("@/p/it's ")),
            ("'/p/it'\\''s'", Some("@/p/it's ")),
            ("/p/a.png\n/p/b\\ c.png\n", Some("@/p/a.png @/p/b\\ c.png ")),
            ("/p/d\\e", Some("@/p/d\\\\e ")),
            ("file:///p/b%20c.png", Some("@/p/b\\ c.png ")),
            ("file://localhost/p/a.png\r\n", Some("@/p/a.png ")),
            ("/p/a.png and words", None),
            ("/p/none.png", None),
            ("'/p/a.png", None),
            ("file://%ff", None),
            ("'' ''", None),
            ("p/a.png", None),
            ("for a while", None),
            ("", None),
        ] {
            assert_eq!(references(text, &is_readable).as_deref(), expected, "{text:?}");
        }
    }
}
