//! `gemini-credentials.json`: secrets by service and account, encrypted.
//!
//! The file is `IV:TAG:TEXT` in hexadecimal digits: AES-256 in GCM, and a key that scrypt derives
//! from a fixed password and the names of the machine and the user. The plain text is an object of
//! objects of texts: `{service: {account: secret}}`.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use aes_gcm::aead::array::typenum::U16;
use aes_gcm::aead::{Aead, KeyInit, Nonce};
use aes_gcm::aes::Aes256;
use aes_gcm::{Aes256Gcm, AesGcm};
use rand::RngCore as _;
use serde_json::{Map, Value};

use super::{CredentialError, StoredCredentials, broken, hex, read, write};

/// Service of the credentials of MCP servers.
const SERVICE: &str = "gemini-cli-oauth";
/// Password of the key.
const PASSWORD: &[u8] = b"gemini-cli-oauth";
/// Parameters of scrypt, the defaults of Node.js: N = 2^14, r = 8, p = 1.
const LOG_N: u8 = 14;
const R: u32 = 8;
const P: u32 = 1;

type Key = [u8; 32];
/// Cipher of older files, which have an IV of 16 bytes.
type LongIvCipher = AesGcm<Aes256, U16>;
/// `{service: {account: secret}}`.
type Services = Map<String, Value>;

const IV: usize = 12;
const TAG: usize = 16;

/// The file. Clones share the key.
#[derive(Debug, Clone)]
pub(super) struct EncryptedFile {
    path: PathBuf,
    /// Derived when it is first needed, because that takes 50 ms.
    key: Arc<OnceLock<Result<Key, String>>>,
}

impl EncryptedFile {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, key: Arc::default() }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the secret of an account of a service.
    pub(super) fn secret(
        &self,
        service: &str,
        account: &str,
    ) -> Result<Option<String>, CredentialError> {
        let services = self.services()?;
        let secret = services.get(service).and_then(|accounts| accounts.get(account)?.as_str());
        Ok(secret.map(str::to_owned))
    }

    /// Sets the secret of an account of a service, or removes it.
    pub(super) fn set_secret(
        &self,
        service: &str,
        account: &str,
        secret: Option<&str>,
    ) -> Result<(), CredentialError> {
        let mut services = self.services()?;
        let accounts = services.entry(service).or_insert_with(|| Value::Object(Map::new()));
        let accounts = accounts
            .as_object_mut()
            .ok_or_else(|| broken(&self.path, format!("`{service}` is not an object")))?;
        match secret {
            Some(secret) => drop(accounts.insert(account.to_owned(), secret.into())),
            None => drop(accounts.shift_remove(account)),
        }
        if accounts.is_empty() {
            services.shift_remove(service);
        }
        self.save(&services)
    }

    pub(super) fn get(&self, server: &str) -> Result<Option<StoredCredentials>, CredentialError> {
        let services = self.services()?;
        let secret = services.get(SERVICE).and_then(|accounts| accounts.get(account(server)));
        let Some(secret) = secret else { return Ok(None) };
        let text = secret.as_str().unwrap_or_default();
        let stored: StoredCredentials = serde_json::from_str(text)
            .map_err(|error| broken(&self.path, format!("the entry of \"{server}\": {error}")))?;
        // Several names may have the same account.
        Ok((stored.server_name == server).then_some(stored))
    }

    pub(super) fn set(&self, credentials: &StoredCredentials) -> Result<(), CredentialError> {
        let mut services = self.services()?;
        let secret =
            serde_json::to_string(credentials).map_err(|error| broken(&self.path, error))?;
        let accounts = services.entry(SERVICE).or_insert_with(|| Value::Object(Map::new()));
        let accounts = accounts
            .as_object_mut()
            .ok_or_else(|| broken(&self.path, format!("`{SERVICE}` is not an object")))?;
        accounts.insert(account(&credentials.server_name), Value::String(secret));
        self.save(&services)
    }

    pub(super) fn remove(&self, server: &str) -> Result<bool, CredentialError> {
        if self.get(server)?.is_none() {
            return Ok(false);
        }
        let mut services = self.services()?;
        let accounts = services.get_mut(SERVICE).and_then(Value::as_object_mut);
        let is_empty = accounts.is_some_and(|accounts| {
            accounts.shift_remove(&account(server));
            accounts.is_empty()
        });
        if is_empty {
            services.shift_remove(SERVICE);
        }
        self.save(&services).map(|()| true)
    }

    fn services(&self) -> Result<Services, CredentialError> {
        let Some(bytes) = read(&self.path)? else { return Ok(Map::new()) };
        let undecryptable = || CredentialError::Undecryptable { path: self.path.clone() };
        let plain = decrypted(&bytes, &self.key()?).ok_or_else(undecryptable)?;
        serde_json::from_slice(&plain).map_err(|error| broken(&self.path, error))
    }

    fn save(&self, services: &Services) -> Result<(), CredentialError> {
        if services.is_empty() {
            return write(&self.path, None);
        }
        let plain =
            serde_json::to_vec_pretty(services).map_err(|error| broken(&self.path, error))?;
        let text = encrypted(&plain, &self.key()?)
            .ok_or_else(|| CredentialError::NoKey("the text is too long".to_owned()))?;
        write(&self.path, Some(text.as_bytes()))
    }

    fn key(&self) -> Result<Key, CredentialError> {
        let key = self.key.get_or_init(|| salt().and_then(|salt| derived(&salt)));
        key.clone().map_err(CredentialError::NoKey)
    }
}

