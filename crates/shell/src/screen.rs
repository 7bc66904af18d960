//! Emulation of the terminal that a command prints to: the screen, and the text of the lines that
//! have left it. Independent of processes: bytes in, text and lines out. The memory use does not
//! grow with the output.

use std::collections::VecDeque;
use std::num::NonZeroU16;

use pollux_protocol::AnsiOutput;
use pollux_protocol::plain_text::with_visible_nuls;
use vt100::capture::{
    BasicFormattedCaptureRange, BasicFormattedCaptureState, RowContents, basic_formatted_to_plain,
};
use vt100::{Callbacks, Parser};

use crate::output::{Output, OutputLimits};
use crate::terminal::TerminalSize;
use crate::text::Decoder;

mod look;
#[cfg(test)]
mod tests;

/// Maximum number of lines above the screen that can be shown with colours.
const REMEMBERED_LINES: usize = 300;

/// A terminal emulator without a user.
pub(crate) struct Screen {
    decoder: Decoder,
    parser: Parser<Above>,
    colour: bool,
}

/// State outside the visible screen.
struct Above {
    /// Text of the lines that have left the top of the screen. Lines that the terminal has wrapped
    /// are joined again.
    text: Output,
    state: BasicFormattedCaptureState,
    /// The last of these lines with their colours, one for each line of the screen.
    remembered: VecDeque<String>,
    /// Number of lines of the screen that have left its top.
    left: u64,
    /// Replies of the terminal to queries of programs.
    answers: Vec<u8>,
    line: String,
}

impl Screen {
    /// Creates an empty screen. `limits` apply to the text that is kept; without `colour` lines are
    /// plain.
    pub(crate) fn new(size: TerminalSize, limits: OutputLimits, colour: bool) -> Self {
        let above = Above {
            text: Output::new(limits),
            state: BasicFormattedCaptureState::new(),
            remembered: VecDeque::new(),
            left: 0,
            answers: Vec::new(),
            line: String::new(),
        };
        let (rows, columns) = cells(size);
        let parser = Parser::new_with_callbacks(rows, columns, 0, above);
        Self { decoder: Decoder::default(), parser, colour }
    }

    /// Takes the output of a program. A NUL is shown as `␀`, because it may separate fields.
    pub(crate) fn print(&mut self, bytes: &[u8]) {
        let text = with_visible_nuls(self.decoder.decode(bytes));
        self.parser.process(text.as_bytes());
    }

    /// Records that `bytes` printed bytes were lost. Later output follows at the end.
    pub(crate) fn skip(&mut self, bytes: u64) {
        self.decoder = Decoder::default();
        // CAN ends an escape sequence whose end was lost.
        self.parser.process(b"\x18");
        let above = self.parser.callbacks_mut();
        above.text.skip(bytes);
        above.remembered.clear();
    }

