//! Insertion of a text as an argument into a command line, in place of a placeholder.
//!
//! Whatever the text holds, the shell takes it as data: it is quoted in the way that its place
//! requires. Pure.

use super::{quote, quoted};
use crate::shell::Dialect;

/// Error of a placeholder at which a text cannot be quoted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "{place}, the placeholder cannot be replaced by this text, because it cannot be quoted there"
)]
pub struct CannotQuote {
    /// The place, at the beginning of a sentence: `In a here-document`.
    place: &'static str,
}

/// Place of a character in a command line, as far as quoting depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Outside of quotes.
    Word,
    /// Between single quotes.
    Single,
    /// Between double quotes.
    Double,
    /// A place where no way of quoting is certain.
    Unclear(&'static str),
}

/// Returns a command line in which each `placeholder` is replaced by `text`, quoted for its place.
/// Outside of quotes the text becomes a single word, and an empty text the empty word. Placeholders
/// in the text itself are not replaced.
///
/// # Errors
/// For a placeholder in a place for which no quoting is certain, such as a here-document, unless
/// the text needs none.
pub fn with_argument(
    line: &str,
    placeholder: &str,
    text: &str,
    dialect: Dialect,
) -> Result<String, CannotQuote> {
    let mut result = String::with_capacity(line.len() + text.len());
    let mut scanner = Scanner::new(line, dialect);
    let mut end = 0;
    for (start, found) in line.match_indices(placeholder) {
        result.push_str(&line[end..start]);
        end = start + found.len();
        let is_plain = quoted(text) == text;
        match (scanner.place_at(start), dialect) {
            (Place::Word, Dialect::PowerShell) => {
                result.extend(["'", &text.replace('\'', "''"), "'"]);
            }
            (Place::Word, _) => result.push_str(&quoted(text)),
            (Place::Single, _) => {
                let inside = quote(text);
                result.push_str(&inside[1..inside.len() - 1]);
            }
            (Place::Double, _) => {
                for letter in text.chars() {
                    if matches!(letter, '\\' | '"' | '$' | '`') {
                        result.push('\\');
                    }
                    result.push(letter);
                }
            }
            (Place::Unclear(_), _) if is_plain => result.push_str(text),
            (Place::Unclear(place), _) => return Err(CannotQuote { place }),
        }
    }
    result.push_str(&line[end..]);
    Ok(result)
}

/// Part of a line that is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    /// Commands: the whole line, or a command substitution with this many open parentheses.
    Commands { parentheses: usize },
    /// Double quotes.
    Double,
}

/// Scanner for the quotes of a line. It takes a place as unclear as soon as the line contains
/// something that it does not follow.
struct Scanner<'a> {
    line: &'a str,
    position: usize,
    open: Vec<Open>,
    /// End of the single quotes that were scanned last.
    single_until: usize,
    unclear: Option<&'static str>,
    is_word_start: bool,
}

/// Maximum number of quotes and substitutions inside of each other.
const MAX_OPEN: usize = 32;

impl<'a> Scanner<'a> {
    fn new(line: &'a str, dialect: Dialect) -> Self {
        let words = |word: &str| {
            line.split(|letter: char| !letter.is_alphanumeric()).any(|own| own == word)
        };
        let unclear = match dialect {
            Dialect::PowerShell if line.contains(['"', '\'', '`', '$', '@', '#']) => {
                Some("Beside quotes and variables of PowerShell")
            }
            // The parenthesis behind a pattern would look like the end of a substitution.
            _ if words("esac") => Some("In a line with the keyword case"),
            _ => None,
        };
        Self {
            line,
            position: 0,
            open: vec![Open::Commands { parentheses: 0 }],
            single_until: 0,
            unclear,
            is_word_start: true,
        }
    }

    /// Returns the place of a position. Positions must be given in order.
    fn place_at(&mut self, position: usize) -> Place {
        while self.position < position && self.unclear.is_none() {
            self.step();
        }
        match (self.unclear, self.open.last()) {
            (Some(reason), _) => Place::Unclear(reason),
            _ if position < self.single_until => Place::Single,
            (None, Some(Open::Double)) => Place::Double,
            (None, _) => Place::Word,
        }
    }

    fn step(&mut self) {
        let rest = &self.line[self.position..];
        let Some(letter) = rest.chars().next() else { return };
        let in_double = self.open.last() == Some(&Open::Double);
        let after = &rest[letter.len_utf8()..];
        let mut length = letter.len_utf8();
        match letter {
            '\\' => length += after.chars().next().map_or(0, char::len_utf8),
            '\'' if !in_double => {
                let end = after.find('\'').map_or(rest.len(), |end| end + 2);
                self.single_until = self.position + end;
                length = end;
            }
            '"' if in_double => drop(self.open.pop()),
            '"' => self.enter(Open::Double),
            '$' if after.starts_with("((") => self.unclear = Some("In an arithmetic expression"),
            '$' if after.starts_with('(') => {
                self.enter(Open::Commands { parentheses: 0 });
                length += 1;
            }
            '$' if after.starts_with('{') => self.unclear = Some("After the braces of a variable"),
            '$' if after.starts_with('\'') && !in_double => {
                self.unclear = Some("After quotes with escapes ($'…')");
            }
            '`' => self.unclear = Some("After a backquote"),
            '<' if after.starts_with("<<") && !in_double => length += 2,
            '<' if after.starts_with('<') && !in_double => {
                self.unclear = Some("In or after a here-document");
            }
            '#' if self.is_word_start && !in_double => self.unclear = Some("In or after a comment"),
            '(' if !in_double => self.parenthesis(1),
            ')' if !in_double => self.parenthesis(-1),
            _ => {}
        }
        self.is_word_start = letter.is_ascii_whitespace() || ";&|()".contains(letter);
        self.position += length;
    }

