//! Credentials that the client passes with `authenticate`, for the sessions of its connection.

use std::collections::BTreeMap;

use agent_client_protocol_schema::v1::{AuthenticateRequest, Error, ErrorCode};
use pollux_protocol::SessionRequest;
use serde::Deserialize;
use serde_json::Value;

use super::errors;

/// Sign-in methods of Gemini CLI 0.61 that Pollux cannot use.
const NOT_USABLE: [&str; 4] =
    ["oauth-personal", "vertex-ai", "cloud-shell", "compute-default-credentials"];

/// Setting that selects the sign-in method.
const SELECTED: &str = "security.auth.selectedType";

/// Credentials of a connection.
#[derive(Default)]
pub(crate) struct Credentials {
    /// Sign-in method that the client has chosen.
    method: Option<String>,
    /// Variables that sessions get.
    variables: BTreeMap<String, String>,
}

/// Address and headers of a gateway.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Gateway {
    base_url: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
}

impl Credentials {
    /// Takes the choice of the client. Values that it does not name stay as they are.
    ///
    /// # Errors
    /// Codes and messages of Gemini CLI: for a method that is not known or not usable, and for a
    /// gateway that is not well-formed.
    pub(crate) fn take(&mut self, request: AuthenticateRequest) -> Result<(), Error> {
        let method = request.method_id.0.as_ref().to_owned();
        let meta = request.meta.unwrap_or_default();
        match method.as_str() {
            "gemini-api-key" => {
                if let Some(Value::String(key)) = meta.get("api-key") {
                    self.variables.insert("GEMINI_API_KEY".to_owned(), key.clone());
                }
            }
            "gateway" => {
                if let Some(gateway) = meta.get("gateway") {
                    self.take_gateway(gateway)?;
                }
            }
            known if NOT_USABLE.contains(&known) => {
                return Err(refused(format!(
                    "The sign-in method {known} is not available in this version of Pollux yet. Use gemini-api-key."
                )));
            }
            unknown => return Err(errors::unusable(format!("unknown sign-in method {unknown}"))),
        }
        self.method = Some(method);
        Ok(())
    }

    fn take_gateway(&mut self, gateway: &Value) -> Result<(), Error> {
        let malformed = |reason: &dyn ToString| {
            refused(format!("Malformed gateway payload: {}", reason.to_string()))
        };
        let Gateway { base_url, headers } =
            Gateway::deserialize(gateway).map_err(|error| malformed(&error))?;
        let is_name = |name: &str| {
            !name.is_empty()
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
        };
        let is_broken = |(name, value): (&String, &String)| {
            !is_name(name) || value.chars().any(|letter| letter.is_control() || letter == ',')
        };
        if headers.iter().any(is_broken) {
            return Err(malformed(&"a header has an invalid name or value"));
        }
        if let Some(url) = base_url {
            self.variables.insert("GOOGLE_GEMINI_BASE_URL".to_owned(), url);
        }
        if !headers.is_empty() {
            let headers: Vec<String> =
                headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
            self.variables.insert("GEMINI_CLI_CUSTOM_HEADERS".to_owned(), headers.join(", "));
        }
        Ok(())
    }

    /// Adds the credentials to the request for a session.
    pub(crate) fn add_to(&self, request: &mut SessionRequest) {
        request.variables.extend(self.variables.clone());
        if let Some(method) = &self.method {
            request.settings.insert(SELECTED.to_owned(), Value::from(method.as_str()));
        }
    }
}

fn refused(message: String) -> Error {
    Error::new(ErrorCode::AuthRequired.into(), message)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    fn take(credentials: &mut Credentials, method: &str, meta: &Value) -> Result<(), i32> {
        let request = json!({"methodId": method, "_meta": meta});
        let taken = credentials.take(serde_json::from_value(request).unwrap());
        taken.map_err(|error| error.code.into())
    }

    #[test]
    fn credentials_go_to_the_sessions_of_the_connection() {
        let mut credentials = Credentials::default();
        take(&mut credentials, "gemini-api-key", &json!({"api-key": "K"})).unwrap();
        let gateway = json!({"gateway": {"baseUrl": "http://g", "headers": {"X-A": "1"}}});
        take(&mut credentials, "gateway", &gateway).unwrap();
        let mut request = SessionRequest::new("/w");
        credentials.add_to(&mut request);
        let variables: Vec<_> =
            request.variables.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(
            variables,
            [
                ("GEMINI_API_KEY", "K"),
                ("GEMINI_CLI_CUSTOM_HEADERS", "X-A: 1"),
                ("GOOGLE_GEMINI_BASE_URL", "http://g"),
            ]
        );
        assert_eq!(request.settings[SELECTED], "gateway");
    }

    #[test]
    fn what_cannot_be_used_changes_nothing() {
        let gateway = |gateway: Value| json!({ "gateway": gateway });
        for (method, meta, code) in [
            ("oauth-personal", json!({}), -32000),
            ("nosuch", json!({}), -32602),
            ("gateway", gateway(json!(5)), -32000),
            ("gateway", gateway(json!({"baseUrl": 5})), -32000),
            ("gateway", gateway(json!({"headers": {"a": "b\r\nc: d"}})), -32000),
            ("gateway", gateway(json!({"headers": {"a": "b, c: d"}})), -32000),
            ("gateway", gateway(json!({"headers": {"a b": "c"}})), -32000),
        ] {
            let mut credentials = Credentials::default();
            assert_eq!(take(&mut credentials, method, &meta), Err(code), "{method} {meta}");
            assert!(credentials.method.is_none() && credentials.variables.is_empty());
        }
    }
}
