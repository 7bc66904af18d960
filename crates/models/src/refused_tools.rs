//! Tools whose descriptions a service does not accept.
//!
//! A service refuses the whole request because of one schema that it does not accept, and names the
//! tool in its error response. The tool is left out of the following requests.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pollux_protocol::{ModelError, ModelRequest, ToolMode, ToolOmission};

use crate::declarations::report_omissions;

/// Reason for the user why a tool is left out.
const REASON: &str = "the service does not accept the description of its parameters";

/// Tools that a service has refused for one model, by their own names.
#[derive(Debug, Default)]
pub(crate) struct RefusedTools(Mutex<BTreeSet<String>>);

/// Tool as it was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SentName {
    /// Name of the tool.
    pub(crate) own: String,
    /// Name in the request.
    pub(crate) sent: String,
}

impl RefusedTools {
    /// Removes the refused tools from a request, and reports them to its sender.
    pub(crate) fn remove_from(&self, request: &mut ModelRequest) {
        let refused = self.lock();
        if !request.tools.iter().any(|tool| refused.contains(&tool.name)) {
            return;
        }
        let (omitted, kept): (Vec<_>, Vec<_>) =
            request.tools.iter().cloned().partition(|tool| refused.contains(&tool.name));
        request.tools = kept.into();
        let omission = |name| ToolOmission { tool: name, reason: REASON.to_owned() };
        let omissions: Vec<_> = omitted.into_iter().map(|tool| omission(tool.name)).collect();
        narrow_choice(request, &refused);
        report_omissions(request, &omissions);
    }

