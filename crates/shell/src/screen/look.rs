//! Conversion of screen cells to pieces of lines, each with one style.

use std::num::NonZeroU16;

use pollux_protocol::AnsiToken;
use vt100::{Cell, Color, Parser, Screen};

/// Returns the lines of the screen, including blank lines.
pub(super) fn lines(screen: &Screen, colour: bool) -> Vec<Vec<AnsiToken>> {
    let (rows, columns) = screen.size();
    (0..rows.get()).map(|row| line(screen, row, columns.get(), colour)).collect()
}

/// Converts a line that has left the screen, from its text with colour sequences.
pub(super) fn line_of(text: &str, columns: NonZeroU16, colour: bool) -> Vec<AnsiToken> {
    let mut parser = Parser::new(NonZeroU16::MIN, columns, 0);
    parser.process(text.as_bytes());
    line(parser.screen(), 0, columns.get(), colour)
}

/// Removes blank lines at the end.
pub(super) fn trim_end(lines: &mut Vec<Vec<AnsiToken>>) {
    while lines.last().is_some_and(Vec::is_empty) {
        lines.pop();
    }
}

fn line(screen: &Screen, row: u16, columns: u16, colour: bool) -> Vec<AnsiToken> {
    let mut tokens: Vec<AnsiToken> = Vec::new();
    let cells = (0..columns).filter_map(|column| screen.cell(row, column));
    for cell in cells.filter(|cell| !cell.is_wide_continuation()) {
        let text = if cell.has_contents() { cell.contents() } else { " " };
        let token = if colour { look(cell) } else { AnsiToken::default() };
        match tokens.last_mut().filter(|last| same_look(last, &token)) {
            Some(last) => last.text.push_str(text),
            None => tokens.push(AnsiToken { text: text.to_owned(), ..token }),
        }
    }
    // Spaces without colour at the end of a line are invisible.
    if let Some(last) = tokens.last_mut().filter(|last| last.bg.is_empty() && !last.inverse) {
        last.text.truncate(last.text.trim_end().len());
        if last.text.is_empty() {
            tokens.pop();
        }
    }
    tokens
}

fn look(cell: &Cell) -> AnsiToken {
    AnsiToken {
        text: String::new(),
        bold: cell.bold(),
        italic: cell.italic(),
        underline: cell.underline(),
        dim: cell.dim(),
        inverse: cell.inverse(),
        is_uninitialized: false,
        fg: hexadecimal(cell.fgcolor()),
        bg: hexadecimal(cell.bgcolor()),
    }
}

fn same_look(left: &AnsiToken, right: &AnsiToken) -> bool {
    let of =
        |token: &AnsiToken| (token.bold, token.italic, token.underline, token.dim, token.inverse);
    of(left) == of(right) && left.fg == right.fg && left.bg == right.bg
}

/// The sixteen named colours, as in xterm and in the output of Gemini CLI 0.61.
const NAMED: [&str; 16] = [
    "#000000", "#800000", "#008000", "#808000", "#000080", "#800080", "#008080", "#c0c0c0",
    "#808080", "#ff0000", "#00ff00", "#ffff00", "#0000ff", "#ff00ff", "#00ffff", "#ffffff",
];

/// Returns `#rrggbb`; empty for the terminal's default colour.
fn hexadecimal(colour: Color) -> String {
    // Steps of the cube of 6 × 6 × 6 colours, then 24 greys.
    let step = |level: u8| if level == 0 { 0 } else { 55 + 40 * level };
    let (red, green, blue) = match colour {
        Color::Default => return String::new(),
        Color::Idx(index @ 0..16) => return NAMED[usize::from(index)].to_owned(),
        Color::Idx(index @ 16..232) => {
            let index = index - 16;
            (step(index / 36), step(index / 6 % 6), step(index % 6))
        }
        Color::Idx(index) => {
            let grey = 8 + 10 * (index - 232);
            (grey, grey, grey)
        }
        Color::Rgb(red, green, blue) => (red, green, blue),
    };
    format!("#{red:02x}{green:02x}{blue:02x}")
}
