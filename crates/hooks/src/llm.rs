//! Model requests and responses in the form in which programs receive and change them. Pure.
//!
//! This form contains text only: other parts of a message stay in their place. Roles alternate, as
//! in requests to the model service.

use std::sync::Arc;

use pollux_protocol::{
    Content, FinishReason, HistoryEntry, Part, ResponseChunk, Role, Tuning, Usage,
};
use serde_json::{Map, Value, json};

/// Returns a request: `model`, `messages`, and under `config` the parameters that are set.
pub fn request(model: &str, entries: &[Arc<HistoryEntry>], tuning: &Tuning) -> Value {
    let messages: Vec<Value> = turns(entries).iter().filter_map(message).collect();
    let figures = [
        ("temperature", &tuning.temperature),
        ("maxOutputTokens", &tuning.max_output_tokens),
        ("topP", &tuning.top_p),
        ("topK", &tuning.top_k),
    ];
    let config: Map<String, Value> = figures
        .into_iter()
        .filter_map(|(key, figure)| Some((key.to_owned(), Value::Number(figure.clone()?))))
        .collect();
    json!({ "model": model, "messages": messages, "config": config })
}

/// Returns the entries as turns: adjacent messages of the same role are joined.
fn turns(entries: &[Arc<HistoryEntry>]) -> Vec<Content> {
    let mut turns: Vec<Content> = Vec::with_capacity(entries.len());
    for entry in entries {
        let content = entry.content();
        match turns.last_mut() {
            Some(last) if last.role == content.role => last.parts.extend(content.parts.clone()),
            _ => turns.push(content.clone()),
        }
    }
    turns
}

/// Returns the text of a message, or `None` if the message has no text.
fn message(content: &Content) -> Option<Value> {
    let text: String = content.parts.iter().filter_map(Part::as_text).collect();
    let role = match content.role {
        Role::User => "user",
        Role::Model => "model",
    };
    (!text.is_empty()).then(|| json!({ "role": role, "content": text }))
}

/// Change that a program makes to a request.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RequestChange {
    /// Model to send the request to.
    pub model: Option<String>,
    /// Sampling parameters of the request.
    pub tuning: Tuning,
    /// Messages that replace those of the request.
    pub messages: Option<Vec<(Role, String)>>,
}

impl RequestChange {
    /// Parses a program's change. Fields of the wrong type are ignored; message content that is not
    /// a string is converted to text.
    pub fn read(change: &Map<String, Value>) -> Self {
        let config = change.get("config").and_then(Value::as_object);
        let figure = |key: &str| match config.and_then(|config| config.get(key)) {
            Some(Value::Number(figure)) => Some(figure.clone()),
            _ => None,
        };
        let model = change.get("model").and_then(Value::as_str).map(str::trim);
        let messages = change.get("messages").and_then(Value::as_array);
        Self {
            model: model.filter(|model| !model.is_empty()).map(str::to_owned),
            tuning: Tuning {
                temperature: figure("temperature"),
                max_output_tokens: figure("maxOutputTokens"),
                top_p: figure("topP"),
                top_k: figure("topK"),
            },
            messages: messages.map(|messages| messages.iter().filter_map(said).collect()),
        }
    }

    /// Returns the entries with their text replaced by these messages, one message for each turn
    /// that has text. The other parts of a turn follow the new text. Surplus messages are added at
    /// the end; if there are fewer messages than turns, the remaining turns stay unchanged. Returns
    /// `None` if the change contains no messages.
    pub fn apply(&self, entries: &[Arc<HistoryEntry>]) -> Option<Vec<Arc<HistoryEntry>>> {
        let mut messages = self.messages.as_ref()?.iter();
        let mut changed = Vec::with_capacity(entries.len());
        for mut turn in turns(entries) {
            let has_words = message(&turn).is_some();
            if has_words && let Some((role, text)) = messages.next() {
                turn.role = *role;
                turn.parts.retain(|part| part.as_text().is_none());
                // Thoughts that a vendor requires back must precede the text that follows from
                // them.
                let place = turn.parts.iter().take_while(|part| part.thought).count();
                turn.parts.insert(place, Part::text(text.as_str()));
            }
            changed.push(turn);
        }
        let more = messages
            .map(|(role, text)| Content { role: *role, parts: vec![Part::text(text.as_str())] });
        changed.extend(more);
        Some(changed.into_iter().map(HistoryEntry::detached).collect())
    }
}

/// Parses a message written by a program. Returns `None` for a system message, which cannot be part
/// of the conversation.
fn said(message: &Value) -> Option<(Role, String)> {
    let role = match message.get("role").and_then(Value::as_str) {
        Some("model" | "assistant") => Role::Model,
        Some("system") => return None,
        _ => Role::User,
    };
    let text = match message.get("content") {
        Some(Value::String(text)) => text.clone(),
        None | Some(Value::Null) => String::new(),
        Some(other) => other.to_string(),
    };
    Some((role, text))
}

/// Returns one chunk of a response.
pub fn response(chunk: &ResponseChunk) -> Value {
    let shown =
        |part| Part::as_text(part).or_else(|| part.as_thought().filter(|it| !it.is_empty()));
    let texts: Vec<&str> = chunk.parts.iter().filter_map(shown).collect();
    let mut candidate = json!({ "content": { "role": "model", "parts": texts } });
    if let Some(finish) = &chunk.finish {
        candidate["finishReason"] = finish.as_str().into();
    }
    candidate["index"] = 0.into();
    let mut response = Map::new();
    if !chunk.parts.is_empty() {
        response.insert("text".to_owned(), chunk.text().into());
    }
    // A chunk may contain only usage figures.
    let says_something = !chunk.parts.is_empty() || chunk.finish.is_some();
    let candidates = if says_something { json!([candidate]) } else { json!([]) };
    response.insert("candidates".to_owned(), candidates);
    if let Some(usage) = chunk.usage {
        let figures = json!({ "promptTokenCount": usage.prompt, "candidatesTokenCount": usage.candidates,
            "totalTokenCount": usage.total });
        response.insert("usageMetadata".to_owned(), figures);
    }
    Value::Object(response)
}

/// Parses the response that a program supplies. Returns `None` if the response has no content.
pub fn answer(response: &Value) -> Option<ResponseChunk> {
    let candidate = response.get("candidates")?.get(0)?;
    let parts: Vec<Part> = candidate
        .get("content")?
        .get("parts")?
        .as_array()?
        .iter()
        .filter_map(Value::as_str)
        .filter(|text| !text.is_empty())
        .map(Part::text)
        .collect();
    let finish = candidate.get("finishReason").and_then(Value::as_str).map(finish_reason);
    let usage = response.get("usageMetadata").map(usage);
    (!parts.is_empty()).then(|| ResponseChunk { parts, finish, usage, ..ResponseChunk::default() })
}

fn finish_reason(word: &str) -> FinishReason {
    let known = [
        FinishReason::Stop,
        FinishReason::MaxTokens,
        FinishReason::Safety,
        FinishReason::Recitation,
        FinishReason::MalformedFunctionCall,
        FinishReason::UnexpectedToolCall,
    ];
    let found = known.into_iter().find(|reason| reason.as_str() == word);
    found.unwrap_or_else(|| FinishReason::Other(word.to_owned()))
}

fn usage(figures: &Value) -> Usage {
    let figure = |key: &str| figures.get(key).and_then(Value::as_u64).unwrap_or_default();
    Usage {
        prompt: figure("promptTokenCount"),
        candidates: figure("candidatesTokenCount"),
        total: figure("totalTokenCount"),
        ..Usage::default()
    }
}

#[cfg(test)]
mod tests;
