//! Detection of text that repeats itself while an answer streams.

use pollux_protocol::LoopKind;

use super::Finding;
use super::refrain::Refrain;

/// Number of characters in the piece that must repeat.
const PIECE: usize = 50;
/// Number of times that the piece must occur.
const REPEATS: usize = 10;
/// Maximum average distance between two occurrences, in characters.
const DISTANCE: usize = 5 * PIECE;
/// Maximum number of different texts between the occurrences. A list whose lines begin alike has
/// more of them.
const VARIETY: usize = 5;
/// Maximum number of characters between the first and the last of these occurrences.
const REACH: usize = (REPEATS - 1) * DISTANCE;
/// Number of characters that are remembered: a power of two above `REACH + PIECE`.
const MEMORY: usize = 4096;
/// Base of the hashes: the hash of a text is a polynomial of its characters.
pub(super) const BASE: u64 = 1_000_003;

/// Checks the text of an answer. Code, tables, lists, headings, quotations and dividers may repeat
/// legitimately: they are ignored, and the check restarts after them. In such text only the
/// [`Refrain`] check applies, with limits that ordinary lists and code do not reach.
#[derive(Debug, Default)]
pub(crate) struct Chant {
    pieces: Pieces,
    line: Line,
    in_code: bool,
    refrain: Refrain,
}

impl Chant {
    /// Checks more text of the answer. After the first finding, later text need not be checked.
    pub(crate) fn hear(&mut self, words: &str) -> Option<Finding> {
        words.chars().find_map(|letter| self.letter(letter))
    }

    fn letter(&mut self, letter: char) -> Option<Finding> {
        if let Some(finding) = self.refrain.letter(letter) {
            return Some(finding);
        }
        if letter == '\n' {
            self.in_code ^= std::mem::take(&mut self.line).is_fence();
        } else if self.line.letter(letter) {
            self.pieces.restart();
        }
        let is_ignored = self.in_code || self.line.is_structure;
        (!is_ignored && self.pieces.letter(letter)).then(|| {
            let details = format!("The answer repeats itself: \"{}\".", self.pieces.last().trim());
            Finding { kind: LoopKind::Chant, details }
        })
    }
}

/// Pieces of the checked text. A piece is identified by its hash and located by its end: the number
/// of characters from the first one to the last one of the piece.
#[derive(Debug, Default)]
struct Pieces {
    /// Latest characters. The one at the end `n` is at the index `n % MEMORY`.
    letters: Vec<Letter>,
    /// Number of characters so far, and their number at the last restart.
    end: usize,
    start: usize,
    /// Hash and end of the latest piece whose hash has this index in its upper bits. A piece that
    /// is displaced by another one is found at its next occurrences.
    latest: Vec<(u64, usize)>,
}

#[derive(Debug, Clone, Default)]
struct Letter {
    value: char,
    /// Hash of all characters up to this one.
    hash: u64,
    /// End of the previous occurrence of the piece that ends here; 0 if it is unknown.
    previous: usize,
}

impl Pieces {
    /// Forgets the text so far.
    fn restart(&mut self) {
        self.start = self.end;
    }

    /// Adds a character. Returns true if the last piece is repeated too often.
    fn letter(&mut self, letter: char) -> bool {
        if self.letters.is_empty() {
            self.letters = vec![Letter::default(); MEMORY];
            self.latest = vec![(0, 0); MEMORY];
        }
        let hash = self.at(self.end).hash.wrapping_mul(BASE).wrapping_add(u64::from(letter));
        self.end += 1;
        self.letters[self.end % MEMORY] = Letter { value: letter, hash, previous: 0 };
        if self.end < self.start + PIECE {
            return false;
        }
        let piece = self.hash(self.end - PIECE, self.end);
        let latest = &mut self.latest[(piece >> 52) as usize];
        let (known, previous) = *latest;
        // A line of sixty dots does not contain one piece ten times.
        if known == piece && self.end < previous + PIECE {
            return false;
        }
        *latest = (piece, self.end);
        if known != piece {
            return false;
        }
        self.letters[self.end % MEMORY].previous = previous;
        self.is_chant()
    }

    /// True if the last piece has occurred often, near, and with few texts between.
    fn is_chant(&self) -> bool {
        let first = (self.start + PIECE).max(self.end.saturating_sub(REACH));
        let mut end = self.end;
        let mut between = [0; REPEATS - 1];
        for gap in &mut between {
            let previous = self.at(end).previous;
            if previous < first {
                return false;
            }
            *gap = self.hash(previous, end - PIECE);
            end = previous;
        }
        between.sort_unstable();
        between.chunk_by(|one, other| one == other).count() <= VARIETY
    }

    fn at(&self, end: usize) -> &Letter {
        &self.letters[end % MEMORY]
    }

    /// Returns the hash of the characters after the end `from` to the end `to`.
    fn hash(&self, from: usize, to: usize) -> u64 {
        let shifted = self.at(from).hash.wrapping_mul(POWERS[to - from]);
        self.at(to).hash.wrapping_sub(shifted)
    }

    /// Returns the last piece.
    fn last(&self) -> String {
        (self.end - PIECE..self.end).map(|end| self.at(end + 1).value).collect()
    }
}

/// Powers of `BASE`.
static POWERS: [u64; REACH] = {
    let mut powers = [1; REACH];
    let mut place = 1;
    while place < REACH {
        powers[place] = BASE.wrapping_mul(powers[place - 1]);
        place += 1;
    }
    powers
};

/// Number of bytes that determine the kind of a line.
const LINE_START: usize = 9;

/// Beginning of the current line, as far as it determines the kind of the line.
#[derive(Debug, Default)]
struct Line {
    /// First characters of the line, without leading whitespace.
    start: String,
    is_structure: bool,
}

impl Line {
    /// Adds a character. Returns true if the line turns out to be structure.
    fn letter(&mut self, letter: char) -> bool {
        let is_known = self.is_structure || self.start.len() >= LINE_START;
        if is_known || (self.start.is_empty() && letter.is_whitespace()) {
            return false;
        }
        self.start.push(letter);
        self.is_structure = is_structure(&self.start);
        self.is_structure
    }

    fn is_fence(&self) -> bool {
        self.start.starts_with("```") || self.start.starts_with("~~~")
    }
}

/// True if a line with this start is structure and not an ordinary sentence.
fn is_structure(start: &str) -> bool {
    let numbered = start.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let is_divider = start.chars().count() >= 3
        && start
            .chars()
            .all(|letter| matches!(letter, '+' | '-' | '_' | '=' | '*' | '\u{2500}'..='\u{257f}'));
    ["|", "#", ">", "- ", "* ", "+ ", "• ", "```", "~~~"].iter().any(|mark| start.starts_with(mark))
        || is_divider
        || (numbered.len() < start.len()
            && (numbered.starts_with(". ") || numbered.starts_with(") ")))
}
