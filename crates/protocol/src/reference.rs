//! Paths as they are written after an `@`. Pure.

/// Returns a path with a backslash before the characters that would end it.
pub fn escaped_path(path: &str) -> String {
    let mut escaped = String::with_capacity(path.len());
    for letter in path.chars() {
        if " ,;!?()[]{}\"\\@".contains(letter) {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}

/// Returns a path without its backslashes, except for an escaped one.
pub fn unescaped_path(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => plain.extend(letters.next()),
            letter => plain.push(letter),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_survives() {
        for path in ["src/main.rs", "a b (c).md", "back\\slash", "@x, y!", "漢字"] {
            assert_eq!(unescaped_path(&escaped_path(path)), path);
        }
        assert_eq!(escaped_path("a b"), "a\\ b");
    }
}
