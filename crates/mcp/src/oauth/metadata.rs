//! Documents in which a server names its authorization server (RFC 9728), and an authorization
//! server its endpoints (RFC 8414, OpenID Connect Discovery). Both are hostile input.

use pollux_net::is_loopback;
use serde::Deserialize;
use serde_json::Value;
use url::Url;

use super::challenge::scopes;

/// Maximum length of an address, in bytes.
const LONGEST_URL: usize = 4000;
/// Maximum number of authorization servers of a server that are tried.
const MOST_SERVERS: usize = 3;

/// Ways in which a client identifies itself at the token endpoint (RFC 7591): with its id alone,
/// with a secret in the form, or with a secret in the header `Authorization`.
pub(super) const NO_SECRET: &str = "none";
pub(super) const SECRET_IN_FORM: &str = "client_secret_post";
pub(super) const BASIC_SECRET: &str = "client_secret_basic";

/// Metadata of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ProtectedResource {
    /// Identifier of the server, exactly as it is written.
    pub(super) resource: String,
    /// Authorization servers.
    pub(super) servers: Vec<Url>,
    /// Permissions that the server knows.
    pub(super) scopes: Vec<String>,
}

/// Metadata of an authorization server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AuthorizationServer {
    /// Identifier of the authorization server, exactly as it is written.
    pub(super) issuer: String,
    /// Page on which the user signs in.
    pub(super) authorization_endpoint: Url,
    /// Address that exchanges codes for tokens.
    pub(super) token_endpoint: Url,
    /// Address that registers clients.
    pub(super) registration_endpoint: Option<Url>,
    /// Way in which clients identify themselves: [`NO_SECRET`], [`SECRET_IN_FORM`] or
    /// [`BASIC_SECRET`].
    pub(super) client_method: &'static str,
    /// True if each redirect contains the issuer (RFC 9207).
    pub(super) names_itself: bool,
    /// True if the id of a client may be the address of a document that describes it (Client ID
    /// Metadata Document).
    pub(super) reads_documents: bool,
    /// True if there are no metadata, and the endpoints are those of [`Self::by_default`].
    pub(super) is_assumed: bool,
}

#[derive(Deserialize)]
struct ResourceDocument {
    resource: Option<String>,
    #[serde(default)]
    authorization_servers: Vec<Value>,
    #[serde(default)]
    scopes_supported: Vec<Value>,
}

#[derive(Deserialize)]
struct ServerDocument {
    #[serde(default)]
    issuer: String,
    authorization_endpoint: Option<String>,
    token_endpoint: Option<String>,
    registration_endpoint: Option<String>,
    code_challenge_methods_supported: Option<Vec<Value>>,
    token_endpoint_auth_methods_supported: Option<Vec<Value>>,
    #[serde(default)]
    authorization_response_iss_parameter_supported: bool,
    #[serde(default)]
    client_id_metadata_document_supported: bool,
}

impl ProtectedResource {
    /// Reads the metadata of a server.
    ///
    /// # Errors
    /// The reason for which they cannot be used.
    pub(super) fn parse(bytes: &[u8], server: &Url) -> Result<Self, String> {
        let document: ResourceDocument =
            serde_json::from_slice(bytes).map_err(|error| super::shown(&error.to_string()))?;
        let resource = document.resource.ok_or("`resource` is missing")?;
        if !is_resource_of(&resource, server) {
            return Err(format!(
                "Protected resource {} does not match expected {}",
                super::shown(&resource),
                identifier(server)
            ));
        }
        let servers = texts(&document.authorization_servers).filter_map(usable).take(MOST_SERVERS);
        let known: Vec<&str> = texts(&document.scopes_supported).collect();
        Ok(Self { servers: servers.collect(), scopes: scopes(&known.join(" ")), resource })
    }
}

