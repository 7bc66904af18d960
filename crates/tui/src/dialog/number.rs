//! The number of a choice, digit by digit. Pure.

/// Number that was begun, of a choice with more than one digit.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TypedNumber(Option<usize>);

impl TypedNumber {
    /// Takes a digit of the number of one of `count` choices, of which some digits may be typed
    /// already. Returns the index of the choice, and whether the number cannot be longer.
    pub(super) fn take(&mut self, digit: usize, count: usize) -> Option<(usize, bool)> {
        let begun = self.0.take();
        let longer = begun.map(|begun| begun * 10 + digit).filter(|number| *number <= count);
        let number = longer.unwrap_or(digit);
        let index = number.checked_sub(1).filter(|index| *index < count)?;
        let is_whole = number * 10 > count;
        self.0 = (!is_whole).then_some(number);
        Some((index, is_whole))
    }
}
