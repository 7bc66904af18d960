//! Attributes: what every record carries, and where the records come from.

use serde_json::{Map, Value, json};

/// Attributes of one record, in order.
pub(crate) type Attributes = Map<String, Value>;

/// What every log event and metric of a session says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Common {
    /// The session.
    pub session_id: String,
    /// The installation, a UUID.
    pub installation_id: String,
    /// A person sits at the terminal.
    pub interactive: bool,
    /// How the run signed in, as settings spell it (`gemini-api-key`).
    pub auth_type: Option<String>,
    /// Who signed in.
    pub user_email: Option<String>,
}

impl Common {
    /// In Gemini CLI's order.
    pub(crate) fn attributes(&self) -> Attributes {
        let mut attributes = Attributes::new();
        attributes.insert("session.id".to_owned(), json!(self.session_id));
        attributes.insert("installation.id".to_owned(), json!(self.installation_id));
        attributes.insert("interactive".to_owned(), json!(self.interactive));
        if let Some(email) = &self.user_email {
            attributes.insert("user.email".to_owned(), json!(email));
        }
        if let Some(auth_type) = &self.auth_type {
            attributes.insert("auth_type".to_owned(), json!(auth_type));
        }
        attributes
    }

    /// The resource, as the SDK that Gemini CLI uses lays it out. No command line: it may hold the prompt.
    pub(crate) fn resource(&self) -> Value {
        json!({
            "_rawAttributes": [
                ["host.arch", host_arch()],
                ["process.pid", std::process::id()],
                ["process.runtime.name", "pollux"],
                ["process.runtime.version", env!("CARGO_PKG_VERSION")],
                ["service.name", crate::names::SERVICE],
                ["service.version", env!("CARGO_PKG_VERSION")],
                ["session.id", self.session_id],
            ],
            "_asyncAttributesPending": false,
        })
    }
}

/// The names of OpenTelemetry's conventions.
fn host_arch() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

/// Sets an attribute when there is a value.
pub(crate) fn set(attributes: &mut Attributes, key: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        attributes.insert(key.to_owned(), value.into());
    }
}

/// Attributes from pairs.
pub(crate) fn pairs<const COUNT: usize>(pairs: [(&str, Value); COUNT]) -> Attributes {
    pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}
