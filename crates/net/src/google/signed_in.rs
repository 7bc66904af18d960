//! Sign-in of a user to Google through an OAuth client of the user's own, and the file in which
//! Gemini CLI keeps it: `oauth_creds.json`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use url::Url;

use super::addresses::{Service, checked};
use super::requests::{Requests, is_sendable};
use super::{GoogleError, GoogleSetup, now};
use crate::client::HttpClient;

/// Address that gives tokens.
const TOKEN: &str = "https://oauth2.googleapis.com/token";
/// Time before the expiry at which an access token is renewed, in milliseconds.
const BUFFER: f64 = 225_000.0;

/// OAuth client of the user, through which the user signs in.
#[derive(Clone)]
pub struct OAuthClient {
    /// Id of the client.
    pub id: String,
    /// Secret of the client; Google gives one to every installed program.
    pub secret: String,
    /// Address that gives tokens.
    pub token_url: Url,
}

impl std::fmt::Debug for OAuthClient {
    /// Shows no secret.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("OAuthClient").field("id", &self.id).finish_non_exhaustive()
    }
}

impl OAuthClient {
    /// Reads the client from `POLLUX_GOOGLE_OAUTH_CLIENT_ID`, `…_SECRET` and
    /// `POLLUX_GOOGLE_OAUTH_TOKEN_URL`. Returns `None` without an id.
    ///
    /// # Errors
    /// [`GoogleError::Refused`] for an address that secrets are not sent to.
    pub fn from_environment(
        lookup: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Option<Self>, GoogleError> {
        let present = |name: &str| {
            lookup(name).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
        };
        let Some(id) = present("POLLUX_GOOGLE_OAUTH_CLIENT_ID") else { return Ok(None) };
        let variable = "POLLUX_GOOGLE_OAUTH_TOKEN_URL";
        let address = present(variable).unwrap_or_else(|| TOKEN.to_owned());
        let token_url = checked(Service::Token, variable, &address);
        let token_url = token_url.map_err(GoogleError::Refused)?;
        let secret = present("POLLUX_GOOGLE_OAUTH_CLIENT_SECRET").unwrap_or_default();
        Ok(Some(Self { id, secret, token_url }))
    }
}

/// Tokens of a user, as in `oauth_creds.json`.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct UserTokens {
    /// Token that is sent with requests.
    pub access_token: String,
    /// Token that renews the access token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refresh_token: Option<String>,
    /// Time at which the access token expires, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expiry_date: Option<f64>,
    /// All other fields: `scope`, `token_type`, `id_token`.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

impl std::fmt::Debug for UserTokens {
    /// Shows no secret.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut fields = formatter.debug_struct("UserTokens");
        fields.field("expiry_date", &self.expiry_date).finish_non_exhaustive()
    }
}

impl UserTokens {
    /// Reads the content of the file.
    ///
    /// # Errors
    /// The reason why it cannot be used, as the end of a sentence. It contains no secret.
    pub fn read(bytes: &[u8]) -> Result<Self, String> {
        let tokens: Self = serde_json::from_slice(bytes)
            .map_err(|_| "it is not a JSON object with an access token".to_owned())?;
        let refresh = tokens.refresh_token.as_deref();
        if !is_sendable(&tokens.access_token) || !refresh.is_none_or(is_sendable) {
            return Err("it contains no usable token".to_owned());
        }
        Ok(tokens)
    }

    /// Returns the content of the file, in the form in which Gemini CLI writes it.
    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec_pretty(self).unwrap_or_default()
    }

    /// True if the access token has not expired.
    pub fn is_valid(&self) -> bool {
        self.expiry_date.is_none_or(|time| time > milliseconds())
    }

    /// True if the access token has expired or will soon.
    pub fn needs_renewal(&self) -> bool {
        self.expiry_date.is_some_and(|time| time - BUFFER <= milliseconds())
    }
}

fn milliseconds() -> f64 {
    now() as f64 * 1000.0
}