    fn enter(&mut self, part: Open) {
        self.open.push(part);
        if self.open.len() > MAX_OPEN {
            self.unclear = Some("In deeply nested quotes");
        }
    }

    /// Counts a parenthesis between commands. The one that closes a substitution ends it.
    fn parenthesis(&mut self, change: isize) {
        let is_nested = self.open.len() > 1;
        let Some(Open::Commands { parentheses }) = self.open.last_mut() else { return };
        match parentheses.checked_add_signed(change) {
            Some(count) => *parentheses = count,
            None if is_nested => drop(self.open.pop()),
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use proptest::prelude::*;

    use super::*;

    const ARGS: &str = "{{args}}";

    fn inserted(line: &str, text: &str) -> String {
        with_argument(line, ARGS, text, Dialect::Bash).unwrap_or_else(|error| error.to_string())
    }

    #[test]
    fn a_text_is_quoted_for_its_place() {
        for (line, text, expected) in [
            ("ls {{args}}", "src", "ls src"),
            ("ls {{args}}", "a b", "ls 'a b'"),
            ("ls {{args}}", "", "ls ''"),
            ("ls {{args}}", "it's", r"ls 'it'\''s'"),
            ("ls {{args}} {{args}}", "$(id)", "ls '$(id)' '$(id)'"),
            ("ls {{args}}", "{{args}}", "ls '{{args}}'"),
            ("ls \"{{args}}\"", "$(id)\"`\\", "ls \"\\$(id)\\\"\\`\\\\\""),
            ("ls '{{args}}'", "it's $x", r"ls 'it'\''s $x'"),
            ("ls \"$(cat {{args}})\" \"{{args}}\"", "a b", "ls \"$(cat 'a b')\" \"a b\""),
            ("ls \"$(cat \"{{args}}\" (x))\" {{args}}", "a b", "ls \"$(cat \"a b\" (x))\" 'a b'"),
            ("ls \\\" {{args}}", "a b", "ls \\\" 'a b'"),
            ("ls a#b {{args}}", "a b", "ls a#b 'a b'"),
            ("cat <<< {{args}}", "a b", "cat <<< 'a b'"),
        ] {
            assert_eq!(inserted(line, text), expected, "{line} with {text:?}");
        }
    }

    #[test]
    fn only_a_harmless_text_stands_where_quoting_is_unclear() {
        for line in [
            "cat <<END\n{{args}}\nEND",
            "ls $'{{args}}'",
            "ls `ls {{args}}`",
            "echo $((1 + {{args}}))",
            "echo \"${x:-{{args}}}\"",
            "ls # {{args}}",
            "case x in (a) ls \"$(case y in b) echo {{args}};; esac)\";; esac",
        ] {
            assert_eq!(inserted(line, "a-b.c"), line.replace(ARGS, "a-b.c"));
            let refused = inserted(line, "a b");
            assert!(refused.contains("cannot be quoted there"), "{line}: {refused}");
        }
        let powershell = |line, text| with_argument(line, ARGS, text, Dialect::PowerShell);
        assert_eq!(powershell("ls {{args}}", "it's").unwrap(), "ls 'it''s'");
        assert!(powershell("ls \"{{args}}\"", "a b").is_err());
    }

    /// Lines in which the placeholder is one word, or the middle of one.
    const LINES: [&str; 6] = [
        "p {{args}}",
        "p \"{{args}}\"",
        "p '{{args}}'",
        "p \"$(q {{args}})\"",
        "p \"$(q \"{{args}}\")\"",
        "p \"$(q '{{args}}')\"",
    ];

    /// Runs all lines in one bash. `p` prints its arguments with a NUL behind each; `q` prints its
    /// only argument. A dot keeps line ends at the end of a substitution.
    #[cfg(unix)]
    fn words(lines: &[String]) -> Vec<String> {
        use std::io::Write as _;
        use std::process::{Command, Stdio};

        let mut script =
            "p() { printf '%s\\0' \"$#\" \"$@\"; }\nq() { printf '%s' \"$#:$1\"; }\n".to_owned();
        script.extend(lines.iter().map(|line| format!("{line}\n")));
        let mut bash = Command::new("bash");
        bash.arg("--norc").arg("-s").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = bash.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let writing = std::thread::spawn(move || stdin.write_all(script.as_bytes()));
        let output = child.wait_with_output().unwrap();
        writing.join().unwrap().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        text.split_terminator('\0').map(str::to_owned).collect()
    }

    #[cfg(unix)]
    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn bash_receives_every_text_as_one_word(
            texts in prop::collection::vec("[ -~\n\t€é\u{1}]{0,24}|[$`\"'\\\\(){};&|<>!#~*? a\n]{0,24}", 40)
        ) {
            let lines: Vec<String> =
                texts.iter().flat_map(|text| LINES.map(|line| inserted(line, text))).collect();
            let found = words(&lines);
            let mut expected = Vec::new();
            for text in &texts {
                for line in LINES {
                    expected.push("1".to_owned());
                    // A substitution loses the line ends at its end.
                    let word = if line.contains('q') {
                        format!("1:{text}").trim_end_matches('\n').to_owned()
                    } else {
                        text.clone()
                    };
                    expected.push(word);
                }
            }
            prop_assert_eq!(found, expected);
        }
    }
}
