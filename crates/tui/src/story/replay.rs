//! The last turns of a resumed session, as they were shown.

use pollux_protocol::{TranscriptAnswer, TranscriptItem, text_of};

use super::{Block, Story};
use crate::calls::{CallLimits, recorded_rows};
use crate::row::Look;

/// Message about the messages before those that are shown.
const EARLIER: &str = "[earlier messages of this session are not shown]";

/// Returns the message about a compression, with the tokens before and after it.
pub(crate) fn compressed(tokens: Option<(u64, u64)>) -> String {
    match tokens {
        Some((before, after)) => {
            format!("Chat history compressed from {before} to {after} tokens.")
        }
        None => "Chat history compressed.".to_owned(),
    }
}

impl Story {
    /// Adds messages of an earlier conversation. `has_earlier` is true if others precede them.
    pub(crate) fn replay(&mut self, items: &[TranscriptItem], has_earlier: bool) {
        if has_earlier {
            self.notice(Look::Dim, EARLIER);
        }
        for item in items {
            match item {
                TranscriptItem::User { parts, .. } => {
                    let text = text_of(parts);
                    if !text.trim().is_empty() {
                        self.prompt(text.trim());
                    }
                }
                TranscriptItem::Answer(answer) => self.replay_answer(answer),
                TranscriptItem::Notice { severity, text } => self.severe(*severity, text),
                TranscriptItem::Compressed { tokens, .. } => {
                    self.notice(Look::Dim, &compressed(*tokens));
                }
            }
        }
        self.has_answer = false;
    }

    fn replay_answer(&mut self, answer: &TranscriptAnswer) {
        for thought in &answer.thoughts {
            self.show_thought(thought);
        }
        let text = text_of(&answer.parts);
        if !text.trim().is_empty() {
            self.take_text(text.trim());
            self.end_answer();
        }
        for call in &answer.calls {
            let rows = recorded_rows(call, self.cells, CallLimits::new(self.settings.is_compact));
            self.begin(Block::Calls);
            self.finished.extend(rows);
        }
        if answer.interrupted {
            self.notice(Look::Dim, "[the answer was interrupted]");
        }
    }
}
