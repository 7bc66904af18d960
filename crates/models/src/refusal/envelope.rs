//! Search for the error object in the response of the service or of a gateway.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value};

/// Maximum nesting depth of errors that wrap errors.
const MAX_DEPTH: usize = 10;

/// Error object in its original form.
#[derive(Debug, Default, PartialEq)]
pub(super) struct ErrorObject {
    /// `code`, if it is an HTTP error status.
    pub(super) code: Option<u16>,
    /// `status`, for example `RESOURCE_EXHAUSTED`.
    pub(super) status: Option<String>,
    pub(super) message: String,
    pub(super) details: Vec<ErrorDetail>,
}

/// Entry of `details`, by its `@type`.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ErrorDetail {
    /// `google.rpc.ErrorInfo`.
    ErrorInfo {
        /// Machine-readable reason, for example `RATE_LIMIT_EXCEEDED`.
        reason: String,
        /// Service that reports the error, for example `cloudcode-pa.googleapis.com`.
        domain: String,
        /// Additional data; values that are not strings are written as JSON.
        metadata: BTreeMap<String, String>,
    },
    /// `google.rpc.RetryInfo`.
    RetryInfo {
        /// Delay as written, for example `34.07s`.
        text: String,
        /// Delay, if it can be parsed.
        delay: Option<Duration>,
    },
    /// `google.rpc.QuotaFailure`: `quotaId` of each violation.
    QuotaFailure { quota_ids: Vec<String> },
    /// `google.rpc.Help`: the addresses of its links.
    Help { links: Vec<String> },
    /// Any other type.
    Other,
}

/// Finds the innermost error object in `text`: JSON, or text that contains JSON, or JSON with the
/// doubled commas and no-break spaces that some front ends produce.
pub(super) fn parse(text: &str) -> Option<ErrorObject> {
    let error = locate(embedded_json(text)?, 0)?;
    let message = match error.get("message") {
        Some(Value::String(message)) => message.clone(),
        Some(Value::Null) | None => String::new(),
        Some(other) => other.to_string(),
    };
    let details = match error.get("details") {
        Some(Value::Array(details)) => details.iter().filter_map(detail).collect(),
        _ => Vec::new(),
    };
    Some(ErrorObject { code: code(&error), status: string(&error, "status"), message, details })
}

/// Parses a non-negative duration such as `12.5s`, `800ms` or `1h0m3s`.
pub(crate) fn parse_duration(text: &str) -> Option<Duration> {
    const UNITS: [(&str, f64); 4] = [("ms", 0.001), ("s", 1.0), ("m", 60.0), ("h", 3600.0)];
    let mut rest = text.trim();
    let mut seconds = if rest.is_empty() { return None } else { 0.0 };
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
        let (number, after) = rest.split_at(digits);
        let (unit, scale) = UNITS.iter().find(|(unit, _)| after.starts_with(unit))?;
        seconds += number.parse::<f64>().ok()? * scale;
        rest = &after[unit.len()..];
    }
    Duration::try_from_secs_f64(seconds).ok()
}

/// Finds the error object in a value. Fields that an inner error lacks are copied from the
/// enclosing one.
fn locate(value: Value, depth: usize) -> Option<Map<String, Value>> {
    if depth > MAX_DEPTH {
        return None;
    }
    match value {
        Value::String(text) => locate(embedded_json(&text)?, depth + 1),
        Value::Array(items) => locate(items.into_iter().next()?, depth + 1),
        Value::Object(mut object) => {
            if let Some(inner) = wrapped(&mut object) {
                return match inner {
                    Value::String(message) if embedded_json(&message).is_none() => {
                        Some(Map::from_iter([("message".to_owned(), Value::String(message))]))
                    }
                    inner => locate(inner, depth + 1),
                };
            }
            if !["message", "code", "status", "details"].iter().any(|key| object.contains_key(*key))
            {
                return None;
            }
            let inner = match object.get("message") {
                Some(Value::String(message)) => embedded_json(message),
                _ => None,
            };
            match inner.and_then(|inner| locate(inner, depth + 1)) {
                Some(inner) => Some(filled_from(inner, object)),
                None => Some(object),
            }
        }
        _ => None,
    }
}

