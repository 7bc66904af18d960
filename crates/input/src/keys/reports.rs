//! Reports of the terminal among the keys: answers to queries, and changes of the focus. Pure.

/// Report of the terminal. It is no key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TerminalReport {
    /// Background colour: red, green and blue.
    Background([u8; 3]),
    /// The window has the focus, or has lost it.
    Focus(bool),
}

/// Query for the background colour (OSC 11).
pub const BACKGROUND_QUERY: &str = "\x1b]11;?\x1b\\";

/// Begin of the answer.
pub(super) const REPORT_START: &[u8] = b"\x1b]11;";

/// Returns the report of a control string, without its introducer and its end mark; `None` for
/// every other string.
pub(super) fn control_string_report(introducer: u8, body: &[u8]) -> Option<TerminalReport> {
    let body = std::str::from_utf8(body).ok().filter(|_| introducer == b']')?;
    let colour = colour(body.strip_prefix("11;")?)?;
    Some(TerminalReport::Background(colour))
}

/// Parses a colour as terminals report it: `rgb:1e1e/1e1e/1e1e` with one to four digits for each
/// part, or `#1e1e1e`.
fn colour(text: &str) -> Option<[u8; 3]> {
    let parts: Vec<&str> = if let Some(digits) = text.strip_prefix('#') {
        let length = digits.len() / 3;
        let is_colour = digits.len() % 3 == 0 && digits.is_ascii();
        if !is_colour || length == 0 {
            return None;
        }
        vec![&digits[..length], &digits[length..2 * length], &digits[2 * length..]]
    } else {
        let parts = text.strip_prefix("rgb:").or_else(|| text.strip_prefix("rgba:"))?;
        parts.split('/').collect()
    };
    let (3 | 4) = parts.len() else { return None };
    let [red, green, blue] = [parts[0], parts[1], parts[2]].map(intensity);
    Some([red?, green?, blue?])
}

/// Returns an intensity in 8 bits; the digits are those of a fraction of the brightest.
fn intensity(digits: &str) -> Option<u8> {
    let is_number =
        (1..=4).contains(&digits.len()) && digits.bytes().all(|it| it.is_ascii_hexdigit());
    let value = u32::from_str_radix(digits, 16).ok().filter(|_| is_number)?;
    let most = (1 << (4 * digits.len())) - 1;
    u8::try_from((value * 255 + most / 2) / most).ok()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn colours_have_many_forms() {
        for (text, expected) in [
            ("rgb:1e1e/2020/ffff", Some([0x1e, 0x20, 0xff])),
            ("rgb:1e/20/ff", Some([0x1e, 0x20, 0xff])),
            ("rgb:f/0/8", Some([0xff, 0, 0x88])),
            ("rgba:0000/0000/0000/ffff", Some([0, 0, 0])),
            ("#102030", Some([0x10, 0x20, 0x30])),
            ("#fff", Some([0xff, 0xff, 0xff])),
            ("#ffffeeeedddd", Some([0xff, 0xee, 0xdd])),
            ("?", None),
            ("", None),
            ("#", None),
            ("#12345", None),
            ("#\u{e9}\u{e9}\u{e9}", None),
            ("rgb:1/2", None),
            ("rgb:1/2/3/4/5", None),
            ("rgb:+1/2/3", None),
            ("rgb:12345/2/3", None),
            ("rgb://", None),
            ("red", None),
        ] {
            assert_eq!(colour(text), expected, "{text}");
        }
    }
}
