//! Detection of text that repeats itself while an answer streams.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet, VecDeque};

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
/// Number of characters that are remembered.
const MEMORY: usize = 5000;
/// Base of the rolling hash.
const BASE: u64 = 1_000_003;
/// Factor of a piece's first character in the hash: `BASE` to the power of `PIECE - 1`.
const LEADING: u64 = {
    let (mut power, mut done) = (1_u64, 1);
    while done < PIECE {
        power = power.wrapping_mul(BASE);
        done += 1;
    }
    power
};

/// Checks the text of an answer. Code, tables, lists, headings, quotations and dividers may repeat
/// legitimately: they are ignored, and the check restarts after them. In such text only the
/// [`Refrain`] check applies, with limits that ordinary lists and code do not reach.
#[derive(Debug, Default)]
pub(crate) struct Chant {
    /// Latest checked characters.
    text: VecDeque<char>,
    /// Number of characters that were removed from the front of `text`.
    gone: usize,
    /// Hash of the last `PIECE` characters.
    rolling: u64,
    /// Positions of pieces, by their hash.
    places: HashMap<u64, Places>,
    line: Line,
    in_code: bool,
    refrain: Refrain,
}

/// Positions of one piece. Most pieces occur once, which needs no allocation.
#[derive(Debug)]
struct Places {
    last: usize,
    earlier: VecDeque<usize>,
}

/// Beginning of the current line, as far as it determines the kind of the line.
#[derive(Debug, Default)]
struct Line {
    /// First characters of the line, without leading whitespace.
    start: String,
    is_structure: bool,
}

/// Number of characters that determine the kind of a line.
const LINE_START: usize = 6;

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
            let line = std::mem::take(&mut self.line);
            self.in_code ^= line.is_fence();
        } else if self.line.letter(letter) {
            self.forget();
        }
        if self.in_code || self.line.is_structure {
            return None;
        }
        self.listen(letter)
    }

    fn forget(&mut self) {
        self.gone += self.text.len();
        self.text.clear();
        self.places.clear();
        self.rolling = 0;
    }

    fn listen(&mut self, letter: char) -> Option<Finding> {
        if self.text.len() >= PIECE {
            let out = self.text[self.text.len() - PIECE];
            self.rolling = self.rolling.wrapping_sub(u64::from(out).wrapping_mul(LEADING));
        }
        self.rolling = self.rolling.wrapping_mul(BASE).wrapping_add(u64::from(letter));
        self.text.push_back(letter);
        if self.text.len() > MEMORY {
            self.text.pop_front();
            self.gone += 1;
        }
        let piece =
            (self.gone + self.text.len()).checked_sub(PIECE).filter(|place| *place >= self.gone)?;
        self.seen(piece)
    }

    /// Notes a piece and compares it with its earlier occurrences. Occurrences must not overlap: a
    /// line of sixty dots does not contain one piece ten times.
    fn seen(&mut self, piece: usize) -> Option<Finding> {
        let gone = self.gone;
        // Pieces that do not repeat must not stay in memory forever.
        if piece.is_multiple_of(MEMORY) {
            self.places.retain(|_, places| places.last >= gone);
        }
        let mut places = match self.places.entry(self.rolling) {
            Entry::Vacant(entry) => {
                entry.insert(Places { last: piece, earlier: VecDeque::new() });
                return None;
            }
            Entry::Occupied(entry) => entry,
        };
        let Places { last, earlier } = places.get_mut();
        if piece < *last + PIECE {
            return None;
        }
        earlier.push_back(std::mem::replace(last, piece));
        while earlier.len() >= REPEATS || earlier.front().is_some_and(|place| *place < gone) {
            earlier.pop_front();
        }
        if earlier.len() + 1 < REPEATS {
            return None;
        }
        let places: Vec<usize> = earlier.iter().chain([&*last]).map(|place| place - gone).collect();
        self.is_chant(&places).then(|| {
            let piece: String = self.text.range(places[0]..places[0] + PIECE).collect();
            let details = format!("The answer repeats itself: \"{}\".", piece.trim());
            Finding { kind: LoopKind::Chant, details }
        })
    }

    fn is_chant(&self, places: &[usize]) -> bool {
        let piece = |place: usize| self.text.range(place..place + PIECE);
        let near = places[places.len() - 1] - places[0] <= DISTANCE * (places.len() - 1);
        let same = places.iter().all(|place| piece(*place).eq(piece(places[0])));
        let between: HashSet<String> = places
            .windows(2)
            .map(|pair| self.text.range(pair[0] + PIECE..pair[1]).collect())
            .collect();
        near && same && between.len() <= VARIETY
    }
}

impl Line {
    /// Adds a character. Returns true if the line turns out to be structure.
    fn letter(&mut self, letter: char) -> bool {
        let is_known = self.is_structure || self.start.chars().count() >= LINE_START;
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
