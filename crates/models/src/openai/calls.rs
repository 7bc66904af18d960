//! Assembly of tool calls from fragments.
//!
//! According to the specification, a fragment refers to its call by index, and the first fragment
//! contains id and name. Some servers omit the index, use the same index for all calls, change the
//! index within a call, repeat id and name in every fragment, send the name after the arguments, or
//! send arguments as a JSON value.

use pollux_protocol::{ModelError, ModelErrorKind, Part};
use serde_json::Value;

use super::wire::WireCall;
use crate::call_arguments::{Brackets, arguments};
use crate::tool_names::Names;

/// Maximum number of calls in one response.
const MAX_CALLS: usize = 128;

/// Maximum size of the arguments of all calls of a response together, in bytes.
pub(super) const MAX_ARGUMENTS: usize = 64 * 1024 * 1024;

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

pub(super) fn words(arguments: Option<Value>) -> String {
    match arguments {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(words)) => words,
        Some(value) => value.to_string(),
    }
}

pub(super) fn too_much(what: &str) -> ModelError {
    ModelError::new(
        ModelErrorKind::Broken,
        format!("The response contains {what} than Pollux supports."),
    )
}

#[cfg(test)]
mod tests;
