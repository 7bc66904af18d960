//! The file that records are written to: JSON objects one after the other, indented by two spaces,
//! with the field names of the SDK that Gemini CLI uses. Readers split the file at a `}` line that
//! is followed by a `{` line.

use std::path::Path;

use jiff::Timestamp;
use pollux_fs::AppendLog;
use serde_json::{Value, json};

use crate::attributes::Attributes;
use crate::events::LogEvent;
use crate::names::SERVICE;

#[cfg(test)]
mod tests;

/// The open file. Pollux only appends to it.
pub(crate) struct Outfile {
    file: AppendLog,
}

impl Outfile {
    /// Opens or creates the file, readable by its owner only.
    pub(crate) fn open(path: &Path) -> Result<Self, pollux_fs::Error> {
        AppendLog::open(path).map(|file| Self { file })
    }

    /// Appends one object with a single write, because another process may write to the same file.
    pub(crate) fn write(&mut self, record: &Value) -> Result<(), pollux_fs::Error> {
        self.file.append_record(format!("{record:#}").as_bytes())
    }
}

/// Returns a log event as an object of the file.
pub(crate) fn log_record(
    event: LogEvent,
    resource: &Value,
    common: &Attributes,
    time: Timestamp,
) -> Value {
    let mut attributes = common.clone();
    attributes.insert("event.name".to_owned(), json!(event.name));
    attributes.insert("event.timestamp".to_owned(), json!(format!("{time:.3}")));
    attributes.extend(event.attributes);
    let hr_time = high_resolution(time.as_nanosecond());
    let count = attributes.len();
    json!({
        "hrTime": hr_time,
        "hrTimeObserved": hr_time,
        "resource": resource,
        "instrumentationScope": { "name": SERVICE },
        "attributes": attributes,
        "_body": event.body,
        "_attributesCount": count,
        "_droppedAttributesCount": 0,
        "_isReadonly": true,
    })
}

/// Returns `[seconds, nanoseconds]` since 1970.
pub(crate) fn high_resolution(nanoseconds: i128) -> Value {
    const SECOND: i128 = 1_000_000_000;
    json!([nanoseconds.div_euclid(SECOND) as i64, nanoseconds.rem_euclid(SECOND) as i64])
}
