//! Conversion of a command to a list of words, and back. Pure functions.

/// Splits a command like a shell: blanks separate words, quotes and backslashes keep them together.
/// Shell operators (`|`, `&&`, `>`) have no meaning here and are left out, as in Gemini CLI 0.61.
pub(super) fn split(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut letters = command.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\'' => {
                let word = word.get_or_insert_default();
                word.extend(letters.by_ref().take_while(|letter| *letter != '\''));
            }
            '"' => double_quoted(word.get_or_insert_default(), &mut letters),
            '\\' => word.get_or_insert_default().extend(letters.next()),
            '|' | '&' | ';' | '<' | '>' | '(' | ')' => words.extend(word.take()),
            blank if blank.is_whitespace() => words.extend(word.take()),
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    words
}

/// Reads up to the closing quote. A backslash escapes only the characters that it also escapes in a
/// shell's double quotes.
fn double_quoted(word: &mut String, letters: &mut std::str::Chars<'_>) {
    while let Some(letter) = letters.next() {
        match letter {
            '"' => return,
            '\\' => match letters.next() {
                Some(escaped @ ('"' | '\\' | '$' | '`')) => word.push(escaped),
                other => word.extend(std::iter::once('\\').chain(other)),
            },
            other => word.push(other),
        }
    }
}

/// Returns a script that only runs these words as a program and its arguments.
pub(super) fn script(words: &[String]) -> String {
    if cfg!(windows) {
        let quoted = words.iter().map(|word| format!("'{}'", word.replace('\'', "''")));
        return format!("& {}", quoted.collect::<Vec<_>>().join(" "));
    }
    let quoted = words.iter().map(|word| format!("'{}'", word.replace('\'', r"'\''")));
    // `exec` replaces the shell, so that exit code and signals are those of the program. `--` ends
    // the options of `exec`.
    format!("exec -- {}", quoted.collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_of_a_command() {
        let table: [(&str, &[&str]); 11] = [
            ("", &[]),
            ("  \t\n", &[]),
            ("./discover", &["./discover"]),
            ("a  b\tc", &["a", "b", "c"]),
            ("a 'b c' \"d e\"", &["a", "b c", "d e"]),
            (r#"a"b"'c'd \ e"#, &["abcd", " e"]),
            (r#""a\"b\\c\n""#, &[r#"a"b\c\n"#]),
            ("a '' \"\"", &["a", "", ""]),
            ("a b | cat", &["a", "b", "cat"]),
            ("a>b;c&&d", &["a", "b", "c", "d"]),
            ("a 'open \"quote", &["a", "open \"quote"]),
        ];
        for (command, expected) in table {
            assert_eq!(split(command), expected, "{command}");
        }
    }

    proptest! {
        #[test]
        fn what_is_quoted_comes_back(words in proptest::collection::vec("\\PC{0,8}", 1..5)) {
            if cfg!(unix) {
                let script = script(&words);
                prop_assert_eq!(split(script.strip_prefix("exec -- ").unwrap()), words);
            }
        }
    }
}
