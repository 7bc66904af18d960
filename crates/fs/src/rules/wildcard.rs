//! Match of one pattern of an ignore file with one path, byte by byte, like git's `wildmatch`.
//!
//! Of the wildcards, only a `**` that is a whole component matches a `/`. Matching needs no
//! recursion: a `*` is given up after the end of its component, and after a failure only the last
//! `**` needs to be extended. The time is at most the product of the lengths for each component of
//! the path.

/// Pattern, split into pieces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wildcard {
    pieces: Vec<Piece>,
    fold_case: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    /// This byte.
    Byte(u8),
    /// Any byte except `/`.
    Any,
    /// One of these bytes, never `/`.
    Class(Box<ByteSet>),
    /// Any number of bytes except `/`, including zero.
    Star,
    /// Any number of bytes.
    Deep,
    /// Any number of folders, each with a `/` after it, including zero.
    Folders,
}

/// Set of bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ByteSet([u64; 4]);

impl ByteSet {
    fn insert(&mut self, byte: u8) {
        self.0[usize::from(byte >> 6)] |= 1 << (byte & 63);
    }

    fn contains(&self, byte: u8) -> bool {
        self.0[usize::from(byte >> 6)] >> (byte & 63) & 1 == 1
    }

    /// Adds a range. A range with an upper-case letter also contains the lower-case letter if git
    /// has `core.ignoreCase`; single letters are not folded.
    fn insert_range(&mut self, range: std::ops::RangeInclusive<u8>, fold_case: bool) {
        for byte in range {
            self.insert(byte);
            self.insert(folded(byte, fold_case));
        }
    }

    fn invert(&mut self) {
        self.0 = self.0.map(|bits| !bits);
    }
}

impl Wildcard {
    /// Parses a pattern; `None` for a pattern that cannot match anything: a backslash at its end,
    /// an unclosed class, a class with an unknown name. With `fold_case`, ASCII letters match in
    /// either case.
    pub(super) fn new(pattern: &[u8], fold_case: bool) -> Option<Self> {
        let mut pieces = Vec::with_capacity(pattern.len());
        // Git compares the text before the first of these characters separately, and starts again
        // after it.
        let special = |byte: &u8| matches!(byte, b'*' | b'?' | b'[' | b'\\');
        let text_before = pattern.iter().position(special).unwrap_or(pattern.len());
        let mut at = 0;
        while let Some(byte) = pattern.get(at) {
            at += 1;
            match byte {
                b'*' => {
                    let stars = 1 + pattern[at..].iter().take_while(|byte| **byte == b'*').count();
                    let starts = at - 1 == text_before || pattern[at - 2] == b'/';
                    at += stars - 1;
                    let (piece, eaten) = star(stars, starts, &pattern[at..]);
                    at += eaten;
                    // Consecutive stars, such as `*` and a `**` that is not a component, are one
                    // star.
                    if piece != Piece::Star || pieces.last() != Some(&Piece::Star) {
                        pieces.push(piece);
                    }
                }
                b'?' => pieces.push(Piece::Any),
                b'[' => {
                    let (class, length) = class(&pattern[at..], fold_case)?;
                    pieces.push(Piece::Class(Box::new(class)));
                    at += length;
                }
                b'\\' => {
                    // Git never folds an escaped character: an escaped capital matches nothing if
                    // case is ignored.
                    pieces.push(Piece::Byte(*pattern.get(at)?));
                    at += 1;
                }
                byte => pieces.push(Piece::Byte(folded(*byte, fold_case))),
            }
        }
        Some(Self { pieces, fold_case })
    }

    /// Returns the only text that the pattern matches, if there is only one.
    pub(super) fn as_literal(&self) -> Option<Vec<u8>> {
        literal(&self.pieces)
    }

    /// Returns the text with which a path must end, if the pattern has no other condition: `*.log`.
    pub(super) fn as_ending(&self) -> Option<Vec<u8>> {
        match self.pieces.split_first() {
            Some((Piece::Star, rest)) if !rest.is_empty() => literal(rest),
            _ => None,
        }
    }

