//! Where requests go, and what they carry in their head.

use http::header::{
    AUTHORIZATION, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, TRANSFER_ENCODING, USER_AGENT,
};
use http::{HeaderMap, HeaderName, HeaderValue};
use pollux_config::Environment;
use pollux_config::environment::names;
use pollux_protocol::{ModelError, ModelErrorKind};
use url::Url;

use crate::auth::Credentials;

const DEFAULT_BASE: &str = "https://generativelanguage.googleapis.com";
const DEFAULT_VERSION: &str = "v1beta";
const KEY_HEADER: HeaderName = HeaderName::from_static("x-goog-api-key");

/// The address of the service and the headers of every request.
#[derive(Debug, Clone)]
pub(crate) struct Endpoint {
    base: Url,
    version: String,
    headers: HeaderMap,
}

/// What can be asked of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    GenerateContent,
    StreamGenerateContent,
    CountTokens,
    BatchEmbedContents,
}

impl Method {
    fn as_str(self) -> &'static str {
        match self {
            Self::GenerateContent => "generateContent",
            Self::StreamGenerateContent => "streamGenerateContent",
            Self::CountTokens => "countTokens",
            Self::BatchEmbedContents => "batchEmbedContents",
        }
    }
}

impl Endpoint {
    /// Reads the address and the headers from the environment.
    ///
    /// # Errors
    /// [`ModelErrorKind::Config`] for an address that is none, [`ModelErrorKind::Auth`] for a key that
    /// cannot be sent.
    pub(crate) fn new(
        environment: &Environment,
        credentials: &Credentials,
        user_agent: &str,
    ) -> Result<Self, ModelError> {
        let base = environment.non_empty(names::GOOGLE_GEMINI_BASE_URL).unwrap_or(DEFAULT_BASE);
        let base = parse_base(base).ok_or_else(|| {
            ModelError::new(ModelErrorKind::Config, format!("Invalid custom base URL: {base}"))
        })?;
        let version = environment.non_empty(names::GOOGLE_GENAI_API_VERSION);
        let custom = environment.get(names::GEMINI_CLI_CUSTOM_HEADERS).unwrap_or_default();
        let bearer = environment.get(names::GEMINI_API_KEY_AUTH_MECHANISM) == Some("bearer");
        let headers = headers(custom, credentials, bearer, user_agent)?;
        Ok(Self { base, version: version.unwrap_or(DEFAULT_VERSION).to_owned(), headers })
    }

    /// The address that all requests begin with.
    pub(crate) fn base(&self) -> &Url {
        &self.base
    }

    /// The headers of every request.
    pub(crate) fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// The address of a method of a model. Whatever the model's name holds, it stays one path.
    pub(crate) fn url(&self, model: &str, method: Method) -> Url {
        let mut url = self.base.clone();
        // A base URL with a host always has a path.
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(self.version.split('/'));
            if !model.starts_with("tunedModels/") {
                path.push("models");
            }
            path.extend(format!("{model}:{}", method.as_str()).split('/'));
        }
        if method == Method::StreamGenerateContent {
            url.query_pairs_mut().append_pair("alt", "sse");
        }
        url
    }
}

fn parse_base(text: &str) -> Option<Url> {
    let url = Url::parse(text.trim()).ok()?;
    (matches!(url.scheme(), "http" | "https") && url.has_host()).then_some(url)
}

fn headers(
    custom: &str,
    credentials: &Credentials,
    bearer: bool,
    user_agent: &str,
) -> Result<HeaderMap, ModelError> {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if let Ok(user_agent) = HeaderValue::from_str(user_agent) {
        headers.insert(USER_AGENT, user_agent);
    }
    headers.insert(KEY_HEADER, secret(&credentials.key)?);
    // What the person has set wins.
    headers.extend(custom_headers(custom));
    if bearer && !credentials.key.is_empty() {
        headers.insert(AUTHORIZATION, secret(&format!("Bearer {}", credentials.key))?);
    }
    Ok(headers)
}

fn secret(value: &str) -> Result<HeaderValue, ModelError> {
    let mut value = HeaderValue::from_str(value).map_err(|_| {
        ModelError::new(
            ModelErrorKind::Auth,
            "GEMINI_API_KEY holds characters that no key has (such as a line break). Set it anew.",
        )
    })?;
    value.set_sensitive(true);
    Ok(value)
}

/// Reads `Name: value, Name: value`. A comma ends a header only when another `name:` comes before the
/// next comma, so that values may hold commas; of one name the last counts. What is no header is left
/// out, as is what belongs to the connection.
fn custom_headers(text: &str) -> HeaderMap {
    let mut pairs: Vec<String> = Vec::new();
    for piece in text.split(',') {
        match pairs.last_mut() {
            Some(last) if matches!(piece.find(':'), None | Some(0)) => {
                last.push(',');
                last.push_str(piece);
            }
            _ => pairs.push(piece.to_owned()),
        }
    }
    let mut headers = HeaderMap::new();
    for pair in pairs {
        let Some((name, value)) = pair.split_once(':') else { continue };
        let name = HeaderName::from_bytes(name.trim().as_bytes());
        let value = HeaderValue::from_str(value.trim());
        if let (Ok(name), Ok(value)) = (name, value)
            && ![CONTENT_LENGTH, TRANSFER_ENCODING, CONNECTION].contains(&name)
        {
            headers.insert(name, value);
        }
    }
    headers
}

/// The `User-Agent`, in the pattern of Gemini CLI 0.61: `client` is the frontend (`cli`, `acp`), `model`
/// the one at start-up, `surface` what the program runs in (`terminal`).
pub(crate) fn user_agent(client: &str, model: &str, surface: &str) -> String {
    let platform = match std::env::consts::OS {
        "macos" => "darwin",
        "windows" => "win32",
        other => other,
    };
    let architecture = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        "x86" => "ia32",
        other => other,
    };
    let version = env!("CARGO_PKG_VERSION");
    let text = format!("Pollux-{client}/{version}/{model} ({platform}; {architecture}; {surface})");
    // Model and surface come from the person; a header takes printable ASCII only.
    text.replace(|character: char| !matches!(character, ' '..='~'), "?")
}

#[cfg(test)]
mod tests;
