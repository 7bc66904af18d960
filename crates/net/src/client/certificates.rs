//! Trusted certificates.

use std::path::Path;

use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

use super::options::ClientOptions;

/// Makes `ring` the cryptography provider of the process. Called by every client; may be called any
/// number of times, also by other crates that use TLS.
pub fn install_crypto_provider() {
    // An error means that a provider is already installed, which is fine.
    drop(rustls::crypto::ring::default_provider().install_default());
}

/// Certificates in addition to those that the system's verifier loads by itself.
#[derive(Debug, Default)]
pub(super) struct Roots {
    pub(super) certificates: Vec<reqwest::Certificate>,
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
            let added = RootCertStore::empty().add(certificate.clone());
            match added.map(|()| reqwest::Certificate::from_der(&certificate)) {
                Ok(Ok(certificate)) => {
                    self.certificates.push(certificate);
                    usable += 1;
                }
                Ok(Err(error)) => last_problem = error.to_string(),
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
