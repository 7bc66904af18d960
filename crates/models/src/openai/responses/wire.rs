//! Received JSON, typed and tolerant: unknown keys are skipped, `null` is treated as a missing key,
//! and texts of another type are read as empty.

use pollux_protocol::Usage;
use serde::Deserialize;
use serde::de::Deserializer;
use serde_json::Value;
use serde_json::value::RawValue;

use super::super::wire::Words;

/// Event of a stream, or a whole response. Large objects that most events do not need are not
/// decoded: the first events repeat the whole request.
#[derive(Deserialize)]
pub(super) struct WireEvent {
    #[serde(default, rename = "type")]
    pub(super) kind: Words,
    #[serde(default)]
    pub(super) delta: Words,
    /// Arguments of a call that are complete.
    pub(super) arguments: Option<Value>,
    #[serde(default)]
    pub(super) item_id: Words,
    pub(super) output_index: Option<Value>,
    pub(super) item: Option<Box<RawValue>>,
    pub(super) response: Option<Box<RawValue>>,
    /// Kind of a whole response.
    #[serde(default)]
    pub(super) object: Words,
    pub(super) error: Option<Box<RawValue>>,
}

/// Response without what the request determines.
#[derive(Deserialize, Default)]
pub(super) struct WireResponse {
    #[serde(default)]
    pub(super) id: Words,
    #[serde(default)]
    pub(super) model: Words,
    #[serde(default)]
    pub(super) status: Words,
    pub(super) error: Option<Box<RawValue>>,
    pub(super) incomplete_details: Option<WireIncomplete>,
    pub(super) output: Option<Vec<Box<RawValue>>>,
    pub(super) usage: Option<WireUsage>,
}

#[derive(Deserialize)]
pub(super) struct WireIncomplete {
    #[serde(default)]
    pub(super) reason: Words,
}

/// Item of the output: a message, a call, reasoning, or one of a kind that is not used.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct WireItem {
    #[serde(rename = "type")]
    pub(super) kind: Words,
    pub(super) id: Words,
    pub(super) call_id: Words,
    pub(super) name: Words,
    pub(super) arguments: Option<Value>,
    pub(super) status: Words,
    pub(super) phase: Words,
    /// Parts of a message, or of open reasoning.
    pub(super) content: Option<Vec<WireText>>,
    /// Parts of the summary of reasoning.
    pub(super) summary: Option<Vec<WireText>>,
}

/// Part with a text, or with the text of a refusal.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct WireText {
    pub(super) text: Words,
    pub(super) refusal: Words,
}

impl WireItem {
    /// Returns the text of a message.
    pub(super) fn text(&self) -> String {
        let parts = self.content.iter().flatten();
        parts.flat_map(|part| [&*part.text.text, &*part.refusal.text]).collect()
    }

    /// Returns the thoughts of reasoning: its summary, or else its text.
    pub(super) fn thoughts(&self) -> impl Iterator<Item = &str> {
        let summary = self.summary.iter().flatten();
        let text = self.content.iter().flatten().filter(|_| self.summary.iter().all(Vec::is_empty));
        summary.chain(text).map(|part| part.text.text.as_str())
    }
}

/// True for a text or a list that is not empty.
#[derive(Debug, Default)]
pub(super) struct Present(pub(super) bool);

impl<'de> Deserialize<'de> for Present {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(match Value::deserialize(deserializer)? {
            Value::String(text) => !text.is_empty(),
            Value::Array(items) => !items.is_empty(),
            _ => false,
        }))
    }
}

/// Token counts. They are read as floating-point numbers, because some servers write them so.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct WireUsage {
    input_tokens: Option<f64>,
    output_tokens: Option<f64>,
    total_tokens: Option<f64>,
    input_tokens_details: Option<InputDetails>,
    output_tokens_details: Option<OutputDetails>,
}

#[derive(Deserialize, Default)]
struct InputDetails {
    cached_tokens: Option<f64>,
    cache_write_tokens: Option<f64>,
}

#[derive(Deserialize, Default)]
struct OutputDetails {
    reasoning_tokens: Option<f64>,
}

impl From<WireUsage> for Usage {
    fn from(wire: WireUsage) -> Self {
        // The cast converts negative numbers and NaN to zero.
        let tokens = |count: Option<f64>| count.unwrap_or_default() as u64;
        let (prompt, output) = (tokens(wire.input_tokens), tokens(wire.output_tokens));
        let thoughts = tokens(wire.output_tokens_details.unwrap_or_default().reasoning_tokens);
        let details = wire.input_tokens_details.unwrap_or_default();
        Self {
            prompt,
            candidates: output.saturating_sub(thoughts),
            total: wire.total_tokens.map_or(prompt.saturating_add(output), |total| total as u64),
            cached: tokens(details.cached_tokens),
            cache_write: tokens(details.cache_write_tokens),
            thoughts,
            tool: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn usage_is_counted_as_the_service_means_it() {
        let usage = |value: Value| Usage::from(serde_json::from_value::<WireUsage>(value).unwrap());
        let all = json!({"input_tokens": 100, "output_tokens": 50.0, "total_tokens": 150,
            "input_tokens_details": {"cached_tokens": 64, "cache_write_tokens": 20},
            "output_tokens_details": {"reasoning_tokens": 30}});
        let expected = Usage {
            prompt: 100,
            candidates: 20,
            total: 150,
            cached: 64,
            cache_write: 20,
            thoughts: 30,
            tool: 0,
        };
        assert_eq!(usage(all), expected);
        let bare = usage(json!({"input_tokens": 3, "output_tokens": -4,
            "input_tokens_details": null, "output_tokens_details": {}}));
        assert_eq!((bare.prompt, bare.candidates, bare.total), (3, 0, 3));
    }
}
