//! Character classes in brackets.

use super::translate::{escaped, literal};

/// White space as defined by ECMAScript, for use inside a class.
pub(super) const SPACE: &str = "\\t\\n\\x0b\\x0c\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}";

/// Member of a class.
enum Member {
    One(char),
    /// Nested set, already translated.
    Set(String),
}

/// Returns the translation of the class at the start of `letters`, and the length of the class.
pub(super) fn class(letters: &[char]) -> Result<(String, usize), &'static str> {
    let mut at = 1;
    let is_negated = letters.get(at) == Some(&'^');
    at += usize::from(is_negated);
    let mut members = String::new();
    loop {
        let Some(letter) = letters.get(at) else { return Err("there is a [ without a matching ]") };
        if *letter == ']' {
            break;
        }
        let (low, length) = member(&letters[at..])?;
        at += length;
        let is_range = letters.get(at) == Some(&'-')
            && letters.get(at + 1).is_some_and(|letter| *letter != ']');
        if !is_range {
            write(&mut members, &low);
            continue;
        }
        let (high, length) = member(&letters[at + 1..])?;
        at += 1 + length;
        match (low, high) {
            (Member::One(low), Member::One(high)) if low <= high => {
                members.extend([literal(low), "-".to_owned(), literal(high)]);
            }
            (Member::One(_), Member::One(_)) => return Err("a range in a set is out of order"),
            // In ECMAScript, a range with a class as one of its ends means both ends and a hyphen.
            (low, high) => {
                write(&mut members, &low);
                members.push_str(&literal('-'));
                write(&mut members, &high);
            }
        }
    }
    let text = match (members.is_empty(), is_negated) {
        (true, false) => "[a&&b]".to_owned(),
        (true, true) => "(?s:.)".to_owned(),
        (false, false) => format!("[{members}]"),
        (false, true) => format!("[^{members}]"),
    };
    Ok((text, at + 1))
}

fn write(members: &mut String, member: &Member) {
    match member {
        Member::One(letter) => members.push_str(&literal(*letter)),
        Member::Set(set) => members.push_str(set),
    }
}

fn member(letters: &[char]) -> Result<(Member, usize), &'static str> {
    let Some(first) = letters.first() else { return Err("there is a [ without a matching ]") };
    if *first != '\\' {
        return Ok((Member::One(*first), 1));
    }
    let set = |not: &str, set: &str| Ok((Member::Set(format!("[{not}{set}]")), 2));
    match letters.get(1) {
        None => Err("the pattern ends with an incomplete \\"),
        Some('b') => Ok((Member::One('\u{8}'), 2)),
        Some('d') => set("", "0-9"),
        Some('D') => set("^", "0-9"),
        Some('w') => set("", "0-9A-Za-z_"),
        Some('W') => set("^", "0-9A-Za-z_"),
        Some('s') => set("", SPACE),
        Some('S') => set("^", SPACE),
        Some(_) => {
            let (letter, length) = escaped(&letters[1..]);
            Ok((Member::One(letter), 1 + length))
        }
    }
}
