//! From a server to the endpoints of its authorization server.

use url::Url;

use super::challenge::Challenge;
use super::fetch::Fetcher;
use super::metadata::{
    AuthorizationServer, ProtectedResource, is_same_issuer, resource_addresses, server_addresses,
};
use super::{OAuthError, shown};

/// Ends of the path of a page to sign in that do not belong to the issuer.
const ENDPOINT_ENDS: [&str; 6] = [
    "/oauth2/authorize",
    "/oauth/authorize",
    "/protocol/openid-connect/auth",
    "/authorize",
    "/login",
    "/auth",
];

/// Result of the discovery.
#[derive(Debug)]
pub(super) struct Discovered {
    /// Metadata of the authorization server.
    pub(super) server: AuthorizationServer,
    /// Identifier of the server, if it has metadata.
    pub(super) resource: Option<String>,
    /// Permissions that the metadata of the server list.
    pub(super) scopes: Vec<String>,
}

/// Requirement on the issuer in metadata.
#[derive(Clone, Copy, PartialEq, Eq)]
enum IssuerRule {
    /// It must be the identifier from which the address was made (RFC 8414, section 3.3).
    Exact,
    /// Nothing named an issuer, so that the document is all that is known.
    Any,
}

/// Finds the authorization server of a server.
///
/// # Errors
/// The metadata belong to another server, or there are no usable ones.
pub(super) async fn discover(
    fetcher: &Fetcher,
    server: &Url,
    challenge: &Challenge,
) -> Result<Discovered, OAuthError> {
    let mut problems = Vec::new();
    let Some(resource) = protected_resource(fetcher, server, challenge, &mut problems).await?
    else {
        // Servers of the protocol's version 2025-03-26 are their own authorization server. Without
        // metadata, their endpoints are fixed; metadata that cannot be used are no reason to guess.
        let found = try_server(fetcher, server, IssuerRule::Any, &mut problems).await;
        let assumed = || problems.is_empty().then(|| AuthorizationServer::by_default(server));
        let server = found.or_else(assumed).ok_or_else(|| undiscovered(&problems))?;
        return Ok(Discovered { server, resource: None, scopes: Vec::new() });
    };
    let ProtectedResource { resource, servers, scopes } = resource;
    for issuer in &servers {
        let found = try_server(fetcher, issuer, IssuerRule::Exact, &mut problems).await;
        if let Some(server) = found {
            return Ok(Discovered { server, resource: Some(resource), scopes });
        }
    }
    if servers.is_empty() {
        let found = try_server(fetcher, server, IssuerRule::Any, &mut problems).await;
        if let Some(server) = found {
            return Ok(Discovered { server, resource: Some(resource), scopes });
        }
    }
    Err(undiscovered(&problems))
}

/// Finds the metadata of an authorization server in order to register with it, from its identifier
/// or the page on which the user signs in.
///
/// # Errors
/// There are none.
pub(super) async fn registrar(
    fetcher: &Fetcher,
    issuer: Option<&Url>,
    page: &Url,
) -> Result<AuthorizationServer, OAuthError> {
    let mut problems = Vec::new();
    let issuers = issuers(issuer, page);
    for issuer in &issuers {
        if let Some(found) = try_server(fetcher, issuer, IssuerRule::Exact, &mut problems).await {
            return Ok(found);
        }
    }
    let attempted: Vec<String> = issuers.iter().map(|url| shown(url.as_str())).collect();
    Err(OAuthError::refused(format!(
        "Failed to fetch authorization server metadata for client registration (attempted \
         issuers: {})",
        attempted.join(", ")
    )))
}

/// Returns the possible identifiers of an authorization server, in the order in which they are
/// tried.
fn issuers(issuer: Option<&Url>, page: &Url) -> Vec<Url> {
    let base = issuer.unwrap_or(page);
    let with_path = |path: &str| {
        let mut url = base.clone();
        url.set_path(path);
        url.set_query(None);
        url.set_fragment(None);
        url
    };
    let whole = base.path().trim_end_matches('/');
    let short = ENDPOINT_ENDS.iter().find_map(|end| whole.strip_suffix(end)).unwrap_or(whole);
    let is_version = |segment: &str| {
        let number = segment.strip_prefix('v').unwrap_or_default();
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
    };
    let mut paths = Vec::new();
    paths.extend(issuer.map(|_| whole));
    paths.extend(["", short]);
    paths.extend(short.rsplit_once('/').filter(|(_, end)| is_version(end)).map(|(path, _)| path));
    let mut urls: Vec<Url> = Vec::new();
    for url in paths.into_iter().map(with_path) {
        if !urls.contains(&url) {
            urls.push(url);
        }
    }
    urls
}

