//! Front matter of a `SKILL.md`: YAML between two lines `---`.
//!
//! Many files have a description with an unquoted colon, which is no YAML. Like Gemini CLI, Pollux
//! then reads the two keys line by line.

use std::collections::BTreeMap;

use pollux_protocol::plain_text::one_line;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Maximum length of a name, in characters.
const MAX_NAME: usize = 100;
/// Maximum length of a description, in characters. The rest is left out.
const MAX_DESCRIPTION: usize = 4096;
/// Line before and after the front matter.
const FENCE: &str = "---";
/// Characters that a name cannot have, because it becomes the name of a folder. Each of them
/// becomes `-`.
const NOT_IN_NAMES: &str = ":\\/<>*?\"|";

/// Name and description of a skill, each in one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrontMatter {
    /// Name.
    pub name: String,
    /// Description of the tasks that the skill is for.
    pub description: String,
}

/// Reason why a text is no skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FrontMatterError {
    /// The first line is not `---`.
    #[error("it does not begin with front matter (a line ---)")]
    Missing,
    /// There is no second line `---`.
    #[error("its front matter has no end (a second line ---)")]
    Unclosed,
    /// There is no name.
    #[error("its front matter has no name")]
    NoName,
    /// The name cannot be the name of a folder.
    #[error("its name begins with a dot, or is longer than {MAX_NAME} characters")]
    InvalidName,
    /// There is no description.
    #[error("its front matter has no description")]
    NoDescription,
}

/// Reads the front matter at the beginning of a text. Returns it with the rest of the text, without
/// blanks around it.
///
/// # Errors
/// The reason why the text is no skill.
pub fn front_matter(text: &str) -> Result<(FrontMatter, &str), FrontMatterError> {
    let (yaml, body) = parts(text)?;
    let values = if is_plain(yaml) { None } else { from_yaml(yaml) };
    let values = values.unwrap_or_else(|| from_lines(yaml));
    let name = one_line(&values.0.unwrap_or_default());
    let name: String = name
        .chars()
        .map(|letter| if NOT_IN_NAMES.contains(letter) { '-' } else { letter })
        .collect();
    let description = one_line(&values.1.unwrap_or_default());
    if name.is_empty() {
        return Err(FrontMatterError::NoName);
    }
    if name.starts_with('.') || name.chars().count() > MAX_NAME {
        return Err(FrontMatterError::InvalidName);
    }
    if description.is_empty() {
        return Err(FrontMatterError::NoDescription);
    }
    let kept: String = description.chars().take(MAX_DESCRIPTION).collect();
    let description = kept.trim_end().to_owned();
    Ok((FrontMatter { name, description }, body))
}

/// Separates front matter and body, which has no blanks around it.
///
/// # Errors
/// [`FrontMatterError::Missing`], [`FrontMatterError::Unclosed`].
pub(crate) fn parts(text: &str) -> Result<(&str, &str), FrontMatterError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.split_inclusive('\n');
    let first = lines.next().unwrap_or_default();
    if first.trim_end() != FENCE {
        return Err(FrontMatterError::Missing);
    }
    let mut end = first.len();
    for line in lines {
        if line.trim_end() == FENCE {
            return Ok((&text[first.len()..end], text[end + line.len()..].trim()));
        }
        end += line.len();
    }
    Err(FrontMatterError::Unclosed)
}

/// Reads the YAML of front matter. As in YAML 1.2, `yes`, `on` and `y` are texts.
///
/// # Errors
/// For a text that is no YAML of this type.
pub(crate) fn values<T: DeserializeOwned>(yaml: &str) -> Result<T, serde_saphyr::Error> {
    serde_saphyr::from_str_with_options(yaml, serde_saphyr::options! { strict_booleans: true })
}

/// Name and description as they are written.
type Values = (Option<String>, Option<String>);

/// Reads the values as YAML; `None` if it is none, or if one of them is no text.
fn from_yaml(yaml: &str) -> Option<Values> {
    let mut values: BTreeMap<String, Value> = values(yaml).ok()?;
    let mut text = |key: &str| match values.remove(key) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    };
    Some((Some(text("name")?), Some(text("description")?)))
}

/// Returns true if each line is a key with a text in the simplest form, which means the same in
/// YAML as line by line. Most files are such, and reading YAML takes ten times as long: a start
/// with hundreds of skills would be noticeably slower.
fn is_plain(yaml: &str) -> bool {
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
    let is_space = |letter: char| letter.is_control() || letter.is_whitespace();
    yaml.lines().all(|line| {
        line.split_once(": ").is_some_and(|(key, value)| {
            key.starts_with(|first: char| first.is_ascii_alphabetic())
                && key.chars().all(is_word)
                && value.starts_with(|first: char| first.is_ascii_alphanumeric())
                && value.chars().all(|letter| letter == ' ' || !is_space(letter))
                && !value.contains(": ")
                && !value.contains(" #")
                && !value.ends_with(':')
        })
    })
}

/// Reads the values line by line. Lines that are indented continue a value.
fn from_lines(yaml: &str) -> Values {
    let mut values = Values::default();
    let mut current: Option<&mut Option<String>> = None;
    for line in yaml.lines() {
        if line.starts_with([' ', '\t']) {
            if let Some(Some(value)) = current.as_deref_mut() {
                value.push(' ');
                value.push_str(line.trim());
            }
            continue;
        }
        if line.trim().is_empty() {
            continue;
        }
        let Some((key, value)) = line.split_once(':') else {
            current = None;
            continue;
        };
        current = match key.trim_end() {
            "name" => Some(&mut values.0),
            "description" => Some(&mut values.1),
            _ => None,
        };
        if let Some(current) = current.as_deref_mut() {
            *current = Some(unquoted(value.trim()).to_owned());
        }
    }
    values
}