/// Returns the account of a server.
fn account(server: &str) -> String {
    let is_kept =
        |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
    // A character outside of the basic plane is two in JavaScript, and each becomes a mark.
    let kept = |letter: char| if is_kept(letter) { letter } else { '_' };
    server.chars().flat_map(|letter| vec![kept(letter); letter.len_utf16()]).collect()
}

/// Returns the salt of this user on this machine.
fn salt() -> Result<String, String> {
    let host = whoami::hostname().map_err(|error| format!("no name of the machine: {error}"))?;
    let user = whoami::username().map_err(|error| format!("no name of the user: {error}"))?;
    Ok(format!("{host}-{user}-gemini-cli"))
}

fn derived(salt: &str) -> Result<Key, String> {
    let mut key = Key::default();
    scrypt::Params::new(LOG_N, R, P)
        .map_err(|error| error.to_string())
        .and_then(|parameters| {
            scrypt::scrypt(PASSWORD, salt.as_bytes(), &parameters, &mut key)
                .map_err(|error| error.to_string())
        })
        .map(|()| key)
}

/// Returns the content of the file; `None` if the text is too long for the cipher.
fn encrypted(plain: &[u8], key: &Key) -> Option<String> {
    let mut iv = [0; IV];
    rand::rng().fill_bytes(&mut iv);
    let sealed = Aes256Gcm::new(key.into()).encrypt(&iv.into(), plain).ok()?;
    let (text, tag) = sealed.split_at_checked(sealed.len().checked_sub(TAG)?)?;
    Some([&iv, tag, text].map(hex).join(":"))
}

/// Decrypts the content of the file; `None` if it is damaged, or encrypted with another key.
fn decrypted(content: &[u8], key: &Key) -> Option<Vec<u8>> {
    let content = std::str::from_utf8(content).ok()?.trim();
    let parts: Vec<Vec<u8>> = content.split(':').map(bytes).collect::<Option<_>>()?;
    let [iv, tag, text] = parts.as_slice() else { return None };
    if tag.len() != TAG {
        return None;
    }
    let sealed = [text.as_slice(), tag].concat();
    if let Ok(iv) = <&Nonce<Aes256Gcm>>::try_from(iv.as_slice()) {
        return Aes256Gcm::new(key.into()).decrypt(iv, sealed.as_slice()).ok();
    }
    let iv = <&Nonce<LongIvCipher>>::try_from(iv.as_slice()).ok()?;
    LongIvCipher::new(key.into()).decrypt(iv, sealed.as_slice()).ok()
}

fn bytes(hex: &str) -> Option<Vec<u8>> {
    let digits: Vec<u32> =
        hex.chars().map(|digit| digit.to_digit(16)).collect::<Option<Vec<_>>>()?;
    let pairs = digits.chunks_exact(2);
    pairs.remainder().is_empty().then(|| pairs.map(|pair| (pair[0] << 4 | pair[1]) as u8).collect())
}

#[cfg(test)]
mod tests;
