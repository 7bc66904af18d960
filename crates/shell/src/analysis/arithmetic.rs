//! Arithmetic. The values of variables in it are evaluated as arithmetic again, and that may run
//! commands: with `x='a[$(reboot)]'`, `$((x))` reboots. So it is only harmless with numbers.

/// Whether evaluating `text` can run nothing, when `is_number` says so of each variable in it.
pub(super) fn is_harmless(text: &str, is_number: impl Fn(&str) -> bool) -> bool {
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let length = word_length(rest);
        if letter.is_ascii_digit() {
            // A number, also in another base: `0x1f`, `16#ff`.
            rest = &rest[length..];
            if let Some(digits) = rest.strip_prefix('#') {
                rest = &digits[word_length(digits)..];
            }
        } else if length > 0 {
            if !is_number(&rest[..length]) {
                return false;
            }
            rest = &rest[length..];
        } else if letter == '$' {
            rest = &rest[1..];
            if rest.starts_with(['#', '?', '$', '!']) {
                rest = &rest[1..];
            } else if !rest
                .starts_with(|next: char| next.is_ascii_alphabetic() || next == '_' || next == '{')
                || rest.starts_with(|next: char| next.is_ascii_digit())
            {
                return false;
            }
            // `${1}` is a value like any other.
            if rest.strip_prefix('{').is_some_and(|inner| {
                !inner.starts_with(|next: char| next.is_ascii_alphabetic() || next == '_')
            }) {
                return false;
            }
        } else if " \t\n+-*/%&|^!~<>=?:,();#{}".contains(letter) {
            rest = &rest[1..];
        } else {
            return false;
        }
    }
    true
}

/// Calls `found` with each variable that the text itself sets: `i = 0`, `i += 2`, `i++`.
pub(super) fn assignments(text: &str, mut found: impl FnMut(&str)) {
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let length = word_length(rest);
        if length == 0 {
            rest = &rest[letter.len_utf8()..];
            continue;
        }
        let (name, after) = rest.split_at(length);
        let after_name = after.trim_start();
        let is_set = after_name.starts_with('=') && !after_name.starts_with("==");
        if is_set && !letter.is_ascii_digit() {
            found(name);
        }
        rest = after;
    }
}

/// Variables of the shell that hold a number unless someone sets them.
pub(super) fn is_counter(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "RANDOM",
        "SRANDOM",
        "SECONDS",
        "LINENO",
        "EPOCHSECONDS",
        "BASHPID",
        "PPID",
        "UID",
        "EUID",
        "SHLVL",
        "OPTIND",
        "COLUMNS",
        "LINES",
    ];
    NAMES.contains(&name)
}

fn word_length(text: &str) -> usize {
    super::word::name_length(text)
}

#[cfg(test)]
mod tests {
    use super::{assignments, is_harmless};

    #[test]
    fn only_numbers_are_harmless() {
        let table = [
            ("1 + 2 * (3 - 4)", true),
            ("0x1f + 16#ff", true),
            ("i + 1", true),
            ("$i + ${i}", true),
            ("${#i}", false),
            ("$# + $?", true),
            ("x", false),
            ("$x", false),
            ("$1", false),
            ("${1}", false),
            ("a[1]", false),
            ("$(date)", false),
            ("'1'", false),
            ("\"$i\"", false),
            ("`id`", false),
        ];
        for (text, expected) in table {
            assert_eq!(is_harmless(text, |name| name == "i"), expected, "{text}");
        }
    }

    #[test]
    fn what_arithmetic_sets_is_a_number() {
        let mut names = Vec::new();
        assignments("i=0, j == 2, k = i, 3=4", |name| names.push(name.to_owned()));
        assert_eq!(names, ["i", "k"]);
    }
}
