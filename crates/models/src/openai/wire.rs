//! Received JSON, typed and tolerant: unknown keys are skipped, `null` is treated as a missing key,
//! and texts of another type are read as empty.

use pollux_protocol::Usage;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny};
use serde_json::Value;

/// Piece of a response, or a whole one.
#[derive(Deserialize)]
pub(super) struct WireAnswer {
    #[serde(default)]
    pub(super) id: Words,
    #[serde(default)]
    pub(super) model: Words,
    pub(super) choices: Option<Vec<Option<WireChoice>>>,
    pub(super) usage: Option<WireUsage>,
    pub(super) error: Option<IgnoredAny>,
    /// `error` if the keys of the error are at the top level.
    #[serde(default)]
    pub(super) object: Words,
    /// Error key of web service frameworks.
    pub(super) detail: Option<IgnoredAny>,
    /// Groq's own place for the usage of a stream.
    pub(super) x_groq: Option<WireGroq>,
}

#[derive(Deserialize)]
pub(super) struct WireGroq {
    pub(super) usage: Option<WireUsage>,
}

#[derive(Deserialize)]
pub(super) struct WireChoice {
    pub(super) index: Option<Value>,
    pub(super) delta: Option<WireMessage>,
    pub(super) message: Option<WireMessage>,
    #[serde(default)]
    pub(super) finish_reason: Words,
    pub(super) error: Option<IgnoredAny>,
}

#[derive(Deserialize, Default)]
pub(super) struct WireMessage {
    #[serde(default)]
    pub(super) content: Words,
    /// Text of a refusal by the model.
    #[serde(default)]
    pub(super) refusal: Words,
    #[serde(default)]
    pub(super) reasoning_content: Words,
    #[serde(default)]
    pub(super) reasoning: Words,
    pub(super) reasoning_details: Option<Value>,
    pub(super) tool_calls: Option<Vec<Option<WireCall>>>,
}

#[derive(Deserialize)]
pub(super) struct WireCall {
    pub(super) index: Option<Value>,
    #[serde(default)]
    pub(super) id: Words,
    pub(super) function: Option<WireFunction>,
}

#[derive(Deserialize)]
pub(super) struct WireFunction {
    #[serde(default)]
    pub(super) name: Words,
    /// Piece of JSON as text; some servers send the value itself.
    pub(super) arguments: Option<Value>,
}

/// Text, or a list of parts that contain texts and thoughts.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Words {
    pub(super) text: String,
    pub(super) thought: String,
}

impl<'de> Deserialize<'de> for Words {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut words = Self::default();
        words.add(Value::deserialize(deserializer)?);
        Ok(words)
    }
}

impl Words {
    fn add(&mut self, value: Value) {
        match value {
            Value::String(text) if self.text.is_empty() => self.text = text,
            Value::String(text) => self.text.push_str(&text),
            Value::Array(parts) => parts.into_iter().for_each(|part| self.add(part)),
            Value::Object(mut part) => {
                self.add(part.remove("text").unwrap_or_default());
                let mut thought = Self::default();
                thought.add(part.remove("thinking").unwrap_or_default());
                self.thought.push_str(&thought.text);
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// Token counts. They are read as floating-point numbers, because some servers write them so.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct WireUsage {
    prompt_tokens: Option<f64>,
    completion_tokens: Option<f64>,
    total_tokens: Option<f64>,
    prompt_tokens_details: Option<PromptDetails>,
    completion_tokens_details: Option<CompletionDetails>,
    /// DeepSeek's key for cached tokens.
    prompt_cache_hit_tokens: Option<f64>,
}

#[derive(Deserialize, Default)]
struct PromptDetails {
    cached_tokens: Option<f64>,
    /// Tokens that OpenRouter reports for models whose vendor bills writes to its cache.
    cache_write_tokens: Option<f64>,
}

#[derive(Deserialize, Default)]
struct CompletionDetails {
    reasoning_tokens: Option<f64>,
}

impl From<WireUsage> for Usage {
    fn from(wire: WireUsage) -> Self {
        // The cast converts negative numbers and NaN to zero.
        let tokens = |count: Option<f64>| count.unwrap_or_default() as u64;
        let prompt = tokens(wire.prompt_tokens);
        let completion = tokens(wire.completion_tokens);
        let thoughts = tokens(wire.completion_tokens_details.unwrap_or_default().reasoning_tokens);
        let details = wire.prompt_tokens_details.unwrap_or_default();
        let sum = prompt.saturating_add(completion);
        let total = wire.total_tokens.map_or(sum, |total| total as u64);
        // Most vendors count thoughts as part of the completion. If the total is larger by the
        // thoughts, they are counted separately.
        let apart = thoughts > 0 && total == sum.saturating_add(thoughts);
        let candidates = if apart { completion } else { completion.saturating_sub(thoughts) };
        let cached = tokens(details.cached_tokens.or(wire.prompt_cache_hit_tokens));
        let cache_write = tokens(details.cache_write_tokens);
        Self { prompt, candidates, total, cached, cache_write, thoughts, tool: 0 }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn texts_come_in_many_shapes() {
        for (value, text, thought) in [
            (json!("a"), "a", ""),
            (json!(null), "", ""),
            (json!(7), "", ""),
            (json!([{"type": "text", "text": "a"}, "b", {"type": "image"}]), "ab", ""),
            (json!([{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]), "", "hm"),
        ] {
            let words: Words = serde_json::from_value(value).unwrap();
            assert_eq!((words.text.as_str(), words.thought.as_str()), (text, thought));
        }
    }

    #[test]
    fn usage_is_counted_as_the_vendor_means_it() {
        let usage = |value: Value| Usage::from(serde_json::from_value::<WireUsage>(value).unwrap());
        let openai = usage(
            json!({"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150,
            "prompt_tokens_details": {"cached_tokens": 64, "cache_write_tokens": 20}, "completion_tokens_details": {"reasoning_tokens": 30}}),
        );
        let expected = Usage {
            prompt: 100,
            candidates: 20,
            total: 150,
            cached: 64,
            cache_write: 20,
            thoughts: 30,
            tool: 0,
        };
        assert_eq!(openai, expected);
        let apart = usage(
            json!({"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 150,
            "completion_tokens_details": {"reasoning_tokens": 30}, "prompt_cache_hit_tokens": 64.0}),
        );
        assert_eq!(apart, Usage { cache_write: 0, ..expected });
        let bare = usage(
            json!({"prompt_tokens": 3, "completion_tokens": -4, "prompt_tokens_details": null}),
        );
        assert_eq!((bare.prompt, bare.candidates, bare.total), (3, 0, 3));
    }
}
