//! Plausibility check of paths. Models sometimes write a log line or a piece of code in place of a
//! path.

use std::path::Path;

use crate::error::{Error, Result};

/// Maximum length of a path, in bytes.
const MAX_PATH: usize = 4096;
/// Maximum length of a component, in bytes.
const MAX_COMPONENT: usize = 255;
/// Minimum length from which a text with quotes or ellipses is not accepted as a path.
const SUSPICIOUS_LENGTH: usize = 20;
/// Beginnings of messages of test runners.
const LOG_FRAGMENTS: [&str; 5] =
    ["AssertionError:", "FAIL ", "\u{2713} ", "\u{d7} ", "TestingLibraryElementError:"];

/// Refuses implausible paths. An existing path may contain quotes and ellipses, and a path with
/// `[...name]` components (routes of web frameworks) may be created; Gemini CLI refuses both.
///
/// # Errors
/// [`Error::InvalidPath`] with a message that begins with `Invalid path: `.
pub fn check_sanity(path: &Path) -> Result<()> {
    let text = path.to_string_lossy();
    let invalid = |why: &str| Err(Error::InvalidPath(why.to_owned()));
    if text.is_empty() {
        return invalid("the path is empty");
    }
    if text.len() > MAX_PATH {
        return invalid("the path is longer than 4096 bytes");
    }
    if text.contains(['\n', '\r', '\0', '\t']) {
        return invalid("the path contains a line break, tab or NUL");
    }
    for component in text.split(['/', '\\']) {
        if component.len() > MAX_COMPONENT {
            return invalid("a component is longer than 255 bytes");
        }
        if LOG_FRAGMENTS.iter().any(|fragment| component.starts_with(fragment)) {
            return invalid("this looks like a line of a log, not like a path");
        }
    }
    let elided = text.replace("[...", "[").contains("...");
    if text.len() > SUSPICIOUS_LENGTH
        && (elided || text.contains('"'))
        && std::fs::symlink_metadata(path).is_err()
    {
        return invalid("the path contains a quotation mark or an ellipsis");
    }
    Ok(())
}
