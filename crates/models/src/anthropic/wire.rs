//! Received JSON, typed and tolerant: unknown keys are skipped, and `null` is treated as a missing
//! key.

use pollux_protocol::Usage;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

/// Event of a stream, or a whole message.
#[derive(Deserialize)]
pub(super) struct WireEvent {
    /// Kind of the event; `message` for a whole message, `error` for an error.
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
    /// Number of the block that the event belongs to.
    pub(super) index: Option<u64>,
    /// Message at the beginning of a stream.
    pub(super) message: Option<WireMessage>,
    pub(super) content_block: Option<WireBlock>,
    pub(super) delta: Option<WireDelta>,
    pub(super) usage: Option<WireUsage>,
    pub(super) error: Option<IgnoredAny>,
}

/// Message without or with its content.
#[derive(Deserialize, Default)]
pub(super) struct WireMessage {
    pub(super) id: Option<String>,
    pub(super) model: Option<String>,
    pub(super) content: Option<Vec<WireBlock>>,
    pub(super) stop_reason: Option<String>,
    pub(super) usage: Option<WireUsage>,
}

/// Block of the content. Blocks of unknown kinds keep all their keys in `others`.
#[derive(Deserialize)]
pub(super) struct WireBlock {
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
    pub(super) text: Option<String>,
    pub(super) thinking: Option<String>,
    pub(super) signature: Option<String>,
    /// Content of a redacted thought.
    pub(super) data: Option<String>,
    pub(super) id: Option<String>,
    pub(super) name: Option<String>,
    pub(super) input: Option<Value>,
    #[serde(flatten)]
    pub(super) others: Map<String, Value>,
}

/// Change of a block, or of the message.
#[derive(Deserialize)]
pub(super) struct WireDelta {
    pub(super) text: Option<String>,
    pub(super) thinking: Option<String>,
    pub(super) signature: Option<String>,
    pub(super) partial_json: Option<String>,
    pub(super) citation: Option<WireCitation>,
    pub(super) stop_reason: Option<String>,
}

/// Source of a text. Only sources on the web have a URL.
#[derive(Deserialize)]
pub(super) struct WireCitation {
    pub(super) url: Option<String>,
    pub(super) title: Option<String>,
}

/// Token counts. They are read as floating-point numbers, because some gateways write them so. The
/// counts of a stream are cumulative, and an event may contain only some of them.
#[derive(Debug, Clone, Copy, Deserialize, Default, PartialEq)]
#[serde(default)]
pub(super) struct WireUsage {
    input_tokens: Option<f64>,
    output_tokens: Option<f64>,
    cache_creation_input_tokens: Option<f64>,
    cache_read_input_tokens: Option<f64>,
    output_tokens_details: Option<OutputDetails>,
}

#[derive(Debug, Clone, Copy, Deserialize, Default, PartialEq)]
#[serde(default)]
struct OutputDetails {
    thinking_tokens: Option<f64>,
}

impl WireUsage {
    /// Replaces the counts that the later report contains.
    pub(super) fn update(&mut self, later: Self) {
        self.input_tokens = later.input_tokens.or(self.input_tokens);
        self.output_tokens = later.output_tokens.or(self.output_tokens);
        self.cache_creation_input_tokens =
            later.cache_creation_input_tokens.or(self.cache_creation_input_tokens);
        self.cache_read_input_tokens =
            later.cache_read_input_tokens.or(self.cache_read_input_tokens);
        self.output_tokens_details = later.output_tokens_details.or(self.output_tokens_details);
    }
}

impl From<&WireUsage> for Usage {
    /// Converts the counts. Anthropic counts tokens that are read from its cache or written to it
    /// apart from the other tokens of the request.
    fn from(wire: &WireUsage) -> Self {
        // The cast converts negative numbers and NaN to zero.
        let tokens = |count: Option<f64>| count.unwrap_or_default() as u64;
        let cached = tokens(wire.cache_read_input_tokens);
        let cache_write = tokens(wire.cache_creation_input_tokens);
        let prompt = tokens(wire.input_tokens).saturating_add(cached).saturating_add(cache_write);
        let output = tokens(wire.output_tokens);
        let details = wire.output_tokens_details.unwrap_or_default();
        let thoughts = tokens(details.thinking_tokens).min(output);
        Self {
            prompt,
            candidates: output - thoughts,
            total: prompt.saturating_add(output),
            cached,
            cache_write,
            thoughts,
            tool: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn usage(value: Value) -> WireUsage {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn cached_tokens_are_part_of_the_prompt() {
        let mut counts = usage(json!({"input_tokens": 10, "cache_read_input_tokens": 200,
            "cache_creation_input_tokens": 30, "output_tokens": 1}));
        counts.update(usage(json!({"output_tokens": 50,
            "output_tokens_details": {"thinking_tokens": 20}, "input_tokens": null})));
        let expected = Usage {
            prompt: 240,
            candidates: 30,
            total: 290,
            cached: 200,
            cache_write: 30,
            thoughts: 20,
            tool: 0,
        };
        assert_eq!(Usage::from(&counts), expected);
    }

    #[test]
    fn odd_counts_are_bounded() {
        let counts = usage(json!({"input_tokens": -3.5, "output_tokens": 2.0,
            "output_tokens_details": {"thinking_tokens": 9}, "more": {}}));
        let read = Usage::from(&counts);
        assert_eq!((read.prompt, read.candidates, read.thoughts), (0, 0, 2));
    }
}
