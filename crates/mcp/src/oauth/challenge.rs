//! Header `WWW-Authenticate`, with which a server says what a request needs (RFC 9110, 6750 and
//! 9728).

use std::collections::HashMap;

use url::Url;

use super::metadata::is_usable;

/// Maximum length of the header that is read, in bytes.
const LONGEST: usize = 8 << 10;
/// Maximum number of scopes, and of bytes in all of them.
const MOST_SCOPES: usize = 100;
const LONGEST_SCOPES: usize = 4000;
/// Value of `error` for a token that lacks a permission.
const INSUFFICIENT_SCOPE: &str = "insufficient_scope";

/// Parameters of the scheme `Bearer`. The default is a refusal without any.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Challenge {
    /// Address of the metadata of the server.
    pub(crate) resource_metadata: Option<Url>,
    /// Permissions that the request needs.
    pub(crate) scopes: Vec<String>,
    /// True if the token lacks a permission.
    pub(crate) lacks_scope: bool,
}

impl Challenge {
    /// Reads the header. Whatever cannot be read is left out.
    pub(crate) fn parse(header: &str) -> Self {
        let mut end = header.len().min(LONGEST);
        while !header.is_char_boundary(end) {
            end -= 1;
        }
        let parameters = parameters(&header[..end]);
        let metadata = parameters.get("resource_metadata").and_then(|text| Url::parse(text).ok());
        Self {
            resource_metadata: metadata.filter(is_usable),
            scopes: parameters.get("scope").map(|text| scopes(text)).unwrap_or_default(),
            lacks_scope: parameters.get("error").is_some_and(|error| error == INSUFFICIENT_SCOPE),
        }
    }
}

/// Returns the valid scopes of a text that separates them by blanks, each once.
pub(super) fn scopes(text: &str) -> Vec<String> {
    let is_valid = |scope: &&str| {
        scope.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\'))
    };
    let mut kept: Vec<String> = Vec::new();
    let mut room = LONGEST_SCOPES;
    for scope in text.split_ascii_whitespace().filter(is_valid) {
        if kept.len() == MOST_SCOPES || scope.len() > room {
            break;
        }
        if !kept.iter().any(|known| known == scope) {
            room -= scope.len();
            kept.push(scope.to_owned());
        }
    }
    kept
}

/// Returns the parameters of the scheme `Bearer`, and those that no scheme precedes. Names are in
/// lower case; the first value of a name counts.
fn parameters(header: &str) -> HashMap<String, String> {
    let mut found = HashMap::new();
    let mut rest = header;
    let mut is_bearer = true;
    loop {
        rest = rest.trim_start_matches([',', ' ', '\t']);
        let end = rest.find(|letter| !is_token(letter)).unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        if name.is_empty() {
            // A character that begins nothing is skipped.
            let mut letters = rest.chars();
            if letters.next().is_none() {
                return found;
            }
            rest = letters.as_str();
            continue;
        }
        if let Some(after) = after.trim_start_matches([' ', '\t']).strip_prefix('=') {
            let (value, after) = value(after.trim_start_matches([' ', '\t']));
            if is_bearer {
                found.entry(name.to_ascii_lowercase()).or_insert(value);
            }
            rest = after;
        } else {
            is_bearer = name.eq_ignore_ascii_case("bearer");
            rest = after;
        }
    }
}

/// Reads a token or a quoted text. Returns it, and what follows.
fn value(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find([',', ' ', '\t']).unwrap_or(text.len());
        return (text[..end].to_owned(), &text[end..]);
    };
    let mut value = String::new();
    let mut letters = quoted.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => break,
            '\\' => value.extend(letters.next()),
            other => value.push(other),
        }
    }
    (value, letters.as_str())
}

/// Returns true for the characters of a token of RFC 9110.
fn is_token(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(letter)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn read(header: &str) -> (Option<String>, String, bool) {
        let challenge = Challenge::parse(header);
        let metadata = challenge.resource_metadata.map(String::from);
        (metadata, challenge.scopes.join(" "), challenge.lacks_scope)
    }

    #[test]
    fn parameters_of_the_scheme_are_read() {
        let url = || Some("https://h/m".to_owned());
        let none = || (None, String::new(), false);
        for (header, expected) in [
            ("", none()),
            ("Bearer", none()),
            ("Bearer resource_metadata=\"https://h/m\"", (url(), String::new(), false)),
            ("bearer Resource_Metadata = https://h/m", (url(), String::new(), false)),
            ("resource_metadata=\"https://h/m\"", (url(), String::new(), false)),
            (
                "Bearer realm=\"a, b\", error=\"insufficient_scope\",\tscope=\"a b:c a\"",
                (None, "a b:c".to_owned(), true),
            ),
            ("Basic realm=\"x\", scope=\"no\", Bearer scope=\"yes\"", (None, "yes".into(), false)),
            ("Negotiate abc==, Bearer scope=yes", (None, "yes".into(), false)),
            ("Bearer scope=\"a\\\"b c\\\\d e\"", (None, "e".into(), false)),
            ("Bearer scope=\"unclosed", (None, "unclosed".into(), false)),
            ("Bearer scope=\"first\", scope=\"second\"", (None, "first".into(), false)),
            ("Bearer ;;; ä scope=x", (None, "x".into(), false)),
            ("Bearer scope=\"x\u{1b}[2J y\u{202e}\"", none()),
            ("Bearer resource_metadata=\"http://h/m\"", none()),
            ("Bearer resource_metadata=\"file:///etc/passwd\"", none()),
            ("Bearer resource_metadata=\"https://me@h/m\"", none()),
        ] {
            assert_eq!(read(header), expected, "{header}");
        }
    }

    #[test]
    fn the_number_of_scopes_is_limited() {
        let many: Vec<String> = (0..1000).map(|number| format!("s{number}")).collect();
        assert_eq!(scopes(&many.join(" ")).len(), MOST_SCOPES);
        assert_eq!(scopes(&"x".repeat(LONGEST_SCOPES + 1)), [""; 0]);
        let long = format!("Bearer {}\"", "ä".repeat(LONGEST));
        assert_eq!(Challenge::parse(&long), Challenge::default());
    }
}