    /// Returns true if the pattern matches the whole `text`.
    pub(super) fn matches(&self, text: &[u8]) -> bool {
        let (mut piece, mut at) = (0, 0);
        // State to continue from after a failure: the piece after the last star, and the next byte
        // for the star.
        let mut star: Option<(usize, usize)> = None;
        let mut deep: Option<(usize, usize)> = None;
        loop {
            let fits = match self.pieces.get(piece) {
                None if at == text.len() => return true,
                None => false,
                Some(Piece::Star) => {
                    star = Some((piece + 1, at));
                    piece += 1;
                    continue;
                }
                Some(Piece::Deep | Piece::Folders) => {
                    (deep, star) = (Some((piece + 1, at)), None);
                    piece += 1;
                    continue;
                }
                Some(piece) => text.get(at).is_some_and(|byte| self.fits(piece, *byte)),
            };
            if fits {
                (piece, at) = (piece + 1, at + 1);
            } else if let Some((behind, taken)) =
                star.filter(|(_, taken)| in_component(text, *taken))
            {
                star = Some((behind, taken + 1));
                (piece, at) = (behind, taken + 1);
            } else if let Some((behind, taken)) = deep {
                let Some(next) = self.after_deep(behind, text, taken) else { return false };
                (deep, star) = (Some((behind, next)), None);
                (piece, at) = (behind, next);
            } else {
                return false;
            }
        }
    }

    fn fits(&self, piece: &Piece, byte: u8) -> bool {
        let byte = folded(byte, self.fold_case);
        match piece {
            Piece::Byte(wanted) => byte == *wanted,
            Piece::Any => byte != b'/',
            Piece::Class(class) => byte != b'/' && class.contains(byte),
            Piece::Star | Piece::Deep | Piece::Folders => false,
        }
    }

    /// Returns the next position for the pieces after a `**`.
    fn after_deep(&self, behind: usize, text: &[u8], taken: usize) -> Option<usize> {
        let rest = text.get(taken..)?;
        if self.pieces[behind - 1] == Piece::Folders {
            let slash = rest.iter().position(|byte| *byte == b'/')?;
            return Some(taken + slash + 1);
        }
        (!rest.is_empty()).then_some(taken + 1)
    }
}

fn in_component(text: &[u8], at: usize) -> bool {
    text.get(at).is_some_and(|byte| *byte != b'/')
}

fn folded(byte: u8, fold_case: bool) -> u8 {
    if fold_case { byte.to_ascii_lowercase() } else { byte }
}

fn literal(pieces: &[Piece]) -> Option<Vec<u8>> {
    let byte = |piece: &Piece| if let Piece::Byte(byte) = piece { Some(*byte) } else { None };
    pieces.iter().map(byte).collect()
}

/// Returns the meaning of consecutive stars, and the length of the rest that belongs to them.
/// `starts` is true at the start of a component.
fn star(stars: usize, starts: bool, rest: &[u8]) -> (Piece, usize) {
    match rest {
        _ if stars == 1 || !starts => (Piece::Star, 0),
        [b'/', ..] => (Piece::Folders, 1),
        // With an escaped slash, the number of folders cannot be zero.
        [] | [b'\\', b'/', ..] => (Piece::Deep, 0),
        _ => (Piece::Star, 0),
    }
}

/// Returns the class that begins after a `[`, and its length including the `]`.
fn class(rest: &[u8], fold_case: bool) -> Option<(ByteSet, usize)> {
    let mut set = ByteSet([0; 4]);
    let inverted = matches!(rest.first(), Some(b'!' | b'^'));
    let first = usize::from(inverted);
    let (mut at, mut before) = (first, None);
    loop {
        let byte = *rest.get(at)?;
        match byte {
            b']' if at > first => break,
            b'\\' => {
                at += 1;
                let escaped = *rest.get(at)?;
                set.insert(escaped);
                before = Some(escaped);
            }
            b'-' if before.is_some() && rest.get(at + 1).is_some_and(|next| *next != b']') => {
                at += 1;
                if rest[at] == b'\\' {
                    at += 1;
                }
                set.insert_range(before.unwrap_or_default()..=*rest.get(at)?, fold_case);
                before = None;
            }
            b'[' if rest.get(at + 1) == Some(&b':') => {
                let start = at + 2;
                let close = start + rest[start..].iter().position(|byte| *byte == b']')?;
                if let Some(name) = rest[start..close].strip_suffix(b":") {
                    add_named(&mut set, name, fold_case)?;
                    (at, before) = (close, None);
                } else {
                    set.insert(b'[');
                    before = Some(b'[');
                }
            }
            byte => {
                set.insert(byte);
                before = Some(byte);
            }
        }
        at += 1;
    }
    if inverted {
        set.invert();
    }
    Some((set, at + 1))
}

