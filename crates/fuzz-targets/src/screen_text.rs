//! Text on the screen: for any answer of a model, no row has characters that act on the terminal or
//! is wider than the screen, and the rows do not depend on the pieces in which the text arrives.
//! The input is the width, the length of the pieces and the text.

use pollux_protocol::plain_text::acts_on_terminal;
use pollux_tui::answer_rows;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

pub(crate) fn run((cells, length, text): (u8, u8, &str)) {
    let cells = usize::from(cells).clamp(4, 200);
    let rows = answer_rows([text], cells);
    for row in &rows {
        assert!(!row.contains(|letter: char| letter == '\n' || acts_on_terminal(letter)), "{row:?}");
        let width: usize = row.graphemes(true).map(UnicodeWidthStr::width).sum();
        assert!(width <= cells, "{width} cells of {cells}: {row:?}");
    }
    let letters: Vec<char> = text.chars().collect();
    let pieces: Vec<String> =
        letters.chunks(usize::from(length).max(1)).map(|piece| piece.iter().collect()).collect();
    assert_eq!(answer_rows(pieces.iter().map(String::as_str), cells), rows);
}