/// Returns a value without the quotes around it, or the sign of a block.
fn unquoted(value: &str) -> &str {
    if matches!(value, ">" | "|" | ">-" | "|-" | ">+" | "|+") {
        return "";
    }
    let inner = |quote| value.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    inner('"').or_else(|| inner('\'')).unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Result<(String, String, String), FrontMatterError> {
        front_matter(text).map(|(read, body)| (read.name, read.description, body.to_owned()))
    }

    #[test]
    fn valid_files() {
        for (text, name, description, body) in [
            ("---\nname: a\ndescription: D\n---\nBody\n\n", "a", "D", "Body"),
            (
                "\u{feff}---\r\nname: a\r\ndescription: D\r\n---\r\n\r\nB\r\nC\r\n",
                "a",
                "D",
                "B\r\nC",
            ),
            ("---\nname: a\ndescription: D\n---", "a", "D", ""),
            (
                "--- \ndescription: D\nname: 'a'\nlicense: MIT\nmetadata: {x: [1]}\n---\n",
                "a",
                "D",
                "",
            ),
            ("---\nname: y\ndescription: on\n---\n", "y", "on", ""),
            // An unquoted colon.
            (
                "---\nname: a\ndescription: Use when: style, tests\n---\n",
                "a",
                "Use when: style, tests",
                "",
            ),
            (
                "---\nname: a\ndescription: Use: one\n  and two\n\n  and three\nx: y\n---\n",
                "a",
                "Use: one and two and three",
                "",
            ),
            // Blocks.
            ("---\nname: a\ndescription: >\n  one\n  two\n---\n", "a", "one two", ""),
            ("---\nname: a\ndescription: |-\n  one: x\n  two\n---\n", "a", "one: x two", ""),
            ("---\nname: a\nx: [\ndescription: >\n  one: x\n---\n", "a", "one: x", ""),
            // Values of other types are read as they are written.
            ("---\nname: 123\ndescription: true\n---\n", "123", "true", ""),
            ("---\nname: a/b: c\ndescription: \"D: e\"\n---\n", "a-b- c", "D: e", ""),
            // Control characters.
            ("---\nname: \"a\\e[2J\"\ndescription: \"D\\nE\"\n---\n", "a [2J", "D E", ""),
        ] {
            let expected = (name.to_owned(), description.to_owned(), body.to_owned());
            assert_eq!(read(text), Ok(expected), "{text:?}");
        }
    }

    #[test]
    fn each_missing_part_is_named() {
        use FrontMatterError::{InvalidName, Missing, NoDescription, NoName, Unclosed};

        let long = format!("---\nname: {}\ndescription: D\n---\n", "n".repeat(MAX_NAME + 1));
        for (text, error) in [
            ("", Missing),
            ("name: a\n---\n", Missing),
            ("\n---\nname: a\ndescription: D\n---\n", Missing),
            ("---", Unclosed),
            ("---\nname: a\ndescription: D\n", Unclosed),
            ("---\n---\n", NoName),
            ("---\ndescription: D\n---\n", NoName),
            ("---\nname:\ndescription: D\n---\n", NoName),
            ("---\nname: [a\n---\n", NoDescription),
            ("---\nname: a\n---\n", NoDescription),
            ("---\nname: a\ndescription: \"\"\n---\n", NoDescription),
            ("---\nname: ..\ndescription: D\n---\n", InvalidName),
            ("---\nname: .git\ndescription: D\n---\n", InvalidName),
            (long.as_str(), InvalidName),
        ] {
            assert_eq!(read(text), Err(error), "{text:?}");
        }
    }

    #[test]
    fn descriptions_are_bounded() {
        let text = format!("---\nname: a\ndescription: {}\n---\n", "é".repeat(10_000));
        assert_eq!(read(&text).unwrap().1.chars().count(), MAX_DESCRIPTION);
    }

    #[test]
    fn references_do_not_multiply() {
        use std::fmt::Write as _;

        let mut yaml = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..12 {
            let below = format!("*a{}, ", level - 1).repeat(9);
            writeln!(yaml, "a{level}: &a{level} [{below}]").unwrap();
        }
        let text = format!("---\nname: a\ndescription: D\n{yaml}---\nBody");
        // The values are read line by line.
        assert_eq!(read(&text).unwrap().0, "a");
    }

    /// Texts with everything that has a meaning in YAML.
    fn text() -> impl Strategy<Value = String> {
        let parts = [
            "a", "é", "1", " ", "\t", ": ", ":", " #", "#", "'", "\"", "- ", "-", "--- ", "...",
            ", ", "[", "]", "{", "}", "& ", "*", "!", "|", ">", "%", "@", "`", "? ", "~", "\\",
            "\u{85}", "\u{2028}", "\u{feff}", "true", "null", "0x1f", "1e3",
        ];
        prop::collection::vec(prop::sample::select(parts.to_vec()), 1..5)
            .prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn plain_text_means_the_same_in_yaml(values in prop::array::uniform3(text())) {
            let [name, description, other] = values;
            let yaml = format!("name: {name}\nx-1: {other}\r\ndescription: {description}\n");
            if is_plain(&yaml) {
                let read = from_yaml(&yaml).unwrap_or_else(|| from_lines(&yaml));
                prop_assert_eq!(from_lines(&yaml), read);
            }
        }

        #[test]
        fn nothing_panics(text in "(---\n)?(name: .{0,9}\n)?(description:.{0,9}\n)?.{0,40}(\n---\n.*)?") {
            if let Ok((read, body)) = front_matter(&text) {
                prop_assert!(!read.name.is_empty() && !read.name.contains(['/', '\\', '\n']));
                prop_assert!(text.contains(body));
            }
        }
    }
}
