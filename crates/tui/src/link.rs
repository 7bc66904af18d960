//! Addresses of links (OSC 8). Pure.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};

/// Maximum length of an address, in bytes, as in terminals.
const LONGEST: usize = 2048;
/// Beginnings of the addresses that a link of a model may have.
const SCHEMES: [&str; 3] = ["https://", "http://", "mailto:"];

/// Characters with escapes in the path of an address.
const PATH: AsciiSet =
    NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Address of a link. It contains printable ASCII characters only, so that it cannot act on the
/// terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Address(Arc<str>);

impl Address {
    /// Returns the address of a page or mailbox; `None` for other addresses, and for one whose host
    /// has letters of other scripts, which may look like another host.
    pub(crate) fn web(address: &str) -> Option<Self> {
        let scheme = SCHEMES.iter().find(|scheme| {
            address.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
        })?;
        let rest = &address[scheme.len()..];
        let host = rest.split(['/', '?', '#']).next().unwrap_or(rest);
        let is_host = !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_graphic());
        is_host.then(|| Self::encoded(address)).flatten()
    }

    /// Returns the address of a line of a file, by its absolute path. Terminals that open files
    /// pass the number of the line after `#` on.
    pub(crate) fn file(host: &str, path: &Path, line: u32) -> Option<Self> {
        let path = percent_encode(path.as_os_str().as_encoded_bytes(), &PATH);
        Self::encoded(&format!("file://{host}{path}#{line}"))
    }

    /// Returns an address with escapes for the bytes that an address cannot contain.
    fn encoded(address: &str) -> Option<Self> {
        let mut encoded = String::with_capacity(address.len());
        for byte in address.bytes() {
            if byte.is_ascii_graphic() {
                encoded.push(char::from(byte));
            } else {
                encoded.extend(["%", &format!("{byte:02X}")]);
            }
        }
        (encoded.len() <= LONGEST).then(|| Self(encoded.into()))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// A part of a text: plain, or an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextPart<'a> {
    Plain(&'a str),
    Address(&'a str),
}

/// Returns the parts of a text, with the addresses of pages that it contains.
pub(crate) fn text_parts(text: &str) -> Vec<TextPart<'_>> {
    let (mut parts, mut start, mut from) = (Vec::new(), 0, 0);
    while let Some(at) = text[from..].find("://").map(|at| from + at) {
        from = at + "://".len();
        let Some(scheme) = ["https", "http"].iter().find(|it| text[start..at].ends_with(*it))
        else {
            continue;
        };
        let begin = at - scheme.len();
        let is_word = text[start..begin].ends_with(|letter: char| letter.is_alphanumeric());
        let end = begin + address_length(&text[begin..]);
        if is_word || end <= from {
            continue;
        }
        parts.push(TextPart::Plain(&text[start..begin]));
        parts.push(TextPart::Address(&text[begin..end]));
        (start, from) = (end, end);
    }
    parts.push(TextPart::Plain(&text[start..]));
    parts.retain(|part| !matches!(part, TextPart::Plain("")));
    parts
}

/// Returns the length of the address at the start of a text, without the punctuation of the
/// sentence around it.
fn address_length(text: &str) -> usize {
    let is_end = |letter: char| !letter.is_ascii_graphic() || matches!(letter, '<' | '>' | '"');
    let mut address = &text[..text.find(is_end).unwrap_or(text.len())];
    loop {
        let last = address.chars().next_back();
        let is_closed = |open: char, close: char| {
            last == Some(close) && address.matches(close).count() > address.matches(open).count()
        };
        let is_punctuation = last.is_some_and(|last| ".,;:!?'*_~`|\\".contains(last));
        if !is_punctuation && !is_closed('(', ')') && !is_closed('[', ']') {
            return address.len();
        }
        address = &address[..address.len() - 1];
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn an_address_cannot_act_on_the_terminal() {
        for (address, expected) in [
            ("https://a.b/c?d=e#f", Some("https://a.b/c?d=e#f")),
            ("HTTP://a.b", Some("HTTP://a.b")),
            ("mailto:a@b.c", Some("mailto:a@b.c")),
            ("https://a.b/\u{e9} \x1b\\x\u{7}", Some("https://a.b/%C3%A9%20%1B\\x%07")),
            ("https://\u{430}.b/c", None),
            ("https://a\x1b.b/c", None),
            ("https://", None),
            ("file:///etc/passwd", None),
            ("javascript:alert(1)", None),
            ("a/b.rs", None),
        ] {
            let found = Address::web(address).map(|address| address.to_string());
            assert_eq!(found.as_deref(), expected, "{address:?}");
        }
        assert_eq!(Address::web(&format!("https://a.b/{}", "x".repeat(LONGEST))), None);
    }

    #[test]
    fn a_file_has_an_address_with_its_line() {
        let path = Path::new("/p/\u{e9} %2e#?\x1b.rs");
        let address = Address::file("box.local", path, 7).unwrap();
        assert_eq!(address.to_string(), "file://box.local/p/%C3%A9%20%252e%23%3F%1B.rs#7");
    }

    #[test]
    fn addresses_are_found_in_text() {
        use TextPart::{Address, Plain};
        for (text, expected) in [
            ("see https://a.b/c.", &[Plain("see "), Address("https://a.b/c"), Plain(".")][..]),
            ("(http://a/b_(c))", &[Plain("("), Address("http://a/b_(c)"), Plain(")")]),
            ("xhttp://a", &[Plain("xhttp://a")]),
            ("https://", &[Plain("https://")]),
            ("a://b http://c", &[Plain("a://b "), Address("http://c")]),
            ("http://a\u{6f22}", &[Address("http://a"), Plain("\u{6f22}")]),
            ("", &[]),
        ] {
            assert_eq!(text_parts(text), expected, "{text:?}");
        }
    }
}
