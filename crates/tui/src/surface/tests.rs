use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::*;
use crate::row::Look;

/// Number of rows kept above the screen.
const SCROLLBACK: usize = 1000;

fn rows(texts: &[&str]) -> Vec<Row> {
    texts.iter().map(|text| Row::plain(*text)).collect()
}

fn frame(texts: &[&str], cursor: (usize, usize)) -> Frame {
    Frame { rows: rows(texts), cursor }
}

/// A surface, and the terminal that it is on.
struct Stage {
    surface: Surface,
    terminal: vt100::Parser,
    height: u16,
}

impl Stage {
    fn new(columns: u16, height: u16) -> Self {
        let size = (usize::from(columns), usize::from(height));
        let mut terminal =
            vt100::Parser::new(height.try_into().unwrap(), columns.try_into().unwrap(), SCROLLBACK);
        terminal.process(b"earlier 1\r\nearlier 2\r\n");
        Self { surface: Surface::new(size, Palette::sixteen(), Narrowing::Cuts), terminal, height }
    }

    /// Draws, and returns the bytes. The terminal adds carriage returns to line feeds.
    fn draw(&mut self, finished: &[&str], frame: Frame) -> String {
        let bytes = self.surface.draw(rows(finished), frame);
        let text = String::from_utf8(bytes).unwrap();
        self.process(&text);
        text
    }

    fn process(&mut self, text: &str) {
        self.terminal.process(text.replace('\n', "\r\n").as_bytes());
    }

    /// Returns all rows of the terminal, those above the screen included, without blank rows at
    /// the end.
    fn all(&mut self) -> Vec<String> {
        let mut all = Vec::new();
        self.terminal.screen_mut().set_scrollback(SCROLLBACK);
        let above = self.terminal.screen().scrollback();
        let (height, columns) = self.terminal.screen().size();
        for back in (0..=above).rev() {
            self.terminal.screen_mut().set_scrollback(back);
            let rows: Vec<String> = self.terminal.screen().rows(0, columns.get()).collect();
            let shown = if back == 0 { usize::from(height.get()) } else { 1 };
            all.extend(rows.iter().take(shown).map(|row| row.trim_end().to_owned()));
        }
        self.terminal.screen_mut().set_scrollback(0);
        while all.last().is_some_and(String::is_empty) {
            all.pop();
        }
        all
    }

    fn cursor(&self) -> (u16, u16) {
        self.terminal.screen().cursor_position()
    }
}

#[test]
fn a_cleared_screen_loses_no_row() {
    for height in [1, 2, 5, 24] {
        let mut stage = Stage::new(20, height);
        stage.draw(&["answer"], frame(&["status", "> "], (1, 2)));
        stage.surface.clear_screen();
        let bytes = stage.draw(&["next"], frame(&["status", "> "], (1, 2)));
        assert!(!bytes.contains("\x1b[2J") && !bytes.contains("\x1b[3J"), "{bytes:?}");
        let all = stage.all();
        assert_eq!(all[..3], ["earlier 1", "earlier 2", "answer"], "{height} rows");
        let shown: Vec<&str> =
            all.iter().map(String::as_str).filter(|row| !row.is_empty()).collect();
        let mut expected = vec!["earlier 1", "earlier 2", "answer", "next", "status", ">"];
        if height == 1 {
            // The only row of the terminal has the cursor.
            expected.remove(4);
        }
        assert_eq!(shown, expected, "{height} rows");
    }
}

#[test]
fn a_changed_row_is_written_whole() {
    let mut stage = Stage::new(40, 10);
    let first = stage.draw(&[], frame(&["> a", "footer"], (0, 3)));
    assert_eq!(first, "\x1b[?2026h> a\nfooter\x1b[A\x1b[4G\x1b[?2026l");
    assert_eq!(stage.draw(&[], frame(&["> ab", "footer"], (0, 4))), "\r> ab\x1b[5G");
    assert_eq!(stage.draw(&[], frame(&["> a", "footer"], (0, 3))), "\r> a\x1b[K\x1b[4G");
    assert_eq!(stage.draw(&[], frame(&["> a", "footer"], (0, 3))), "");
    assert_eq!(stage.draw(&[], frame(&["> a", "footer"], (0, 2))), "\x1b[3G");
    assert_eq!(stage.all(), ["earlier 1", "earlier 2", "> a", "footer"]);
    assert_eq!(stage.cursor(), (2, 2));
}

#[test]
fn finished_rows_are_written_once_and_the_rows_below_move() {
    let mut stage = Stage::new(40, 6);
    stage.draw(&[], frame(&["one", "> ", "footer"], (1, 2)));
    let bytes = stage.draw(&["one"], frame(&["two", "> ", "footer"], (1, 2)));
    assert!(!bytes.contains("footer") && !bytes.contains("one"), "{bytes:?}");
    stage.draw(&["two", "three"], frame(&["four", "> ", "footer"], (1, 2)));
    assert_eq!(
        stage.all(),
        ["earlier 1", "earlier 2", "one", "two", "three", "four", "> ", "footer"]
            .map(str::trim_end)
    );
    assert_eq!(stage.cursor(), (4, 2));
    stage.draw(&[], frame(&["> ", "footer"], (0, 2)));
    assert_eq!(stage.all().len(), 7);
}

