//! Server certificates that the user's own files contain.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_name;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, OtherError, SignatureScheme};
use rustls_platform_verifier::Verifier;

use super::issuer::{Untrusted, issuer_of};

/// Verifier that also accepts exactly the certificates in the files of the user, for the host names
/// that they contain. Without it, a self-signed certificate of a server would be refused if it says
/// that it is one of an authority (`CA:TRUE`, the default of `openssl req -x509`).
///
/// An error about an issuer that is not trusted is [`Untrusted`], with the name of the issuer.
#[derive(Debug)]
pub(super) struct PinnedCertificates {
    system: Verifier,
    pinned: Vec<CertificateDer<'static>>,
}

impl PinnedCertificates {
    pub(super) fn new(system: Verifier, pinned: Vec<CertificateDer<'static>>) -> Self {
        Self { system, pinned }
    }
}

impl ServerCertVerifier for PinnedCertificates {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let answer = self.system.verify_server_cert(
            end_entity,
            intermediates,
            server_name,
            ocsp_response,
            now,
        );
        match answer {
            Err(Error::InvalidCertificate(fault))
                if is_about_issuer(&fault) && self.pinned.iter().any(|one| one == end_entity) =>
            {
                verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
                Ok(ServerCertVerified::assertion())
            }
            Err(Error::InvalidCertificate(fault)) if is_about_issuer(&fault) => {
                let Some(issuer) = issuer_of(end_entity) else {
                    return Err(Error::InvalidCertificate(fault));
                };
                let named = OtherError(Arc::new(Untrusted { fault, issuer }));
                Err(Error::InvalidCertificate(CertificateError::Other(named)))
            }
            answer => answer,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.system.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.system.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.system.supported_verify_schemes()
    }
}

/// True if the certificate itself is valid now, and only the trust in its issuer is missing: the
/// issuer is unknown, its signature cannot be verified, or the certificate claims to be an
/// authority. The period of validity is verified before all of these.
pub(super) fn is_about_issuer(fault: &CertificateError) -> bool {
    match fault {
        CertificateError::UnknownIssuer | CertificateError::BadSignature => true,
        // The library has no variant for `CaUsedAsEndEntity`.
        CertificateError::Other(other) => other.to_string().contains("CaUsedAsEndEntity"),
        _ => false,
    }
}
