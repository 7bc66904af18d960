//! Changes to requests that a service refuses because of something that can be left out.
//!
//! Models differ in what they accept, and gateways accept less than the vendor. The error response
//! names the cause. What is left out stays out in the following requests.

use super::request::CallSettings;
use crate::refused_tools::number_after;

/// Something that a request does without.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Concession {
    /// The version of the API in the catalog.
    Version,
    /// Thoughts: the model decides whether it thinks.
    Thinking,
    /// Thoughts of earlier turns.
    EarlierThoughts,
    /// Parameters that influence sampling.
    Sampling,
    /// Effort of the model.
    Effort,
    /// Breakpoints of the cache.
    Cache,
    /// A response of more tokens than this.
    Length(u64),
}

/// Concessions to one model.
#[derive(Debug, Clone, Default)]
pub(super) struct Concessions {
    no_thinking: bool,
    no_earlier_thoughts: bool,
    no_sampling: bool,
    no_effort: bool,
    no_cache: bool,
    max_tokens: Option<u64>,
}

impl Concession {
    /// Returns what the message of an error response with status 400 objects to.
    pub(super) fn of(message: &str) -> Option<Self> {
        let message = message.to_ascii_lowercase();
        let names = |words: &[&str]| words.iter().any(|word| message.contains(word));
        if names(&["anthropic-version"]) {
            return Some(Self::Version);
        }
        // The maximum follows: `max_tokens: 64000 > 8192, which is the maximum …`.
        if message.trim_start().starts_with("max_tokens")
            && let Some(limit) = number_after(&message, "> ")
        {
            return Some(Self::Length(limit as u64)).filter(|_| limit > 0);
        }
        // A call must follow a thought while the model thinks: `Expected `thinking` … but found`.
        let misses_thought = names(&["expected `thinking`"]);
        if !misses_thought && names(&["signature", "`thinking` blocks", "thinking block"]) {
            Some(Self::EarlierThoughts)
        } else if names(&["thinking"]) {
            Some(Self::Thinking)
        } else if names(&["temperature", "top_p", "top_k"]) {
            Some(Self::Sampling)
        } else if names(&["output_config", "effort"]) {
            Some(Self::Effort)
        } else if names(&["cache_control"]) {
            Some(Self::Cache)
        } else {
            None
        }
    }
}

impl Concessions {
    /// Makes a concession. Returns false if the request already did without.
    pub(super) fn make(&mut self, concession: &Concession) -> bool {
        let set = |flag: &mut bool| !std::mem::replace(flag, true);
        match concession {
            // The version belongs to the service.
            Concession::Version => false,
            Concession::Thinking => {
                let is_new = set(&mut self.no_thinking);
                set(&mut self.no_earlier_thoughts) || is_new
            }
            // If the service still objects, it objects to thoughts at all.
            Concession::EarlierThoughts => {
                set(&mut self.no_earlier_thoughts) || set(&mut self.no_thinking)
            }
            Concession::Sampling => set(&mut self.no_sampling),
            Concession::Effort => set(&mut self.no_effort),
            Concession::Cache => set(&mut self.no_cache),
            Concession::Length(limit) => {
                let is_new = self.max_tokens.is_none_or(|known| *limit < known);
                self.max_tokens = self.max_tokens.min(Some(*limit)).or(Some(*limit));
                is_new
            }
        }
    }

    /// Changes the settings of a request.
    pub(super) fn apply(&self, settings: &mut CallSettings) {
        let CallSettings { parameters, shape, breakpoints, .. } = settings;
        if self.no_thinking {
            parameters.thinking = None;
        }
        if self.no_earlier_thoughts {
            shape.thoughts_of = None;
        }
        if self.no_sampling {
            parameters.forget_sampling();
        }
        if self.no_effort {
            parameters.effort = None;
        }
        *breakpoints &= !self.no_cache;
        if let Some(limit) = self.max_tokens {
            parameters.max_tokens = parameters.max_tokens.min(limit);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_the_cause() {
        use Concession as C;
        for (message, expected) in [
            ("anthropic-version: unknown version", Some(C::Version)),
            ("max_tokens: 64000 > 8192, which is the maximum allowed", Some(C::Length(8192))),
            ("input length and `max_tokens` exceed context limit: 1 + 2 > 2", None),
            (
                "messages.1.content.0: Invalid `signature` in `thinking` block",
                Some(C::EarlierThoughts),
            ),
            (
                "messages.1.content.0.type: Expected `thinking`, but found `tool_use`. When \
                 `thinking` is enabled, a final message must start with a thinking block.",
                Some(C::Thinking),
            ),
            ("adaptive thinking is not supported on this model", Some(C::Thinking)),
            ("`temperature` is deprecated for this model.", Some(C::Sampling)),
            ("output_config: Extra inputs are not permitted", Some(C::Effort)),
            ("system.0.cache_control: Extra inputs are not permitted", Some(C::Cache)),
            ("messages: at least one message is required", None),
            ("max_tokens: > 0", None),
            ("max_tokens: 7 > 99999999999999999999999999", None),
        ] {
            assert_eq!(Concession::of(message), expected, "{message}");
        }
    }

    #[test]
    fn each_concession_is_made_once() {
        use Concession as C;
        let mut concessions = Concessions::default();
        for (concession, is_new) in [
            (C::EarlierThoughts, true),
            (C::Thinking, true),
            (C::Thinking, false),
            (C::EarlierThoughts, false),
            (C::Sampling, true),
            (C::Sampling, false),
            (C::Cache, true),
            (C::Effort, true),
            (C::Length(9), true),
            (C::Length(9), false),
            (C::Length(8), true),
        ] {
            assert_eq!(concessions.make(&concession), is_new, "{concession:?}");
        }
        let mut thoughts = Concessions::default();
        let made = [(); 3].map(|()| thoughts.make(&C::EarlierThoughts));
        assert_eq!(made, [true, true, false]);
        assert_eq!(concessions.max_tokens, Some(8));
    }
}
