//! The terminal emulator: the screen, and the answers to queries from programs.

use std::num::NonZeroU16;

use vt100::{Callbacks, Parser, Screen};

/// Number of rows kept above the screen.
const SCROLLBACK: usize = 1000;

pub(super) struct Emulator {
    parser: Parser<Answers>,
    transcript: Vec<u8>,
}

impl Emulator {
    pub(super) fn new(rows: u16, columns: u16) -> Self {
        let (rows, columns) = (at_least_one(rows), at_least_one(columns));
        let parser = Parser::new_with_callbacks(rows, columns, SCROLLBACK, Answers::default());
        Self { parser, transcript: Vec::new() }
    }

    /// Processes output of the program and returns the bytes to send back.
    pub(super) fn process(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.transcript.extend_from_slice(bytes);
        self.parser.process(bytes);
        std::mem::take(&mut self.parser.callbacks_mut().0)
    }

    pub(super) fn resize(&mut self, rows: u16, columns: u16) {
        self.parser.set_size(at_least_one(rows), at_least_one(columns));
    }

    pub(super) fn screen(&self) -> &Screen {
        self.parser.screen()
    }

    /// Returns all rows, the kept rows above the screen included, without blanks at their ends.
    pub(super) fn all_rows(&mut self) -> Vec<String> {
        let screen = self.parser.screen_mut();
        screen.set_scrollback(SCROLLBACK);
        let above = screen.scrollback();
        let (height, columns) = screen.size();
        let mut all = Vec::new();
        for back in (0..=above).rev() {
            screen.set_scrollback(back);
            let shown = if back == 0 { usize::from(height.get()) } else { 1 };
            let rows = screen.rows(0, columns.get()).take(shown);
            all.extend(rows.map(|row| row.trim_end().to_owned()));
        }
        all
    }

    pub(super) fn transcript(&self) -> &[u8] {
        &self.transcript
    }
}

/// Answers that wait to be sent. A program that gets no answer to its query can wait for a long
/// time, and the Windows console holds back all output.
#[derive(Default)]
struct Answers(Vec<u8>);

impl Callbacks for Answers {
    fn unhandled_csi(
        &mut self,
        screen: &mut Screen,
        first: Option<u8>,
        _: Option<u8>,
        parameters: &[&[u16]],
        last: char,
    ) {
        let parameter = parameters.first().and_then(|values| values.first()).copied();
        match (first, last, parameter.unwrap_or(0)) {
            // Device status: ok.
            (None, 'n', 5) => self.0.extend_from_slice(b"\x1b[0n"),
            // Position of the cursor, counted from 1.
            (None, 'n', 6) => {
                let (row, column) = screen.cursor_position();
                self.0.extend_from_slice(format!("\x1b[{};{}R", row + 1, column + 1).as_bytes());
            }
            // Type of the terminal: a VT220 with colour.
            (None, 'c', 0) => self.0.extend_from_slice(b"\x1b[?62;22c"),
            _ => {}
        }
    }
}

fn at_least_one(length: u16) -> NonZeroU16 {
    NonZeroU16::new(length).unwrap_or(NonZeroU16::MIN)
}

#[cfg(test)]
mod tests {
    use super::Emulator;

    #[test]
    fn questions_are_answered() {
        let mut emulator = Emulator::new(24, 80);
        assert_eq!(emulator.process(b"ab\r\nc"), b"");
        assert_eq!(emulator.process(b"\x1b[6n"), b"\x1b[2;2R");
        assert_eq!(emulator.process(b"\x1b[c"), b"\x1b[?62;22c");
        assert_eq!(emulator.screen().contents().trim_end(), "ab\nc");
    }

    #[test]
    fn rows_above_the_screen_are_kept() {
        let mut emulator = Emulator::new(2, 10);
        emulator.process(b"one\r\ntwo \r\nthree\r\nfour");
        assert_eq!(emulator.all_rows(), ["one", "two", "three", "four"]);
        assert_eq!(emulator.screen().contents().trim_end(), "three\nfour");
    }
}
