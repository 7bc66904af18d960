//! Calls of tools, put together from fragments.
//!
//! By the book a fragment names its call by index, and the first one brings id and name. Servers have
//! been seen to leave the index out, to give all calls the same one, to repeat id and name in every
//! fragment, and to send arguments as a value.

use pollux_protocol::{ModelError, ModelErrorKind, Part};
use serde_json::{Map, Value};

use super::ids::Names;
use super::wire::WireCall;

/// The most calls in one answer.
const MAX_CALLS: usize = 128;

/// The largest arguments of all calls of an answer together, in bytes.
const MAX_ARGUMENTS: usize = 64 * 1024 * 1024;

/// The calls of an answer so far.
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
    /// Takes a fragment.
    ///
    /// # Errors
    /// [`ModelErrorKind::Broken`] when there are too many calls or too large ones.
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
        let position = self.position(index, &id, &name);
        let call = match position {
            Some(position) => &mut self.open[position],
            None if self.open.len() == MAX_CALLS => return Err(too_much("more calls")),
            None => {
                self.open.push(OpenCall { index, ..OpenCall::default() });
                let last = self.open.len() - 1;
                &mut self.open[last]
            }
        };
        if call.id.is_empty() {
            call.id = id;
        }
        // A name may come in pieces, or again with every fragment.
        if call.name.is_empty() || (call.arguments.is_empty() && call.name != name) {
            call.name.push_str(&name);
        }
        call.brackets.scan(&arguments);
        call.arguments.push_str(&arguments);
        Ok(())
    }

    /// The call that a fragment goes on with; none when it begins one.
    fn position(&self, index: Option<u64>, id: &str, name: &str) -> Option<usize> {
        let found = match index {
            Some(_) => self.open.iter().rposition(|call| call.index == index)?,
            None if !id.is_empty() => self.open.iter().rposition(|call| call.id == id)?,
            None => self.open.len().checked_sub(1)?,
        };
        let call = &self.open[found];
        let other_id = !id.is_empty() && !call.id.is_empty() && call.id != id;
        let begins_anew = !name.is_empty() && call.brackets.is_complete() && call.id != id;
        let same_again = !name.is_empty() && id.is_empty() && call.brackets.is_complete();
        (!other_id && !begins_anew && !same_again).then_some(found)
    }

    /// The calls as parts. What is no JSON stays text, so that the one who checks arguments can tell
    /// the model.
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
    match serde_json::from_str(text) {
        Ok(Value::Null) => Value::Object(Map::new()),
        // Some models write the object as a string once more.
        Ok(Value::String(inner)) => match serde_json::from_str(&inner) {
            Ok(Value::Object(object)) => Value::Object(object),
            _ => Value::String(inner),
        },
        Ok(value) => value,
        Err(_) => Value::from(text),
    }
}

fn too_much(what: &str) -> ModelError {
    ModelError::new(ModelErrorKind::Broken, format!("The answer holds {what} than can be read."))
}

/// Whether a text's brackets are balanced, each byte looked at once.
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
