//! Keys, and what they do.

use std::time::{Duration, Instant};

use pollux_input::{ConversationEnd, EditProposal, InputMode, KeyPress, TypedBytes, VimMode};
use pollux_protocol::{ApprovalMode, Op};

use super::View;
use crate::composer::ComposerStep;
use crate::dialog::PAUSE;
use crate::row::Look;
use crate::scrollback::Scroll;
use crate::toast::{Armed, Toast};

/// Time after which an unfinished escape sequence was the Esc key. It is longer than a network
/// delays the rest of a sequence, and shorter than a person needs for the next key.
pub(crate) const ESCAPE: Duration = Duration::from_millis(50);
/// Time after which an unfinished report of the terminal, such as an answer to a query, is dropped.
/// A slow network may deliver it in pieces, of which the rest must not become text.
const REPORT: Duration = Duration::from_secs(1);
/// Time after a character in which the Enter key is a line end of pasted text, not the end of the
/// prompt (the rule of Gemini CLI).
pub(crate) const FAST_RETURN: Duration = Duration::from_millis(30);
/// Command that Esc runs in an empty input when it is pressed twice.
const REWIND: &str = "/rewind";

impl View<'_> {
    /// Handles bytes that were typed or pasted.
    pub(super) fn type_bytes(&mut self, typed: &TypedBytes) {
        let keys = self.keyboard.decoder.decode(&typed.bytes, typed.mode);
        let patience = if self.keyboard.decoder.is_report() { REPORT } else { ESCAPE };
        self.keyboard.escape_end =
            self.keyboard.decoder.is_unsure().then(|| Instant::now() + patience);
        self.take_reports();
        self.press(keys, typed.mode, typed.at);
    }

    /// Handles the end of the wait for the rest of an escape sequence.
    pub(super) fn end_escape(&mut self) {
        self.keyboard.escape_end = None;
        let keys = self.keyboard.decoder.end_escape();
        self.press(keys, InputMode::Raw, Instant::now());
    }

    fn press(&mut self, keys: Vec<KeyPress>, mode: InputMode, at: Instant) {
        for key in keys {
            if self.over.is_some() {
                return;
            }
            match key {
                KeyPress::Signal(signal) => {
                    self.keyboard.signal = Some(signal);
                    continue;
                }
                KeyPress::Knows(protocol) => {
                    self.keyboard.protocol = Some(protocol);
                    continue;
                }
                _ => {}
            }
            self.frames.change_at_once();
            let Some(key) = self.press_in_transcript(key) else { continue };
            let Some(key) = self.press_to_scroll(key) else { continue };
            if self.dialog.is_some() {
                let answers = self.press_in_dialog(key, at);
                if answers {
                    // The rest of a burst of keys must not answer the next question, or become a
                    // prompt.
                    (self.keyboard.last_text, self.keyboard.last_key) = (Some(at), None);
                    return;
                }
                continue;
            }
            if self.picker.is_some() {
                if self.press_in_picker(key) {
                    return;
                }
                continue;
            }
            let is_fast = mode == InputMode::Raw
                && self
                    .keyboard
                    .last_text
                    .is_some_and(|last| at.duration_since(last) <= FAST_RETURN);
            self.keyboard.last_key = Some(at);
            self.keyboard.last_text =
                matches!(key, KeyPress::Text(_) | KeyPress::PasteEnd).then_some(at);
            let key = if key == KeyPress::Enter && is_fast { KeyPress::Newline } else { key };
            let earlier = self.toast.take();
            if self.command_input.is_asked() && !self.is_drafting(at) {
                self.press_for_command(key);
            } else {
                self.keyboard.draft_end = self.command_input.is_asked().then(|| at + PAUSE);
                self.press_in_composer(key, earlier.as_ref());
            }
        }
    }

    /// Leaves the keys to the prompt for as long as the user types it, because a command has begun
    /// to wait for input.
    pub(super) fn keep_draft(&mut self, now: Instant) {
        let is_typing = self.keyboard.last_text.is_some_and(|last| now < last + PAUSE);
        let has_draft = is_typing || !self.composer.is_empty();
        self.keyboard.draft_end = has_draft.then(|| now + PAUSE);
    }

    /// Returns true while keys go to the prompt although a command waits for input.
    pub(super) fn is_drafting(&self, at: Instant) -> bool {
        self.keyboard.draft_end.is_some_and(|end| at < end)
    }

    /// Handles a key that moves through the conversation on the alternate screen. In the terminal's
    /// own text, and for everything that has its own use of the key, returns the key.
    fn press_to_scroll(&mut self, key: KeyPress) -> Option<KeyPress> {
        let is_free = self.dialog.is_none() && self.picker.is_none() && self.panel.is_none();
        let scroll = match key {
            KeyPress::WheelUp => Scroll::WheelUp,
            KeyPress::WheelDown => Scroll::WheelDown,
            KeyPress::ScrollStart => Scroll::Start,
            KeyPress::ScrollEnd => Scroll::End,
            KeyPress::ShiftUp if self.chosen.is_none() => Scroll::LineUp,
            KeyPress::ShiftDown if self.chosen.is_none() => Scroll::LineDown,
            KeyPress::PageUp if is_free => Scroll::PageUp,
            KeyPress::PageDown if is_free => Scroll::PageDown,
            key => return Some(key),
        };
        if self.screen.scroll(scroll) {
            return None;
        }
        Some(match key {
            KeyPress::ScrollStart => KeyPress::Home,
            KeyPress::ScrollEnd => KeyPress::End,
            key => key,
        })
    }

    fn press_in_composer(&mut self, key: KeyPress, earlier: Option<&Toast>) {
        let Some(key) = self.press_in_list(key) else { return };
        match key {
            KeyPress::Text(ref text) if text == "!" && self.begins_shell() => {
                return self.composer.toggle_shell();
            }
            KeyPress::Paste => return self.pasting.begin(),
            KeyPress::Todos => return self.has_todos = !self.has_todos,
            KeyPress::CycleMode => return self.cycle_mode(),
            KeyPress::Escape if self.composer.close() => return,
            KeyPress::Escape if self.workload.is_idle() && self.composer.escape_in_vim() => return,
            KeyPress::Escape if self.workload.is_idle() && self.composer.is_shell() => {
                return self.composer.toggle_shell();
            }
            KeyPress::Backspace if self.composer.is_shell() && self.composer.is_empty() => {
                return self.composer.toggle_shell();
            }
            KeyPress::Escape => return self.escape(earlier),
            KeyPress::Up if self.composer.is_empty() => {
                if let Some(queued) = self.workload.take_last_queued() {
                    return self.composer.put_before(&queued);
                }
            }
            _ => {}
        }
        let step = self.composer.press(key);
        self.take_step(step, earlier);
    }

    /// Handles the result of a key in the input.
    pub(super) fn take_step(&mut self, step: ComposerStep, earlier: Option<&Toast>) {
        match step {
            ComposerStep::Edited => {}
            ComposerStep::Submitted { text, shown } => self.submit(text, &shown),
            ComposerStep::TooLong => {
                let text = "The prompt is longer than 8 MiB and was not taken.";
                self.toast = Some(Toast::notice(text));
            }
            ComposerStep::PasteTooLong => {
                let text = "The pasted text is longer than 8 MiB and was not taken.";
                self.toast = Some(Toast::notice(text));
            }
            ComposerStep::EndOfInput => {
                match earlier.filter(|toast| toast.arms(Armed::EndOfInput)) {
                    None => self.toast = Some(Toast::arm(Armed::EndOfInput)),
                    Some(earlier) if self.may_exit(Armed::EndOfInput, earlier) => self.end(),
                    Some(_) => {}
                }
            }
            ComposerStep::ClearScreen => self.screen.clear_screen(),
            ComposerStep::ExternalEditor => {
                let name = "prompt.md".to_owned();
                self.to_edit = Some(EditProposal { name, text: self.composer.text(), file: None });
            }
        }
    }

    /// Returns true if an exclamation mark begins shell mode: in an empty input, in which keys
    /// insert text.
    fn begins_shell(&self) -> bool {
        self.composer.is_empty()
            && !self.composer.is_shell()
            && self.composer.vim_mode() != Some(VimMode::Normal)
    }

    /// Handles the Esc key: stops the work, otherwise, when it is pressed twice, clears the prompt
    /// or goes back to an earlier one.
    fn escape(&mut self, earlier: Option<&Toast>) {
        let is_empty = self.composer.is_empty();
        if self.stop() || is_empty && !self.workload.is_idle() {
            return;
        }
        let armed = if is_empty { Armed::Rewind } else { Armed::Escape };
        if earlier.is_none_or(|toast| !toast.arms(armed)) {
            self.toast = Some(Toast::arm(armed));
        } else if is_empty {
            self.take_line(REWIND.to_owned(), REWIND);
        } else {
            self.composer.clear();
        }
    }

    /// Asks for the next approval mode.
    fn cycle_mode(&mut self) {
        let is_allowed = |mode| (self.check_mode)(mode).is_ok();
        let next = match self.mode {
            ApprovalMode::Default | ApprovalMode::Yolo => ApprovalMode::AutoEdit,
            ApprovalMode::AutoEdit if self.workload.is_idle() && is_allowed(ApprovalMode::Plan) => {
                ApprovalMode::Plan
            }
            ApprovalMode::AutoEdit | ApprovalMode::Plan => ApprovalMode::Default,
        };
        match (self.check_mode)(next) {
            Ok(()) => self.send(Op::SetMode(next)),
            Err(error) => self.story.notice(Look::Yellow, &format!("! {error}")),
        }
    }

    /// Handles Ctrl-C: clears the prompt, otherwise stops the work. A second one ends the program.
    pub(super) fn handle_interrupt(&mut self) {
        self.keyboard.decoder.end_paste();
        self.composer.end_paste();
        if self.close_picker() {
            return;
        }
        (self.has_sheet, self.panel, self.chosen) = (false, None, None);
        let earlier = self.toast.take().filter(|toast| toast.arms(Armed::Interrupt));
        if let Some(earlier) = earlier {
            if self.may_exit(Armed::Interrupt, &earlier) {
                self.over = Some(ConversationEnd::Finished);
            }
        } else if self.dialog.is_none() && !self.composer.is_empty() {
            self.composer.clear();
        } else {
            self.stop();
            self.toast = Some(Toast::arm(Armed::Interrupt));
        }
    }

    /// Handles a key for a command that waits for input.
    fn press_for_command(&mut self, key: KeyPress) {
        if key == KeyPress::Escape {
            self.stop();
            return;
        }
        // The input for a command has one line.
        let key = if key == KeyPress::Newline { KeyPress::Enter } else { key };
        if let Some((call_id, bytes)) = self.command_input.press(key) {
            self.send(Op::Key { call_id, bytes });
        }
    }
}
