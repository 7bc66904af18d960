//! Preparation of a hook's command line for the shell. Pure.

use pollux_shell::Dialect;

/// Names that a command line may use, with their values.
pub(crate) type Names<'a> = [(&'a str, &'a str)];

/// Replaces `$NAME` in a command line by its value, quoted for the position of the name. `${NAME}`
/// is left to the shell, which has the same values as environment variables.
///
/// Inside double quotes `$NAME` is also left to a POSIX shell, which expands it safely for any
/// value.
pub(crate) fn substitute(command: &str, names: &Names<'_>, dialect: Dialect) -> String {
    let mut script = String::with_capacity(command.len());
    let mut quoted = Quotes::None;
    let mut rest = command;
    while let Some(character) = rest.chars().next() {
        if character == '$'
            && let Some((name, value)) = named(&rest[1..], names)
        {
            match (dialect, quoted) {
                (Dialect::PowerShell, _) => script.push_str(&value.replace('\'', "''")),
                (_, Quotes::Double) => script.extend(["${", name, "}"]),
                (_, Quotes::Single) => script.push_str(&value.replace('\'', r"'\''")),
                (_, Quotes::None) => script.push_str(&word(value)),
            }
            rest = &rest[1 + name.len()..];
            continue;
        }
        let mut length = character.len_utf8();
        match (character, quoted) {
            ('\\', Quotes::None | Quotes::Double) => {
                length += rest[1..].chars().next().map_or(0, char::len_utf8);
            }
            ('\'', Quotes::None) => quoted = Quotes::Single,
            ('"', Quotes::None) => quoted = Quotes::Double,
            ('\'', Quotes::Single) | ('"', Quotes::Double) => quoted = Quotes::None,
            _ => {}
        }
        script.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    script
}

/// Quotation that surrounds a position in a command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quotes {
    None,
    Single,
    Double,
}

/// Returns the name at the start of the text. As in Gemini CLI, more letters may follow the name.
fn named<'a>(text: &str, names: &Names<'a>) -> Option<(&'a str, &'a str)> {
    names.iter().find(|(name, _)| text.starts_with(name)).copied()
}

/// Returns the value as one word of a POSIX shell.
fn word(value: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./:@%+=,".contains(&byte);
    if !value.is_empty() && value.bytes().all(plain) {
        return value.to_owned();
    }
    format!("'{}'", value.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_replaced_for_where_they_stand() {
        let names = [("GEMINI_CWD", "/a b"), ("GEMINI_SESSION_ID", "x-1"), ("IT", "it's")];
        let table = [
            ("$GEMINI_CWD/h.sh", "'/a b'/h.sh"),
            ("\"$GEMINI_CWD/h.sh\"", "\"${GEMINI_CWD}/h.sh\""),
            ("'$GEMINI_CWD/h.sh'", "'/a b/h.sh'"),
            ("${GEMINI_CWD}/h.sh", "${GEMINI_CWD}/h.sh"),
            ("echo $GEMINI_SESSION_ID $HOME $", "echo x-1 $HOME $"),
            ("$GEMINI_CWD_old", "'/a b'_old"),
            ("\\$GEMINI_CWD \\\"$GEMINI_CWD", "\\$GEMINI_CWD \\\"'/a b'"),
            ("$IT '$IT'", "'it'\\''s' 'it'\\''s'"),
            ("ümlaut \\ü $IT\\", "ümlaut \\ü 'it'\\''s'\\"),
        ];
        for (command, expected) in table {
            assert_eq!(substitute(command, &names, Dialect::Bash), expected);
        }
        assert_eq!(substitute("& '$IT'", &names, Dialect::PowerShell), "& 'it''s'");
    }

    proptest::proptest! {
        #[test]
        fn any_command_line_can_be_read(command in ".{0,60}") {
            let names = [("A", "b")];
            substitute(&command, &names, Dialect::Bash);
            if !command.contains("$A") {
                proptest::prop_assert_eq!(substitute(&command, &names, Dialect::Bash), command);
            }
        }
    }
}
