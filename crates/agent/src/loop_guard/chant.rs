//! Words that come back again and again while an answer streams.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet, VecDeque};

use pollux_protocol::LoopKind;

use super::Finding;
use super::refrain::Refrain;

/// Characters of the piece that must come back.
const PIECE: usize = 50;
/// How often.
const REPEATS: usize = 10;
/// How far apart on the average, in characters.
const DISTANCE: usize = 5 * PIECE;
/// How many different texts may stand between: a list whose lines begin alike goes on, a chant does not.
const VARIETY: usize = 5;
/// Characters that are remembered.
const MEMORY: usize = 5000;
/// The base of the rolling hash.
const BASE: u64 = 1_000_003;
/// What the first character of a piece counts in it: `BASE` to the power of `PIECE - 1`.
const LEADING: u64 = {
    let (mut power, mut done) = (1_u64, 1);
    while done < PIECE {
        power = power.wrapping_mul(BASE);
        done += 1;
    }
    power
};

/// Listens to an answer. Code, tables, lists, headings, quotations and dividers repeat themselves honestly: they are not
/// listened to, and what follows them starts anew; only what no list and no code says so often, the [`Refrain`], ends them.
#[derive(Debug, Default)]
pub(crate) struct Chant {
    /// The last characters that were listened to.
    text: VecDeque<char>,
    /// How many characters have gone from the front of `text`.
    gone: usize,
    /// The hash of the last `PIECE` characters.
    rolling: u64,
    /// Where pieces began, by their hash.
    places: HashMap<u64, Places>,
    line: Line,
    in_code: bool,
    refrain: Refrain,
}

/// Where one piece was. Most are there once: that costs no allocation.
#[derive(Debug)]
struct Places {
    last: usize,
    earlier: VecDeque<usize>,
}

/// The line under way, as far as its kind depends on it.
#[derive(Debug, Default)]
struct Line {
    /// Its first characters, without leading blanks.
    start: String,
    is_structure: bool,
}

/// Characters by which the kind of a line is known.
const LINE_START: usize = 6;

impl Chant {
    /// More of the answer. A finding is told once; what comes after it is not worth listening to.
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

    /// Notes a piece and looks at where it was before. Pieces do not overlap: a line of sixty dots has said nothing ten
    /// times.
    fn seen(&mut self, piece: usize) -> Option<Finding> {
        let gone = self.gone;
        // Pieces that will not come back must not stay for ever.
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
    /// Takes a character. True when the line turns out to be structure.
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

/// Whether a line that begins so is more than a sentence.
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
