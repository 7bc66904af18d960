//! Messages of JSON-RPC 2.0 as a client sends them, one per line. Pure.

use std::fmt;

use agent_client_protocol_schema::v1::{Error, RequestId};
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer as _};
use serde_json::value::RawValue;

/// A message of the client. Parameters and results are not parsed yet.
#[derive(Debug)]
pub(crate) enum Message {
    /// A request, which must be answered under its id.
    Request { id: RequestId, method: String, params: Params },
    /// A notification, which is never answered.
    Notification { method: String, params: Params },
    /// The answer to a request of the agent.
    Response { id: RequestId, result: Result<Box<RawValue>, Error> },
    /// A message that cannot be understood; the error is sent to the client under the id, as far as
    /// it is known.
    Invalid { id: RequestId, error: Error },
}

/// Parameters of a request or notification.
#[derive(Debug)]
pub(crate) struct Params(Option<Box<RawValue>>);

impl Params {
    /// Parses the parameters. Missing ones are read as an empty object.
    ///
    /// # Errors
    /// [`Error::invalid_params`] with the position in the parameters.
    pub(crate) fn read<'a, T: Deserialize<'a>>(&'a self) -> Result<T, Error> {
        let text = self.0.as_deref().map_or("{}", RawValue::get);
        serde_json::from_str(text)
            .map_err(|error| Error::invalid_params().data(serde_json::json!(error.to_string())))
    }
}

/// Fields of a message in any of its forms.
#[derive(Deserialize)]
struct Envelope {
    jsonrpc: String,
    id: Option<Box<RawValue>>,
    method: Option<String>,
    params: Option<Box<RawValue>>,
    result: Option<Box<RawValue>>,
    error: Option<Box<RawValue>>,
}

impl Message {
    /// Reads a line. Batches are not part of the protocol, and are invalid.
    pub(crate) fn read(line: &[u8]) -> Self {
        let envelope: Envelope = match serde_json::from_slice(line) {
            Ok(envelope) => envelope,
            Err(error) if error.is_data() => return Self::invalid(RequestId::Null, &error),
            Err(error) => {
                let error = Error::parse_error().data(serde_json::json!(error.to_string()));
                return Self::Invalid { id: RequestId::Null, error };
            }
        };
        let id = match envelope.id.as_deref().map(|id| serde_json::from_str(id.get())) {
            None => None,
            Some(Ok(id)) => Some(id),
            Some(Err(_)) => {
                return Self::invalid(RequestId::Null, &"the id is neither a string nor a number");
            }
        };
        if envelope.jsonrpc != "2.0" {
            return Self::invalid(id.unwrap_or(RequestId::Null), &"`jsonrpc` is not \"2.0\"");
        }
        let params = Params(envelope.params);
        match (envelope.method, id) {
            (Some(method), Some(id)) => Self::Request { id, method, params },
            (Some(method), None) => Self::Notification { method, params },
            (None, Some(id)) => {
                let result = match envelope.error {
                    Some(error) => Err(read_error(&error)),
                    None => Ok(envelope.result.unwrap_or_else(|| RawValue::NULL.to_owned())),
                };
                Self::Response { id, result }
            }
            (None, None) => Self::invalid(RequestId::Null, &"neither a method nor an id"),
        }
    }

    /// Reads the beginning of a message that is too long. A request is answered with an error, and
    /// an answer counts as one.
    pub(crate) fn cut_off(head: &[u8]) -> Self {
        let mut known = KnownFields::default();
        // The end is missing, so that there is always an error.
        drop(serde_json::Deserializer::from_slice(head).deserialize_map(&mut known));
        let error = Error::invalid_request().data(serde_json::json!("the message is too long"));
        match known {
            KnownFields { id: Some(id), has_method: false } => {
                Self::Response { id, result: Err(error) }
            }
            KnownFields { id, .. } => Self::Invalid { id: id.unwrap_or(RequestId::Null), error },
        }
    }

    fn invalid(id: RequestId, reason: &impl ToString) -> Self {
        let error = Error::invalid_request().data(serde_json::json!(reason.to_string()));
        Self::Invalid { id, error }
    }
}

/// Fields at the beginning of a message that was cut off.
#[derive(Default)]
struct KnownFields {
    id: Option<RequestId>,
    has_method: bool,
}

