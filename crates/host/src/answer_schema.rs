//! Schema that the last answer must satisfy (`--output-schema`): read, checked and compiled before
//! anything starts.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use jsonschema::Validator;
use pollux_protocol::AnswerSchema;
use serde_json::Value;

#[cfg(test)]
mod tests;

/// Maximum size of a schema, in bytes. The schema is sent to the model with every request.
const LARGEST: u64 = 256 << 10;
/// Maximum nesting depth of a schema.
const DEEPEST: usize = 64;
/// Maximum number of validation failures in one report.
const REPORTED: usize = 10;
/// Maximum length of one failure, in characters.
const LONGEST: usize = 400;

/// Keywords whose values are data, not schemas.
const DATA: [&str; 5] = ["const", "enum", "default", "examples", "example"];
/// Keywords that refer to another schema.
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];
/// Keywords with one schema, and with several, that apply to the same value as the schema around
/// them.
const SAME_VALUE: [&str; 4] = ["not", "if", "then", "else"];
const SAME_VALUE_EACH: [&str; 3] = ["allOf", "anyOf", "oneOf"];

/// JSON Schema that the last answer of a run must satisfy.
#[derive(Clone)]
pub struct OutputSchema(Arc<dyn AnswerSchema>);

impl fmt::Debug for OutputSchema {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("OutputSchema").field(&self.0.document()).finish()
    }
}

impl OutputSchema {
    /// Reads a schema: JSON if `given` begins with `{`, otherwise the path of a file, relative to
    /// `cwd`.
    ///
    /// # Errors
    /// Message for the user with the reason why the schema cannot be used.
    pub fn read(given: &str, cwd: &Path) -> Result<Self, String> {
        read(given, cwd)
    }

    pub(crate) fn schema(&self) -> Arc<dyn AnswerSchema> {
        Arc::clone(&self.0)
    }
}

/// A compiled schema.
struct Compiled {
    document: Arc<Value>,
    validator: Validator,
}

fn read(given: &str, cwd: &Path) -> Result<OutputSchema, String> {
    let given = given.trim();
    let refuse = |reason: String| format!("The schema in --output-schema is not usable: {reason}");
    if given.starts_with('{') {
        return compile(given).map_err(refuse);
    }
    if given.is_empty() {
        return Err(refuse("it is empty.".to_owned()));
    }
    let path = cwd.join(given);
    let bytes =
        pollux_fs::read_bytes(&path, LARGEST).map_err(|error| refuse(format!("{error}.")))?;
    let text = String::from_utf8(bytes)
        .map_err(|_| refuse(format!("{} is not UTF-8 text.", path.display())))?;
    compile(&text).map_err(|reason| refuse(format!("{}: {reason}", path.display())))
}

/// Checks and compiles the text of a schema.
fn compile(text: &str) -> Result<OutputSchema, String> {
    if text.len() as u64 > LARGEST {
        return Err(format!("it is larger than {} KiB.", LARGEST >> 10));
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let document: Value =
        serde_json::from_str(text).map_err(|error| format!("it is not JSON: {error}."))?;
    if !document.is_object() {
        return Err("it is not a JSON object.".to_owned());
    }
    look_at(&document, 0)?;
    if runs_in_circles(&document) {
        return Err("a $ref refers to itself without descending into the value.".to_owned());
    }
    let validator =
        jsonschema::options().should_validate_formats(true).build(&document).map_err(|error| {
            format!("it is not a valid JSON Schema: {}.", shorten(&error.to_string()))
        })?;
    Ok(OutputSchema(Arc::new(Compiled { document: Arc::new(document), validator })))
}

/// Rejects schemas that are nested too deep or refer to other documents: nothing is ever fetched.
fn look_at(schema: &Value, depth: usize) -> Result<(), String> {
    if depth > DEEPEST {
        return Err(format!("it is nested deeper than {DEEPEST} levels."));
    }
    match schema {
        Value::Object(keys) => {
            for (key, value) in keys {
                if REFERENCES.contains(&key.as_str())
                    && let Some(target) = value.as_str()
                    && !target.starts_with('#')
                {
                    return Err(format!(
                        "{key} refers to {target:?}. Pollux only follows references within the schema: move the definition into $defs."
                    ));
                }
                if !DATA.contains(&key.as_str()) {
                    look_at(value, depth + 1)?;
                }
            }
            Ok(())
        }
        Value::Array(items) => items.iter().try_for_each(|item| look_at(item, depth + 1)),
        _ => Ok(()),
    }
}

/// Returns true if references form a cycle that never descends into the value.
fn runs_in_circles(document: &Value) -> bool {
    fn leads_back<'a>(
        document: &'a Value,
        schema: &'a Value,
        under_way: &mut Vec<&'a Value>,
        done: &mut Vec<&'a Value>,
    ) -> bool {
        if under_way.iter().any(|other| std::ptr::eq(*other, schema)) {
            return true;
        }
        if done.iter().any(|other| std::ptr::eq(*other, schema)) {
            return false;
        }
        let Some(keys) = schema.as_object() else { return false };
        let target = |key: &&str| document.pointer(keys.get(*key)?.as_str()?.strip_prefix('#')?);
        let one = SAME_VALUE.iter().filter_map(|key| keys.get(*key));
        let each = SAME_VALUE_EACH.iter().filter_map(|key| keys.get(*key)?.as_array()).flatten();
        under_way.push(schema);
        let mut next = REFERENCES.iter().filter_map(target).chain(one).chain(each);
        let found = next.any(|next| leads_back(document, next, under_way, done));
        under_way.pop();
        done.push(schema);
        found
    }
    fn anywhere(document: &Value, schema: &Value, done: &mut Vec<*const Value>) -> bool {
        let mut seen = Vec::new();
        if leads_back(document, schema, &mut Vec::new(), &mut seen) {
            return true;
        }
        done.push(schema);
        match schema {
            Value::Object(keys) => keys.values().any(|one| anywhere(document, one, done)),
            Value::Array(items) => items.iter().any(|one| anywhere(document, one, done)),
            _ => false,
        }
    }
    anywhere(document, document, &mut Vec::new())
}

impl AnswerSchema for Compiled {
    fn document(&self) -> Arc<Value> {
        Arc::clone(&self.document)
    }

    fn problems(&self, value: &Value) -> Vec<String> {
        let reported = |error: jsonschema::ValidationError<'_>| {
            let place = error.instance_path().as_str();
            let place = if place.is_empty() { "the answer" } else { place };
            shorten(&format!("{place}: {error}"))
        };
        self.validator.iter_errors(value).take(REPORTED).map(reported).collect()
    }
}

fn shorten(text: &str) -> String {
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    text.chars().take(LONGEST).chain("…".chars()).collect()
}