    /// Returns and removes the replies that must be typed for the terminal.
    pub(crate) fn take_answers(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.parser.callbacks_mut().answers)
    }

    /// Changes the size of the screen.
    pub(crate) fn resize(&mut self, size: TerminalSize) {
        // Lines that have left the screen do not return to it: their text is final.
        self.parser.screen_mut().clear_scrollback();
        let (rows, columns) = cells(size);
        self.parser.set_size(rows, columns);
    }

    /// Returns the text on the line of the cursor, up to the cursor, which may contain a prompt.
    pub(crate) fn line_of_cursor(&self) -> String {
        let screen = self.parser.screen();
        let (row, column) = screen.cursor_position();
        screen.contents_between(row, 0, row, column).trim_end_matches('\n').to_owned()
    }

    /// Returns the contents of the screen.
    pub(crate) fn look(&self) -> AnsiOutput {
        let mut lines = look::lines(self.parser.screen(), self.colour);
        look::trim_end(&mut lines);
        AnsiOutput(lines)
    }

    /// Returns the number of lines that have left the top of the screen.
    pub(crate) fn lines_above(&self) -> u64 {
        self.parser.callbacks().left
    }

    /// Returns the screen and up to a few hundred lines above it.
    pub(crate) fn look_back(&self) -> AnsiOutput {
        let (_, columns) = self.parser.screen().size();
        let mut lines: Vec<_> = (self.parser.callbacks().remembered.iter())
            .map(|line| look::line_of(line, columns, self.colour))
            .collect();
        lines.extend(look::lines(self.parser.screen(), self.colour));
        look::trim_end(&mut lines);
        AnsiOutput(lines)
    }

    /// Returns all text. If a program used the alternate screen when it ended, that screen comes
    /// last.
    pub(crate) fn into_text(mut self) -> Output {
        let rest = self.decoder.finish();
        self.parser.process(rest.as_bytes());
        let alternate = self.parser.screen().alternate_screen();
        let own = alternate.then(|| self.parser.screen().contents());
        if alternate {
            // CAN ends an unfinished sequence; the second sequence switches back to the normal
            // screen.
            self.parser.process(b"\x18\x1b[?47l");
        }
        let (screen, above) = self.parser.screen_and_callbacks_mut();
        let mut rest = String::new();
        let range = BasicFormattedCaptureRange::Full(&mut above.state);
        // Writing to a `String` cannot fail.
        screen.write_contents_formatted_basic(&mut rest, range).unwrap_or_default();
        let rest = plain(&rest);
        above.text.push(rest.trim_end_matches('\n').as_bytes());
        // The cursor is at the beginning of a line, so the line before is complete.
        if screen.cursor_position().1 == 0 && own.is_none() {
            above.text.push(b"\n");
        }
        if let Some(own) = own.filter(|text| !text.trim().is_empty()) {
            above.text.push(format!("\n{}", own.trim_end()).as_bytes());
        }
        std::mem::replace(&mut above.text, Output::new(OutputLimits { head: 0, tail: 0 }))
    }
}

impl Callbacks for Above {
    fn on_scroll(&mut self, row: RowContents<'_>, alternate_screen: bool) {
        if alternate_screen {
            return;
        }
        self.left += 1;
        // Writing to a `String` cannot fail.
        self.line.clear();
        row.write_formatted_basic(&mut self.line, &mut self.state).unwrap_or_default();
        for piece in basic_formatted_to_plain(&self.line) {
            self.text.push(piece.as_bytes());
        }
        let mut line = match self.remembered.len() {
            REMEMBERED_LINES => self.remembered.pop_front().unwrap_or_default(),
            _ => String::new(),
        };
        line.clear();
        let mut alone = BasicFormattedCaptureState::new();
        row.write_formatted_basic(&mut line, &mut alone).unwrap_or_default();
        self.remembered.push_back(line);
    }

    fn unhandled_csi(
        &mut self,
        screen: &mut vt100::Screen,
        first: Option<u8>,
        _: Option<u8>,
        parameters: &[&[u16]],
        last: char,
    ) {
        let parameter = parameters.first().and_then(|values| values.first()).copied();
        let answer = match (first, last, parameter.unwrap_or(0)) {
            // Device status report: no malfunction.
            (None, 'n', 5) => "\x1b[0n".to_owned(),
            // Cursor position, counted from 1.
            (None, 'n', 6) => {
                let (row, column) = screen.cursor_position();
                format!("\x1b[{};{}R", row + 1, column + 1)
            }
            // Terminal type: a VT220 with colour.
            (None, 'c', 0) => "\x1b[?62;22c".to_owned(),
            _ => return,
        };
        // Of very many queries only the first are answered.
        if self.answers.len() < MOST_ANSWERS {
            self.answers.extend_from_slice(answer.as_bytes());
        }
    }
}

/// Maximum number of bytes of replies that wait to be typed.
const MOST_ANSWERS: usize = 1024;

fn plain(formatted: &str) -> String {
    basic_formatted_to_plain(formatted).collect()
}

fn cells(size: TerminalSize) -> (NonZeroU16, NonZeroU16) {
    let at_least_one = |length| NonZeroU16::new(length).unwrap_or(NonZeroU16::MIN);
    (at_least_one(size.rows()), at_least_one(size.columns()))
}
