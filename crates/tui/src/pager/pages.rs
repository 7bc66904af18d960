//! The part of a transcript that is in memory: consecutive pages with their blocks. Pure.

use std::collections::VecDeque;
use std::ops::Range;

use pollux_protocol::{TranscriptFrom, TranscriptPage, TranscriptPosition};

use super::block::{Block, blocks_of};

/// Maximum size of the texts in memory, in bytes. A single page may be larger.
const MOST_BYTES: usize = 16 << 20;

/// One of the two ends of what is in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Earlier,
    Later,
}

/// The pages in memory. A block keeps its number while pages are added and removed.
#[derive(Debug, Default)]
pub(super) struct Pages {
    blocks: VecDeque<Block>,
    /// Number of the first block.
    first: i64,
    loaded: VecDeque<Page>,
}

#[derive(Debug)]
struct Page {
    blocks: usize,
    bytes: usize,
    before: Option<TranscriptPosition>,
    after: Option<TranscriptPosition>,
}

impl Pages {
    /// Returns the numbers of the blocks.
    pub(super) fn numbers(&self) -> Range<i64> {
        self.first..self.first + i64::try_from(self.blocks.len()).unwrap_or(i64::MAX)
    }

    /// Returns the block with this number.
    pub(super) fn get(&self, number: i64) -> Option<&Block> {
        self.blocks.get(self.index(number)?)
    }

    /// Returns the block with this number.
    pub(super) fn get_mut(&mut self, number: i64) -> Option<&mut Block> {
        let index = self.index(number)?;
        self.blocks.get_mut(index)
    }

    fn index(&self, number: i64) -> Option<usize> {
        usize::try_from(number.checked_sub(self.first)?).ok()
    }

    /// Returns the page that follows at this side; `None` if there is none.
    pub(super) fn missing(&self, side: Side) -> Option<TranscriptFrom> {
        match side {
            Side::Earlier => self.loaded.front()?.before.map(TranscriptFrom::Before),
            Side::Later => self.loaded.back()?.after.map(TranscriptFrom::After),
        }
    }

    /// Adds a page at one side. Pages at the other side are removed if too much is in memory.
    pub(super) fn add(&mut self, side: Side, page: TranscriptPage) {
        let blocks: Vec<Block> = page.items.into_iter().flat_map(blocks_of).collect();
        let bytes = blocks.iter().map(Block::bytes).sum();
        let (before, after) = (page.before, page.after);
        let page = Page { blocks: blocks.len(), bytes, before, after };
        match side {
            Side::Earlier => {
                self.first -= i64::try_from(blocks.len()).unwrap_or_default();
                blocks.into_iter().rev().for_each(|block| self.blocks.push_front(block));
                self.loaded.push_front(page);
            }
            Side::Later => {
                self.blocks.extend(blocks);
                self.loaded.push_back(page);
            }
        }
        while self.loaded.len() > 1 && self.bytes() > MOST_BYTES {
            self.remove(side);
        }
    }

    /// Removes the page that is farthest from this side.
    fn remove(&mut self, side: Side) {
        match side {
            Side::Earlier => {
                let count = self.loaded.pop_back().map_or(0, |page| page.blocks);
                self.blocks.truncate(self.blocks.len() - count);
            }
            Side::Later => {
                let count = self.loaded.pop_front().map_or(0, |page| page.blocks);
                self.blocks.drain(..count);
                self.first += i64::try_from(count).unwrap_or_default();
            }
        }
    }

    fn bytes(&self) -> usize {
        self.loaded.iter().map(|page| page.bytes).sum()
    }

    /// Frees the memory of the rows of all other blocks.
    pub(super) fn forget_rows_outside(&mut self, shown: &Range<i64>) {
        for (number, block) in (self.first..).zip(&mut self.blocks) {
            if !shown.contains(&number) {
                block.forget_rows();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use pollux_protocol::{Severity, TranscriptItem};
    use pretty_assertions::assert_eq;

    use super::*;

    fn page(text: &str, first: usize, count: usize, total: usize) -> TranscriptPage {
        let item = |number| TranscriptItem::Notice {
            severity: Severity::Info,
            text: format!("{number}{text}"),
        };
        TranscriptPage {
            items: (first..first + count).map(item).collect(),
            before: (first > 0).then(|| TranscriptPosition::new(first)),
            after: (first + count < total).then(|| TranscriptPosition::new(first + count)),
        }
    }

    #[test]
    fn blocks_keep_their_numbers_and_memory_is_bounded() {
        let large = "x".repeat(1 << 20);
        let mut pages = Pages::default();
        assert_eq!((pages.numbers(), pages.missing(Side::Earlier)), (0..0, None));
        pages.add(Side::Later, page(&large, 96, 4, 100));
        assert_eq!(pages.missing(Side::Later), None);
        for first in (0..24).rev() {
            let wanted = TranscriptFrom::Before(TranscriptPosition::new(first * 4 + 4));
            assert_eq!(pages.missing(Side::Earlier), Some(wanted));
            pages.add(Side::Earlier, page(&large, first * 4, 4, 100));
            assert!(pages.bytes() <= MOST_BYTES);
            let text = pages.get(pages.numbers().start).unwrap().text();
            assert!(text.starts_with(&format!("{}x", first * 4)));
        }
        assert_eq!((pages.numbers(), pages.missing(Side::Earlier)), (-96..-84, None));
        let wanted = TranscriptFrom::After(TranscriptPosition::new(12));
        assert_eq!(pages.missing(Side::Later), Some(wanted));
        pages.add(Side::Later, page(&large, 12, 4, 100));
        assert_eq!(pages.numbers(), -92..-80);
        assert!(pages.get(-92).unwrap().text().starts_with("4x"));
        assert!(pages.get(-93).is_none() && pages.get(-80).is_none());
    }
}
