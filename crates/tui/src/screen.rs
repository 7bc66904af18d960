//! The place of the conversation: the terminal's own text, in which finished rows stay, or its
//! alternate screen (`ui.useAlternateBuffer`), on which Pollux scrolls itself. Pure.

use crate::palette::Palette;
use crate::row::Row;
use crate::scrollback::{Scroll, Scrollback};
use crate::surface::{Frame, Narrowing, Surface};

/// Sequences that hide the terminal's own text behind an empty screen, and show it again.
const ENTER: &str = "\x1b[?1049h\x1b[H\x1b[J";
const LEAVE: &str = "\x1b[?1049l";
/// The same, with reports of the mouse, of which the wheel scrolls.
const ENTER_ALTERNATE: &str = "\x1b[?1049h\x1b[H\x1b[J\x1b[?1000h\x1b[?1006h";
const LEAVE_ALTERNATE: &str = "\x1b[?1006l\x1b[?1000l\x1b[?1049l";
/// Sequence that empties the alternate screen.
const ERASE: &str = "\x1b[H\x1b[J";

/// The conversation on the terminal.
#[derive(Debug)]
pub(crate) struct Screen {
    surface: Surface,
    size: (usize, usize),
    /// Rows above the live rows; `None` in the terminal's own text.
    alternate: Option<Scrollback>,
    /// True while the alternate screen is shown.
    is_shown: bool,
}

impl Screen {
    /// Creates a screen. The terminal's own text begins at the row of the cursor, which is empty.
    pub(crate) fn new(
        size: (usize, usize),
        palette: Palette,
        narrowing: Narrowing,
        is_alternate: bool,
    ) -> Self {
        let alternate = is_alternate.then(Scrollback::default);
        let surface = Surface::new(size, palette, narrowing);
        Self { surface, size, alternate, is_shown: false }
    }

    /// Returns true if the conversation has the alternate screen.
    pub(crate) fn is_alternate(&self) -> bool {
        self.alternate.is_some()
    }

    /// Returns true while the alternate screen is shown.
    pub(crate) fn is_shown(&self) -> bool {
        self.is_shown
    }

    /// Returns the bytes that add the finished rows and show the rows in progress, with `below`
    /// them what the user types.
    pub(crate) fn draw(&mut self, finished: Vec<Row>, live: Vec<Row>, below: Frame) -> Vec<u8> {
        let Some(scrollback) = &mut self.alternate else {
            return self.surface.draw(finished, Self::joined(live, below));
        };
        scrollback.push(finished);
        let frame = scrollback.frame(live, below, (self.size.0 - 1, self.size.1));
        if !self.is_shown {
            let enter = self.enter();
            self.surface.send(enter);
        }
        self.surface.draw_whole(frame)
    }

    /// Returns the live rows: those in progress, and `below` them what the user types.
    pub(crate) fn joined(mut live: Vec<Row>, below: Frame) -> Frame {
        let cursor = (live.len() + below.cursor.0, below.cursor.1);
        live.extend(below.rows);
        Frame { rows: live, cursor }
    }

    /// Moves through the conversation on the alternate screen; returns false in the terminal's own
    /// text.
    pub(crate) fn scroll(&mut self, scroll: Scroll) -> bool {
        if let Some(scrollback) = &mut self.alternate {
            scrollback.scroll(scroll);
        }
        self.is_alternate()
    }

    /// Sets a new size.
    pub(crate) fn resize(&mut self, size: (usize, usize)) {
        if self.alternate.is_none() {
            self.surface.resize(size);
        } else if size != self.size {
            self.show_again(size);
        }
        self.size = size;
    }

