//! Splitter for the streamed text of a response: thoughts in tags, calls in fenced blocks.
//!
//! The resulting pieces do not depend on how the text is split into chunks, and the run time is
//! linear in its length. Text that may still become a tag or a fence is held back.

use super::emulation::FENCE;

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// Maximum length of a line that begins a block; longer lines are ordinary text.
const MAX_FENCE_LINE: usize = 128;

/// Piece of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Segment {
    /// Text for the user.
    Text(String),
    /// Text of a thought.
    Thought(String),
    /// Content of a block that calls tools.
    Block(String),
}

/// Splitter that separates text, thoughts and blocks.
#[derive(Debug)]
pub(super) struct Splitter {
    state: State,
    /// True if calls may be in blocks.
    blocks: bool,
    /// Text whose meaning is not known yet.
    held: String,
}

#[derive(Debug)]
enum State {
    /// Only white space so far; a thought may begin.
    Start,
    Thinking,
    /// A thought or a block has ended; only line ends since then.
    Gap,
    /// Text; `line_start` is true if the next character begins a line.
    Text {
        line_start: bool,
    },
    /// Inside a block; contains its text so far.
    Block(String),
}

impl Splitter {
    /// Creates a splitter. `blocks` is true if calls may be in blocks.
    pub(super) fn new(blocks: bool) -> Self {
        Self { state: State::Start, blocks, held: String::new() }
    }

    /// Processes the next text.
    pub(super) fn push(&mut self, words: &str) -> Vec<Segment> {
        let mut segments = Vec::new();
        self.held.push_str(words);
        let mut held = std::mem::take(&mut self.held);
        let mut at = 0;
        while let Some(used) = self.step(&held[at..], &mut segments) {
            at += used;
        }
        held.drain(..at);
        self.held = held;
        segments
    }

    /// Ends the text.
    pub(super) fn finish(&mut self) -> Vec<Segment> {
        let held = std::mem::take(&mut self.held);
        let state = std::mem::replace(&mut self.state, State::Text { line_start: true });
        let segment = match state {
            State::Thinking => Segment::Thought(held),
            State::Block(block) => Segment::Block(block),
            State::Start | State::Gap | State::Text { .. } => Segment::Text(held),
        };
        let mut segments = Vec::new();
        emit(&mut segments, segment);
        segments
    }

    /// Returns the size of the text that is held back, in bytes.
    pub(super) fn held(&self) -> usize {
        let block = if let State::Block(block) = &self.state { block.len() } else { 0 };
        self.held.len() + block
    }

    /// Processes one piece of `rest`; returns the number of bytes used, or `None` if more text is
    /// needed.
    fn step(&mut self, rest: &str, segments: &mut Vec<Segment>) -> Option<usize> {
        if rest.is_empty() {
            return None;
        }
        match &self.state {
            State::Start => self.begin(rest),
            State::Thinking => self.think(rest, segments),
            State::Gap => Some(self.skip(rest)),
            State::Text { line_start } => self.text(*line_start, rest, segments),
            State::Block(_) => Some(self.block(rest, segments)),
        }
    }

    fn begin(&mut self, rest: &str) -> Option<usize> {
        let start = rest.trim_start();
        if start.starts_with(OPEN) {
            self.state = State::Thinking;
            return Some(rest.len() - start.len() + OPEN.len());
        }
        // The amount of leading white space is limited: a response does not begin with a page of
        // it.
        if OPEN.starts_with(start) && rest.len() <= MAX_FENCE_LINE {
            return None;
        }
        self.state = State::Text { line_start: true };
        Some(0)
    }

    fn think(&mut self, rest: &str, segments: &mut Vec<Segment>) -> Option<usize> {
        if let Some((thought, _)) = rest.split_once(CLOSE) {
            emit(segments, Segment::Thought(thought.to_owned()));
            self.state = State::Gap;
            return Some(thought.len() + CLOSE.len());
        }
        let used = rest.len() - partial_suffix(rest, CLOSE);
        emit(segments, Segment::Thought(rest[..used].to_owned()));
        (used > 0).then_some(used)
    }

    /// Skips empty lines after a thought or a block, which have no content.
    fn skip(&mut self, rest: &str) -> usize {
        let used = rest.len() - rest.trim_start_matches(['\n', '\r']).len();
        if used < rest.len() {
            self.state = State::Text { line_start: true };
        }
        used
    }

    fn text(&mut self, line_start: bool, rest: &str, segments: &mut Vec<Segment>) -> Option<usize> {
        if !self.blocks {
            emit(segments, Segment::Text(rest.to_owned()));
            return Some(rest.len());
        }
        let line_end = rest.find('\n').map(|end| end + 1);
        if line_start {
            let line = rest.trim_start_matches(' ');
            match line_end {
                Some(end) if line.starts_with(FENCE) => {
                    self.state = State::Block(String::new());
                    return Some(end);
                }
                None if (line.starts_with(FENCE) || FENCE.starts_with(line))
                    && rest.len() <= MAX_FENCE_LINE =>
                {
                    return None;
                }
                _ => {}
            }
        }
        let end = line_end.unwrap_or(rest.len());
        emit(segments, Segment::Text(rest[..end].to_owned()));
        self.state = State::Text { line_start: line_end.is_some() };
        Some(end)
    }

