//! Name of the issuer of a certificate, for the message about an issuer that is not trusted. Pure.

use std::fmt;

use pollux_protocol::plain_text::{for_terminal, one_line};
use rustls::CertificateError;
use rustls::pki_types::CertificateDer;

/// Maximum length of a name, in characters.
const LONGEST: usize = 100;

// Tags of DER, the encoding of certificates.
const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const OBJECT_ID: u8 = 0x06;
const VERSION: u8 = 0xa0;

/// Object ids of the attributes that name an issuer, the best first: common name, organization,
/// unit.
const ATTRIBUTES: [&[u8]; 3] = [&[0x55, 4, 3], &[0x55, 4, 10], &[0x55, 4, 11]];

/// Certificate whose issuer is not trusted.
#[derive(Debug)]
pub(super) struct Untrusted {
    /// Fault that the verifier found.
    pub(super) fault: CertificateError,
    /// Name of the issuer, as the certificate that the server sent has it.
    pub(super) issuer: String,
}

impl fmt::Display for Untrusted {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: the issuer of the certificate is {}", self.fault, self.issuer)
    }
}

impl std::error::Error for Untrusted {}

/// Returns the name of the issuer of a certificate; `None` if it has none that can be read.
pub(super) fn issuer_of(certificate: &CertificateDer<'_>) -> Option<String> {
    let (SEQUENCE, certificate, _) = element(certificate)? else { return None };
    let (SEQUENCE, mut fields, _) = element(certificate)? else { return None };
    if fields.first() == Some(&VERSION) {
        fields = element(fields)?.2;
    }
    // After the serial number and the algorithm.
    for _ in 0..2 {
        fields = element(fields)?.2;
    }
    let (SEQUENCE, name, _) = element(fields)? else { return None };
    let attributes: Vec<_> = elements(name)
        .filter(|(tag, _)| *tag == SET)
        .flat_map(|(_, set)| elements(set))
        .filter_map(|(_, attribute)| {
            let (OBJECT_ID, id, rest) = element(attribute)? else { return None };
            Some((id, element(rest)?.1))
        })
        .collect();
    let named = |id: &&[u8]| attributes.iter().find(|(of, _)| of == id);
    let (_, text) = ATTRIBUTES.iter().find_map(named)?;
    let text = String::from_utf8_lossy(text);
    let name: String = one_line(&for_terminal(&text)).trim().chars().take(LONGEST).collect();
    (!name.is_empty()).then_some(name)
}

/// Returns the elements of a sequence or a set, as far as they can be read.
fn elements(mut bytes: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    std::iter::from_fn(move || {
        let (tag, content, rest) = element(bytes)?;
        bytes = rest;
        Some((tag, content))
    })
}

/// Returns the tag and the content of the first element, and the bytes after it.
fn element(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, rest) = bytes.split_first()?;
    let (&first, rest) = rest.split_first()?;
    // Lengths from 128 on are in the bytes that follow, whose number comes first.
    let (length, rest) = match first {
        0..=0x7f => (usize::from(first), rest),
        0x81..=0x83 => {
            let (digits, rest) = rest.split_at_checked(usize::from(first - 0x80))?;
            let length = digits.iter().fold(0, |length, digit| (length << 8) | usize::from(*digit));
            (length, rest)
        }
        _ => return None,
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((tag, content, rest))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rustls::pki_types::pem::PemObject as _;

    use super::*;

    fn certificate(name: &str) -> CertificateDer<'static> {
        let data = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
        CertificateDer::from_pem_file(data.join(name)).unwrap()
    }

    #[test]
    fn the_issuer_is_read_from_the_certificate() {
        for (name, issuer) in [
            ("server.pem", "Pollux test authority"),
            ("self_signed.pem", "localhost"),
            ("other_name.pem", "other.test"),
        ] {
            assert_eq!(issuer_of(&certificate(name)).as_deref(), Some(issuer), "{name}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(at: prop::sample::Index, byte: u8, length: prop::sample::Index) {
            let mut bytes = certificate("server.pem").to_vec();
            let at = at.index(bytes.len());
            bytes[at] = byte;
            bytes.truncate(length.index(bytes.len() + 1));
            let name = issuer_of(&CertificateDer::from(bytes)).unwrap_or_default();
            prop_assert!(name.chars().count() <= LONGEST && !name.contains(char::is_control));
        }
    }
}
