//! Changes of files on the screen: for any patch, no row has characters that act on the terminal or
//! is wider than the screen, and no letter of the change is left out. The input is the width and
//! the patch.

use pollux_protocol::plain_text::acts_on_terminal;
use pollux_tui::change_rows;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

pub(crate) fn run((cells, patch): (u8, &str)) {
    let cells = usize::from(cells).clamp(8, 200);
    let rows = change_rows(patch, cells);
    for row in &rows {
        let acts = |letter: char| letter == '\n' || acts_on_terminal(letter);
        assert!(!row.contains(acts), "{row:?}");
        let width: usize = row.graphemes(true).map(UnicodeWidthStr::width).sum();
        assert!(width <= cells, "{width} cells of {cells}: {row:?}");
    }
    let body = patch.split('\n').skip_while(|line| !line.starts_with("@@ "));
    let letters = |text: &str| text.chars().filter(|letter| letter.is_alphabetic()).count();
    let changed = body.filter(|line| line.starts_with(['+', '-'])).map(letters).sum::<usize>();
    assert!(rows.iter().map(|row| letters(row)).sum::<usize>() >= changed);
}
