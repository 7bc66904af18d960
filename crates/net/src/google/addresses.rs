//! Addresses that Google credentials may be sent to.
//!
//! Files of credentials name addresses. Only those of Google are accepted, in the patterns that
//! Google's libraries have, and addresses of this machine, where a test or a local identity
//! provider may listen.

use url::{Host, Url};

use super::shown;
use crate::error::is_loopback;

/// Service that an address must belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Service {
    /// Tokens of users and service accounts.
    Token,
    /// Exchange of the token of another identity provider (Security Token Service).
    Exchange,
    /// Tokens for a service account in whose place one acts.
    Impersonation,
}

impl Service {
    /// Returns the name of the service in the host names of Google.
    fn label(self) -> &'static str {
        match self {
            Self::Token => "oauth2",
            Self::Exchange => "sts",
            Self::Impersonation => "iamcredentials",
        }
    }
}

/// Hosts that give tokens to users and service accounts; the second and the third are in old files.
const TOKEN_HOSTS: [&str; 3] =
    ["oauth2.googleapis.com", "accounts.google.com", "www.googleapis.com"];

/// Returns the address in a field of a file, if it may receive credentials.
///
/// # Errors
/// The reason, as the end of a sentence.
pub(super) fn checked(service: Service, field: &str, text: &str) -> Result<Url, String> {
    let refuse = |why: &str| {
        Err(format!("{field} is {}, {why}. Credentials are not sent there.", shown(text)))
    };
    let Ok(url) = Url::parse(text) else { return refuse("which is not an address") };
    if !url.username().is_empty() || url.password().is_some() || url.fragment().is_some() {
        return refuse("which contains a user name or a fragment");
    }
    if matches!(url.scheme(), "http" | "https") && is_loopback(&url) {
        return Ok(url);
    }
    if url.scheme() != "https" {
        return refuse("which is not an https address");
    }
    let Some(Host::Domain(host)) = url.host() else { return refuse("which is not Google's") };
    if url.port().is_some() || !is_googles(service, host) {
        return refuse("which is not an address of Google for this purpose");
    }
    Ok(url)
}

fn is_googles(service: Service, host: &str) -> bool {
    if service == Service::Token {
        return TOKEN_HOSTS.contains(&host);
    }
    let label = service.label();
    let Some(labels) = host.strip_suffix(".googleapis.com") else { return false };
    let parts: Vec<&str> = labels.split('.').collect();
    match parts.as_slice() {
        // `sts.googleapis.com`, `us-east1-sts.googleapis.com`
        [only] => *only == label || only.strip_suffix(label).is_some_and(is_prefix),
        // `sts-xyz.p.googleapis.com` (Private Service Connect)
        [first, "p"] => {
            let rest = first.strip_prefix(label).and_then(|rest| rest.strip_prefix('-'));
            rest.is_some_and(|rest| !rest.is_empty())
        }
        // `sts.us-east1.googleapis.com`, `us-east1.sts.googleapis.com`
        [first, second] => {
            (*first == label && !second.is_empty()) || (*second == label && !first.is_empty())
        }
        _ => false,
    }
}

fn is_prefix(text: &str) -> bool {
    text.strip_suffix('-').is_some_and(|region| !region.is_empty())
}

/// Returns the address from which the token of another identity provider is read. Any secure
/// address is allowed, because nothing is sent there but the headers of the file; the metadata
/// servers of clouds have no secure one.
///
/// # Errors
/// The reason, as the end of a sentence.
pub(super) fn subject_address(text: &str, sends_secret: bool) -> Result<Url, String> {
    let refuse = |why: &str| Err(format!("credential_source.url is {}, {why}.", shown(text)));
    let Ok(url) = Url::parse(text) else { return refuse("which is not an address") };
    if !url.username().is_empty() || url.password().is_some() {
        return refuse("which contains a user name");
    }
    match url.scheme() {
        "https" => Ok(url),
        "http" if is_loopback(&url) => Ok(url),
        "http" if is_metadata_server(&url) && !sends_secret => Ok(url),
        _ => refuse("which is not an https address"),
    }
}

/// True for the address of a metadata server, which is only reached inside of its machine.
pub(super) fn is_metadata_server(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_link_local(),
        // `fd20:ce::254` in Google Cloud, `fd00:ec2::254` in others.
        Some(Host::Ipv6(address)) => matches!(address.segments(), [0xfd20, 0xce, 0, ..]),
        Some(Host::Domain(name)) => name == "metadata.google.internal" || name == "metadata",
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_sent_to_google_only() {
        use Service::{Exchange, Impersonation, Token};
        for (service, text, is_allowed) in [
            (Token, "https://oauth2.googleapis.com/token", true),
            (Token, "https://accounts.google.com/o/oauth2/token", true),
            (Token, "https://OAUTH2.googleapis.com:443/token", true),
            (Token, "http://127.0.0.1:8080/token", true),
            (Token, "http://oauth2.googleapis.com/token", false),
            (Token, "https://oauth2.googleapis.com.evil.example/token", false),
            (Token, "https://evil.example/token", false),
            (Token, "https://oauth2.googleapis.com:8443/token", false),
            (Token, "https://user@oauth2.googleapis.com/token", false),
            (Token, "https://evil.example#oauth2.googleapis.com", false),
            (Token, "https://storage.googleapis.com/evil/token", false),
            (Token, "file:///etc/passwd", false),
            (Token, "", false),
            (Exchange, "https://sts.googleapis.com/v1/token", true),
            (Exchange, "https://us-east1-sts.googleapis.com/v1/token", true),
            (Exchange, "https://us-east1.sts.googleapis.com/v1/token", true),
            (Exchange, "https://sts.us-east1.googleapis.com/v1/token", true),
            (Exchange, "https://sts-xyz.p.googleapis.com/v1/token", true),
            (Exchange, "https://sts-.p.googleapis.com/v1/token", false),
            (Exchange, "https://xyz.p.googleapis.com/v1/token", false),
            (Exchange, "https://-sts.googleapis.com/v1/token", false),
            (Exchange, "https://.sts.googleapis.com/v1/token", false),
            (Exchange, "https://a.b.sts.googleapis.com/v1/token", false),
            (Exchange, "https://evilsts.googleapis.com/v1/token", false),
            (Exchange, "https://iamcredentials.googleapis.com/v1/token", false),
            (Exchange, "https://169.254.169.254/token", false),
            (Impersonation, "https://iamcredentials.googleapis.com/v1/x", true),
            (Impersonation, "https://us-iamcredentials.googleapis.com/v1/x", true),
            (Impersonation, "https://sts.googleapis.com/v1/x", false),
        ] {
            assert_eq!(checked(service, "token_url", text).is_ok(), is_allowed, "{text}");
        }
    }

    #[test]
    fn tokens_of_others_come_over_a_secure_connection() {
        for (text, sends_secret, is_allowed) in [
            ("https://token.actions.githubusercontent.com/x?a=b", true, true),
            ("http://169.254.169.254/metadata/identity/oauth2/token?x=y", false, true),
            ("http://169.254.169.254/metadata/identity", true, false),
            ("http://metadata.google.internal/x", false, true),
            ("http://localhost:7000/", true, true),
            ("http://10.0.0.1/", false, false),
            ("http://example.com/", false, false),
            ("https://a:b@example.com/", false, false),
            ("ftp://example.com/", false, false),
        ] {
            assert_eq!(subject_address(text, sends_secret).is_ok(), is_allowed, "{text}");
        }
    }
}
