//! Tokens that a service account signs itself (RFC 7523), with RS256.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rustls::SignatureScheme;
use rustls::crypto::ring::sign::any_supported_type;
use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::sign::SigningKey;
use serde_json::{Map, Value, json};

use super::file::ServiceAccount;

/// Lifetime of an assertion in seconds, the longest that Google accepts.
const LIFE: i64 = 3600;

/// Returns the assertion that a token is given for.
///
/// # Errors
/// The reason why the key cannot sign, as the end of a sentence.
pub(super) fn assertion(
    account: &ServiceAccount,
    audience: &str,
    scope: &str,
    now: i64,
) -> Result<String, String> {
    let mut header = Map::new();
    header.insert("typ".to_owned(), json!("JWT"));
    header.insert("alg".to_owned(), json!("RS256"));
    header.extend(account.key_id.as_ref().map(|id| ("kid".to_owned(), json!(id))));
    let claims = json!({
        "iat": now,
        "exp": now + LIFE,
        "iss": account.email,
        "aud": audience,
        "scope": scope,
    });
    let encoded = |value: Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let message = format!("{}.{}", encoded(Value::Object(header)), encoded(claims));
    let signature = sign(&account.key, message.as_bytes())?;
    Ok(format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature)))
}

fn sign(pem: &str, message: &[u8]) -> Result<Vec<u8>, String> {
    let key = PrivateKeyDer::from_pem_slice(pem.as_bytes())
        .map_err(|_| "its private_key is not a key in the PEM format.".to_owned())?;
    let key: Arc<dyn SigningKey> = any_supported_type(&key)
        .map_err(|_| "its private_key is not a usable RSA key.".to_owned())?;
    let signer = key.choose_scheme(&[SignatureScheme::RSA_PKCS1_SHA256]);
    let signer = signer.ok_or_else(|| "its private_key is not an RSA key.".to_owned())?;
    signer.sign(message).map_err(|_| "its private_key cannot sign.".to_owned())
}

#[cfg(test)]
mod tests {
    use url::Url;

    use super::*;

    fn account(key: &str) -> ServiceAccount {
        ServiceAccount {
            token_url: Url::parse("https://oauth2.googleapis.com/token").unwrap(),
            email: "a@p.iam.gserviceaccount.com".to_owned(),
            key_id: Some("k1".to_owned()),
            key: key.to_owned(),
        }
    }

    /// The signature is the one that Python's `cryptography` makes with the same key.
    #[test]
    fn the_signature_is_that_of_another_implementation() {
        let account = account(include_str!("../../tests/data/service_account.key"));
        let found = assertion(&account, "https://aud.example", "a b", 1_700_000_000).unwrap();
        assert_eq!(found, include_str!("../../tests/data/service_account.jwt").trim());
    }

    #[test]
    fn a_key_that_cannot_sign_is_described_and_not_shown() {
        let other = include_str!("../../tests/data/server.key");
        for (key, reason) in [
            ("SECRET", "not a key in the PEM format"),
            ("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", "not a usable"),
            (other, "not an RSA key"),
        ] {
            let error = assertion(&account(key), "a", "s", 0).unwrap_err();
            assert!(error.contains(reason) && !error.contains("SECRET"), "{error}");
        }
    }
}
