//! Answer of an authorization server: the parameters of the address to which the browser is
//! redirected. Any page in the browser can open this address.

use url::Url;

use super::{OAuthError, shown};

/// Maximum length of a code, in bytes.
const LONGEST_CODE: usize = 8000;

/// Expectation on the redirect.
#[derive(Debug, Clone)]
pub(super) struct Expected {
    /// Random value that was sent with the request.
    pub(super) state: String,
    /// Issuer of the authorization server; `None` if it is not known.
    pub(super) issuer: Option<String>,
    /// True if each redirect contains the issuer.
    pub(super) names_issuer: bool,
}

/// Fault of a redirect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fault {
    /// It has no code or no state: it belongs to nothing.
    Missing,
    /// Its state is not that of the request.
    State,
    /// It is from another authorization server.
    Issuer(String),
    /// The authorization server refuses, with this error.
    Refused(String),
}

impl From<Fault> for OAuthError {
    fn from(fault: Fault) -> Self {
        Self::Refused(match fault {
            Fault::Missing => "Missing code or state parameter".to_owned(),
            Fault::State => "State mismatch - possible CSRF attack".to_owned(),
            Fault::Issuer(found) => {
                format!("Issuer mismatch - the redirect is from {}", shown(&found))
            }
            Fault::Refused(error) => format!("OAuth error: {}", shown(&error)),
        })
    }
}

/// Returns the code in a redirect.
///
/// # Errors
/// [`Fault`].
pub(super) fn code(redirected: &Url, expected: &Expected) -> Result<String, Fault> {
    let parameter = |name: &str| {
        let mut pairs = redirected.query_pairs();
        pairs.find(|(known, _)| known == name).map(|(_, value)| value.into_owned())
    };
    let state = parameter("state");
    if state.as_ref().is_some_and(|state| *state != expected.state) {
        return Err(Fault::State);
    }
    let issuer = parameter("iss");
    if let Some(known) = &expected.issuer
        && issuer.as_ref().map_or(expected.names_issuer, |issuer| issuer != known)
    {
        return Err(Fault::Issuer(issuer.unwrap_or_else(|| "no issuer".to_owned())));
    }
    if let Some(error) = parameter("error") {
        let description = parameter("error_description");
        let description = description.map(|text| format!(" - {text}")).unwrap_or_default();
        return Err(Fault::Refused(error + &description));
    }
    match parameter("code") {
        Some(code) if state.is_some() && (1..=LONGEST_CODE).contains(&code.len()) => Ok(code),
        _ => Err(Fault::Missing),
    }
}

/// Returns the code in a text that the user has pasted: the address of the redirect, or the code
/// alone.
///
/// # Errors
/// [`Fault`].
pub(super) fn pasted(text: &str, expected: &Expected) -> Result<String, Fault> {
    let text = text.trim();
    if let Ok(url) = Url::parse(text)
        && url.query().is_some()
    {
        return code(&url, expected);
    }
    let is_code = (1..=LONGEST_CODE).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_graphic());
    // The user vouches for a code without state, and PKCE binds it to this request.
    if is_code { Ok(text.to_owned()) } else { Err(Fault::Missing) }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn expected(issuer: Option<&str>, names_issuer: bool) -> Expected {
        Expected { state: "S".to_owned(), issuer: issuer.map(str::to_owned), names_issuer }
    }

    fn read(query: &str, expected: &Expected) -> Result<String, Fault> {
        code(&Url::parse(&format!("http://localhost:1/oauth/callback?{query}")).unwrap(), expected)
    }

    #[test]
    fn a_redirect_must_belong_to_the_request() {
        let plain = expected(None, false);
        for (query, outcome) in [
            ("code=C&state=S", Ok("C".to_owned())),
            ("state=S&code=a%2Bb+c", Ok("a+b c".to_owned())),
            ("code=C", Err(Fault::Missing)),
            ("state=S", Err(Fault::Missing)),
            ("code=&state=S", Err(Fault::Missing)),
            ("", Err(Fault::Missing)),
            ("code=C&state=T", Err(Fault::State)),
            ("error=x&state=T", Err(Fault::State)),
            ("error=access_denied", Err(Fault::Refused("access_denied".to_owned()))),
            ("error=e&error_description=why&state=S", Err(Fault::Refused("e - why".to_owned()))),
            ("error=e&code=C&state=S", Err(Fault::Refused("e".to_owned()))),
        ] {
            assert_eq!(read(query, &plain), outcome, "{query}");
        }
        let long = format!("state=S&code={}", "x".repeat(LONGEST_CODE + 1));
        assert_eq!(read(&long, &plain), Err(Fault::Missing));
        let text = OAuthError::from(Fault::Refused("\u{1b}[2Jx\n".to_owned())).to_string();
        assert!(text.starts_with("OAuth error: ") && !text.contains(char::is_control), "{text}");
    }

    #[test]
    fn the_issuer_is_compared() {
        let (named, plain) =
            (expected(Some("https://a"), true), expected(Some("https://a"), false));
        let good = "code=C&state=S&iss=https%3A%2F%2Fa";
        let bad = "code=C&state=S&iss=https%3A%2F%2Fb";
        assert_eq!(read(good, &named), Ok("C".to_owned()));
        assert_eq!(read(bad, &named), Err(Fault::Issuer("https://b".to_owned())));
        assert_eq!(read(bad, &plain), Err(Fault::Issuer("https://b".to_owned())));
        assert_eq!(read("code=C&state=S", &plain), Ok("C".to_owned()));
        assert_eq!(read("code=C&state=S", &named), Err(Fault::Issuer("no issuer".to_owned())));
        assert_eq!(
            read("error=x&iss=https%3A%2F%2Fb", &plain),
            Err(Fault::Issuer("https://b".into()))
        );
        assert_eq!(read(bad, &expected(None, false)), Ok("C".to_owned()));
    }

    #[test]
    fn an_address_or_a_code_can_be_pasted() {
        let plain = expected(None, false);
        for (text, outcome) in [
            (" http://localhost:1/x?code=C&state=S \n", Ok("C".to_owned())),
            ("http://localhost:1/x?code=C&state=T", Err(Fault::State)),
            ("4/0abc-_.~", Ok("4/0abc-_.~".to_owned())),
            ("", Err(Fault::Missing)),
            ("two words", Err(Fault::Missing)),
            ("\u{1b}[A", Err(Fault::Missing)),
        ] {
            assert_eq!(pasted(text, &plain), outcome, "{text:?}");
        }
    }
}
