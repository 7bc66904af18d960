//! Signs outside of the text, for the state of the conversation.

use std::time::Instant;

use pollux_input::UserOptions;
use pollux_protocol::{SessionFacts, SettingValues};

use super::View;
use crate::outside::{NotifyReason, Outside, TitleState};

/// Returns the signs of a conversation.
pub(super) fn outside(
    options: &UserOptions,
    facts: &SessionFacts,
    settings: &SettingValues,
) -> Outside {
    let name = facts.folder.file_name().unwrap_or_default().to_string_lossy();
    let title = options.terminal.title.as_deref().unwrap_or(&name);
    Outside::new(options.terminal.clone(), title, settings)
}

impl View<'_> {
    /// Shows the state in the title and the progress of the window.
    pub(super) fn show_signs(&mut self) {
        let state = if self.dialog.is_some() {
            TitleState::ActionRequired
        } else if self.workload.is_idle() {
            TitleState::Ready
        } else {
            TitleState::Working(self.story.status.thought().map(str::to_owned))
        };
        let sequences = self.outside.show(&state);
        self.screen.send(&sequences);
    }

    /// Notifies the user of a question, unless the user is there.
    pub(super) fn notify_question(&mut self) {
        let title = self.dialog.as_ref().map(|dialog| dialog.title().to_owned());
        self.notify(NotifyReason::Question, &title.unwrap_or_default());
    }

    /// Notifies the user of the end of all work, unless the user is there.
    pub(super) fn notify_end(&mut self) {
        if self.workload.is_idle() {
            let place = self.place.clone();
            self.notify(NotifyReason::End, &place);
        }
    }

    fn notify(&mut self, reason: NotifyReason, text: &str) {
        let last_key = self.keyboard.last_key.max(self.last_submit);
        let sequence = self.outside.notify(reason, text, last_key, Instant::now());
        self.screen.send(&sequence.unwrap_or_default());
    }
}
