//! Files that hold keys, passwords or tokens, recognised by name and, where a name is ambiguous, by
//! content.

use std::ffi::OsStr;
use std::path::Path;

use crate::files::read_head;

/// Files that hold secrets, whatever they contain.
const NAMES: [&str; 25] = [
    ".dev.vars",
    ".env",
    ".envrc",
    ".git-credentials",
    ".htpasswd",
    ".my.cnf",
    ".netrc",
    ".pgpass",
    ".pypirc",
    ".s3cfg",
    ".vault-token",
    ".vault_pass",
    "_netrc",
    "a2a-oauth-tokens.json",
    "credentials.tfrc.json",
    "gemini-credentials.json",
    "id_dsa",
    "id_ecdsa",
    "id_ecdsa_sk",
    "id_ed25519",
    "id_ed25519_sk",
    "id_rsa",
    "mcp-oauth-tokens.json",
    "oauth_creds.json",
    "secring.gpg",
];

/// Ends of names of key stores.
const KEY_STORES: [&str; 6] = ["jks", "kdbx", "keystore", "p12", "pfx", "ppk"];

/// Ends of names of variants of `.env` that contain no values: templates that belong into a
/// repository.
const TEMPLATES: [&str; 7] =
    ["default", "defaults", "dist", "example", "sample", "schema", "template"];

/// Names that are secret only with certain content: the end of the name or the whole name, and the
/// texts of which one makes the file secret.
const BY_CONTENT: [(&str, &[&str]); 6] = [
    (".pem", &["PRIVATE KEY"]),
    (".key", &["PRIVATE KEY"]),
    (".npmrc", &["_authToken", "_auth", "_password"]),
    (".yarnrc.yml", &["npmAuthToken", "npmAuthIdent"]),
    ("pip.conf", &["@"]),
    ("gradle.properties", &["assword=", "oken=", "ecret="]),
];

/// Number of bytes that are searched for such a text.
const HEAD: usize = 64 << 10;

/// Returns true if a file of this name holds secrets, whatever it contains. The comparison ignores
/// case.
pub fn is_secret_name(name: &OsStr) -> bool {
    let name = name.to_string_lossy().to_lowercase();
    let is_template = || TEMPLATES.iter().any(|end| name.ends_with(&format!(".{end}")));
    NAMES.contains(&name.as_str())
        || name.starts_with(".env.") && !is_template()
        || name.rsplit_once('.').is_some_and(|(_, end)| KEY_STORES.contains(&end))
}

/// Returns true if the file holds secrets, by its name or by its name and content. Reads at most
/// the beginning of the file. A file that cannot be read holds no secret for the caller.
pub fn is_secret_file(path: &Path) -> bool {
    let Some(name) = path.file_name() else { return false };
    if is_secret_name(name) {
        return true;
    }
    let name = name.to_string_lossy().to_lowercase();
    BY_CONTENT.iter().filter(|(end, _)| name.ends_with(end)).any(|(_, texts)| {
        let head = read_head(path, HEAD).unwrap_or_default();
        let head = String::from_utf8_lossy(&head);
        texts.iter().any(|text| head.contains(text))
    })
}

/// Returns true if a file of this name may hold secrets, so that [`is_secret_file`] reads it.
pub fn may_be_secret(name: &OsStr) -> bool {
    let lower = name.to_string_lossy().to_lowercase();
    is_secret_name(name) || BY_CONTENT.iter().any(|(end, _)| lower.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for (name, is_secret) in [
            (".env", true),
            (".ENV", true),
            (".env.local", true),
            (".env.production", true),
            (".env.example", false),
            (".env.local.template", false),
            (".environment", false),
            ("mcp-oauth-tokens.json", true),
            ("gemini-credentials.json", true),
            ("id_rsa", true),
            ("id_rsa.pub", false),
            ("store.p12", true),
            ("main.rs", false),
        ] {
            assert_eq!(is_secret_name(OsStr::new(name)), is_secret, "{name}");
        }
    }

    #[test]
    fn an_ambiguous_name_is_decided_by_the_content() {
        let folder = tempfile::tempdir().unwrap();
        for (name, content, is_secret) in [
            ("server.pem", "-----BEGIN CERTIFICATE-----", false),
            ("server.pem", "-----BEGIN RSA PRIVATE KEY-----", true),
            ("Key.PEM", "-----BEGIN PRIVATE KEY-----", true),
            (".npmrc", "registry=https://r.example", false),
            (".npmrc", "//r.example/:_authToken=x", true),
            ("notes.txt", "-----BEGIN PRIVATE KEY-----", false),
        ] {
            let path = folder.path().join(name);
            std::fs::write(&path, content).unwrap();
            assert_eq!(is_secret_file(&path), is_secret, "{name}: {content}");
        }
        assert!(!is_secret_file(&folder.path().join("absent.pem")));
    }
}