impl<'de> Visitor<'de> for &mut KnownFields {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        while let Some(name) = fields.next_key::<&str>()? {
            self.has_method |= name == "method";
            if name == "id" {
                self.id = Some(fields.next_value()?);
            } else {
                fields.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

/// Reads the error of a response. An error of another shape becomes an internal error.
fn read_error(error: &RawValue) -> Error {
    serde_json::from_str(error.get()).unwrap_or_else(|_| Error::internal_error())
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn kind(line: &str) -> String {
        match Message::read(line.as_bytes()) {
            Message::Request { id, method, .. } => format!("request {id} {method}"),
            Message::Notification { method, .. } => format!("notification {method}"),
            Message::Response { id, result } => match result {
                Ok(result) => format!("result {id} {result}"),
                Err(error) => format!("error {id} {}", error.message),
            },
            Message::Invalid { id, error } => format!("invalid {id} {}", i32::from(error.code)),
        }
    }

    #[test]
    fn every_form_of_a_message_is_recognised() {
        for (line, expected) in [
            (r#"{"jsonrpc":"2.0","id":1,"method":"a"}"#, "request 1 a"),
            (r#"{"jsonrpc":"2.0","id":"x","method":"a","params":{}}"#, "request x a"),
            (r#"{"jsonrpc":"2.0","method":"a","more":[]}"#, "notification a"),
            (r#"{"jsonrpc":"2.0","id":1,"result":null}"#, "result 1 null"),
            (r#"{"jsonrpc":"2.0","id":1,"result":{"a":1}}"#, r#"result 1 {"a":1}"#),
            (r#"{"jsonrpc":"2.0","id":1}"#, "result 1 null"),
            (r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}"#, "error 1 no"),
            (r#"{"jsonrpc":"2.0","id":1,"error":5}"#, "error 1 Internal error"),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"a"}"#, "invalid null -32600"),
            (r#"{"jsonrpc":"2.0","id":{},"method":"a"}"#, "invalid null -32600"),
            (r#"{"jsonrpc":"1.0","id":1,"method":"a"}"#, "invalid 1 -32600"),
            (r#"{"id":1,"method":"a"}"#, "invalid null -32600"),
            (r#"{"jsonrpc":"2.0"}"#, "invalid null -32600"),
            ("[]", "invalid null -32600"),
            ("5", "invalid null -32600"),
            ("{", "invalid null -32700"),
            ("hello", "invalid null -32700"),
            ("\u{1f}", "invalid null -32700"),
        ] {
            assert_eq!(kind(line), expected, "{line}");
        }
        assert_eq!(kind(&"[".repeat(1 << 20)), "invalid null -32600");
        let deep = format!(
            r#"{{"jsonrpc":"2.0","method":"a","params":{}{}}}"#,
            "[".repeat(1 << 20),
            "]".repeat(1 << 20)
        );
        assert_eq!(kind(&deep), "notification a");
    }

    #[test]
    fn a_message_that_was_cut_off_has_its_id() {
        for (head, expected) in [
            (r#"{"jsonrpc":"2.0","id":7,"method":"a","params":{"x":"yyy"#, "invalid 7"),
            (r#"{"id":"x","params":[[[[{"#, "response x"),
            (r#"{"method":"a","params":{"id":3,"#, "invalid null"),
            (r#"{"id":8,"result":{"content":"yyy"#, "response 8"),
            (r#"{"id":{"a":1},"result":"yy"#, "invalid null"),
            (r#"{"\u0069d":8,"result":"yy"#, "invalid null"),
            ("[1,2", "invalid null"),
            ("", "invalid null"),
        ] {
            let kind = match Message::cut_off(head.as_bytes()) {
                Message::Invalid { id, .. } => format!("invalid {id}"),
                Message::Response { id, result: Err(_) } => format!("response {id}"),
                other => format!("{other:?}"),
            };
            assert_eq!(kind, expected, "{head}");
        }
    }

    #[test]
    fn wrong_parameters_are_reported_with_their_position() {
        let line = br#"{"jsonrpc":"2.0","method":"a","params":{"a":"x"}}"#;
        let Message::Notification { params, .. } = Message::read(line) else { panic!() };
        let error = params.read::<std::collections::HashMap<String, u8>>().unwrap_err();
        assert_eq!(i32::from(error.code), -32602);
        assert!(error.data.unwrap().as_str().unwrap().contains("line 1 column 8"));
    }
}
