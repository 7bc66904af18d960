//! Conversion of a reply to the format of Anthropic's Messages API.
//!
//! The parts of the turn become blocks: thoughts (with a signature, made up if the script sets
//! none), texts and calls. Texts, thoughts and arguments arrive in two pieces, as from the service.

use serde_json::{Value, json};

use super::{ModelReply, Step};

/// Finish reasons in the words of both APIs.
const REASONS: [(&str, &str); 3] =
    [("STOP", "end_turn"), ("MAX_TOKENS", "max_tokens"), ("SAFETY", "refusal")];

impl ModelReply {
    /// Returns the events of a streamed message, one element per chunk.
    pub(super) fn message_events(&self, steps: &[Step]) -> Vec<Vec<u8>> {
        let mut message = Self::envelope();
        message["usage"] = self.tokens_at_start();
        let mut chunks = vec![event(&json!({"type": "message_start", "message": message}))];
        for (index, step) in steps.iter().enumerate() {
            match step {
                Step::Part(part) => chunks.extend(block_events(index, &block(index, part))),
                Step::Chunk(payload) => chunks.push(event(payload)),
                Step::Bytes(bytes) => chunks.push(bytes.clone()),
            }
        }
        if let Some(reason) = self.stop_reason(steps) {
            let mut delta = json!({"type": "message_delta",
                "delta": {"stop_reason": reason, "stop_sequence": null}});
            delta["usage"] = json!({"output_tokens": self.count("candidatesTokenCount")});
            chunks.push(event(&delta));
            chunks.push(event(&json!({"type": "message_stop"})));
        }
        chunks
    }

    /// Returns a whole message.
    pub(super) fn message(&self, steps: &[Step]) -> Vec<Vec<u8>> {
        let parts = steps.iter().enumerate().filter_map(|(index, step)| match step {
            Step::Part(part) => Some(block(index, part)),
            Step::Chunk(_) | Step::Bytes(_) => None,
        });
        let mut message = Self::envelope();
        message["content"] = parts.collect();
        message["stop_reason"] = self.stop_reason(steps).into();
        message["usage"] = self.tokens_at_start();
        message["usage"]["output_tokens"] = self.count("candidatesTokenCount").into();
        vec![message.to_string().into_bytes()]
    }

    fn envelope() -> Value {
        json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-scripted",
            "content": [], "stop_reason": null, "stop_sequence": null})
    }

    fn stop_reason(&self, steps: &[Step]) -> Option<String> {
        let reason = self.finish.as_deref()?;
        let is_call =
            |step: &Step| matches!(step, Step::Part(part) if part.get("functionCall").is_some());
        if reason == "STOP" && steps.iter().any(is_call) {
            return Some("tool_use".to_owned());
        }
        let translated = REASONS.iter().find(|(theirs, _)| *theirs == reason);
        Some(translated.map_or(reason, |(_, ours)| ours).to_owned())
    }

    fn count(&self, key: &str) -> u64 {
        self.usage.as_ref().and_then(|usage| usage[key].as_u64()).unwrap_or_default()
    }

    /// Returns the tokens of the request. Those read from the cache are counted apart.
    fn tokens_at_start(&self) -> Value {
        let cached = self.count("cachedContentTokenCount");
        json!({
            "input_tokens": self.count("promptTokenCount").saturating_sub(cached),
            "cache_read_input_tokens": cached,
            "cache_creation_input_tokens": 0,
            "output_tokens": 1
        })
    }
}

/// Returns the block of a part of the Gemini API.
fn block(index: usize, part: &Value) -> Value {
    if let Some(call) = part.get("functionCall") {
        let id = call["id"].as_str().map_or_else(|| format!("toolu_{index}"), str::to_owned);
        return json!({"type": "tool_use", "id": id, "name": call["name"], "input": call["args"]});
    }
    if part["thought"] == true {
        let signature = part["thoughtSignature"].as_str().unwrap_or("c2lnbmVk");
        return json!({"type": "thinking", "thinking": part["text"], "signature": signature});
    }
    match part.get("text") {
        Some(text) => json!({"type": "text", "text": text}),
        // A block that the script has written itself.
        None => part.clone(),
    }
}

fn block_events(index: usize, block: &Value) -> Vec<Vec<u8>> {
    let mut begun = block.clone();
    let mut deltas = Vec::new();
    let mut move_pieces = |key: &str, kind: &str, name: &str| {
        let Some(value) = begun.get_mut(key) else { return };
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        *value = if value.is_string() { "".into() } else { json!({}) };
        let (first, rest) = text.split_at(text.floor_char_boundary(text.len() / 2));
        deltas.extend([first, rest].map(|piece| json!({"type": kind, name: piece})));
    };
    match block["type"].as_str() {
        Some("text") => move_pieces("text", "text_delta", "text"),
        Some("thinking") => {
            move_pieces("thinking", "thinking_delta", "thinking");
            move_pieces("signature", "signature_delta", "signature");
        }
        Some("tool_use") => move_pieces("input", "input_json_delta", "partial_json"),
        _ => {}
    }
    let start = json!({"type": "content_block_start", "index": index, "content_block": begun});
    let deltas = deltas
        .into_iter()
        .map(|delta| json!({"type": "content_block_delta", "index": index, "delta": delta}));
    let stop = json!({"type": "content_block_stop", "index": index});
    [start].into_iter().chain(deltas).chain([stop]).map(|payload| event(&payload)).collect()
}

/// Formats one event, with its name.
fn event(payload: &Value) -> Vec<u8> {
    let name = payload["type"].as_str().unwrap_or_default();
    format!("event: {name}\ndata: {payload}\n\n").into_bytes()
}
