//! The operators of `[[ … ]]` that evaluate their operands.

use super::Walker;
use crate::analysis::model::Reason;
use crate::analysis::word::Word;

impl Walker<'_, '_> {
    /// Looks for numbers and names among the words of a test.
    pub(super) fn test(&mut self, words: &[Word]) {
        for (index, word) in words.iter().enumerate() {
            let before = index.checked_sub(1).and_then(|before| words.get(before));
            let after = words.get(index + 1);
            match word.raw.as_str() {
                "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge" => {
                    for operand in [before, after].into_iter().flatten() {
                        self.scanner.arithmetic.push((operand.raw.clone(), operand.start));
                    }
                }
                "-v" | "-R" if !after.is_some_and(is_plain_name) => {
                    self.scanner.note(Reason::Arithmetic, word.start);
                }
                _ => {}
            }
        }
    }
}

/// Whether a word names a variable, without a subscript.
fn is_plain_name(name: &Word) -> bool {
    name.is_constant && !name.text.contains('[')
}
