//! Trusted certificates, and the certificate of the user.

use std::path::Path;
use std::sync::Arc;

use rustls::RootCertStore;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls_platform_verifier::Verifier;

use super::options::ClientOptions;
use super::pinned::PinnedCertificates;
use crate::error::Error;

/// Protocols over TLS, in the order in which they are offered.
const PROTOCOLS: [&str; 2] = ["h2", "http/1.1"];

/// Makes `ring` the cryptography provider of the process. Called by every client; may be called any
/// number of times, also by other crates that use TLS.
pub fn install_crypto_provider() {
    // An error means that a provider is already installed, which is fine.
    drop(rustls::crypto::ring::default_provider().install_default());
}

/// Certificate of the user, with its key, for services that ask for one.
#[derive(Debug, Clone)]
pub struct ClientCertificate(Arc<CertifiedKey>);

impl ClientCertificate {
    /// Reads the certificate, followed by those of its issuers, and its key from PEM files. Both
    /// may be in the same file.
    ///
    /// # Errors
    /// [`Error::InvalidOptions`] if a file cannot be read, or if the key does not belong to the
    /// certificate.
    pub fn read(certificate: &Path, key: &Path) -> Result<Self, Error> {
        let failed = |path: &Path, cause: &dyn std::fmt::Display| {
            let path = path.display();
            Error::InvalidOptions(format!("cannot use the client certificate in {path}: {cause}"))
        };
        install_crypto_provider();
        let chain: Result<Vec<_>, _> =
            CertificateDer::pem_file_iter(certificate).and_then(Iterator::collect);
        let chain = chain.map_err(|error| failed(certificate, &error))?;
        if chain.is_empty() {
            return Err(failed(certificate, &"it contains no certificate in PEM format"));
        }
        let secret = PrivateKeyDer::from_pem_file(key).map_err(|error| failed(key, &error))?;
        let provider = provider().map_err(|error| failed(key, &error))?;
        CertifiedKey::from_der(chain, secret, &provider)
            .map(|certified| Self(Arc::new(certified)))
            .map_err(|error| failed(key, &error))
    }
}

/// Returns the TLS configuration that trusts the system's certificates and `roots`, and that has
/// the certificate of the user, if there is one.
///
/// # Errors
/// The message about a system without certificates.
pub(super) fn tls_config(
    roots: &Roots,
    own: Option<&ClientCertificate>,
) -> Result<rustls::ClientConfig, String> {
    let provider = provider()?;
    let system = Verifier::new_with_extra_roots(roots.certificates.clone(), Arc::clone(&provider))
        .map_err(|error| error.to_string())?;
    let verifier = PinnedCertificates::new(system, roots.of_user.clone());
    let builder = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier));
    let mut config = match own {
        None => builder.with_no_client_auth(),
        Some(ClientCertificate(own)) => {
            builder.with_client_cert_resolver(Arc::new(SingleCertAndKey::from(Arc::clone(own))))
        }
    };
    config.alpn_protocols = PROTOCOLS.map(|name| name.as_bytes().to_vec()).to_vec();
    Ok(config)
}

fn provider() -> Result<Arc<CryptoProvider>, String> {
    install_crypto_provider();
    CryptoProvider::get_default().map(Arc::clone).ok_or_else(|| "TLS is not set up".to_owned())
}

/// Certificates in addition to those that the system's verifier loads by itself.
#[derive(Debug, Default)]
pub(super) struct Roots {
    certificates: Vec<CertificateDer<'static>>,
    /// The certificates of the user's files alone.
    of_user: Vec<CertificateDer<'static>>,
    /// Notes about certificates that could not be loaded. Shown only when a handshake fails.
    pub(super) notes: Vec<String>,
}

impl Roots {
    /// Reads the files of `options`. Files that cannot be read are noted and skipped, as in Node.
    pub(super) fn load(options: &ClientOptions) -> Self {
        let mut roots = Self::default();
        for file in &options.ca_files {
            if let Err(problem) = roots.add_file(file) {
                roots.notes.push(format!("{} was not used: {problem}", file.display()));
            }
        }
        roots.of_user.clone_from(&roots.certificates);
        if !options.ca_files.is_empty() {
            roots.add_system_bundle();
        }
        roots
    }

    fn add_file(&mut self, file: &Path) -> Result<(), String> {
        let mut usable = 0;
        let mut last_problem = "it contains no certificate".to_owned();
        for certificate in CertificateDer::pem_file_iter(file).map_err(|error| error.to_string())? {
            let certificate = match certificate {
                Ok(certificate) => certificate,
                Err(error) => {
                    last_problem = error.to_string();
                    break;
                }
            };
            // One bad certificate would otherwise make the whole client fail.
            match RootCertStore::empty().add(certificate.clone()) {
                Ok(()) => {
                    self.certificates.push(certificate);
                    usable += 1;
                }
                Err(error) => last_problem = error.to_string(),
            }
        }
        if usable == 0 { Err(last_problem) } else { Ok(()) }
    }

    /// Adds the system's certificate bundle.
    ///
    /// The system's verifier reads `SSL_CERT_FILE` instead of the system's bundle if that variable
    /// is in the environment of the process. Users set the variable to add one certificate, so the
    /// bundle is added back.
    #[cfg(all(unix, not(target_vendor = "apple")))]
    fn add_system_bundle(&mut self) {
        const BUNDLES: [&str; 4] = [
            "/etc/ssl/certs/ca-certificates.crt",
            "/etc/pki/tls/certs/ca-bundle.crt",
            "/etc/ssl/ca-bundle.pem",
            "/etc/ssl/cert.pem",
        ];
        // A system without a bundle needs no note: the verifier searches other places.
        let _found = BUNDLES.iter().any(|bundle| self.add_file(Path::new(bundle)).is_ok());
    }

    #[cfg(not(all(unix, not(target_vendor = "apple"))))]
    fn add_system_bundle(&mut self) {}
}
