//! Arguments of calls that arrive as text.

use serde_json::{Map, Value};

/// Reads the arguments of a call. Missing ones are an empty object. Text that is not JSON remains
/// text, so that the argument check can report it to the model.
pub(crate) fn arguments(text: &str) -> Value {
    if text.trim().is_empty() {
        return Value::Object(Map::new());
    }
    match parsed(text) {
        Some(Value::Null) => Value::Object(Map::new()),
        // Some models encode the object as a JSON string.
        Some(Value::String(inner)) => match parsed(&inner) {
            Some(Value::Object(object)) => Value::Object(object),
            _ => Value::String(inner),
        },
        Some(value) => value,
        None => Value::from(text),
    }
}

/// Parses JSON whose strings may contain control characters, which models forget to escape.
fn parsed(text: &str) -> Option<Value> {
    serde_json::from_str(text).or_else(|_| serde_json::from_str(&escape_controls(text))).ok()
}

/// Returns JSON with all control characters in strings escaped.
fn escape_controls(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut brackets = Brackets::default();
    for one in text.chars() {
        match one {
            '\0'..='\u{1f}' if brackets.in_string && !brackets.escaped => {
                let code = format!("\\u{:04x}", u32::from(one));
                escaped.push_str(&code);
            }
            one => escaped.push(one),
        }
        brackets.scan(one.encode_utf8(&mut [0; 4]));
    }
    escaped
}

/// Scanner that checks whether the brackets of a text are balanced; it reads each byte once.
#[derive(Debug, Default)]
pub(crate) struct Brackets {
    depth: usize,
    in_string: bool,
    escaped: bool,
    begun: bool,
}

impl Brackets {
    /// Reads the next piece of the text.
    pub(crate) fn scan(&mut self, text: &str) {
        for byte in text.bytes() {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' if self.in_string => self.escaped = true,
                b'"' => self.in_string = !self.in_string,
                _ if self.in_string => {}
                b'{' | b'[' => {
                    self.depth += 1;
                    self.begun = true;
                }
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
    }

    /// True if the text has ended with a bracket that closes the first one.
    pub(crate) fn is_complete(&self) -> bool {
        self.begun && self.depth == 0 && !self.in_string
    }
}