    /// Returns the sequence after which another view has the whole screen, which is empty.
    pub(crate) fn enter(&mut self) -> &'static str {
        match (&self.alternate, self.is_shown) {
            (None, _) => ENTER,
            (Some(_), true) => ERASE,
            (Some(_), false) => {
                self.is_shown = true;
                ENTER_ALTERNATE
            }
        }
    }

    /// Shows the conversation again after another view had the whole screen.
    pub(crate) fn show_again(&mut self, size: (usize, usize)) {
        if let Some(scrollback) = &mut self.alternate {
            if size.0 != self.size.0 {
                scrollback.resize(size.0 - 1);
            }
            self.surface.restart(size);
            self.surface.send(if self.is_shown { ERASE } else { "" });
        } else {
            self.surface.send(LEAVE);
            self.surface.resize(size);
        }
        self.size = size;
    }

    /// Returns the bytes after which other programs can use the terminal. Finished rows are added
    /// before, and the live rows are removed.
    pub(crate) fn leave(&mut self, finished: Vec<Row>) -> Vec<u8> {
        let Some(scrollback) = &mut self.alternate else {
            let frame = Frame { rows: vec![Row::default()], cursor: (0, 0) };
            let mut bytes = self.surface.draw(finished, frame);
            bytes.extend(self.surface.remove());
            return bytes;
        };
        scrollback.push(finished);
        if std::mem::take(&mut self.is_shown) {
            self.surface.send(LEAVE_ALTERNATE);
        }
        self.surface.forget();
        self.surface.take_pending()
    }

    /// Returns the last bytes of the conversation. Its end remains in the terminal's own text.
    pub(crate) fn end(&mut self, finished: Vec<Row>) -> Vec<u8> {
        let mut bytes = self.leave(finished);
        if let Some(mut scrollback) = self.alternate.take() {
            bytes.extend(self.leave(scrollback.take_end()));
        }
        bytes
    }

    /// Begins at the row of the cursor, because other programs have printed text.
    pub(crate) fn forget(&mut self) {
        self.surface.forget();
        self.is_shown = false;
    }

    /// Sets the colours.
    pub(crate) fn set_palette(&mut self, palette: Palette) {
        self.surface.set_palette(palette);
    }

    /// Returns the colours.
    pub(crate) fn palette(&self) -> &Palette {
        self.surface.palette()
    }

    /// Sends a sequence that shows nothing, before the next frame.
    pub(crate) fn send(&mut self, sequence: &str) {
        self.surface.send(sequence);
    }

    /// Moves everything above the live rows out of the visible screen, for a user who has asked for
    /// that.
    pub(crate) fn clear_screen(&mut self) {
        match &mut self.alternate {
            Some(scrollback) => scrollback.clear(),
            None => self.surface.clear_screen(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SCROLLS: [Scroll; 8] = [
        Scroll::LineUp,
        Scroll::LineDown,
        Scroll::WheelUp,
        Scroll::WheelDown,
        Scroll::PageUp,
        Scroll::PageDown,
        Scroll::Start,
        Scroll::End,
    ];

    fn rows(texts: &[String]) -> Vec<Row> {
        texts.iter().map(Row::plain).collect()
    }

    /// A screen, and the terminal that it is on.
    struct Stage {
        screen: Screen,
        terminal: vt100::Parser,
    }

    impl Stage {
        fn new(columns: u16, height: u16) -> Self {
            let size = (usize::from(columns), usize::from(height));
            let mut terminal =
                vt100::Parser::new(height.try_into().unwrap(), columns.try_into().unwrap(), 1000);
            terminal.process(b"earlier 1\r\nearlier 2\r\n");
            let screen = Screen::new(size, Palette::sixteen(), Narrowing::Cuts, true);
            Self { screen, terminal }
        }

        /// The terminal adds carriage returns to line feeds.
        fn process(&mut self, bytes: &[u8]) {
            let text = String::from_utf8(bytes.to_vec()).unwrap();
            self.terminal.process(text.replace('\n', "\r\n").as_bytes());
        }

        fn resize(&mut self, columns: u16, height: u16) {
            let (rows, width) = (height.try_into().unwrap(), columns.try_into().unwrap());
            self.terminal.screen_mut().set_size(rows, width);
            self.screen.resize((columns.into(), height.into()));
        }

        /// Draws, and returns the rows that the terminal must show.
        fn draw(&mut self, finished: &[String], live: &[String], below: &[String]) -> Vec<String> {
            let below = Frame { rows: rows(below), cursor: (below.len() - 1, 0) };
            let mut expected = self.screen.alternate.clone().unwrap();
            expected.push(rows(finished));
            let (columns, height) = self.screen.size;
            let expected = expected.frame(rows(live), below.clone(), (columns - 1, height));
            let bytes = self.screen.draw(rows(finished), rows(live), below);
            self.process(&bytes);
            let mut shown: Vec<String> = expected.rows.iter().map(Row::text).collect();
            shown.drain(..shown.len().saturating_sub(height));
            shown.resize(height, String::new());
            shown
        }

        fn shown(&self) -> Vec<String> {
            let screen = self.terminal.screen();
            let columns = screen.size().1.get();
            screen.rows(0, columns).map(|row| row.trim_end().to_owned()).collect()
        }
    }

    #[test]
    fn rows_that_move_up_are_not_written_again() {
        let mut stage = Stage::new(80, 24);
        let lines: Vec<String> = (0..60).map(|number| format!("line {number}")).collect();
        let below = ["> ".to_owned(), "state".to_owned()];
        stage.draw(&lines[..40], &[], &below);
        let bytes = stage.screen.draw(
            rows(&lines[40..42]),
            Vec::new(),
            Frame { rows: rows(&below), cursor: (0, 2) },
        );
        let text = String::from_utf8(bytes).unwrap();
        assert!(text.contains("line 41") && !text.contains("line 39"), "{text:?}");
    }

    #[test]
    fn the_end_of_the_conversation_is_left_below_what_was_there() {
        let mut stage = Stage::new(30, 10);
        let lines: Vec<String> = (0..4).map(|number| format!("line {number}")).collect();
        stage.draw(&lines[..3], &lines[3..], &["> ".to_owned()]);
        assert!(stage.terminal.screen().alternate_screen());
        let bytes = stage.screen.leave(rows(&lines[3..]));
        stage.process(&bytes);
        assert_eq!(stage.shown()[..3], ["earlier 1", "earlier 2", ""]);
        stage.screen.forget();
        stage.draw(&[], &[], &["> ".to_owned()]);
        assert_eq!(stage.shown()[..5], ["line 0", "line 1", "line 2", "line 3", ">"]);
        let bytes = stage.screen.end(vec![Row::plain("bye")]);
        stage.process(&bytes);
        assert!(!stage.terminal.screen().alternate_screen());
        let expected =
            ["earlier 1", "earlier 2", "line 0", "line 1", "line 2", "line 3", "bye", ""];
        assert_eq!(stage.shown()[..8], expected);
    }

    proptest! {
        #[test]
        fn the_terminal_shows_what_was_drawn(
            height in 2..9_u16,
            steps in prop::collection::vec(
                (
                    prop::collection::vec("[a-c]{0,12}", 0..6),
                    prop::collection::vec("[a-c]{0,12}", 0..4),
                    prop::collection::vec("[a-c]{0,12}", 1..4),
                    0..12_usize,
                ),
                1..20,
            ),
            sizes in prop::collection::vec(prop::option::weighted(0.2, (14..50_u16, 2..9_u16)), 20),
        ) {
            let mut stage = Stage::new(30, height);
            for ((finished, live, below, scroll), size) in steps.into_iter().zip(sizes) {
                if let Some((columns, height)) = size {
                    stage.resize(columns, height);
                }
                match SCROLLS.get(scroll) {
                    Some(scroll) => drop(stage.screen.scroll(*scroll)),
                    None if scroll == SCROLLS.len() => stage.screen.clear_screen(),
                    None => {}
                }
                let expected = stage.draw(&finished, &live, &below);
                prop_assert_eq!(stage.shown(), expected);
            }
        }
    }
}
