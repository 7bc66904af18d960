//! User messages of a conversation, word for word.

use std::collections::HashSet;

use pollux_protocol::{Content, Part, Role, estimate};

use super::snapshot::is_snapshot;
use super::{items_of, list};

pub(super) const TAG: &str = "said_by_user";
pub(super) const ITEM: &str = "prompt";

/// Prefixes of texts that Pollux or hooks put among the user's messages.
const OF_PROGRAMS: [&str; 5] = [
    "<session_context>",
    "<context_update>",
    "<hook_context>",
    "<background_output>",
    "System: Potential loop detected. Details: ",
];

/// Text that Pollux sends in place of the user.
const CONTINUE: &str = "Please continue.";

/// Prefix of messages that the user writes while the model works.
const STEERING: &str = "# User steering";

/// Minimum length in bytes to which a prompt is shortened. A shorter text would be useless.
const LEAST: usize = 160;

/// Prompts of a user, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UserMessages(Vec<String>);

impl UserMessages {
    /// Returns the user's messages in these contents, and those that a snapshot among the contents
    /// lists. The text is exact, and repeated prompts are listed once.
    pub fn in_contents<'a>(contents: impl IntoIterator<Item = &'a Content>) -> Self {
        let mut prompts = Vec::new();
        for content in contents.into_iter().filter(|content| content.role == Role::User) {
            let answers = content.responses().next().is_some();
            for text in content.parts.iter().filter_map(Part::as_text) {
                let text = text.trim();
                if is_snapshot(text) {
                    prompts.extend(items_of(text, TAG, ITEM));
                } else if !is_of_programs(text) && (!answers || text.starts_with(STEERING)) {
                    prompts.push(text.to_owned());
                }
            }
        }
        let mut known = HashSet::new();
        prompts.retain(|prompt| !prompt.is_empty() && known.insert(prompt.clone()));
        Self(prompts)
    }

    /// Returns the prompts.
    pub fn prompts(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Shortens the list to at most `tokens` tokens: the longest prompts lose their middle, all
    /// down to the same length. If that length would be below `LEAST`, prompts between the first
    /// and the latest are dropped.
    #[must_use]
    pub fn within(self, tokens: f64) -> Self {
        let fits = |prompts: &[String]| estimate::text(&list(TAG, ITEM, prompts)) <= tokens;
        if fits(&self.0) {
            return self;
        }
        let outer = |count: usize| -> Vec<String> {
            let latest = self.0.len() - count / 2;
            let first = &self.0[..count.div_ceil(2)];
            first.iter().chain(&self.0[latest..]).cloned().collect()
        };
        let all = self.0.len();
        let kept = outer(greatest(0, all, |count| fits(&shortened(&outer(count), LEAST))));
        let longest = kept.iter().map(String::len).max().unwrap_or_default().max(LEAST);
        let length = greatest(LEAST, longest, |length| fits(&shortened(&kept, length)));
        Self(shortened(&kept, length))
    }

    /// Returns the list in its snapshot form; empty without prompts.
    pub fn render(&self) -> String {
        list(TAG, ITEM, &self.0)
    }
}

/// Returns the greatest number from `least` to `most` that fits. Every number below a fitting
/// number must fit, too.
fn greatest(least: usize, most: usize, fits: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (least, most);
    while low < high {
        let middle = high - (high - low) / 2;
        if fits(middle) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    low
}

fn shortened(prompts: &[String], length: usize) -> Vec<String> {
    prompts.iter().map(|prompt| shorten(prompt, length)).collect()
}

fn is_of_programs(text: &str) -> bool {
    text == CONTINUE || OF_PROGRAMS.iter().any(|opening| text.starts_with(opening))
}

/// Returns the beginning and the end of a text of more than `length` bytes. The length includes the
/// mark between them.
fn shorten(text: &str, length: usize) -> String {
    const MARK: &str = "\n[...]\n";
    if text.len() <= length {
        return text.to_owned();
    }
    let kept = length.saturating_sub(MARK.len());
    let head = text.floor_char_boundary(kept - kept / 3);
    let tail = text.ceil_char_boundary(text.len() - kept / 3);
    format!("{}{MARK}{}", &text[..head], &text[tail..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_message_keeps_twice_as_much_of_its_beginning_as_of_its_end() {
        let text = "abcdefghij".repeat(10);
        assert_eq!(shorten(&text, 37), "abcdefghijabcdefghij\n[...]\nabcdefghij");
        assert_eq!(shorten(&text, 100), text);
        assert_eq!(shorten(&text, 3), "\n[...]\n");
    }
}
