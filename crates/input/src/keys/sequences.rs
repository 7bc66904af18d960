//! Escape sequences of a terminal: strokes, marks of pasted text, and answers to queries. Pure.

use super::KeyProtocol;
use super::reports::{TerminalReport, control_string_report};
use super::stroke::{ALT, CMD, CTRL, KeyCode, SHIFT, Stroke};

/// First byte of an escape sequence, and the byte of the Esc key.
pub(super) const ESC: u8 = 0x1b;
/// Maximum length of an escape sequence, in bytes; longer input is not a sequence.
pub(super) const LONGEST_SEQUENCE: usize = 64;
/// Byte that ends a control string, and that of Ctrl-G.
const BEL: u8 = 0x07;
/// Maximum length of a control string, in bytes; longer input is dropped as far as it was read.
pub(super) const LONGEST_STRING: usize = 4096;

/// Meaning of an escape sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    /// Of no interest.
    Nothing,
    /// A key.
    Pressed(Stroke),
    /// A character with Alt, or an Esc key with a character after it if the key has no effect.
    WithAlt(Stroke),
    PasteBegins,
    PasteEnds,
    /// Another report.
    Reported(TerminalReport),
    /// The terminal knows a protocol.
    Knows(KeyProtocol),
    WheelMoves {
        is_up: bool,
    },
}

/// Parses an escape sequence; `input` begins with ESC. Returns the length and the meaning of the
/// sequence; `None` if it is unfinished.
pub(super) fn escape(input: &[u8]) -> Option<(usize, Meaning)> {
    let key = |code, modifiers| Meaning::Pressed(Stroke::new(code, modifiers));
    Some(match input.get(1..)? {
        [] | [b'O'] => return None,
        [b'[', body @ ..] => return control_sequence(body),
        [introducer @ (b']' | b'P' | b'_' | b'^'), body @ ..] => {
            let (length, text) = control_string(body)?;
            let report = text.and_then(|text| control_string_report(*introducer, text));
            (length + 2, report.map_or(Meaning::Nothing, Meaning::Reported))
        }
        [b'O', last @ b'@'..=b'~', ..] => {
            (3, keypad(*last).map_or(Meaning::Nothing, |code| key(code, 0)))
        }
        [0x08 | 0x7f, ..] => (2, key(KeyCode::Backspace, ALT)),
        [b'\r' | b'\n', ..] => (2, key(KeyCode::Enter, ALT)),
        [byte @ 0x20..0x7f, ..] => {
            (2, Meaning::WithAlt(Stroke::new(KeyCode::Char(char::from(*byte)), ALT)))
        }
        // An Esc key. The bytes after it are ordinary input.
        _ => (1, Meaning::Nothing),
    })
}

/// Returns the length of a control string and its end mark, and its text if it is complete; `body`
/// follows the introducer. Such strings are answers of the terminal, for example to a query for its
/// background colour. Returns `None` if the string is unfinished. The byte that interrupts it is
/// kept as input.
fn control_string(body: &[u8]) -> Option<(usize, Option<&[u8]>)> {
    let Some(end) = body.iter().position(u8::is_ascii_control) else {
        return (body.len() >= LONGEST_STRING).then_some((body.len(), None));
    };
    match &body[end..] {
        [BEL, ..] => Some((end + 1, Some(&body[..end]))),
        [ESC, b'\\', ..] => Some((end + 2, Some(&body[..end]))),
        [ESC] => None,
        _ => Some((end, None)),
    }
}

/// Parses a control sequence; `body` follows `ESC [`.
fn control_sequence(body: &[u8]) -> Option<(usize, Meaning)> {
    // A key of the console of Linux: F1 to F5.
    if let [b'[', rest @ ..] = body {
        let last = rest.first()?;
        let number = last.wrapping_sub(b'A').saturating_add(1);
        let meaning = match last {
            b'A'..=b'E' => Meaning::Pressed(Stroke::plain(KeyCode::Function(number))),
            _ => Meaning::Nothing,
        };
        return Some((if meaning == Meaning::Nothing { 3 } else { 4 }, meaning));
    }
    // A report of the mouse with three characters, from a terminal that knows no other form.
    if let [b'M', rest @ ..] = body {
        let [button, _, _, ..] = rest else { return None };
        return Some((6, wheel(u32::from(button.saturating_sub(0x20)))));
    }
    let Some(end) = body.iter().position(|byte| !(0x20..0x40).contains(byte)) else {
        return (body.len() + 2 >= LONGEST_SEQUENCE).then_some((body.len() + 2, Meaning::Nothing));
    };
    let meaning = match (&body[..end], body[end]) {
        (b"200", b'~') => Meaning::PasteBegins,
        (b"201", b'~') => Meaning::PasteEnds,
        (b"", last @ (b'I' | b'O')) => Meaning::Reported(TerminalReport::Focus(last == b'I')),
        ([b'?', digits @ ..], b'u')
            if !digits.is_empty() && digits.iter().all(u8::is_ascii_digit) =>
        {
            Meaning::Knows(KeyProtocol::Kitty)
        }
        ([b'<', report @ ..], b'M') => {
            let button = report.split(|byte| *byte == b';').next().unwrap_or_default();
            let button = std::str::from_utf8(button).ok().and_then(|button| button.parse().ok());
            button.map_or(Meaning::Nothing, wheel)
        }
        ([b'>', b'4', b';', b'0'..=b'9'], b'm') => Meaning::Knows(KeyProtocol::OtherKeys),
        (parameters, last) => stroke(parameters, last).map_or(Meaning::Nothing, Meaning::Pressed),
    };
    // The byte that interrupts an incomplete sequence is kept as input.
    let last = usize::from((0x40..0x7f).contains(&body[end]));
    Some((2 + end + last, meaning))
}

