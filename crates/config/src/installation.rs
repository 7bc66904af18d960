//! The identity of this installation, which requests and telemetry carry.

use crate::{Places, files};

/// The longest identity that is taken from the file, in characters.
const MAX_LENGTH: usize = 128;

/// Reads `installation_id`, and makes a new one when there is none that can be used.
///
/// The result is always fit for a header: printable ASCII without blanks. When the file cannot be
/// written the identity is good for this run only.
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
    // Nothing depends on the identity being kept.
    let _unkept = files::write_private(&path, &fresh);
    fresh
}
