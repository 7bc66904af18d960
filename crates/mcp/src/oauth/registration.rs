//! Registration of Pollux as a client of an authorization server (RFC 7591).

use serde::Deserialize;
use serde_json::json;
use url::Url;

use super::fetch::Fetcher;
use super::metadata::BASIC_SECRET;
use super::{OAuthError, shown};

/// Name under which servers know the client. Some servers admit clients by their name.
const CLIENT_NAME: &str = "Gemini CLI MCP Client";
/// Maximum length of an id or a secret, in bytes.
const LONGEST: usize = 4000;

/// Client of an authorization server.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Client {
    pub(super) id: String,
    pub(super) secret: Option<String>,
    /// True if the secret is sent in the header `Authorization`, not in the form.
    pub(super) is_basic: bool,
}

#[derive(Deserialize)]
struct Registered {
    client_id: String,
    client_secret: Option<String>,
    token_endpoint_auth_method: Option<String>,
}

/// Registers a client that identifies itself with this method.
///
/// # Errors
/// The authorization server refuses.
pub(super) async fn register(
    fetcher: &Fetcher,
    endpoint: &Url,
    redirect: &str,
    scopes: &[String],
    method: &str,
) -> Result<Client, OAuthError> {
    let mut request = json!({
        "client_name": CLIENT_NAME,
        "redirect_uris": [redirect],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": method,
    });
    if !scopes.is_empty() {
        request["scope"] = json!(scopes.join(" "));
    }
    let reply = fetcher.post_json(endpoint, request.to_string().into_bytes()).await?;
    let body = String::from_utf8_lossy(&reply.body);
    if !reply.status.is_success() {
        return Err(OAuthError::refused(format!(
            "Client registration failed: {} {} - {}",
            reply.status.as_u16(),
            reply.status.canonical_reason().unwrap_or_default(),
            shown(&body)
        )));
    }
    let invalid = |problem: &str| {
        OAuthError::refused(format!(
            "Client registration failed: the answer is not valid: {}",
            shown(problem)
        ))
    };
    let registered: Registered =
        serde_json::from_str(&body).map_err(|error| invalid(&error.to_string()))?;
    // Some services send an empty secret to clients that have none.
    let secret = registered.client_secret.filter(|secret| !secret.is_empty());
    let is_short = |text: &str| !text.is_empty() && text.len() <= LONGEST;
    if !is_short(&registered.client_id) || !secret.as_deref().is_none_or(is_short) {
        return Err(invalid("an id or a secret is empty or too long"));
    }
    let method = registered.token_endpoint_auth_method.as_deref().unwrap_or(method);
    let is_basic = secret.is_some() && method == BASIC_SECRET;
    Ok(Client { id: registered.client_id, secret, is_basic })
}