impl AuthorizationServer {
    /// Reads the metadata of an authorization server.
    ///
    /// # Errors
    /// The reason for which they cannot be used.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, String> {
        let document: ServerDocument =
            serde_json::from_slice(bytes).map_err(|error| super::shown(&error.to_string()))?;
        let endpoint = |name: &str, text: Option<&str>| {
            let text = text.ok_or_else(|| format!("`{name}` is missing"))?;
            usable(text).ok_or_else(|| format!("`{name}` is not an https address"))
        };
        // A list without this method refuses it. Many servers have no list and support it.
        if let Some(methods) = &document.code_challenge_methods_supported
            && !texts(methods).any(|method| method == "S256")
        {
            return Err("the authorization server does not support PKCE with S256".to_owned());
        }
        let methods = document.token_endpoint_auth_methods_supported.unwrap_or_default();
        let takes = |name: &str| texts(&methods).any(|method| method == name);
        let registration = document.registration_endpoint.as_deref();
        Ok(Self {
            authorization_endpoint: endpoint(
                "authorization_endpoint",
                document.authorization_endpoint.as_deref(),
            )?,
            token_endpoint: endpoint("token_endpoint", document.token_endpoint.as_deref())?,
            registration_endpoint: registration
                .map(|text| endpoint("registration_endpoint", Some(text)))
                .transpose()?,
            client_method: [NO_SECRET, SECRET_IN_FORM, BASIC_SECRET]
                .into_iter()
                .find(|method| takes(method))
                .unwrap_or(NO_SECRET),
            names_itself: document.authorization_response_iss_parameter_supported,
            reads_documents: document.client_id_metadata_document_supported,
            is_assumed: false,
            issuer: document.issuer,
        })
    }

    /// Returns the authorization server that the protocol's version 2025-03-26 assumes for a server
    /// without metadata: the endpoints are at the root of the server's own address.
    pub(super) fn by_default(server: &Url) -> Self {
        Self {
            issuer: String::new(),
            authorization_endpoint: at(server, "/authorize"),
            token_endpoint: at(server, "/token"),
            registration_endpoint: Some(at(server, "/register")),
            client_method: NO_SECRET,
            names_itself: false,
            reads_documents: false,
            is_assumed: true,
        }
    }
}

/// True for an address that Pollux may send credentials to: https, or http on this machine, without
/// a user name.
pub(super) fn is_usable(url: &Url) -> bool {
    let is_secure = url.scheme() == "https" || url.scheme() == "http" && is_loopback(url);
    let is_anonymous = url.username().is_empty() && url.password().is_none();
    is_secure && is_anonymous && url.host().is_some() && url.as_str().len() <= LONGEST_URL
}

/// True for the address of a document that may be the id of a client: https, with a path and
/// without a fragment.
pub(super) fn is_document(text: &str) -> bool {
    Url::parse(text).is_ok_and(|url| {
        url.scheme() == "https" && is_usable(&url) && url.path() != "/" && url.fragment().is_none()
    })
}

fn usable(text: &str) -> Option<Url> {
    Url::parse(text).ok().filter(is_usable)
}

fn texts(values: &[Value]) -> impl Iterator<Item = &str> {
    values.iter().filter_map(Value::as_str)
}

/// Returns the identifier of a server: its address without query and fragment, and without the
/// slash of an empty path.
pub(super) fn identifier(server: &Url) -> String {
    let mut url = server.clone();
    url.set_query(None);
    url.set_fragment(None);
    let text = String::from(url);
    if server.path() == "/" { text.trim_end_matches('/').to_owned() } else { text }
}

/// True if `resource` is the server's address, or a beginning of it up to a segment of the path: a
/// server may describe several addresses of its host with one document.
fn is_resource_of(resource: &str, server: &Url) -> bool {
    let Ok(resource) = Url::parse(resource) else { return false };
    let path = resource.path().trim_end_matches('/');
    let rest = server.path().trim_end_matches('/').strip_prefix(path);
    resource.origin() == server.origin()
        && resource.fragment().is_none()
        && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Returns the addresses of the metadata of a server, in the order in which they are tried.
pub(super) fn resource_addresses(server: &Url) -> Vec<Url> {
    const NAME: &str = "/.well-known/oauth-protected-resource";
    let path = server.path().trim_end_matches('/');
    let mut paths = vec![format!("{NAME}{path}")];
    paths.extend((!path.is_empty()).then(|| NAME.to_owned()));
    paths.iter().map(|path| at(server, path)).collect()
}

/// Returns the addresses of the metadata of an authorization server, in the order in which they are
/// tried, each with the identifier that the document must have.
pub(super) fn server_addresses(issuer: &Url) -> Vec<(Url, Url)> {
    const OAUTH: &str = "/.well-known/oauth-authorization-server";
    const OPENID: &str = "/.well-known/openid-configuration";
    let path = issuer.path().trim_end_matches('/');
    let root = at(issuer, "/");
    let mut addresses = Vec::new();
    if !path.is_empty() {
        let with_path =
            [format!("{OAUTH}{path}"), format!("{OPENID}{path}"), format!("{path}{OPENID}")];
        addresses.extend(with_path.iter().map(|path| (at(issuer, path), issuer.clone())));
    }
    addresses.extend([OAUTH, OPENID].iter().map(|path| (at(issuer, path), root.clone())));
    addresses
}

/// True if the identifier in a document is the expected one. A slash at the end does not count.
pub(super) fn is_same_issuer(written: &str, expected: &Url) -> bool {
    let bare = |text: &str| text.trim_end_matches('/').to_owned();
    let written = Url::parse(written).map_or_else(|_| written.to_owned(), String::from);
    bare(&written) == bare(expected.as_str())
}

fn at(base: &Url, path: &str) -> Url {
    let mut url = base.clone();
    url.set_path(path);
    url.set_query(None);
    url.set_fragment(None);
    url
}

#[cfg(test)]
mod tests;
