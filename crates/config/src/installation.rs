//! Identifier of this installation, sent with requests and telemetry.

use crate::{Places, files};

/// Maximum length of an identifier in the file, in characters.
const MAX_LENGTH: usize = 128;

/// Reads `installation_id`, or creates a new one if there is no valid one.
///
/// The result is always valid in an HTTP header: printable ASCII without spaces. If the file cannot
/// be written, the identifier is valid for this run only.
pub fn installation_id(places: &Places) -> String {
    let path = places.installation_id();
    let fits = |text: &str| {
        !text.is_empty()
            && text.len() <= MAX_LENGTH
            && text.bytes().all(|byte| byte.is_ascii_graphic())
    };
    let stored = files::read_text_lossy(&path, MAX_LENGTH * 2).ok();
    if let Some(stored) = stored.as_ref().map(|read| read.text.trim()).filter(|text| fits(text)) {
        return stored.to_owned();
    }
    let fresh = uuid::Uuid::new_v4().to_string();
    // A failure to save the identifier does no harm.
    let _unkept = files::write_private(&path, &fresh);
    fresh
}
