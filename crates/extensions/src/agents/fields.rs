//! Strict reading of front matter: every key is known, every value has its type, and each fault is
//! named.

use std::collections::BTreeMap;

use pollux_protocol::plain_text::one_line;
use serde_json::Value;

/// Keys of front matter that were not read yet, and the faults so far.
pub(super) struct Fields {
    values: BTreeMap<String, Value>,
    faults: Vec<String>,
}

impl Fields {
    pub(super) fn new(values: BTreeMap<String, Value>) -> Self {
        Self { values, faults: Vec::new() }
    }

    /// True if this key is given and was not read yet.
    pub(super) fn has(&self, key: &str) -> bool {
        self.values.contains_key(key)
    }

    /// Adds a fault of a value, in one line.
    pub(super) fn fault(&mut self, key: &str, fault: &str) {
        self.faults.push(format!("(Local Agent) {}: {fault}", one_line(key)));
    }

    /// Returns the value of a key; `None` without one. A value that `read` refuses is a fault.
    pub(super) fn take<T>(
        &mut self,
        key: &str,
        fault: &str,
        read: impl FnOnce(Value) -> Option<T>,
    ) -> Option<T> {
        let value = read(self.values.remove(key)?);
        if value.is_none() {
            self.fault(key, fault);
        }
        value
    }

    /// Returns the text of a key; `None` without one.
    pub(super) fn text(&mut self, key: &str) -> Option<String> {
        self.take(key, "expected text", |value| match value {
            Value::String(text) => Some(text),
            _ => None,
        })
    }

    /// Returns the text of a key that every definition has.
    pub(super) fn required(&mut self, key: &str) -> Option<String> {
        if !self.has(key) {
            self.fault(key, "Required");
        }
        self.text(key)
    }

    /// Returns the number of a key, which must be greater than 0 and at most `most`.
    pub(super) fn positive(&mut self, key: &str, most: f64) -> Option<f64> {
        let fault = format!("expected a number greater than 0 and at most {most}");
        self.take(key, &fault, |value| {
            value.as_f64().filter(|number| *number > 0.0 && *number <= most)
        })
    }

    /// Returns the faults, with one for the keys that were not read.
    pub(super) fn finish(mut self) -> Vec<String> {
        let shown = |key: &String| {
            let shown: String = one_line(key).chars().take(60).collect();
            format!("'{shown}'")
        };
        let unknown: Vec<String> = self.values.keys().take(10).map(shown).collect();
        if !unknown.is_empty() {
            let unknown = unknown.join(", ");
            self.faults.push(format!("(Local Agent) Unrecognized key(s) in object: {unknown}"));
        }
        self.faults
    }
}
