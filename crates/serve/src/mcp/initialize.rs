//! Handshake: the version of the protocol, and the capabilities of both sides. Pure.

use serde::Deserialize;
use serde_json::{Value, json};

/// Versions of the protocol, the latest first.
const VERSIONS: [&str; 4] = [LATEST, "2025-06-18", "2025-03-26", "2024-11-05"];
const LATEST: &str = "2025-11-25";

/// Advice for the model of the client.
const INSTRUCTIONS: &str = "Pollux is an agent that works in a folder of the user's machine: it reads and changes files and runs commands. The tool `pollux` begins a session with a prompt, and `pollux-reply` continues it. Each prompt may take minutes.";

/// Parameters of `initialize`, as far as they matter.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Initialize {
    protocol_version: String,
    #[serde(default)]
    capabilities: Value,
}

/// Capabilities of a client. A client that has not introduced itself can do nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ClientCapabilities {
    /// The client can show forms.
    pub(crate) has_forms: bool,
    /// Fields of forms may have titled choices, and several of them.
    pub(crate) has_titled_choices: bool,
}

impl Initialize {
    /// Returns the version of this connection: that of the client if it is known, otherwise the
    /// latest.
    fn version(&self) -> &'static str {
        let wanted = self.protocol_version.as_str();
        VERSIONS.into_iter().find(|version| *version == wanted).unwrap_or(LATEST)
    }

    pub(crate) fn capabilities(&self) -> ClientCapabilities {
        // A client of an earlier version that has forms sends an empty object.
        let elicitation = self.capabilities["elicitation"].as_object();
        ClientCapabilities {
            has_forms: elicitation.is_some_and(|modes| {
                modes.is_empty() || modes.get("form").is_some_and(Value::is_object)
            }),
            has_titled_choices: self.version() == LATEST,
        }
    }

    /// Returns the answer. `program` is the version of Pollux.
    pub(crate) fn response(&self, program: &str) -> Value {
        json!({
            "protocolVersion": self.version(),
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "pollux", "title": "Pollux", "version": program},
            "instructions": INSTRUCTIONS,
        })
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn read(version: &str, capabilities: &Value) -> Initialize {
        let params = json!({"protocolVersion": version, "capabilities": capabilities});
        serde_json::from_value(params).unwrap()
    }

    #[test]
    fn a_known_version_is_accepted_and_the_latest_is_offered_otherwise() {
        for version in VERSIONS {
            let response = read(version, &json!({})).response("1");
            assert_eq!(response["protocolVersion"], version);
        }
        for version in ["2099-01-01", "", "1.0"] {
            let response = read(version, &json!({})).response("1");
            assert_eq!(response["protocolVersion"], LATEST);
        }
    }

    #[test]
    fn a_client_has_forms_if_it_says_so() {
        for (elicitation, has_forms) in [
            (json!({}), true),
            (json!({"form": {}}), true),
            (json!({"form": {}, "url": {}}), true),
            (json!({"url": {}}), false),
            (json!({"form": null}), false),
            (json!(null), false),
            (json!(true), false),
        ] {
            let capabilities = json!({ "elicitation": elicitation });
            let found = read(LATEST, &capabilities).capabilities();
            assert_eq!(found, ClientCapabilities { has_forms, has_titled_choices: true });
        }
        let nothing: Initialize = serde_json::from_value(json!({"protocolVersion": "x"})).unwrap();
        assert!(!nothing.capabilities().has_forms);
        assert!(!read("2025-06-18", &json!({})).capabilities().has_titled_choices);
    }
}
