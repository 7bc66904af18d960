//! Checks arguments against a tool's schema and reports failures with the messages of Gemini CLI.

use std::sync::OnceLock;

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{ValidationError, Validator};
use pollux_protocol::{Args, ToolError, ToolErrorKind};
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};
use serde_json::{Number, Value};

#[cfg(test)]
mod tests;

/// Maximum number of failures from which the reported failure is chosen; a hostile argument can
/// have one in every element.
const ERRORS_LOOKED_AT: usize = 64;

/// Schema of a tool's arguments, compiled at first use.
pub(crate) struct Schema {
    document: Value,
    compiled: OnceLock<Option<Validator>>,
}

impl Schema {
    /// Creates a schema that is not compiled yet.
    pub(crate) fn new(document: Value) -> Self {
        Self { document, compiled: OnceLock::new() }
    }

    /// Returns the schema as it is declared to models.
    pub(crate) fn document(&self) -> &Value {
        &self.document
    }

    /// Checks `args` and deserializes them.
    ///
    /// # Errors
    /// `invalid_tool_params` with the message of the first failure, in the format of AJV (the
    /// validator of Gemini CLI): `params must have required property 'file_path'`,
    /// `params/start_line must be >= 1`.
    pub(crate) fn read<P: DeserializeOwned>(&self, args: &Args) -> Result<P, ToolError> {
        let value = Value::Object(args.clone());
        // A schema that does not compile is no reason to refuse a call.
        if let Some(validator) =
            self.compiled.get_or_init(|| jsonschema::validator_for(&self.document).ok())
        {
            let first = validator
                .iter_errors(&value)
                .take(ERRORS_LOOKED_AT)
                .min_by_key(|error| self.rank(error));
            if let Some(error) = first {
                return Err(invalid(message(&error)));
            }
        }
        serde_json::from_value(value).map_err(|error| invalid(format!("params: {error}")))
    }

    /// Returns the order of a failure. AJV stops at the first failure: missing properties in the
    /// order of `required`, then the properties in the order of the schema.
    fn rank(&self, error: &ValidationError<'_>) -> (usize, usize) {
        let position = |list: Option<Vec<&str>>, name: &str| {
            list.and_then(|names| names.iter().position(|known| *known == name))
                .unwrap_or(usize::MAX)
        };
        let path = error.instance_path().as_str();
        if let (ValidationErrorKind::Required { property }, "") = (error.kind(), path) {
            let required = self.document["required"].as_array();
            let names = required.map(|names| names.iter().filter_map(Value::as_str).collect());
            return (0, position(names, property.as_str().unwrap_or_default()));
        }
        let properties = self.document["properties"].as_object();
        let names = properties.map(|map| map.keys().map(String::as_str).collect());
        let first = path.trim_start_matches('/').split('/').next().unwrap_or_default();
        (1, position(names, first))
    }
}

/// Creates an `invalid_tool_params` error.
pub(crate) fn invalid(message: impl Into<String>) -> ToolError {
    ToolError::new(ToolErrorKind::InvalidToolParams, message)
}

fn message(error: &ValidationError<'_>) -> String {
    use ValidationErrorKind as Kind;
    let what = match error.kind() {
        Kind::Required { property } => {
            format!("must have required property '{}'", property.as_str().unwrap_or_default())
        }
        Kind::Type { kind: TypeKind::Single(kind) } => format!("must be {kind}"),
        Kind::Type { kind: TypeKind::Multiple(kinds) } => {
            let names: Vec<_> = kinds.iter().map(|kind| kind.to_string()).collect();
            format!("must be {}", names.join(","))
        }
        Kind::Minimum { limit } => format!("must be >= {limit}"),
        Kind::Maximum { limit } => format!("must be <= {limit}"),
        Kind::ExclusiveMinimum { limit } => format!("must be > {limit}"),
        Kind::ExclusiveMaximum { limit } => format!("must be < {limit}"),
        Kind::Enum { .. } => "must be equal to one of the allowed values".to_owned(),
        Kind::Constant { .. } => "must be equal to constant".to_owned(),
        Kind::MinLength { limit } => format!("must NOT have fewer than {limit} characters"),
        Kind::MaxLength { limit } => format!("must NOT have more than {limit} characters"),
        Kind::MinItems { limit } => format!("must NOT have fewer than {limit} items"),
        Kind::MaxItems { limit } => format!("must NOT have more than {limit} items"),
        Kind::Pattern { pattern } => format!("must match pattern \"{pattern}\""),
        Kind::AdditionalProperties { .. } => "must NOT have additional properties".to_owned(),
        _ => return format!("params{}: {}", error.instance_path().as_str(), error.masked()),
    };
    format!("params{} {what}", error.instance_path().as_str())
}

/// Deserializes a whole number, also one written as `5.0`, which JSON Schema allows; a number out
/// of range becomes the nearest limit.
pub(crate) fn whole<'de, D: Deserializer<'de>>(source: D) -> Result<Option<u64>, D::Error> {
    let number = Number::deserialize(source)?;
    if let Some(whole) = number.as_u64() {
        return Ok(Some(whole));
    }
    // A float above 2^53 is not an exact count; `as` saturates, as required.
    number.as_f64().map(|float| Some(float as u64)).ok_or_else(|| D::Error::custom("not a number"))
}
