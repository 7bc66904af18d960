//! Tools whose descriptions a service does not accept.
//!
//! A service refuses the whole request because of one schema that it does not accept, and names the
//! tool in its error response. The tool is left out of the following requests.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pollux_protocol::{ModelError, ModelRequest, ToolOmission};

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
        report_omissions(request, &omissions);
    }

    /// Learns from the error for a request with these tools, in the order in which they were sent.
    /// Returns true if the error names one of them, which is then left out.
    pub(crate) fn learn(&self, error: &ModelError, tools: &[SentName]) -> bool {
        let refusal = error.refusal.as_ref().filter(|refusal| matches!(refusal.status, 400 | 422));
        let tool = refusal.and_then(|refusal| refused_tool(&refusal.message, tools));
        tool.is_some_and(|tool| self.lock().insert(tool.own.clone()))
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the tool that an error response is about: by its name (`Invalid schema for function
/// 'x'`), or by its place (`tools.12.custom.input_schema`, `tools[12].parameters`).
fn refused_tool<'a>(message: &str, tools: &'a [SentName]) -> Option<&'a SentName> {
    let quoted = ["function '", "function \"", "tool '", "tool \""];
    let names = quoted.iter().flat_map(|start| {
        message.match_indices(start).filter_map(|(at, start)| {
            let rest = &message[at + start.len()..];
            rest.split(['\'', '"']).next()
        })
    });
    let mut named = names.filter_map(|name| tools.iter().find(|tool| tool.sent == name));
    named.next().or_else(|| {
        let place = number_after(message, "tools.").or_else(|| number_after(message, "tools["));
        tools.get(place?)
    })
}

/// Returns the number directly after the first occurrence of a text that a number follows.
pub(crate) fn number_after(message: &str, text: &str) -> Option<usize> {
    message.match_indices(text).find_map(|(at, _)| {
        let rest = &message[at + text.len()..];
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        rest[..digits].parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use pollux_protocol::{ModelErrorKind, VendorRefusal};
    use pretty_assertions::assert_eq;

    use super::*;

    fn tools() -> Vec<SentName> {
        let tool = |own: &str, sent: &str| SentName { own: own.into(), sent: sent.into() };
        vec![tool("a", "a"), tool("b.c", "b_c_00"), tool("d", "d")]
    }

    #[test]
    fn a_message_names_the_tool_or_its_place() {
        for (message, expected) in [
            ("Invalid schema for function 'b_c_00': In context=(), x", Some("b.c")),
            ("Invalid schema for function \"d\": x", Some("d")),
            ("tools.1.custom.input_schema: JSON schema is invalid", Some("b.c")),
            ("Invalid 'tools[2].function.name': x", Some("d")),
            ("Invalid schema for function 'unknown'", None),
            ("tools.7: x", None),
            ("tools: x, function 'a", Some("a")),
            ("function '", None),
            ("messages.1: x", None),
        ] {
            let tools = tools();
            let found = refused_tool(message, &tools).map(|tool| tool.own.as_str());
            assert_eq!(found, expected, "{message}");
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
