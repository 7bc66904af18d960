//! A screen as a picture: its text, and its look as SVG. Pure.

use std::fmt::Write;

use vt100::{Color, Screen};

/// Width and height of a cell, and the size of the font, in pixels.
const CELL: (usize, usize) = (9, 18);
const FONT: usize = 15;
/// Space around the screen, in pixels.
const MARGIN: usize = 8;
const FOREGROUND: &str = "#d0d0d0";
const BACKGROUND: &str = "#16181d";
/// The sixteen colours of a terminal.
const PALETTE: [&str; 16] = [
    "#3b4048", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#abb2bf",
    "#5c6370", "#ff7b86", "#b5e890", "#ffd68a", "#7cc4ff", "#dd92f2", "#6fd3e0", "#ffffff",
];

/// The cells of a screen, as runs of the same look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    columns: usize,
    rows: Vec<Vec<Run>>,
    /// Row and column of the cursor, unless it is hidden.
    cursor: Option<(usize, usize)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Run {
    column: usize,
    cells: usize,
    text: String,
    look: Look,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Look {
    foreground: Color,
    background: Color,
    is_bold: bool,
    is_dim: bool,
    is_italic: bool,
    is_underlined: bool,
    is_inverse: bool,
}

impl Picture {
    /// Takes the picture of a screen.
    pub(crate) fn of(screen: &Screen) -> Self {
        let (height, width) = screen.size();
        let rows = (0..height.get()).map(|row| runs(screen, row, width.get())).collect();
        let (row, column) = screen.cursor_position();
        let cursor = (!screen.hide_cursor()).then_some((row.into(), column.into()));
        Self { columns: width.get().into(), rows, cursor }
    }

    /// Replaces the text of each run, such as text that is not the same in each run of a test.
    #[must_use]
    pub fn replaced(mut self, replace: impl Fn(&str) -> String) -> Self {
        for run in self.rows.iter_mut().flatten() {
            let text = replace(&run.text);
            run.cells = (run.cells + text.chars().count()).saturating_sub(run.text.chars().count());
            run.text = text;
        }
        self
    }

    /// Returns the text, without blanks at the ends of rows and without empty rows at the bottom.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for row in &self.rows {
            let row: String = row.iter().map(|run| run.text.as_str()).collect();
            text.push_str(row.trim_end());
            text.push('\n');
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
        text
    }

    /// Returns the picture as SVG.
    pub fn svg(&self) -> String {
        let (width, height) = (self.columns * CELL.0, self.rows.len() * CELL.1);
        let (width, height) = (width + 2 * MARGIN, height + 2 * MARGIN);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             font-family=\"monospace\" font-size=\"{FONT}\" fill=\"{FOREGROUND}\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"{BACKGROUND}\"/>\n"
        );
        if let Some((row, column)) = self.cursor {
            let (x, y) = (MARGIN + column * CELL.0, MARGIN + row * CELL.1);
            let (width, height) = CELL;
            writeln!(
                svg,
                "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" opacity=\".5\"/>"
            )
            .unwrap();
        }
        for (number, row) in self.rows.iter().enumerate() {
            for run in row {
                run.draw(MARGIN + number * CELL.1, &mut svg);
            }
        }
        svg.push_str("</svg>\n");
        svg
    }
}

/// Returns the runs of a row. A wide character is a run of its own, because its width in a font may
/// be another one.
fn runs(screen: &Screen, row: u16, columns: u16) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for column in 0..columns {
        let Some(cell) = screen.cell(row, column) else { continue };
        if cell.is_wide_continuation() {
            continue;
        }
        let look = Look {
            foreground: cell.fgcolor(),
            background: cell.bgcolor(),
            is_bold: cell.bold(),
            is_dim: cell.dim(),
            is_italic: cell.italic(),
            is_underlined: cell.underline(),
            is_inverse: cell.inverse(),
        };
        let text = if cell.has_contents() { cell.contents() } else { " " };
        let cells = if cell.is_wide() { 2 } else { 1 };
        match runs.last_mut() {
            Some(run)
                if run.look == look && run.cells == run.text.chars().count() && cells == 1 =>
            {
                run.text.push_str(text);
                run.cells += 1;
            }
            _ => runs.push(Run { column: column.into(), cells, text: text.to_owned(), look }),
        }
    }
    runs
}