/// Returns the value in an envelope: `error`, `response.data` or `cause`.
fn wrapped(object: &mut Map<String, Value>) -> Option<Value> {
    if let Some(error) = object.remove("error") {
        return Some(error);
    }
    if let Some(Value::Object(response)) = object.get_mut("response")
        && let Some(data) = response.remove("data")
    {
        return Some(data);
    }
    object.remove("cause")
}

fn filled_from(mut inner: Map<String, Value>, outer: Map<String, Value>) -> Map<String, Value> {
    for (key, value) in outer {
        if key != "message" {
            inner.entry(key).or_insert(value);
        }
    }
    inner
}

/// Returns the first JSON object or array in a text; other text before and after it is allowed.
fn embedded_json(text: &str) -> Option<Value> {
    let object = text.find('{');
    let array = text.find('[').filter(|array| object.is_none_or(|object| *array < object));
    [array, object].into_iter().flatten().find_map(|start| {
        first_value(&text[start..]).or_else(|| first_value(&repaired(&text[start..])))
    })
}

fn first_value(text: &str) -> Option<Value> {
    let value = serde_json::Deserializer::from_str(text).into_iter().next()?.ok()?;
    matches!(value, Value::Object(_) | Value::Array(_)).then_some(value)
}

/// Returns the text with no-break spaces replaced by normal ones and doubled commas by single ones,
/// outside strings.
fn repaired(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let (mut in_string, mut escaped, mut after_comma) = (false, false, false);
    for character in text.chars() {
        if in_string {
            match character {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => in_string = false,
                _ => {}
            }
            result.push(character);
            continue;
        }
        match character {
            '\u{a0}' => result.push(' '),
            ',' if after_comma => {}
            _ => {
                result.push(character);
                in_string = character == '"';
                if !character.is_whitespace() {
                    after_comma = character == ',';
                }
            }
        }
    }
    result
}

/// Returns the code, given as a number or as digits, if it is an HTTP error status.
fn code(error: &Map<String, Value>) -> Option<u16> {
    let code = match error.get("code")? {
        Value::Number(number) => number.as_u64()?,
        Value::String(digits) => digits.trim().parse().ok()?,
        _ => return None,
    };
    u16::try_from(code).ok().filter(|code| (400..=599).contains(code))
}

fn string(object: &Map<String, Value>, key: &str) -> Option<String> {
    object.get(key).and_then(Value::as_str).map(str::to_owned)
}

fn detail(value: &Value) -> Option<ErrorDetail> {
    let object = value.as_object()?;
    let type_name = object
        .iter()
        .find(|(key, _)| key.split_whitespace().collect::<String>() == "@type")
        .and_then(|(_, value)| value.as_str())
        .unwrap_or_default()
        .trim();
    let text = |key: &str| string(object, key).unwrap_or_default();
    Some(match type_name.rsplit('/').next().unwrap_or_default() {
        "google.rpc.ErrorInfo" => ErrorDetail::ErrorInfo {
            reason: text("reason"),
            domain: text("domain"),
            metadata: match object.get("metadata") {
                Some(Value::Object(entries)) => {
                    entries.iter().map(|(key, value)| (key.clone(), plain(value))).collect()
                }
                _ => BTreeMap::new(),
            },
        },
        "google.rpc.RetryInfo" => {
            let text = text("retryDelay");
            ErrorDetail::RetryInfo { delay: parse_duration(&text), text }
        }
        "google.rpc.QuotaFailure" => ErrorDetail::QuotaFailure {
            quota_ids: objects(object, "violations")
                .filter_map(|violation| string(violation, "quotaId"))
                .collect(),
        },
        "google.rpc.Help" => ErrorDetail::Help {
            links: objects(object, "links").filter_map(|link| string(link, "url")).collect(),
        },
        _ => ErrorDetail::Other,
    })
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn objects<'a>(
    object: &'a Map<String, Value>,
    key: &str,
) -> impl Iterator<Item = &'a Map<String, Value>> {
    object.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object)
}