    /// Learns from the error for a request with these tools, in the order in which they were sent.
    /// Returns true if the error names some of them, which are then left out.
    pub(crate) fn learn(&self, error: &ModelError, tools: &[SentName]) -> bool {
        let refusal = error.refusal.as_ref().filter(|refusal| matches!(refusal.status, 400 | 422));
        let Some(refusal) = refusal else { return false };
        let mut refused = self.lock();
        let known = refused.len();
        refused.extend(refused_tools(&refusal.message, tools).map(|tool| tool.own.clone()));
        refused.len() > known
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Removes refused tools from those that the model must choose from. A service does not accept a
/// choice between tools that are not in the request.
fn narrow_choice(request: &mut ModelRequest, refused: &BTreeSet<String>) {
    if request.tools.is_empty() {
        request.adjustments.tool_choice = None;
    } else if let Some(choice) = &mut request.adjustments.tool_choice
        && !choice.allowed.is_empty()
    {
        choice.allowed.retain(|name| !refused.contains(name));
        if choice.allowed.is_empty() {
            choice.mode = ToolMode::None;
        }
    }
}

/// Texts before the place of a tool in the request. The first one that occurs with a place counts:
/// the Gemini API names the place in its list of declarations after the place of that list.
const PLACES: [&str; 4] = ["function_declarations[", "functionDeclarations[", "tools.", "tools["];

/// Returns the tools that an error response is about: by their names (``Invalid schema for function
/// 'x'``, `` `x` functionDeclaration ``), or by their places (`tools.12.custom.input_schema`,
/// `tools[12].parameters`, `tools[0].function_declarations[12].parameters`).
fn refused_tools<'a>(
    message: &str,
    tools: &'a [SentName],
) -> impl Iterator<Item = &'a SentName> + use<'a> {
    let named = |name: &str| tools.iter().find(|tool| tool.sent == name);
    let mut found: Vec<_> = names(message).filter_map(named).collect();
    if found.is_empty() {
        let places = PLACES.map(|text| numbers_after(message, text).collect::<Vec<_>>());
        let places = places.into_iter().find(|places| !places.is_empty()).unwrap_or_default();
        found = places.into_iter().filter_map(|place| tools.get(place)).collect();
    }
    found.into_iter()
}

/// Returns what a message quotes as the names of tools.
fn names(message: &str) -> impl Iterator<Item = &str> {
    let before = ["function '", "function \"", "tool '", "tool \""].into_iter().flat_map(|start| {
        message.match_indices(start).filter_map(|(at, start)| {
            let rest = &message[at + start.len()..];
            rest.split(['\'', '"']).next()
        })
    });
    let after = message.match_indices("` functionDeclaration");
    before.chain(after.filter_map(|(at, _)| message[..at].rsplit('`').next()))
}

/// Returns the number directly after the first occurrence of a text that a number follows.
pub(crate) fn number_after(message: &str, text: &str) -> Option<usize> {
    numbers_after(message, text).next()
}

fn numbers_after(message: &str, text: &str) -> impl Iterator<Item = usize> {
    message.match_indices(text).filter_map(|(at, text)| {
        let rest = &message[at + text.len()..];
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        rest[..digits].parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use pollux_protocol::{Declaration, ModelErrorKind, ToolChoice, VendorRefusal};
    use pretty_assertions::assert_eq;
    use serde_json::Value;

    use super::*;

    fn tools() -> Vec<SentName> {
        let tool = |own: &str, sent: &str| SentName { own: own.into(), sent: sent.into() };
        vec![tool("a", "a"), tool("b.c", "b_c_00"), tool("d", "d")]
    }

    #[test]
    fn a_message_names_the_tools_or_their_places() {
        for (message, expected) in [
            ("Invalid schema for function 'b_c_00': In context=(), x", &["b.c"][..]),
            ("Invalid schema for function \"d\": x", &["d"]),
            ("tools.1.custom.input_schema: JSON schema is invalid", &["b.c"]),
            ("Invalid 'tools[2].function.name': x", &["d"]),
            ("Unknown name \"x\" at 'tools[0].function_declarations[1].parameters': x", &["b.c"]),
            ("tools[0].functionDeclarations[1], tools[0].functionDeclarations[2]", &["b.c", "d"]),
            ("Invalid value at 'tools.function_declarations[2].parameters'", &["d"]),
            ("because `b_c_00` functionDeclaration `parameters.x` schema didn't", &["b.c"]),
            ("` functionDeclaration", &[]),
            ("tools[0].function_declarations[7]: x", &[]),
            ("Invalid schema for function 'unknown'", &[]),
            ("tools.7: x", &[]),
            ("tools: x, function 'a", &["a"]),
            ("function '", &[]),
            ("messages.1: x", &[]),
        ] {
            let tools = tools();
            let found: Vec<_> =
                refused_tools(message, &tools).map(|tool| tool.own.as_str()).collect();
            assert_eq!(found, expected, "{message}");
        }
    }

    #[test]
    fn a_choice_is_between_the_tools_that_are_left() {
        let refused = RefusedTools(Mutex::new(["a".to_owned()].into()));
        let declared = |name: &&str| Declaration {
            name: (*name).to_owned(),
            description: String::new(),
            parameters: Value::Null,
        };
        for (tools, allowed, expected) in [
            (&["a", "b"][..], &["a", "b"][..], Some((ToolMode::Any, vec!["b".to_owned()]))),
            (&["a", "b"], &["a"], Some((ToolMode::None, vec![]))),
            (&["a", "b"], &[], Some((ToolMode::Any, vec![]))),
            (&["a"], &["a"], None),
        ] {
            let tools = tools.iter().map(declared).collect();
            let mut request = ModelRequest { tools, ..ModelRequest::default() };
            let allowed = allowed.iter().map(|name| (*name).to_owned()).collect();
            request.adjustments.tool_choice = Some(ToolChoice { mode: ToolMode::Any, allowed });
            refused.remove_from(&mut request);
            let choice = request.adjustments.tool_choice;
            assert_eq!(choice.map(|choice| (choice.mode, choice.allowed)), expected);
        }
    }

    #[test]
    fn a_tool_is_refused_once_and_only_by_such_an_error() {
        let refused = RefusedTools::default();
        let error = |status| {
            let message = "Invalid schema for function 'a'".to_owned();
            let refusal = Some(VendorRefusal { status, code: None, message });
            ModelError { refusal, ..ModelError::new(ModelErrorKind::Invalid, "x") }
        };
        let learned = [500, 400, 400].map(|status| refused.learn(&error(status), &tools()));
        assert_eq!(learned, [false, true, false]);
    }
}