/// Returns the meaning of a button of the mouse: the wheel has the numbers 64 and 65, to which the
/// modifiers are added.
fn wheel(button: u32) -> Meaning {
    const MODIFIERS: u32 = 4 | 8 | 16;
    match button & !MODIFIERS {
        64 => Meaning::WheelMoves { is_up: true },
        65 => Meaning::WheelMoves { is_up: false },
        _ => Meaning::Nothing,
    }
}

/// Returns the key of a control sequence. A terminal reports a key as a letter (`1;MODIFIERS` and a
/// letter) or as a number: `NUMBER;MODIFIERS` and `~`, `CODE;MODIFIERS` and `u` in the kitty
/// protocol, `27;MODIFIERS;CODE` and `~` with modifyOtherKeys. Further parameters of the kitty
/// protocol, after a colon, are of no interest.
fn stroke(parameters: &[u8], last: u8) -> Option<Stroke> {
    let number = |text: &str| text.split(':').next()?.parse::<u32>().ok();
    let parameters: Vec<&str> = std::str::from_utf8(parameters).ok()?.split(';').collect();
    let (code, modifiers) = match (&parameters[..], last) {
        ([code], b'u') => (reported(number(code)?)?, 1),
        (["27", modifiers, code], b'~') | ([code, modifiers, ..], b'u') => {
            (reported(number(code)?)?, number(modifiers)?)
        }
        ([code], b'~') => (numbered(number(code)?)?, 1),
        ([code, modifiers], b'~') => (numbered(number(code)?)?, number(modifiers)?),
        ([""], b'Z') => (KeyCode::Tab, u32::from(SHIFT) + 1),
        ([""], letter) => (lettered(letter)?, 1),
        (["1", modifiers], letter) => (lettered(letter)?, number(modifiers)?),
        _ => return None,
    };
    let is_release = parameters.get(1).is_some_and(|text| text.ends_with(":3"));
    let bits = modifiers.checked_sub(1)?;
    // Super and meta are the command key; the locks have no effect.
    let is_command = bits & (8 | 32) != 0;
    let modifiers = u8::try_from(bits & u32::from(SHIFT | ALT | CTRL)).ok()?;
    let modifiers = if is_command { modifiers | CMD } else { modifiers };
    (!is_release).then(|| Stroke::new(code, modifiers))
}

/// Returns the key that is reported by the code of its character.
fn reported(code: u32) -> Option<KeyCode> {
    Some(match code {
        8 | 127 => KeyCode::Backspace,
        9 => KeyCode::Tab,
        13 | 57414 => KeyCode::Enter,
        27 => KeyCode::Escape,
        0..32 => return None,
        // Keys of the keypad in the kitty protocol.
        57399..=57408 => KeyCode::Char(char::from_digit(code - 57399, 10)?),
        57409 => KeyCode::Char('.'),
        57410 => KeyCode::Char('/'),
        57411 => KeyCode::Char('*'),
        57412 => KeyCode::Char('-'),
        57413 => KeyCode::Char('+'),
        57417 => KeyCode::Left,
        57418 => KeyCode::Right,
        57419 => KeyCode::Up,
        57420 => KeyCode::Down,
        57421 => KeyCode::PageUp,
        57422 => KeyCode::PageDown,
        57423 => KeyCode::Home,
        57424 => KeyCode::End,
        57425 => KeyCode::Insert,
        57426 => KeyCode::Delete,
        code => KeyCode::Char(char::from_u32(code)?),
    })
}

/// Returns the key with this number (vt220, rxvt, xterm).
fn numbered(number: u32) -> Option<KeyCode> {
    Some(match number {
        1 | 7 => KeyCode::Home,
        2 => KeyCode::Insert,
        3 => KeyCode::Delete,
        4 | 8 => KeyCode::End,
        5 => KeyCode::PageUp,
        6 => KeyCode::PageDown,
        11..=15 => KeyCode::Function(u8::try_from(number - 10).ok()?),
        17..=21 => KeyCode::Function(u8::try_from(number - 11).ok()?),
        23 | 24 => KeyCode::Function(u8::try_from(number - 12).ok()?),
        _ => return None,
    })
}

/// Returns the key with this letter.
fn lettered(letter: u8) -> Option<KeyCode> {
    Some(match letter {
        b'A' => KeyCode::Up,
        b'B' => KeyCode::Down,
        b'C' => KeyCode::Right,
        b'D' => KeyCode::Left,
        b'H' => KeyCode::Home,
        b'F' => KeyCode::End,
        b'P'..=b'S' => KeyCode::Function(letter - b'P' + 1),
        _ => return None,
    })
}

/// Returns the key of the keypad in application mode with this letter.
fn keypad(letter: u8) -> Option<KeyCode> {
    Some(match letter {
        b'M' => KeyCode::Enter,
        b'j'..=b'o' => KeyCode::Char(char::from(letter - b'j' + b'*')),
        b'p'..=b'y' => KeyCode::Char(char::from(letter - b'p' + b'0')),
        letter => return lettered(letter),
    })
}