    fn block(&mut self, rest: &str, segments: &mut Vec<Segment>) -> usize {
        let State::Block(block) = &mut self.state else { return 0 };
        let line_end = rest.find('\n').map(|end| end + 1);
        let used = line_end.unwrap_or(rest.len());
        block.push_str(&rest[..used]);
        if line_end.is_some() {
            let line = block[..block.len() - 1].rfind('\n').map_or(0, |end| end + 1);
            if block[line..].trim() == "```" {
                block.truncate(line);
                segments.push(Segment::Block(std::mem::take(block)));
                self.state = State::Gap;
            }
        }
        used
    }
}

/// Adds a piece, joined to the previous piece if both have the same kind.
fn emit(segments: &mut Vec<Segment>, segment: Segment) {
    match (segments.last_mut(), segment) {
        (Some(Segment::Text(text)), Segment::Text(more))
        | (Some(Segment::Thought(text)), Segment::Thought(more)) => text.push_str(&more),
        (_, Segment::Text(words) | Segment::Thought(words)) if words.is_empty() => {}
        (_, segment) => segments.push(segment),
    }
}

/// Returns the number of bytes at the end of `text` that may be the beginning of `word`.
fn partial_suffix(text: &str, word: &str) -> usize {
    (1..word.len()).rev().find(|length| text.ends_with(&word[..*length])).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the pieces, with neighbours of one kind joined.
    fn split(blocks: bool, words: &[&str]) -> Vec<Segment> {
        let mut splitter = Splitter::new(blocks);
        let mut all: Vec<Segment> = words.iter().flat_map(|words| splitter.push(words)).collect();
        all.extend(splitter.finish());
        let mut joined = Vec::new();
        for segment in all {
            emit(&mut joined, segment);
        }
        joined
    }

    fn text(words: &str) -> Segment {
        Segment::Text(words.to_owned())
    }

    const CALLING: &str = "<think>hm < 7</think>\n\nLook:\n```tool_call\n{\"a\":\n 1}\n```\nmore ```tool_call\n```tool";

    #[test]
    fn thoughts_and_blocks_are_found() {
        let block = Segment::Block("{\"a\":\n 1}\n".to_owned());
        let thought = Segment::Thought("hm < 7".to_owned());
        assert_eq!(
            split(true, &[CALLING]),
            [thought.clone(), text("Look:\n"), block, text("more ```tool_call\n```tool")]
        );
        let answer = CALLING.rsplit_once("\n\n").unwrap().1;
        assert_eq!(split(false, &[CALLING]), [thought, text(answer)]);
        let open = || Segment::Block("{}".to_owned());
        assert_eq!(split(true, &["```tool_call\n{}"]), [open()]);
        // Blank lines between blocks have no content.
        let ended = || Segment::Block("{}\n".to_owned());
        let two = "```tool_call\n{}\n```\n\r\n\n```tool_call\n{}\n ```\n\n";
        for words in [vec![two], two.split_inclusive('\n').collect()] {
            assert_eq!(split(true, &words), [ended(), ended()]);
        }
    }

    #[test]
    fn tags_elsewhere_than_at_the_beginning_are_text() {
        for words in ["no <think>x</think>", "```\n<think>x</think>\n```", "  <thi", "x</think>"] {
            assert_eq!(split(false, &[words]), [text(words)]);
            assert_eq!(split(true, &[words]), [text(words)]);
        }
        let thought = Segment::Thought("a".to_owned());
        let twice = "<think>a</think>b <think>c</think>";
        assert_eq!(split(false, &[twice]), [thought, text("b <think>c</think>")]);
    }

    proptest! {
        #[test]
        fn any_cutting_gives_the_same(
            cuts in prop::collection::vec(1usize..9, 0..80),
            blocks: bool,
        ) {
            let mut rest = CALLING;
            let mut words = Vec::new();
            for cut in cuts {
                let (head, tail) = rest.split_at(cut.min(rest.len()));
                words.push(head);
                rest = tail;
            }
            words.push(rest);
            prop_assert_eq!(split(blocks, &words), split(blocks, &[CALLING]));
        }

        #[test]
        fn nothing_is_lost_outside_of_blocks(words in prop::collection::vec("[`a \n]{0,6}", 0..20)) {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let whole = words.concat();
            let split = split(true, &words);
            if !whole.contains(FENCE) && !whole.is_empty() {
                prop_assert_eq!(split, [text(&whole)]);
            }
        }
    }
}