/// Reads the metadata of a server. `None` if it has none.
async fn protected_resource(
    fetcher: &Fetcher,
    server: &Url,
    challenge: &Challenge,
    problems: &mut Vec<String>,
) -> Result<Option<ProtectedResource>, OAuthError> {
    let mut addresses: Vec<Url> = challenge.resource_metadata.iter().cloned().collect();
    for address in resource_addresses(server) {
        if !addresses.contains(&address) {
            addresses.push(address);
        }
    }
    for address in &addresses {
        if let Some(body) = document(fetcher, address, problems).await {
            match ProtectedResource::parse(&body, server) {
                Ok(resource) => return Ok(Some(resource)),
                // A document about another server is an attack or a fault of the server.
                Err(problem) if problem.starts_with("Protected resource ") => {
                    return Err(OAuthError::refused(problem));
                }
                Err(problem) => problems.push(format!("{}: {problem}", shown(address.as_str()))),
            }
        }
    }
    Ok(None)
}

/// Reads the metadata of an authorization server. `None` if there are no usable ones.
async fn try_server(
    fetcher: &Fetcher,
    issuer: &Url,
    rule: IssuerRule,
    problems: &mut Vec<String>,
) -> Option<AuthorizationServer> {
    for (address, expected) in server_addresses(issuer) {
        let Some(body) = document(fetcher, &address, problems).await else { continue };
        match AuthorizationServer::parse(&body) {
            Ok(found) if rule == IssuerRule::Any || is_same_issuer(&found.issuer, &expected) => {
                return Some(found);
            }
            Ok(found) => problems.push(format!(
                "{}: the issuer {} is not {}",
                shown(address.as_str()),
                shown(&found.issuer),
                shown(expected.as_str())
            )),
            Err(problem) => problems.push(format!("{}: {problem}", shown(address.as_str()))),
        }
    }
    None
}

/// Gets a document. `None` if there is none; a problem is recorded unless that is usual.
async fn document(
    fetcher: &Fetcher,
    address: &Url,
    problems: &mut Vec<String>,
) -> Option<bytes::Bytes> {
    match fetcher.get(address).await {
        Ok(reply) if reply.status.is_success() => Some(reply.body),
        Ok(reply) if reply.status.is_client_error() => None,
        Ok(reply) => {
            problems.push(format!("{}: HTTP {}", shown(address.as_str()), reply.status));
            None
        }
        Err(error) => {
            problems.push(format!("{}: {error}", shown(address.as_str())));
            None
        }
    }
}

/// Returns the error for a server that does not say where to sign in.
pub(super) fn undiscovered(problems: &[String]) -> OAuthError {
    // Addresses on one host often fail for the same reason.
    let problem = problems.first().map(|problem| format!(" ({problem})")).unwrap_or_default();
    OAuthError::refused(format!("Failed to discover OAuth configuration from MCP server{problem}"))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn issuers_are_derived_from_the_page() {
        for (issuer, page, expected) in [
            (None, "https://a/oauth/authorize?x", &["https://a/"][..]),
            (
                None,
                "https://a/t/oauth2/v2.0/authorize",
                &["https://a/", "https://a/t/oauth2/v2.0", "https://a/t/oauth2"],
            ),
            (
                None,
                "https://a/realms/r/protocol/openid-connect/auth",
                &["https://a/", "https://a/realms/r"],
            ),
            (
                Some("https://i/x/v1"),
                "https://a/auth",
                &["https://i/x/v1", "https://i/", "https://i/x"],
            ),
        ] {
            let issuer = issuer.map(|text| Url::parse(text).unwrap());
            let found = issuers(issuer.as_ref(), &Url::parse(page).unwrap());
            let found: Vec<&str> = found.iter().map(Url::as_str).collect();
            assert_eq!(found, expected, "{page}");
        }
    }
}
