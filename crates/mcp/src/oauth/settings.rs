//! `oauth` of an entry of `mcpServers`.

use serde_json::{Map, Value};
use url::Url;

use super::metadata::is_usable;

/// Settings of signing in to a server. All of them are optional.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct OAuthSettings {
    /// True if the user is asked to sign in when the server requires it.
    pub is_enabled: bool,
    /// Id of a client that is registered already; also the address of a client's metadata.
    pub client_id: Option<String>,
    /// Secret of that client.
    pub client_secret: Option<String>,
    /// Page on which the user signs in.
    pub authorization_url: Option<Url>,
    /// Address that exchanges codes for tokens.
    pub token_url: Option<Url>,
    /// Address that registers clients.
    pub registration_url: Option<Url>,
    /// Authorization server.
    pub issuer: Option<Url>,
    /// Permissions to ask for.
    pub scopes: Vec<String>,
    /// Values of the parameter `audience`.
    pub audiences: Vec<String>,
    /// Address to which the browser is redirected.
    pub redirect_uri: Option<Url>,
}

impl std::fmt::Debug for OAuthSettings {
    /// Shows no secret.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut fields = formatter.debug_struct("OAuthSettings");
        fields.field("is_enabled", &self.is_enabled).field("client_id", &self.client_id);
        fields.field("token_url", &self.token_url).finish_non_exhaustive()
    }
}

impl OAuthSettings {
    /// Reads the settings from an entry of `mcpServers`.
    ///
    /// # Errors
    /// A message for the user that says what is wrong with the entry.
    pub(crate) fn read(entry: &Map<String, Value>) -> Result<Self, String> {
        let Some(oauth) = entry.get("oauth") else { return Ok(Self::default()) };
        let oauth = oauth.as_object().ok_or("`oauth` is not an object")?;
        let text = |key: &str| {
            let text = oauth.get(key).and_then(Value::as_str);
            text.filter(|text| !text.trim().is_empty()).map(str::to_owned)
        };
        let url = |key: &str| -> Result<Option<Url>, String> {
            let Some(text) = text(key) else { return Ok(None) };
            let url = Url::parse(&text).ok().filter(is_usable);
            url.map(Some).ok_or_else(|| {
                format!("`oauth.{key}` must begin with https://, or with http:// and this machine")
            })
        };
        let texts = |key: &str| -> Vec<String> {
            let items = oauth.get(key).and_then(Value::as_array).into_iter().flatten();
            items.filter_map(Value::as_str).map(str::to_owned).collect()
        };
        Ok(Self {
            is_enabled: oauth.get("enabled") == Some(&Value::Bool(true)),
            client_id: text("clientId"),
            client_secret: text("clientSecret"),
            authorization_url: url("authorizationUrl")?,
            token_url: url("tokenUrl")?,
            registration_url: url("registrationUrl")?,
            issuer: url("issuer")?,
            scopes: texts("scopes"),
            audiences: texts("audiences"),
            redirect_uri: url("redirectUri")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    fn read(entry: &Value) -> Result<OAuthSettings, String> {
        OAuthSettings::read(entry.as_object().unwrap())
    }

    #[test]
    fn values_are_read() {
        assert_eq!(read(&json!({})).unwrap(), OAuthSettings::default());
        let entry = json!({"oauth": {
            "enabled": true, "clientId": "c", "clientSecret": "hidden", "scopes": ["a", 1, "b"],
            "redirectUri": "http://localhost:7777/oauth/callback", "tokenUrl": "https://h/token",
            "issuer": " ",
        }});
        let settings = read(&entry).unwrap();
        assert!(settings.is_enabled);
        assert_eq!(settings.scopes, ["a", "b"]);
        assert_eq!(settings.redirect_uri.as_ref().and_then(Url::port), Some(7777));
        assert_eq!(settings.issuer, None);
        assert!(!format!("{settings:?}").contains("hidden"));
    }

    #[test]
    fn what_cannot_be_used_is_named() {
        for (entry, message) in [
            (json!({"oauth": true}), "`oauth` is not an object"),
            (
                json!({"oauth": {"tokenUrl": "http://h/token"}}),
                "`oauth.tokenUrl` must begin with https://, or with http:// and this machine",
            ),
        ] {
            assert_eq!(read(&entry).unwrap_err(), message);
        }
    }
}
