//! References to variables in place of their values, so that no secret gets into a settings file.
//!
//! A shell replaces an unquoted `$NAME` before this program sees it.

use std::cmp::Reverse;

use pollux_config::Environment;
use pollux_shell::{Redaction, redact};

/// Minimum length of a value that is replaced. Shorter values may be equal by chance.
const SHORTEST: usize = 8;

/// Text with references.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Referring {
    /// The text to save.
    pub(super) text: String,
    /// The variables, each once.
    pub(super) variables: Vec<String>,
}

/// Returns the text with references in place of the values of variables that are secrets; `None` if
/// it has none. Of several variables with one value, that with the name `preferred` comes first.
pub(super) fn to_secrets(
    preferred: &str,
    text: &str,
    environment: &Environment,
) -> Option<Referring> {
    let is_possible = |(name, value): &(&str, &str)| {
        value.len() >= SHORTEST && can_be_referred_to(name) && is_secret(name, value)
    };
    let mut secrets: Vec<(&str, &str)> = environment.iter().filter(is_possible).collect();
    // A longer value may contain a shorter one.
    secrets.sort_by_key(|(name, value)| (Reverse(value.len()), *name != preferred, *name));
    let (mut text, mut variables) = (text.to_owned(), Vec::new());
    for (name, value) in secrets {
        if let Some(referring) = referring(&text, value, name) {
            text = referring;
            variables.push(name.to_owned());
        }
    }
    (!variables.is_empty()).then_some(Referring { text, variables })
}

/// Replaces a value in a text, except within longer words. Returns `None` if it is not there.
fn referring(text: &str, value: &str, name: &str) -> Option<String> {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '-';
    let (mut referring, mut rest) = (String::new(), text);
    let mut is_there = false;
    while let Some((before, after)) = rest.split_once(value) {
        referring.push_str(before);
        let is_part = referring.ends_with(is_word) || after.starts_with(is_word);
        match (is_part, after) {
            (true, _) => referring.push_str(value),
            (false, "") => referring.extend(["$", name]),
            (false, _) => referring.extend(["${", name, "}"]),
        }
        is_there |= !is_part;
        rest = after;
    }
    referring.push_str(rest);
    is_there.then_some(referring)
}

fn can_be_referred_to(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Returns true if commands would not see the variable where secrets are hidden from them.
fn is_secret(name: &str, value: &str) -> bool {
    let hiding = Redaction { enabled: true, ..Redaction::default() };
    redact(vec![(name.into(), value.into())], &hiding).is_empty()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn secrets_of_the_environment_become_references() {
        let environment = [
            ("GITHUB_TOKEN", "ghp-0123456789"),
            ("COPY_OF_KEY", "ghp-0123456789"),
            ("HOME", "/home/someone"),
            ("PIN_KEY", "1234"),
            ("ODD-TOKEN", "unusable-name"),
        ];
        let environment = (environment.iter())
            .fold(Environment::default(), |all, (name, value)| all.with(name, value));
        for (name, value, expected) in [
            ("GITHUB_TOKEN", "ghp-0123456789", Some("$GITHUB_TOKEN")),
            ("OTHER", "ghp-0123456789", Some("$COPY_OF_KEY")),
            ("Authorization", "Bearer ghp-0123456789", Some("Bearer $COPY_OF_KEY")),
            ("Authorization", "Bearer ghp-01234567890", None),
            ("A", "xghp-0123456789", None),
            ("DSN", "db://u:ghp-0123456789@h", Some("db://u:${COPY_OF_KEY}@h")),
            ("A", "https://h/?k=ghp-0123456789", Some("https://h/?k=$COPY_OF_KEY")),
            ("A", "ghp-0123456789,ghp-0123456789", Some("${COPY_OF_KEY},$COPY_OF_KEY")),
            ("A", "$GITHUB_TOKEN", None),
            ("A", "/home/someone", None),
            ("A", "1234", None),
            ("A", "unusable-name", None),
            ("A", "", None),
        ] {
            let found = to_secrets(name, value, &environment).map(|found| found.text);
            assert_eq!(found.as_deref(), expected, "{name} {value}");
        }
    }
}