#[test]
fn more_rows_than_the_screen_has_scroll_past() {
    let mut stage = Stage::new(40, 5);
    stage.draw(&[], frame(&["> ", "footer"], (0, 2)));
    let many: Vec<String> = (0..30).map(|number| format!("row {number}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    stage.draw(&many, frame(&["> ", "footer"], (0, 2)));
    let all = stage.all();
    assert_eq!(all[..2], ["earlier 1", "earlier 2"]);
    assert_eq!(all[2..32], many[..]);
    assert_eq!(all[32..], [">", "footer"]);
    // A frame that is too high shows its end.
    let high: Vec<String> = (0..9).map(|number| format!("high {number}")).collect();
    let high: Vec<&str> = high.iter().map(String::as_str).collect();
    stage.draw(&[], frame(&high, (8, 0)));
    assert_eq!(stage.all()[32..], high[4..]);
}

#[test]
fn a_new_width_erases_the_live_rows_and_nothing_else() {
    for (narrowing, above) in [(Narrowing::Cuts, "\x1b[A"), (Narrowing::Folds, "\x1b[4A")] {
        let mut surface = Surface::new((40, 10), Palette::sixteen(), narrowing);
        let wide = "x".repeat(39);
        surface.draw(Vec::new(), frame(&[&wide, "> "], (1, 2)));
        surface.resize((10, 10));
        let bytes = surface.draw(Vec::new(), frame(&["> "], (0, 2)));
        let expected = format!("\x1b[?2026h{above}\r\x1b[J> \x1b[3G\x1b[?2026l");
        assert_eq!(String::from_utf8(bytes).unwrap(), expected);
    }
}

#[test]
fn the_live_rows_can_be_removed() {
    let mut stage = Stage::new(40, 6);
    stage.draw(&["done"], frame(&["one", "> ", "footer"], (1, 2)));
    let bytes = String::from_utf8(stage.surface.remove()).unwrap();
    stage.process(&bytes);
    assert_eq!(stage.all(), ["earlier 1", "earlier 2", "done"]);
    assert_eq!(stage.cursor(), (3, 0));
}

#[test]
fn no_row_reaches_the_last_column() {
    let mut surface = Surface::new((40, 10), Palette::none(), Narrowing::Cuts);
    let wide = "x".repeat(60);
    let bytes = surface.draw(rows(&[&wide]), frame(&["> "], (0, 2)));
    assert_eq!(String::from_utf8(bytes).unwrap().matches('x').count(), 39);
}

#[test]
fn colours_are_part_of_a_row() {
    let mut surface = Surface::new((40, 10), Palette::sixteen(), Narrowing::Cuts);
    let plain = Frame { rows: vec![Row::plain("a")], cursor: (0, 0) };
    let red = Frame { rows: vec![Row::new(Look::Red, "a")], cursor: (0, 0) };
    surface.draw(Vec::new(), plain);
    assert_eq!(surface.draw(Vec::new(), red), b"\x1b[31ma\x1b[0m\r");
}

proptest! {
    /// The terminal shows all finished rows once, in order, and the last frame below them.
    #[test]
    fn the_terminal_shows_what_was_drawn(
        height in 2..9_u16,
        frames in prop::collection::vec(
            (
                prop::collection::vec("[a-c]{0,12}", 0..6),
                prop::collection::vec("[a-c]{0,12}", 1..9),
                0..9_usize,
            ),
            1..12,
        ),
        sizes in prop::collection::vec(prop::option::weighted(0.2, 14..30_u16), 12),
    ) {
        let mut stage = Stage::new(30, height);
        let mut finished = vec!["earlier 1".to_owned(), "earlier 2".to_owned()];
        for ((done, live, cursor), columns) in frames.into_iter().zip(sizes) {
            if let Some(columns) = columns {
                stage.surface.resize((columns.into(), height.into()));
                let (rows, width) = (height.try_into().unwrap(), columns.try_into().unwrap());
                stage.terminal.screen_mut().set_size(rows, width);
            }
            let shown = live.len().min(height.into());
            let cursor = (cursor % live.len(), 0);
            let texts = |texts: &[String]| texts.iter().map(Row::plain).collect::<Vec<_>>();
            let bytes = stage.surface.draw(texts(&done), Frame { rows: texts(&live), cursor });
            stage.process(&String::from_utf8(bytes).unwrap());
            finished.extend(done);
            let mut expected = finished.clone();
            expected.extend_from_slice(&live[live.len() - shown..]);
            while expected.last().is_some_and(String::is_empty) {
                expected.pop();
            }
            prop_assert_eq!(stage.all(), expected, "height {}", stage.height);
        }
    }
}
