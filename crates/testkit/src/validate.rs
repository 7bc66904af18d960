//! Rules that the services enforce on a conversation; here those of the Gemini API. A service
//! answers a request that breaks a rule, and every later request of that conversation, with status
//! 400.

mod messages;

use std::collections::BTreeMap;

use serde_json::{Map, Value};

pub use messages::validate_messages;

/// Kinds of payload of a part. A part has exactly one payload.
const PAYLOADS: [&str; 7] = [
    "text",
    "inlineData",
    "fileData",
    "functionCall",
    "functionResponse",
    "executableCode",
    "codeExecutionResult",
];

/// Checks a request's `contents` against the service's rules:
///
/// - the first content is the user's, and user and model alternate;
/// - no content and no part is empty; a text may be empty only if it carries a signature;
/// - calls come from the model, responses from the user;
/// - every call is answered exactly once in the next content, paired by id and name (by name only
///   if the call has no id), and there are no other responses.
///
/// # Errors
///
/// The first broken rule, with the place: `contents[2].parts[0]: …`.
pub fn validate_contents(contents: &Value) -> Result<(), String> {
    let contents = contents.as_array().ok_or("contents: not an array")?;
    if contents.is_empty() {
        return Err("contents: empty".to_owned());
    }
    let mut open = Calls::default();
    for (index, content) in contents.iter().enumerate() {
        let place = format!("contents[{index}]");
        let expected = if index % 2 == 0 { "user" } else { "model" };
        match content["role"].as_str() {
            Some(role) if role == expected => {}
            role => return Err(format!("{place}: role {role:?} where {expected} must speak")),
        }
        let parts = content["parts"].as_array().filter(|parts| !parts.is_empty());
        let parts = parts.ok_or_else(|| format!("{place}: no parts"))?;
        for (number, part) in parts.iter().enumerate() {
            let fits = validate_part(part, expected).and_then(|()| open.follow(part));
            fits.map_err(|problem| format!("{place}.parts[{number}]: {problem}"))?;
        }
        if expected == "user" {
            open.assert_none().map_err(|problem| format!("{place}: {problem}"))?;
        }
    }
    open.assert_none().map_err(|problem| format!("contents: {problem}"))
}

/// Checks the body of a generate request; Code Assist has it inside of another one.
pub(crate) fn validate_request(body: &Value) -> Result<(), String> {
    if !body.is_object() {
        return Err("the body is not a JSON object".to_owned());
    }
    validate_contents(&body.get("request").unwrap_or(body)["contents"])
}

fn validate_part(part: &Value, role: &str) -> Result<(), String> {
    let part = part.as_object().ok_or("not an object")?;
    let payloads: Vec<&str> =
        PAYLOADS.into_iter().filter(|payload| part.contains_key(*payload)).collect();
    let [payload] = payloads[..] else {
        return Err(format!("{} payloads {payloads:?} where one must be", payloads.len()));
    };
    if let Some(signature) = part.get("thoughtSignature")
        && signature.as_str().is_none_or(str::is_empty)
    {
        return Err("thoughtSignature: not a text, or empty".to_owned());
    }
    match payload {
        "text" => validate_text(part),
        "functionCall" if role != "model" => Err("a call by the user".to_owned()),
        "functionCall" => validate_named(&part[payload], "args", false),
        "functionResponse" if role != "user" => Err("a response by the model".to_owned()),
        "functionResponse" => validate_named(&part[payload], "response", true),
        _ if part[payload].is_object() => Ok(()),
        _ => Err(format!("{payload}: not an object")),
    }
}

fn validate_text(part: &Map<String, Value>) -> Result<(), String> {
    match part["text"].as_str() {
        None => Err("text: not a string".to_owned()),
        Some("") if !part.contains_key("thoughtSignature") => Err("text: empty".to_owned()),
        Some(_) => Ok(()),
    }
}

fn validate_named(value: &Value, object: &str, required: bool) -> Result<(), String> {
    if value["name"].as_str().is_none_or(str::is_empty) {
        return Err("no name".to_owned());
    }
    match value.get(object) {
        Some(value) if !value.is_object() => Err(format!("{object}: not an object")),
        None if required => Err(format!("no {object}")),
        _ => Ok(()),
    }
}

/// Number of calls without a response, by id and name.
#[derive(Default)]
struct Calls(BTreeMap<(Option<String>, String), usize>);

impl Calls {
    /// Opens the call of this part, or closes the call that its response answers.
    fn follow(&mut self, part: &Value) -> Result<(), String> {
        let key = |value: &Value| {
            let text = |name: &str| value[name].as_str().map(str::to_owned);
            (text("id").filter(|id| !id.is_empty()), text("name").unwrap_or_default())
        };
        if let Some(call) = part.get("functionCall") {
            let key = key(call);
            if key.0.is_some() && self.0.keys().any(|(id, _)| *id == key.0) {
                return Err(format!("a second call with the id {:?}", key.0));
            }
            *self.0.entry(key).or_default() += 1;
        }
        if let Some(response) = part.get("functionResponse") {
            let key = key(response);
            match self.0.get_mut(&key) {
                Some(open) if *open > 1 => *open -= 1,
                Some(_) => drop(self.0.remove(&key)),
                None => return Err(format!("a response to no open call: {}", name(&key))),
            }
        }
        Ok(())
    }

    fn assert_none(&self) -> Result<(), String> {
        match self.0.keys().next() {
            None => Ok(()),
            Some(key) => Err(format!("a call without its response: {}", name(key))),
        }
    }
}

fn name((id, name): &(Option<String>, String)) -> String {
    format!("{name} ({})", id.as_deref().unwrap_or("no id"))
}

#[cfg(test)]
mod tests;
