//! What the user has said, word for word.

use std::collections::HashSet;

use pollux_protocol::{Content, Part, Role, estimate};

use super::snapshot::is_snapshot;
use super::{items_of, list};

pub(super) const TAG: &str = "said_by_user";
pub(super) const ITEM: &str = "prompt";

/// Texts that programs put among the user's words begin like this.
const OF_PROGRAMS: [&str; 5] = [
    "<session_context>",
    "<context_update>",
    "<hook_context>",
    "<background_output>",
    "System: Potential loop detected. Details: ",
];

/// What a program says in the user's place.
const CONTINUE: &str = "Please continue.";

/// What the user writes while the model works begins like this.
const STEERING: &str = "# User steering";

/// Shortened to less than this many bytes a prompt says nothing any more.
const LEAST: usize = 160;

/// The prompts of a user, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Said(Vec<String>);

impl Said {
    /// What the user has said in these contents, and before them where one is a snapshot. Word for word, but for prompts that
    /// are the same.
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

    /// The prompts.
    pub fn prompts(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Makes it fit into so many tokens: the longest prompts are shortened in the middle, all to the same length. Where that
    /// would leave nothing of them, those between the first and the latest go.
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

    /// As a snapshot holds it; empty without a prompt.
    pub fn render(&self) -> String {
        list(TAG, ITEM, &self.0)
    }
}

/// The greatest number from `least` to `most` that fits, where each that is smaller than one that fits does, too.
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

/// The beginning and the end of a text that is longer than so many bytes; the mark between them counts.
fn shorten(text: &str, length: usize) -> String {
    const MARK: &str = "\n[...]\n";
    if text.len() <= length {
        return text.to_owned();
    }
    let kept = length.saturating_sub(MARK.len());
    let head = text.floor_char_boundary(kept - kept / 3);
    let mut tail = text.len() - kept / 3;
    while !text.is_char_boundary(tail) {
        tail += 1;
    }
    format!("{}{MARK}{}", &text[..head], &text[tail..])
}
