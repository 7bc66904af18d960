//! A question before a session, on the screen.

use std::time::Instant;

use pollux_input::{
    InputMode, KeyDecoder, KeyPress, QuestionView, TerminalView, TypedBytes, UserOptions,
    WindowSize,
};
use pollux_protocol::plain_text::{one_line, visible};
use pollux_protocol::{Question, QuestionOutcome, QuestionReply};

use crate::dialog::{Dialog, DialogStep};
use crate::fold::{Breaks, Room, fold};
use crate::palette::Palette;
use crate::row::{Look, Row};
use crate::surface::{Frame, Narrowing, Surface};
use crate::view::{ESCAPE, size_of};

/// The question, between keys and rows.
struct Asking {
    surface: Surface,
    dialog: Dialog,
    decoder: KeyDecoder,
    escape_end: Option<Instant>,
    /// Columns and rows of the terminal.
    size: (usize, usize),
    is_due: bool,
    reply: Option<QuestionReply>,
}

/// Shows a question before a session on the screen.
pub fn show_question(
    question: Question,
    options: &UserOptions,
    size: WindowSize,
) -> Box<dyn QuestionView> {
    let size = size_of(size);
    let palette = if options.is_coloured { Palette::sixteen() } else { Palette::none() };
    let narrowing = if options.cuts_rows { Narrowing::Cuts } else { Narrowing::Folds };
    Box::new(Asking {
        surface: Surface::new(size, palette, narrowing),
        dialog: Dialog::before_session(question),
        decoder: KeyDecoder::default(),
        escape_end: None,
        size,
        is_due: true,
        reply: None,
    })
}

impl Asking {
    fn press(&mut self, keys: Vec<KeyPress>, at: Instant) {
        self.is_due = true;
        for key in keys {
            if let DialogStep::Reply(reply) = self.dialog.press(key, at) {
                self.reply = Some(reply);
                // The rest of a burst of keys must not answer the next question.
                return;
            }
        }
    }

    /// Returns the rows that stay: what was decided.
    fn decision(&self) -> Vec<Row> {
        let Some(reply) = &self.reply else { return Vec::new() };
        let decided = |what: &str, word: &str| {
            Row::plain(format!("- {}", one_line(&visible(what))))
                .with(Look::Dim, &format!(" · {word}"))
        };
        let rows: Vec<Row> = if let Some(consents) = self.dialog.consents() {
            let word = |is_allowed| if is_allowed { "allowed" } else { "refused" };
            let items = consents.decisions();
            items
                .map(|(item, is_allowed)| {
                    decided(&format!("{}: {}", item.kind, item.name), word(is_allowed))
                })
                .collect()
        } else {
            let is_decided = reply.outcome != QuestionOutcome::Cancel;
            let label = self.dialog.selected_label().filter(|_| is_decided);
            vec![decided(self.dialog.title(), &visible(label.unwrap_or("no answer")))]
        };
        let room = Room::new(self.size.0 - 1).hanging(2);
        rows.iter().flat_map(|row| fold(row, room, Breaks::Words)).collect()
    }
}

impl TerminalView for Asking {
    fn show(&mut self) -> Vec<u8> {
        if !std::mem::take(&mut self.is_due) {
            return Vec::new();
        }
        let (columns, height) = self.size;
        let frame = self.dialog.frame((columns - 1, height), Instant::now(), None);
        self.surface.draw(Vec::new(), frame)
    }

    fn leave(&mut self) -> Vec<u8> {
        let rows = self.decision();
        let mut bytes =
            self.surface.draw(rows, Frame { rows: vec![Row::default()], cursor: (0, 0) });
        bytes.extend(self.surface.remove());
        bytes
    }

    fn take_over(&mut self, size: WindowSize) {
        self.surface.forget();
        self.resize(size);
    }

    fn resize(&mut self, size: WindowSize) {
        self.size = size_of(size);
        self.surface.resize(self.size);
        self.is_due = true;
    }

    fn typed(&mut self, typed: &TypedBytes) {
        if typed.mode == InputMode::Canonical {
            // Was typed before the question, and does not answer it.
            return;
        }
        let keys = self.decoder.decode(&typed.bytes, typed.mode);
        self.escape_end = self.decoder.is_unsure().then(|| Instant::now() + ESCAPE);
        self.press(keys, typed.at);
    }

    fn escape_end(&self) -> Option<Instant> {
        self.escape_end
    }

    fn escape_ended(&mut self) {
        self.escape_end = None;
        let keys = self.decoder.end_escape();
        self.press(keys, Instant::now());
    }

    fn next_tick(&self) -> Option<Instant> {
        None
    }

    fn tick(&mut self) {}
}

impl QuestionView for Asking {
    fn reply(&self) -> Option<QuestionReply> {
        self.reply.clone()
    }

    fn refuses_rest(&self) -> bool {
        self.dialog.consents().is_some_and(|consents| consents.refuses_rest)
    }
}

#[cfg(test)]
mod tests;