/// Something that tokens are given for.
#[derive(Debug, Clone, Copy)]
pub enum Grant<'a> {
    /// The code of a sign-in.
    Code {
        /// The code.
        code: &'a str,
        /// Address to which the browser was redirected.
        redirect: &'a str,
        /// Secret of PKCE.
        verifier: &'a str,
    },
    /// A refresh token.
    Refresh(&'a str),
}

/// Requests tokens.
///
/// # Errors
/// [`GoogleError`].
pub async fn request_tokens(
    setup: &GoogleSetup,
    client: &OAuthClient,
    grant: Grant<'_>,
) -> Result<UserTokens, GoogleError> {
    let http = HttpClient::new(setup.client.clone())?;
    let requests = Requests { http, backoff: setup.backoff };
    let mut pairs = match grant {
        Grant::Code { code, redirect, verifier } => vec![
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", redirect),
            ("code_verifier", verifier),
        ],
        Grant::Refresh(token) => vec![("grant_type", "refresh_token"), ("refresh_token", token)],
    };
    pairs.push(("client_id", &client.id));
    if !client.secret.is_empty() {
        pairs.push(("client_secret", &client.secret));
    }
    let who = "the Google sign-in";
    let reply = requests.form(&client.token_url, &pairs, None).await?;
    let token = reply.token(who)?;
    let mut rest: Map<String, Value> = serde_json::from_slice(&reply.body).unwrap_or_default();
    let text = |value: Option<Value>| value.and_then(|value| value.as_str().map(str::to_owned));
    let refresh_token = text(rest.shift_remove("refresh_token")).filter(|text| is_sendable(text));
    rest.retain(|name, value| {
        matches!(name.as_str(), "scope" | "token_type" | "id_token") && value.is_string()
    });
    let expiry_date = Some(token.expires_at as f64 * 1000.0);
    Ok(UserTokens { access_token: token.secret, refresh_token, expiry_date, rest })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_of_gemini_cli_is_read_and_written_back() {
        let file = br#"{
  "access_token": "ya29.x",
  "refresh_token": "1//r",
  "scope": "a b",
  "token_type": "Bearer",
  "id_token": "h.p.s",
  "expiry_date": 1700000000123
}"#;
        let tokens = UserTokens::read(file).unwrap();
        assert!(!tokens.is_valid() && tokens.needs_renewal());
        let written: Value = serde_json::from_slice(&tokens.to_bytes()).unwrap();
        let original: Value = serde_json::from_slice(file).unwrap();
        assert_eq!(written["expiry_date"].as_f64(), original["expiry_date"].as_f64());
        for name in ["access_token", "refresh_token", "scope", "token_type", "id_token"] {
            assert_eq!(written[name], original[name], "{name}");
        }
        assert!(!format!("{tokens:?}").contains("ya29"));
        let soon = milliseconds() + 100_000.0;
        let soon = UserTokens { expiry_date: Some(soon), ..tokens };
        assert!(soon.is_valid() && soon.needs_renewal());
    }

    #[test]
    fn what_cannot_be_sent_is_refused() {
        for file in [
            "",
            "[]",
            r#"{"refresh_token":"r"}"#,
            r#"{"access_token":""}"#,
            r#"{"access_token":"a\nb"}"#,
            r#"{"access_token":"a","refresh_token":"a b"}"#,
            r#"{"access_token":"a","expiry_date":"x"}"#,
        ] {
            assert!(UserTokens::read(file.as_bytes()).is_err(), "{file}");
        }
    }

    #[test]
    fn the_client_gets_its_secret_from_google_only() {
        let client = |url: &str| {
            OAuthClient::from_environment(&|name| match name {
                "POLLUX_GOOGLE_OAUTH_CLIENT_ID" => Some("i".to_owned()),
                "POLLUX_GOOGLE_OAUTH_TOKEN_URL" => Some(url.to_owned()),
                _ => None,
            })
        };
        assert_eq!(client("").unwrap().unwrap().token_url.as_str(), TOKEN);
        assert!(client("http://127.0.0.1:1/token").is_ok());
        assert!(client("https://evil.example/token").is_err());
        assert!(OAuthClient::from_environment(&|_| None).unwrap().is_none());
    }
}
