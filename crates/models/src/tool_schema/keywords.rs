//! Keywords of JSON Schema, by the kind of their values.

use serde_json::Value;

/// Kind of a keyword's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A schema.
    Schema,
    /// A list of schemas with at least one element.
    Schemas,
    /// Schemas by name.
    NamedSchemas,
    /// A schema, or the list of the schemas of the first items (draft 2019-09 and older).
    Items,
    /// The schema of the items after a list of them (draft 2019-09 and older).
    AdditionalItems,
    /// Schemas and lists of property names, by property (draft 7 and older).
    Dependencies,
    /// The name of a type, or a list of such names.
    Type,
    /// A target of references, or the address of a schema. Without references it has no effect.
    Address,
    /// A reference that depends on the place that it is reached from.
    DynamicReference,
    /// Other data.
    Data,
}

/// Returns the kind of a keyword's value.
pub(super) fn kind(keyword: &str) -> Kind {
    match keyword {
        "additionalProperties"
        | "unevaluatedProperties"
        | "unevaluatedItems"
        | "contains"
        | "contentSchema"
        | "propertyNames"
        | "not"
        | "if"
        | "then"
        | "else" => Kind::Schema,
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => Kind::Schemas,
        "properties" | "patternProperties" | "dependentSchemas" => Kind::NamedSchemas,
        "items" => Kind::Items,
        "additionalItems" => Kind::AdditionalItems,
        "dependencies" => Kind::Dependencies,
        "type" => Kind::Type,
        "$defs" | "definitions" | "components" | "$anchor" | "$dynamicAnchor"
        | "$recursiveAnchor" | "$id" | "$schema" | "$vocabulary" => Kind::Address,
        "$dynamicRef" | "$recursiveRef" => Kind::DynamicReference,
        _ => Kind::Data,
    }
}

/// True for an address that stays in the root of a schema: it says how the schema is to be read.
pub(super) fn describes_document(keyword: &str) -> bool {
    matches!(keyword, "$schema" | "$id")
}

/// True for a keyword that describes a value without restricting it.
pub(super) fn is_annotation(keyword: &str) -> bool {
    matches!(
        keyword,
        "title"
            | "description"
            | "default"
            | "examples"
            | "example"
            | "deprecated"
            | "readOnly"
            | "writeOnly"
            | "$comment"
    )
}

/// Maximum depth of data in a schema, such as a default value.
const MAX_DATA_DEPTH: usize = 16;

/// True if the value of a keyword of the kind [`Kind::Data`] has a type and a depth that services
/// accept. They refuse requests with other values; unknown keywords are ignored by services.
pub(super) fn is_well_formed(keyword: &str, value: &Value) -> bool {
    match keyword {
        "title" | "description" | "$comment" | "format" | "pattern" | "contentEncoding"
        | "contentMediaType" => value.is_string(),
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => value.is_number(),
        "multipleOf" => value.as_f64().is_some_and(|number| number > 0.0),
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties"
        | "minContains" | "maxContains" => value.is_u64(),
        "uniqueItems" | "deprecated" | "readOnly" | "writeOnly" | "nullable" => value.is_boolean(),
        "enum" | "examples" => {
            value.as_array().is_some_and(|values| !values.is_empty())
                && is_shallow(value, MAX_DATA_DEPTH)
        }
        "required" => is_names(value),
        "dependentRequired" => value.as_object().is_some_and(|lists| lists.values().all(is_names)),
        _ => is_shallow(value, MAX_DATA_DEPTH),
    }
}

fn is_shallow(value: &Value, depth: usize) -> bool {
    let below = |value: &Value| depth > 0 && is_shallow(value, depth - 1);
    match value {
        Value::Array(items) => items.iter().all(below),
        Value::Object(keys) => keys.values().all(below),
        _ => true,
    }
}

/// True for a list of property names.
pub(super) fn is_names(value: &Value) -> bool {
    value.as_array().is_some_and(|names| names.iter().all(Value::is_string))
}

/// True for the name of a type. Google's own schemas write them in upper case.
pub(super) fn is_type(name: &str) -> bool {
    ["object", "array", "string", "number", "integer", "boolean", "null"]
        .iter()
        .any(|known| name.eq_ignore_ascii_case(known))
}