/// Adds the ASCII characters of a class such as `alpha`.
fn add_named(set: &mut ByteSet, name: &[u8], fold_case: bool) -> Option<()> {
    let belongs: fn(&u8) -> bool = match name {
        b"alnum" => u8::is_ascii_alphanumeric,
        b"alpha" => u8::is_ascii_alphabetic,
        b"blank" => |byte| matches!(byte, b' ' | b'\t'),
        b"cntrl" => u8::is_ascii_control,
        b"digit" => u8::is_ascii_digit,
        b"graph" => u8::is_ascii_graphic,
        b"lower" => u8::is_ascii_lowercase,
        b"print" => |byte| matches!(byte, b' '..=b'~'),
        b"punct" => u8::is_ascii_punctuation,
        b"space" => |byte| matches!(byte, b' ' | b'\t'..=b'\r'),
        b"upper" => u8::is_ascii_uppercase,
        b"xdigit" => u8::is_ascii_hexdigit,
        _ => return None,
    };
    (0..=u8::MAX).filter(belongs).for_each(|byte| set.insert_range(byte..=byte, fold_case));
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, text: &str) -> bool {
        Wildcard::new(pattern.as_bytes(), false).is_some_and(|wild| wild.matches(text.as_bytes()))
    }

    #[test]
    fn stars_stay_in_their_component_unless_they_are_one() {
        for (pattern, text, expected) in [
            ("*", "a", true),
            ("*", "a/b", false),
            ("a*c", "abc", true),
            ("*a*b", "xaxab", true),
            ("*a*b", "xaxabc", false),
            ("**/b", "b", true),
            ("**/b", "a/x/b", true),
            ("**/b", "a/xb", false),
            ("a/**/b", "a/b", true),
            ("a/**/b", "a/x/y/b", true),
            ("a/**", "a/x/y", true),
            ("a/**", "a", false),
            ("a/**b/c", "a/xb/c", true),
            ("a/**b/c", "a/x/b/c", false),
            ("***/b", "a/b", true),
            ("**/a/*/b/**/c", "x/a/y/b/z/a/w/b/c", true),
            ("**/*x/**/y*", "a/bx/c/ax/yz", true),
            ("?/b", "a/b", true),
            ("a?b", "a/b", false),
            ("é?", "éa", true),
            ("é", "É", false),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn classes() {
        for (pattern, text, expected) in [
            ("[ab]", "b", true),
            ("[!ab]", "b", false),
            ("[^ab]", "c", true),
            ("[a-c]", "b", true),
            ("[c-a]", "b", false),
            ("[a-]", "-", true),
            ("[]a]", "]", true),
            ("[\\]]", "]", true),
            ("[!a]", "/", false),
            ("[[:digit:][:upper:]]", "X", true),
            ("[[:digit:]x]", "x", true),
            ("[[:digit]", ":", true),
            ("[[:none:]]", "n", false),
            ("[a", "a", false),
            ("a\\", "a", false),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn a_pattern_of_many_stars_costs_no_more_than_its_length() {
        let pattern = format!("{}b", "*a".repeat(60));
        assert!(!matches(&pattern, &"a".repeat(4000)));
        let pattern = format!("{}b", "**/*a/".repeat(60));
        assert!(!matches(&pattern, &"aa/".repeat(1300)));
    }

    #[test]
    fn plain_patterns_are_known_as_such() {
        let wild = |pattern: &str| Wildcard::new(pattern.as_bytes(), true).unwrap();
        assert_eq!(wild("A\\*").as_literal(), Some(b"a*".to_vec()));
        assert_eq!(wild("a*").as_literal(), None);
        assert_eq!(wild("*.log").as_ending(), Some(b".log".to_vec()));
        assert_eq!(wild("*.l?g").as_ending(), None);
        assert_eq!(wild("*").as_ending(), None);
    }
}
