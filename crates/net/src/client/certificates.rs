//! Whom we trust.

use std::path::Path;

use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

use super::options::ClientOptions;

/// Makes ring the process's cryptography. Called by every client; may be called any number of
/// times, and by other crates that speak TLS.
pub fn install_crypto_provider() {
    // An error means that there is one already, which is what we want.
    drop(rustls::crypto::ring::default_provider().install_default());
}

/// Certificates beside those the system's verifier loads by itself.
#[derive(Debug, Default)]
pub(super) struct Roots {
    pub(super) certificates: Vec<reqwest::Certificate>,
    /// What could not be loaded. Shown only when a handshake fails.
    pub(super) notes: Vec<String>,
}

impl Roots {
    /// Reads the files of `options`. What cannot be read is noted and left out, as Node does.
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
        let mut last_problem = "it holds no certificate".to_owned();
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

    /// The system's verifier takes `SSL_CERT_FILE` in place of the system's bundle, when it finds
    /// that variable in the process's environment. Users set it to add one certificate, so the
    /// bundle is added back.
    #[cfg(all(unix, not(target_vendor = "apple")))]
    fn add_system_bundle(&mut self) {
        const BUNDLES: [&str; 4] = [
            "/etc/ssl/certs/ca-certificates.crt",
            "/etc/pki/tls/certs/ca-bundle.crt",
            "/etc/ssl/ca-bundle.pem",
            "/etc/ssl/cert.pem",
        ];
        // A system without a bundle is not worth a note: the verifier has its own places.
        let _found = BUNDLES.iter().any(|bundle| self.add_file(Path::new(bundle)).is_ok());
    }

    #[cfg(not(all(unix, not(target_vendor = "apple"))))]
    fn add_system_bundle(&mut self) {}
}
