//! Capabilities of the agent, as `initialize` reports them.

use agent_client_protocol_schema::ProtocolVersion;
use agent_client_protocol_schema::v1::{
    AgentCapabilities, AuthMethod, AuthMethodAgent, ClientCapabilities, Implementation,
    InitializeResponse, McpCapabilities, Meta, PromptCapabilities,
    SessionAdditionalDirectoriesCapabilities, SessionCapabilities, SessionCloseCapabilities,
    SessionDeleteCapabilities, SessionListCapabilities, SessionResumeCapabilities,
};
use serde::Deserialize;
use serde_json::{Value, json};

/// Parameters of `initialize`, as far as they matter. The agent knows one version of the protocol,
/// whatever the client asks for.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Initialize {
    #[serde(default)]
    pub(crate) client_capabilities: ClientCapabilities,
}

/// Returns the answer to `initialize`.
pub(crate) fn response(version: &str) -> InitializeResponse {
    let capabilities = AgentCapabilities::new()
        .load_session(true)
        .prompt_capabilities(
            PromptCapabilities::new().image(true).audio(true).embedded_context(true),
        )
        .mcp_capabilities(McpCapabilities::new().http(true).sse(true))
        .session_capabilities(
            SessionCapabilities::new()
                .list(SessionListCapabilities::new())
                .delete(SessionDeleteCapabilities::new())
                .resume(SessionResumeCapabilities::new())
                .close(SessionCloseCapabilities::new())
                .additional_directories(SessionAdditionalDirectoriesCapabilities::new()),
        );
    InitializeResponse::new(ProtocolVersion::V1)
        .agent_capabilities(capabilities)
        .auth_methods(auth_methods())
        .agent_info(Implementation::new("pollux", version).title("Pollux".to_owned()))
}

/// Returns the sign-in methods. Names and extensions are those of Gemini CLI 0.61; methods that
/// Pollux cannot use are left out.
fn auth_methods() -> Vec<AuthMethod> {
    let method = |id: &'static str, name: &str, description: &str, meta: Value| {
        let method = AuthMethodAgent::new(id, name).description(description.to_owned());
        AuthMethod::Agent(method.meta(object(meta)))
    };
    vec![
        method(
            "gemini-api-key",
            "Gemini API key",
            "Use an API key with Gemini Developer API",
            json!({"api-key": {"provider": "google"}}),
        ),
        method(
            "gateway",
            "AI API Gateway",
            "Use a custom AI API Gateway",
            json!({"gateway": {"protocol": "google", "restartRequired": "false"}}),
        ),
    ]
}

/// Returns the fields of a JSON object; none for any other value.
pub(crate) fn object(value: Value) -> Meta {
    match value {
        Value::Object(fields) => fields,
        _ => Meta::new(),
    }
}
