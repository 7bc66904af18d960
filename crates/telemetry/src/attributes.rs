//! Attributes that all records have in common, and the resource that records come from.

use serde_json::{Map, Value, json};

/// Attributes of one record, in order.
pub(crate) type Attributes = Map<String, Value>;

/// Attributes of every log event and metric of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Common {
    /// Id of the session.
    pub session_id: String,
    /// Id of the installation, a UUID.
    pub installation_id: String,
    /// True if a user sits at the terminal.
    pub interactive: bool,
    /// Authentication method of the run, as settings spell it (`gemini-api-key`).
    pub auth_type: Option<String>,
    /// Email address of the signed-in user.
    pub user_email: Option<String>,
}

impl Common {
    /// Returns the attributes in Gemini CLI's order.
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

    /// Returns the resource in the layout of the SDK that Gemini CLI uses. It omits the command
    /// line, which may contain the prompt.
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

/// Returns the architecture's name in OpenTelemetry's conventions.
fn host_arch() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

/// Sets an attribute if there is a value.
pub(crate) fn set(attributes: &mut Attributes, key: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        attributes.insert(key.to_owned(), value.into());
    }
}

/// Creates attributes from pairs.
pub(crate) fn pairs<const COUNT: usize>(pairs: [(&str, Value); COUNT]) -> Attributes {
    pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}
