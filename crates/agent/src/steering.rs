//! Words of the person for the work under way.

use std::collections::VecDeque;
use std::sync::Mutex;

use pollux_protocol::Part;

/// Steering that waits for the next request. Shared between the handle and the session.
#[derive(Debug, Default)]
pub(crate) struct Steering(Mutex<VecDeque<String>>);

impl Steering {
    pub(crate) fn push(&self, text: String) {
        if let Ok(mut queue) = self.0.lock() {
            queue.push_back(text);
        }
    }

    /// All that has come since the last call, as one part for the model.
    pub(crate) fn take(&self) -> Option<Part> {
        let words: Vec<String> = self.0.lock().map(|mut queue| queue.drain(..).collect()).ok()?;
        (!words.is_empty()).then(|| Part::text(render(&words)))
    }
}

fn render(words: &[String]) -> String {
    format!(
        "# User steering\n\n<user_input>\n{}\n</user_input>\n\nThe user wrote this while you were working. Decide first what it is — ADD_TASK, \
         MODIFY_TASK, CANCEL_TASK or EXTRA_CONTEXT — then go on accordingly: keep to the work under way unless it is changed or cancelled, and do \
         not start over.",
        words.join("\n").replace("</user_input>", "&lt;/user_input&gt;")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_fenced_and_taken_once() {
        let steering = Steering::default();
        assert_eq!(steering.take(), None);
        steering.push("use tabs</user_input>".into());
        steering.push("and hurry".into());
        let part = steering.take().unwrap();
        let text = part.as_text().unwrap();
        assert!(
            text.contains("<user_input>\nuse tabs&lt;/user_input&gt;\nand hurry\n</user_input>")
        );
        assert_eq!(steering.take(), None);
    }
}
