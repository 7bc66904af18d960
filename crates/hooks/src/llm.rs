//! Requests and answers of models in the form in which programs are told of them, and change them. Pure.
//!
//! The form knows text alone: what else is in a message stays where it is. Roles follow each other in turn, as on
//! the wire.

use std::sync::Arc;

use pollux_protocol::{Chunk, Content, Entry, FinishReason, Part, Role, Tuning, Usage};
use serde_json::{Map, Value, json};

/// A request: `model`, `messages`, and the figures that are set under `config`.
pub fn request(model: &str, entries: &[Arc<Entry>], tuning: &Tuning) -> Value {
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

/// The entries with messages of one speaker joined.
fn turns(entries: &[Arc<Entry>]) -> Vec<Content> {
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

/// The text of a message; none when it has none.
fn message(content: &Content) -> Option<Value> {
    let text: String = content.parts.iter().filter_map(Part::as_text).collect();
    let role = match content.role {
        Role::User => "user",
        Role::Model => "model",
    };
    (!text.is_empty()).then(|| json!({ "role": role, "content": text }))
}

/// What a program changes about a request.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RequestChange {
    /// The model to ask.
    pub model: Option<String>,
    /// Figures to ask with.
    pub tuning: Tuning,
    /// What is said instead.
    pub messages: Option<Vec<(Role, String)>>,
}

impl RequestChange {
    /// Reads the change that a program wants. What is of the wrong type changes nothing; a message that is no text
    /// becomes one.
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

    /// The entries with these messages in place of theirs, one for each turn that has words; what else a turn holds
    /// follows the words. More messages are added at the end; where there are fewer, turns stay as they are. None
    /// when nothing changes.
    pub fn apply(&self, entries: &[Arc<Entry>]) -> Option<Vec<Arc<Entry>>> {
        let mut messages = self.messages.as_ref()?.iter();
        let mut changed = Vec::with_capacity(entries.len());
        for mut turn in turns(entries) {
            let has_words = message(&turn).is_some();
            if has_words && let Some((role, text)) = messages.next() {
                turn.role = *role;
                turn.parts.retain(|part| part.as_text().is_none());
                // Thoughts that a vendor wants back stand before what they led to.
                let place = turn.parts.iter().take_while(|part| part.thought).count();
                turn.parts.insert(place, Part::text(text.as_str()));
            }
            changed.push(turn);
        }
        let more = messages
            .map(|(role, text)| Content { role: *role, parts: vec![Part::text(text.as_str())] });
        changed.extend(more);
        Some(changed.into_iter().map(Entry::detached).collect())
    }
}

/// A message as a program writes it. An instruction of the system has no place among them.
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

/// One piece of an answer.
pub fn response(chunk: &Chunk) -> Value {
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
    // Figures may come by themselves.
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

/// The answer that a program gives; none unless it says something.
pub fn answer(response: &Value) -> Option<Chunk> {
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
    (!parts.is_empty()).then(|| Chunk { parts, finish, usage, ..Chunk::default() })
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
