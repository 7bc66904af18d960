//! Requests that a scripted model received.

use pollux_protocol::{Content, HistoryEntry, ModelRequest, Part};
use serde_json::Value;

/// The method of `Model` that received a request.
#[derive(Debug, Clone, PartialEq)]
pub enum SentAs {
    /// `stream`: a request of a conversation.
    Stream,
    /// `generate`: a side call.
    Generate,
    /// `generate_json`: a side call whose answer must match this schema.
    Json(Value),
    /// `count_tokens`.
    Count,
}

/// A request and the method that received it.
#[derive(Debug, Clone)]
pub struct SentRequest {
    /// Name under which the model was selected.
    pub model: String,
    /// Method that received the request.
    pub kind: SentAs,
    /// The request itself.
    pub request: ModelRequest,
}

impl SentRequest {
    /// Returns the contents, oldest first.
    pub fn contents(&self) -> Vec<&Content> {
        self.request.entries.iter().map(|entry| HistoryEntry::content(entry)).collect()
    }

    /// Returns all texts of all contents, joined by newlines.
    pub fn all_text(&self) -> String {
        let texts = self.contents().into_iter().flat_map(|content| texts(&content.parts));
        texts.collect::<Vec<_>>().join("\n")
    }

    /// Returns the texts of the last content.
    pub fn last_texts(&self) -> Vec<&str> {
        self.contents().last().map(|content| texts(&content.parts).collect()).unwrap_or_default()
    }

    /// Returns the texts of all contents of the user, in order.
    pub fn user_texts(&self) -> Vec<&str> {
        let contents = self.contents().into_iter();
        let user = contents.filter(|content| content.role == pollux_protocol::Role::User);
        user.flat_map(|content| texts(&content.parts)).collect()
    }

    /// Returns the JSON of the function responses of the last content, in order.
    pub fn responses(&self) -> Vec<Value> {
        let last = self.contents().into_iter().last();
        let responses = last.into_iter().flat_map(Content::responses);
        responses.map(|response| response.response.clone()).collect()
    }

    /// Returns the text of the only function response of the last content: its output, or its
    /// error.
    pub fn response(&self) -> String {
        let responses = self.responses();
        let [response] = &responses[..] else { panic!("not one response: {responses:?}") };
        let text = response["output"].as_str().or(response["error"].as_str());
        text.unwrap_or_else(|| panic!("neither output nor error: {response}")).to_owned()
    }

    /// Returns the outputs of all function responses, in the order of the conversation.
    pub fn outputs(&self) -> Vec<&str> {
        let contents = self.contents().into_iter();
        let responses = contents.flat_map(Content::responses);
        responses.filter_map(|response| response.response["output"].as_str()).collect()
    }

    /// Returns the system instruction, or an empty text if there is no system instruction.
    pub fn system(&self) -> &str {
        self.request.system.as_deref().unwrap_or_default()
    }

    /// Returns the names of the declared tools.
    pub fn tools(&self) -> Vec<&str> {
        self.request.tools.iter().map(|tool| tool.name.as_str()).collect()
    }
}

fn texts(parts: &[Part]) -> impl Iterator<Item = &str> {
    parts.iter().filter_map(Part::as_text)
}
