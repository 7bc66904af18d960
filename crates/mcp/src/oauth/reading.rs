//! Reading of everything that servers send, for fuzzing.

use http::StatusCode;
use url::Url;

use super::challenge::Challenge;
use super::fetch::Reply;
use super::metadata::{AuthorizationServer, ProtectedResource};
use super::redirect::{Expected, code};
use super::token::{Purpose, token};
use super::{OAuthError, shown};

/// Addresses and texts from the bytes of a server.
#[derive(Debug, Default)]
pub struct OAuthReading {
    /// Addresses that requests may be sent to or that may be opened.
    pub addresses: Vec<String>,
    /// Texts that may be shown or sent.
    pub texts: Vec<String>,
}

/// Reads bytes in every way in which bytes of a server are read: as a header, as each document, as
/// a response with a token, and as the query of a redirect.
pub fn read_oauth(bytes: &[u8]) -> OAuthReading {
    let mut reading = OAuthReading::default();
    let text = String::from_utf8_lossy(bytes);
    let challenge = Challenge::parse(&text);
    reading.addresses.extend(challenge.resource_metadata.map(String::from));
    reading.texts.extend(challenge.scopes);
    let server = Url::parse("https://server.example/mcp");
    match server.as_ref().map(|server| ProtectedResource::parse(bytes, server)) {
        Ok(Ok(resource)) => {
            reading.addresses.extend(resource.servers.into_iter().map(String::from));
            reading.texts.extend(resource.scopes);
        }
        Ok(Err(problem)) => reading.texts.push(problem),
        Err(_) => {}
    }
    match AuthorizationServer::parse(bytes) {
        Ok(found) => {
            let endpoints = [Some(found.authorization_endpoint), Some(found.token_endpoint)];
            let endpoints = endpoints.into_iter().chain([found.registration_endpoint]);
            reading.addresses.extend(endpoints.flatten().map(String::from));
            reading.texts.push(shown(&found.issuer));
        }
        Err(problem) => reading.texts.push(problem),
    }
    for status in [StatusCode::OK, StatusCode::BAD_REQUEST] {
        let reply = Reply { status, body: bytes.to_vec().into() };
        match token(&reply, Purpose::Refresh) {
            Ok(token) => {
                reading.texts.extend(
                    [Some(token.access_token), token.refresh_token, token.scope]
                        .into_iter()
                        .flatten(),
                );
            }
            Err(error) => reading.texts.push(OAuthError::from(error).to_string()),
        }
    }
    if let Ok(mut redirected) = Url::parse("http://localhost:1/oauth/callback") {
        redirected.set_query(Some(&text));
        let expected = Expected { state: "s".to_owned(), issuer: None, names_issuer: false };
        if let Err(fault) = code(&redirected, &expected) {
            reading.texts.push(OAuthError::from(fault).to_string());
        }
    }
    reading
}
