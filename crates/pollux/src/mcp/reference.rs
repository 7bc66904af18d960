//! References to variables in place of their values, so that no secret gets into a settings file.
//!
//! A shell replaces an unquoted `$NAME` before this program sees it.

use pollux_config::Environment;
use pollux_shell::{Redaction, redact};

/// Minimum length of a value that is replaced. Shorter values may be equal by chance.
const SHORTEST: usize = 8;

/// Value with a reference.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Referring {
    /// The text to save.
    pub(super) text: String,
    /// The variable.
    pub(super) variable: String,
}

/// Returns the value with a reference if it, or the part after its first word, is the value of a
/// variable that is a secret. A variable with the name `preferred` comes first.
pub(super) fn to_secret(
    preferred: &str,
    value: &str,
    environment: &Environment,
) -> Option<Referring> {
    let after_scheme = value.split_once(' ').map(|(scheme, rest)| (format!("{scheme} "), rest));
    [Some((String::new(), value)), after_scheme].into_iter().flatten().find_map(
        |(start, secret)| {
            let variable = variable_with(preferred, secret, environment)?;
            Some(Referring { text: format!("{start}${variable}"), variable: variable.to_owned() })
        },
    )
}

fn variable_with<'e>(
    preferred: &str,
    secret: &str,
    environment: &'e Environment,
) -> Option<&'e str> {
    if secret.len() < SHORTEST {
        return None;
    }
    let mut names: Vec<&str> = environment
        .iter()
        .filter(|(name, value)| {
            *value == secret && can_be_referred_to(name) && is_secret(name, value)
        })
        .map(|(name, _)| name)
        .collect();
    names.sort_by_key(|name| (*name != preferred, *name));
    names.first().copied()
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
            ("A", "$GITHUB_TOKEN", None),
            ("A", "/home/someone", None),
            ("A", "1234", None),
            ("A", "unusable-name", None),
            ("A", "", None),
        ] {
            let found = to_secret(name, value, &environment).map(|found| found.text);
            assert_eq!(found.as_deref(), expected, "{name} {value}");
        }
    }
}
