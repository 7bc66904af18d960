//! Assembly of tool calls from fragments.
//!
//! According to the specification, a fragment refers to its call by index, and the first fragment
//! contains id and name. Some servers omit the index, use the same index for all calls, change the
//! index within a call, repeat id and name in every fragment, send the name after the arguments, or
//! send arguments as a JSON value.

use pollux_protocol::{ModelError, ModelErrorKind, Part};
use serde_json::{Map, Value};

use super::wire::WireCall;
use crate::tool_names::Names;

/// Maximum number of calls in one response.
const MAX_CALLS: usize = 128;

/// Maximum size of the arguments of all calls of a response together, in bytes.
const MAX_ARGUMENTS: usize = 64 * 1024 * 1024;

/// Calls of a response that were received so far.
#[derive(Debug, Default)]
pub(super) struct Calls {
    open: Vec<OpenCall>,
    size: usize,
}

#[derive(Debug, Default)]
struct OpenCall {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    brackets: Brackets,
}

impl Calls {
    /// Processes a fragment.
    ///
    /// # Errors
    /// [`ModelErrorKind::Broken`] if there are too many calls, or if they are too large.
    pub(super) fn take(&mut self, fragment: WireCall) -> Result<(), ModelError> {
        let index = fragment.index.as_ref().and_then(Value::as_u64);
        let id = fragment.id.text;
        let (name, arguments) = match fragment.function {
            Some(function) => (function.name.text, words(function.arguments)),
            None => (String::new(), String::new()),
        };
        self.size = self.size.saturating_add(id.len() + name.len() + arguments.len());
        if self.size > MAX_ARGUMENTS {
            return Err(too_much("larger calls"));
        }
        let position = self.position(index, &id, &name, &arguments);
        let call = match position {
            Some(position) => &mut self.open[position],
            None if self.open.len() == MAX_CALLS => return Err(too_much("more calls")),
            None => {
                self.open.push(OpenCall { index, ..OpenCall::default() });
                let last = self.open.len() - 1;
                &mut self.open[last]
            }
        };
        // The first fragment of a call may have another index than the rest.
        call.index = index.or(call.index);
        if call.id.is_empty() {
            call.id = id;
        }
        // A name may arrive in pieces, or be repeated in every fragment.
        if call.name.is_empty() || (call.arguments.is_empty() && call.name != name) {
            call.name.push_str(&name);
        }
        call.brackets.scan(&arguments);
        call.arguments.push_str(&arguments);
        Ok(())
    }

    /// Returns the call that a fragment continues; `None` if the fragment begins a new call.
    fn position(&self, index: Option<u64>, id: &str, name: &str, arguments: &str) -> Option<usize> {
        let last = self.open.len().checked_sub(1)?;
        let found = match index {
            Some(_) => self.open.iter().rposition(|call| call.index == index),
            None if !id.is_empty() => self.open.iter().rposition(|call| call.id == id),
            None => Some(last),
        };
        let is_bare = id.is_empty() && name.is_empty();
        let found = found.or_else(|| {
            // Arguments without a call of their index belong to a call that waits for them.
            (is_bare && !self.open[last].brackets.is_complete()).then_some(last)
        })?;
        let call = &self.open[found];
        let is_complete = call.brackets.is_complete();
        let other_id = !id.is_empty() && !call.id.is_empty() && call.id != id;
        let other_name = !name.is_empty()
            && !call.name.is_empty()
            && is_complete
            && (id.is_empty() || call.id != id);
        let other_arguments = is_bare && is_complete && arguments.trim_start().starts_with('{');
        (!other_id && !other_name && !other_arguments).then_some(found)
    }

    /// Returns the calls as parts. Arguments that are not JSON remain text, so that the argument
    /// check can report them to the model.
    pub(super) fn finish(&mut self, names: &Names) -> Vec<Part> {
        self.size = 0;
        let calls = std::mem::take(&mut self.open).into_iter();
        calls
            .filter(|call| !(call.name.is_empty() && call.arguments.is_empty()))
            .map(|call| Part::call(call.id, names.own(call.name), arguments(&call.arguments)))
            .collect()
    }
}

fn words(arguments: Option<Value>) -> String {
    match arguments {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(words)) => words,
        Some(value) => value.to_string(),
    }
}

fn arguments(text: &str) -> Value {
    if text.trim().is_empty() {
        return Value::Object(Map::new());
    }
    match parsed(text) {
        Some(Value::Null) => Value::Object(Map::new()),
        // Some models encode the object as a JSON string.
        Some(Value::String(inner)) => match parsed(&inner) {
            Some(Value::Object(object)) => Value::Object(object),
            _ => Value::String(inner),
        },
        Some(value) => value,
        None => Value::from(text),
    }
}

/// Parses JSON whose strings may contain control characters, which models forget to escape.
fn parsed(text: &str) -> Option<Value> {
    serde_json::from_str(text).or_else(|_| serde_json::from_str(&escape_controls(text))).ok()
}

/// Returns JSON with all control characters in strings escaped.
fn escape_controls(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut brackets = Brackets::default();
    for one in text.chars() {
        match one {
            '\0'..='\u{1f}' if brackets.in_string && !brackets.escaped => {
                let code = format!("\\u{:04x}", u32::from(one));
                escaped.push_str(&code);
            }
            one => escaped.push(one),
        }
        brackets.scan(one.encode_utf8(&mut [0; 4]));
    }
    escaped
}

fn too_much(what: &str) -> ModelError {
    ModelError::new(
        ModelErrorKind::Broken,
        format!("The response contains {what} than Pollux supports."),
    )
}

/// Scanner that checks whether the brackets of a text are balanced; it reads each byte once.
#[derive(Debug, Default)]
struct Brackets {
    depth: usize,
    in_string: bool,
    escaped: bool,
    begun: bool,
}

impl Brackets {
    fn scan(&mut self, text: &str) {
        for byte in text.bytes() {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' if self.in_string => self.escaped = true,
                b'"' => self.in_string = !self.in_string,
                _ if self.in_string => {}
                b'{' | b'[' => {
                    self.depth += 1;
                    self.begun = true;
                }
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
    }

    fn is_complete(&self) -> bool {
        self.begun && self.depth == 0 && !self.in_string
    }
}

#[cfg(test)]
mod tests;
