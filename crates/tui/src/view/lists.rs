//! Lists that the user opens beside the input, or in place of it: queued prompts, commands in the
//! background, keys, themes.

use pollux_input::KeyPress;
use pollux_protocol::Op;

use super::View;
use crate::background::{BackgroundPanel, PanelStep, counted};
use crate::picker::PickerStep;
use crate::toast::{Armed, Toast};

impl View<'_> {
    /// Handles a key for an open list; returns the key if it has its usual effect.
    pub(super) fn press_in_list(&mut self, key: KeyPress) -> Option<KeyPress> {
        let key = self.press_in_panel(key)?;
        let key = self.press_in_sheet(key)?;
        self.press_in_queue(key)
    }

    /// Handles a key for the panel of background commands.
    fn press_in_panel(&mut self, key: KeyPress) -> Option<KeyPress> {
        let Some(panel) = &mut self.panel else { return self.press_for_background(key) };
        let (word, id) = match panel.press(key, &self.background) {
            PanelStep::Open => return None,
            PanelStep::Close(key) => {
                self.panel = None;
                return key;
            }
            PanelStep::Show(id) => ("show", id),
            PanelStep::Stop(id) => ("stop", id),
        };
        let line = format!("/tasks {word} {id}");
        self.take_line(line.clone(), &line);
        None
    }

    /// Handles Ctrl-B in an empty input: moves the running command to the background, or opens the
    /// panel.
    fn press_for_background(&mut self, key: KeyPress) -> Option<KeyPress> {
        if key != KeyPress::Background || !self.composer.is_empty() {
            return Some(key);
        }
        if let Some(call_id) = self.story.calls.running_command() {
            self.send(Op::Background(call_id.clone()));
        } else if self.background.is_empty() {
            self.toast = Some(Toast::notice("No background tasks are currently active."));
        } else {
            self.panel = Some(BackgroundPanel::default());
        }
        None
    }

    /// Handles a key for the list in place of the input; returns true if it has closed the list, so
    /// that the rest of a burst of keys does not become a prompt.
    pub(super) fn press_in_picker(&mut self, key: KeyPress) -> bool {
        let Some(picker) = &mut self.picker else { return false };
        let step = picker.press(key);
        match step {
            PickerStep::Open => {
                self.preview_theme();
                self.read_list();
                return false;
            }
            PickerStep::Close => _ = self.close_picker(),
            PickerStep::Do(line) => {
                self.take_line(line.clone(), &line);
                return false;
            }
            PickerStep::Run(line) => {
                self.close_picker();
                self.take_line(line.clone(), &line);
            }
            PickerStep::Insert(text) => {
                self.close_picker();
                let step = self.composer.paste(&text);
                self.take_step(step, None);
            }
        }
        true
    }

    /// Closes the list in place of the input; returns false if there is none.
    pub(super) fn close_picker(&mut self) -> bool {
        let was_open = self.picker.take().is_some();
        if was_open {
            self.preview_theme();
            self.read_list();
        }
        was_open
    }

    /// Opens the sheet of keys with `?` in an empty input; every key closes it.
    fn press_in_sheet(&mut self, key: KeyPress) -> Option<KeyPress> {
        let was_open = std::mem::take(&mut self.has_sheet);
        let is_question = matches!(&key, KeyPress::Text(text) if text == "?");
        self.has_sheet = !was_open && is_question && self.composer.is_empty();
        let is_used = self.has_sheet || was_open && key == KeyPress::Escape;
        (!is_used).then_some(key)
    }

    /// Handles a key for the queue, of which a prompt may be chosen.
    fn press_in_queue(&mut self, key: KeyPress) -> Option<KeyPress> {
        let count = self.workload.queue().count();
        let chosen = self.chosen.take().filter(|chosen| *chosen < count);
        match (key, chosen) {
            (KeyPress::AltUp, None) if count > 0 => self.chosen = Some(count - 1),
            (KeyPress::AltDown, None) if count > 0 => self.chosen = Some(0),
            (KeyPress::AltUp | KeyPress::Up, Some(chosen)) => {
                self.chosen = Some(chosen.saturating_sub(1));
            }
            (KeyPress::AltDown | KeyPress::Down, Some(chosen)) => {
                self.chosen = Some((chosen + 1).min(count - 1));
            }
            (key @ (KeyPress::ShiftUp | KeyPress::ShiftDown), Some(chosen)) => {
                let is_up = key == KeyPress::ShiftUp;
                let other = if is_up { chosen.saturating_sub(1) } else { chosen + 1 };
                let is_moved = self.workload.swap_queued(chosen, other);
                self.chosen = Some(if is_moved { other } else { chosen });
            }
            (KeyPress::Enter, Some(chosen)) => {
                if let Some(prompt) = self.workload.take_queued(chosen) {
                    self.composer.put_before(&prompt);
                }
            }
            (KeyPress::Delete | KeyPress::Backspace, Some(chosen)) => {
                drop(self.workload.take_queued(chosen));
                self.chosen = (count > 1).then(|| chosen.min(count - 2));
            }
            (KeyPress::Escape, Some(_)) => {}
            (key, _) => return Some(key),
        }
        None
    }

    /// Returns true if the program may end after a key that was pressed again; otherwise warns
    /// about the commands in the background that would be ended.
    pub(super) fn may_exit(&mut self, key: Armed, earlier: &Toast) -> bool {
        let may_exit = self.background.is_empty() || earlier.has_warned();
        if !may_exit {
            self.toast = Some(Toast::warn(key, &counted(self.background.len())));
        }
        may_exit
    }
}

#[cfg(test)]
mod tests;
