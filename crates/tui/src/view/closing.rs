//! The last rows of the conversation.

use std::time::Instant;

use pollux_input::ConversationEnd;

use super::View;
use crate::clock::seconds;
use crate::fold::{Breaks, Room, fold};
use crate::row::{Look, Row};

/// Title of the last rows. Programs wait for it.
const GOODBYE: &str = "Agent powering down. Goodbye!";

impl View<'_> {
    /// Removes the live rows and adds the last rows; returns the bytes.
    pub(super) fn say_goodbye(&mut self, end: ConversationEnd, resume: Option<&str>) -> Vec<u8> {
        self.close_transcript();
        self.story.end_answer();
        let has_content = self.workload.has_spoken() || self.is_resumed;
        let mut rows = self.take_all_finished();
        if end == ConversationEnd::Finished {
            let room = Room::new(self.size.0 - 1);
            if self.story.has_rows() {
                rows.push(Row::default());
            }
            if !self.is_replaced {
                rows.push(Row::new(Look::Bold, GOODBYE));
            }
            if has_content {
                rows.extend(fold(&Row::new(Look::Dim, self.summary()), room, Breaks::Words));
                let resume = resume.map(|hint| fold(&Row::plain(hint), room, Breaks::Words));
                rows.extend(resume.into_iter().flatten());
            }
        }
        if self.is_replaced {
            rows.push(Row::default());
        }
        let mut bytes = self.screen.end(rows);
        bytes.extend(self.outside.remove().into_bytes());
        bytes
    }

    /// Writes finished rows and removes the live rows; returns the bytes.
    pub(super) fn leave_with(&mut self, finished: Vec<Row>) -> Vec<u8> {
        let mut bytes = self.screen.leave(finished);
        bytes.extend(self.outside.remove().into_bytes());
        bytes
    }

    /// Returns the numbers of the conversation.
    fn summary(&self) -> String {
        let counted = |count: u64, what: &str| {
            let end = if count == 1 { "" } else { "s" };
            (count > 0).then(|| format!("{count} {what}{end}"))
        };
        let tokens = match self.counts.tokens {
            count @ 10_000.. => Some(format!("{}k tokens", count / 1000)),
            count => counted(count, "token"),
        };
        let time = seconds(Instant::now().duration_since(self.started));
        let parts = [
            counted(self.counts.prompts, "prompt"),
            counted(self.counts.calls, "tool call"),
            tokens,
            time,
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
    }
}
