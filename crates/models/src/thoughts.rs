//! Thoughts that arrive word by word and are reported by paragraph.

use pollux_protocol::Part;

/// Maximum size of a piece of a thought that is held back until its end, in bytes.
const MAX_HELD: usize = 8 * 1024;

/// Text of thoughts that was not reported yet.
#[derive(Debug, Default)]
pub(crate) struct Thoughts(String);

impl Thoughts {
    /// Adds text. Returns the paragraphs that have ended.
    pub(crate) fn take(&mut self, text: &str) -> Option<Part> {
        self.0.push_str(text);
        if let Some(end) = self.0.rfind("\n\n") {
            let rest = self.0.split_off(end);
            let ended = self.finish();
            rest.trim_start().clone_into(&mut self.0);
            return ended;
        }
        if self.0.len() > MAX_HELD { self.finish() } else { None }
    }

    /// Adds text of a thought that is reported whole, unless it is very long.
    pub(crate) fn hold(&mut self, text: &str) -> Option<Part> {
        self.0.push_str(text);
        if self.0.len() > MAX_HELD { self.finish() } else { None }
    }

    /// Returns the text that was held back.
    pub(crate) fn finish(&mut self) -> Option<Part> {
        let text = std::mem::take(&mut self.0);
        let text = text.trim();
        (!text.is_empty()).then(|| Part::thought(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_are_reported_whole() {
        let mut thoughts = Thoughts::default();
        let reported: Vec<Option<Part>> =
            ["\n\na ", "b", "\n", "\nc", " \n"].iter().map(|text| thoughts.take(text)).collect();
        let ab = Some(Part::thought("a b"));
        assert_eq!(reported, [None, None, None, ab, None]);
        assert_eq!(thoughts.finish(), Some(Part::thought("c")));
        assert_eq!(thoughts.finish(), None);
        assert_eq!(thoughts.take(&"x".repeat(MAX_HELD + 1)).map(|part| part.thought), Some(true));
    }

    #[test]
    fn a_thought_with_paragraphs_can_be_one() {
        let mut thoughts = Thoughts::default();
        assert_eq!(thoughts.hold("a\n\n"), None);
        assert_eq!(thoughts.hold("b\n"), None);
        assert_eq!(thoughts.finish(), Some(Part::thought("a\n\nb")));
        assert!(thoughts.hold(&"x".repeat(MAX_HELD + 1)).is_some());
    }
}
