//! Keys, and the line that they edit.

use std::time::{Duration, Instant};

use pollux_input::{EditOutcome, EditProposal, InputMode, KeyPress};
use pollux_protocol::{Op, QuestionOutcome};

use super::Conversation;

/// Time after which an unfinished escape sequence was the Esc key. It is longer than a network
/// delays the rest of a sequence, and shorter than a person needs for the next key.
const ESCAPE: Duration = Duration::from_millis(100);

impl Conversation<'_> {
    /// Handles bytes that were typed or pasted in this mode.
    pub(super) fn type_bytes(&mut self, bytes: &[u8], mode: InputMode) {
        let keys = self.decoder.decode(bytes, mode);
        self.escape_end = self.decoder.is_unsure().then(|| Instant::now() + ESCAPE);
        self.press(keys);
    }

    pub(super) fn press(&mut self, keys: Vec<KeyPress>) {
        let is_end = |key: &KeyPress| matches!(key, KeyPress::Enter | KeyPress::Newline);
        let is_one_line =
            keys.iter().filter(|key| is_end(key)).count() == 1 && keys.last().is_some_and(is_end);
        for key in keys {
            if self.over.is_some() {
                return;
            }
            self.interrupted = None;
            // Characters of the same chunk are shown before their line ends.
            if key == KeyPress::Enter && !self.page.is_echoing() {
                self.show_input();
            }
            // Answers and input for commands have one line.
            let as_line = if key == KeyPress::Newline { KeyPress::Enter } else { key.clone() };
            if key == KeyPress::Escape && self.escape() {
                continue;
            }
            if !self.questions.is_empty() {
                self.edit_answer(as_line, is_one_line);
            } else if self.typing.is_asked() {
                self.type_for_command(as_line);
            } else {
                self.edit_draft(key);
            }
        }
    }

    /// Handles the Esc key: rejects at a question, otherwise stops the work. Returns false if the
    /// key has another meaning: it ends a search.
    fn escape(&mut self) -> bool {
        let is_asked = !self.questions.is_empty();
        let editor = if is_asked { &self.answer } else { &self.draft };
        if editor.search_label().is_some() {
            return false;
        }
        if is_asked {
            self.reply(QuestionOutcome::Cancel);
            return true;
        }
        self.stop()
    }

    fn edit_draft(&mut self, key: KeyPress) {
        if key == KeyPress::Tab && self.complete() {
            return;
        }
        self.completion = None;
        let has_one_row = self.page.has_one_row();
        if key == KeyPress::Newline && has_one_row {
            // The rest of the line moves to the next row.
            self.page.show(&self.draft_label(), self.draft.before(), "");
        }
        let label = self.draft_label();
        let above = if has_one_row { self.draft.above().len() } else { 0 };
        match self.draft.press(key) {
            EditOutcome::ClearScreen => self.page.clear_screen(),
            EditOutcome::ExternalEditor => {
                let name = "prompt.md".to_owned();
                self.to_edit = Some(EditProposal { name, text: self.draft.whole(), file: None });
            }
            EditOutcome::Continued if has_one_row => self.page.keep_row(),
            EditOutcome::Line | EditOutcome::Continued => {}
            EditOutcome::Submitted(line) => {
                self.page.keep_prompt(&label, &line[above..]);
                self.submit(line);
            }
            EditOutcome::TooLong => {
                self.page.line("The line is longer than 8 MiB and was not taken.");
            }
            EditOutcome::EndOfInput => self.end_draft(),
        }
    }

    /// Handles the end of the input: a prompt that is not sent yet is sent, then the program ends.
    pub(super) fn end_draft(&mut self) {
        if !self.draft.is_empty() {
            self.edit_draft(KeyPress::Enter);
        }
        self.end();
    }

    fn type_for_command(&mut self, key: KeyPress) {
        if let Some((call_id, bytes)) = self.typing.press(key) {
            self.page.keep_row();
            self.wish(Op::Key { call_id, bytes });
        }
    }
}
