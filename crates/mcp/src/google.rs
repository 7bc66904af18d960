//! Google credentials for a server: `authProviderType` in an entry of `mcpServers`.

use std::sync::Arc;

use pollux_net::google::{GoogleAuthoriser, GoogleSetup, IdTokenAuthoriser};
use pollux_net::{Authoriser, is_loopback};
use serde_json::{Map, Value};
use url::Url;

use crate::config::Remote;
use crate::oauth::OAuthSettings;

/// Domains whose servers may receive a token of the user's account.
const DOMAINS: [&str; 2] = ["googleapis.com", "luci.app"];

/// Use of Google credentials for a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GoogleAccess {
    /// Sends an access token with these permissions.
    Credentials {
        /// Permissions to ask for.
        scopes: Vec<String>,
    },
    /// Sends an ID token of a service account, in whose place the user acts.
    Impersonation {
        /// Address of the service account.
        account: String,
        /// Client id of the service.
        audience: String,
    },
}

impl GoogleAccess {
    /// Reads `authProviderType` and the keys that belong to it; `None` for a server that signs
    /// users in itself.
    ///
    /// # Errors
    /// A message for the user that says what is wrong with the entry.
    pub(crate) fn read(
        entry: &Map<String, Value>,
        remote: Option<&Remote>,
        oauth: &OAuthSettings,
    ) -> Result<Option<Self>, String> {
        let text = |key: &str| entry.get(key).and_then(Value::as_str).map(str::trim);
        let provider = match text("authProviderType") {
            None | Some("dynamic_discovery") => return Ok(None),
            Some(provider) => provider,
        };
        let Some(Remote { url, .. }) = remote else {
            return Err(format!("`authProviderType` {provider:?} needs `url` or `httpUrl`"));
        };
        match provider {
            "google_credentials" => {
                if !is_googles(url) {
                    let host = url.host_str().unwrap_or_default();
                    return Err(format!(
                        "Host \"{host}\" is not an allowed host for Google Credential provider."
                    ));
                }
                if oauth.scopes.is_empty() {
                    return Err(
                        "`authProviderType` \"google_credentials\" needs `oauth.scopes`".to_owned()
                    );
                }
                Ok(Some(Self::Credentials { scopes: oauth.scopes.clone() }))
            }
            "service_account_impersonation" => {
                if url.scheme() != "https" && !is_loopback(url) {
                    return Err(
                        "`url` must begin with https:// to receive a Google token".to_owned()
                    );
                }
                let needed = |key: &str| {
                    let value = text(key).filter(|value| !value.is_empty());
                    value.map(str::to_owned).ok_or_else(|| {
                        format!(
                            "`authProviderType` \"service_account_impersonation\" needs `{key}`"
                        )
                    })
                };
                let account = needed("targetServiceAccount")?;
                if !account
                    .chars()
                    .all(|letter| letter.is_ascii_alphanumeric() || "@.-_".contains(letter))
                {
                    return Err(
                        "`targetServiceAccount` is not the address of an account".to_owned()
                    );
                }
                Ok(Some(Self::Impersonation { account, audience: needed("targetAudience")? }))
            }
            other => {
                let shown: String = other.chars().take(50).collect();
                Err(format!("`authProviderType` {shown:?} is not known"))
            }
        }
    }

    /// Returns the authoriser. It searches for credentials when the first request is signed.
    ///
    /// # Errors
    /// Invalid options of the HTTP client.
    pub(crate) fn authoriser(
        &self,
        setup: GoogleSetup,
    ) -> Result<Arc<dyn Authoriser>, pollux_net::Error> {
        Ok(match self.clone() {
            Self::Credentials { scopes } => Arc::new(GoogleAuthoriser::new(setup, scopes)?),
            Self::Impersonation { account, audience } => {
                Arc::new(IdTokenAuthoriser::new(setup, account, audience)?)
            }
        })
    }
}

/// True for a server of Google that is reached over a secure connection.
fn is_googles(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let is_below =
        |domain: &&str| host.strip_suffix(*domain).is_some_and(|rest| rest.ends_with('.'));
    url.scheme() == "https" && DOMAINS.iter().any(is_below)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use crate::config::ServerConfig;

    fn read(entry: &serde_json::Value) -> Result<Option<super::GoogleAccess>, String> {
        ServerConfig::read("s", entry).map(|config| config.and_then(|config| config.google))
    }

    fn credentials(url: &str) -> serde_json::Value {
        json!({"url": url, "authProviderType": "google_credentials", "oauth": {"scopes": ["s"]}})
    }

    #[test]
    fn tokens_of_the_account_go_to_google_only() {
        for (url, is_allowed) in [
            ("https://x.googleapis.com/mcp", true),
            ("https://x.y.luci.app/", true),
            ("https://googleapis.com/mcp", false),
            ("https://evilgoogleapis.com/mcp", false),
            ("https://x.googleapis.com.evil.example/", false),
            ("http://x.googleapis.com/mcp", false),
            ("http://127.0.0.1:1/mcp", false),
        ] {
            let read = read(&credentials(url));
            assert_eq!(read.is_ok(), is_allowed, "{url} {read:?}");
            if let Err(message) = read {
                assert!(message.contains("is not an allowed host for Google"), "{message}");
            }
        }
    }

    #[test]
    fn what_is_missing_is_named() {
        let impersonation = |account: &str, audience: &str, url: &str| {
            json!({"url": url, "authProviderType": "service_account_impersonation",
                "targetServiceAccount": account, "targetAudience": audience})
        };
        let google = "https://x.googleapis.com/mcp";
        for (entry, part) in [
            (json!({"url": google, "authProviderType": "google_credentials"}), "oauth.scopes"),
            (json!({"command": "c", "authProviderType": "google_credentials"}), "`url`"),
            (json!({"url": google, "authProviderType": "magic"}), "\"magic\" is not known"),
            (impersonation("", "aud", "https://h"), "targetServiceAccount"),
            (impersonation("a@b", "", "https://h"), "targetAudience"),
            (impersonation("a/../b", "aud", "https://h"), "not the address of an account"),
            (impersonation("a@b", "aud", "http://h"), "must begin with https://"),
        ] {
            let message = read(&entry).unwrap_err();
            assert!(message.contains(part), "{entry}: {message}");
        }
        assert!(read(&impersonation("a@b", "aud", "https://h")).unwrap().is_some());
        let usual = json!({"url": google, "authProviderType": "dynamic_discovery"});
        assert_eq!(read(&usual).unwrap(), None);
    }
}
