//! Label of the prompt.

use pollux_input::CONTINUED_LABEL;
use pollux_protocol::ApprovalMode;

use super::Conversation;

/// Minimum width, in cells, of a terminal on which the label of the prompt names the model.
const WIDTH_WITH_MODEL: usize = 60;
/// Maximum number of characters of a model's name in the label of the prompt.
const MODEL_LENGTH: usize = 30;

const LABEL: &str = "> ";

impl Conversation<'_> {
    /// Returns the label of the input. Where it has one row, that row is the last line.
    pub(super) fn draft_label(&self) -> String {
        let is_continued = self.draft.is_continued() && self.page.has_one_row();
        if is_continued { CONTINUED_LABEL.to_owned() } else { self.label_of_prompt() }
    }

    /// Returns the label of a prompt: the model, if there is room for it, and the mode, unless it
    /// is the default.
    pub(super) fn label_of_prompt(&self) -> String {
        let mode = Some(self.mode.flag()).filter(|_| self.mode != ApprovalMode::Default);
        if self.is_for_screen_reader || self.page.columns() < WIDTH_WITH_MODEL {
            return mode.map_or_else(|| LABEL.to_owned(), |mode| format!("{mode} {LABEL}"));
        }
        let model = short_name(self.story.model());
        mode.map_or_else(|| format!("{model}{LABEL}"), |mode| format!("{model} {mode}{LABEL}"))
    }
}

/// Returns the name of a model for the label of the prompt. A name may come from a server, so every
/// character that is not visible ASCII becomes a question mark.
fn short_name(model: &str) -> String {
    let visible = |letter: char| if letter.is_ascii_graphic() { letter } else { '?' };
    let cut = if model.chars().nth(MODEL_LENGTH).is_some() { "..." } else { "" };
    model.chars().take(MODEL_LENGTH).map(visible).collect::<String>() + cut
}