impl Run {
    fn draw(&self, top: usize, svg: &mut String) {
        let look = self.look;
        let (mut foreground, mut background) = (colour(look.foreground), colour(look.background));
        if look.is_inverse {
            foreground = Some(background.unwrap_or_else(|| BACKGROUND.to_owned()));
            background = Some(colour(look.foreground).unwrap_or_else(|| FOREGROUND.to_owned()));
        }
        let x = MARGIN + self.column * CELL.0;
        if let Some(background) = background {
            let (width, height) = (self.cells * CELL.0, CELL.1);
            writeln!(
                svg,
                "<rect x=\"{x}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" fill=\"{background}\"/>"
            )
            .unwrap();
        }
        let text = self.text.trim_end();
        if text.is_empty() {
            return;
        }
        let blanks = self.text.len() - text.len();
        let (y, width) = (top + FONT - 1, self.cells.saturating_sub(blanks) * CELL.0);
        let fill = foreground.map(|colour| format!(" fill=\"{colour}\"")).unwrap_or_default();
        let styles = [
            (look.is_bold, " font-weight=\"bold\""),
            (look.is_dim, " opacity=\".6\""),
            (look.is_italic, " font-style=\"italic\""),
            (look.is_underlined, " text-decoration=\"underline\""),
        ];
        let styles: String =
            styles.iter().filter(|(is_on, _)| *is_on).map(|(_, text)| *text).collect();
        let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        writeln!(
            svg,
            "<text x=\"{x}\" y=\"{y}\" textLength=\"{width}\" xml:space=\"preserve\"{fill}{styles}>{text}</text>"
        )
        .unwrap();
    }
}

/// Returns a colour; `None` for the one of the terminal.
fn colour(colour: Color) -> Option<String> {
    match colour {
        Color::Default => None,
        Color::Idx(index @ 0..16) => Some(PALETTE[usize::from(index)].to_owned()),
        Color::Idx(index @ 16..232) => {
            let level = |part: u8| if part == 0 { 0 } else { 55 + 40 * part };
            let index = index - 16;
            let [red, green, blue] = [index / 36, index / 6 % 6, index % 6].map(level);
            Some(format!("#{red:02x}{green:02x}{blue:02x}"))
        }
        Color::Idx(index) => {
            let grey = 8 + 10 * (index - 232);
            Some(format!("#{grey:02x}{grey:02x}{grey:02x}"))
        }
        Color::Rgb(red, green, blue) => Some(format!("#{red:02x}{green:02x}{blue:02x}")),
    }
}

#[cfg(test)]
mod tests {
    use vt100::Parser;

    use super::Picture;

    #[test]
    fn a_screen_is_drawn_with_its_looks() {
        let mut parser = Parser::new(2.try_into().unwrap(), 12.try_into().unwrap(), 0);
        parser.process("\x1b[1;31ma<b\x1b[0m 漢c\r\n\x1b[7mx\x1b[0m\x1b[?25l".as_bytes());
        let picture = Picture::of(parser.screen());
        assert_eq!(picture.text(), "a<b 漢c\nx\n");
        let svg = picture.svg();
        for part in [
            "<text x=\"8\" y=\"22\" textLength=\"27\" xml:space=\"preserve\" fill=\"#e06c75\" \
             font-weight=\"bold\">a&lt;b</text>",
            "<text x=\"44\" y=\"22\" textLength=\"18\" xml:space=\"preserve\">漢</text>",
            "<text x=\"62\" y=\"22\" textLength=\"9\" xml:space=\"preserve\">c</text>",
            "<rect x=\"8\" y=\"26\" width=\"9\" height=\"18\" fill=\"#d0d0d0\"/>",
        ] {
            assert!(svg.contains(part), "{part}\n{svg}");
        }
        let changed = picture.replaced(|text| text.replace('c', "d"));
        assert_eq!(changed.text(), "a<b 漢d\nx\n");
    }
}
