//! Conversion of a tool's JSON schema to what a dialect accepts. Pure.
//!
//! Tools of servers bring any JSON schema, and a service refuses a whole request because of one
//! schema that it does not accept. [`compile`] therefore
//!
//! - replaces local references by their targets, cuts cycles, and makes the targets of all other
//!   references arbitrary values ([`expand`]),
//! - limits depth, number of schemas and size: the deepest parts are cut first,
//! - omits keywords whose values have the wrong type, which a service would refuse ([`keywords`]),
//! - makes the root an object ([`root`]), and the name legal.
//!
//! A compiled schema accepts everything that the original accepts: what cannot be expressed is
//! allowed, because the server of the tool checks the arguments anyway. There is one exception, see
//! [`root`]. Schemas without such problems, as those of the built-in tools, are not changed.
//!
//! Sources: JSON Schema draft 7 and 2020-12, the reference of `FunctionDeclaration` in the Gemini
//! API, the errors of OpenAI's service ("schema must have type 'object' and not have
//! 'oneOf'/'anyOf'/'allOf'/'enum'/'const'/'not' at the top level", "array schema missing items"),
//! and those of Anthropic's ("input_schema does not support oneOf, allOf, or anyOf at the top
//! level", "Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'").

use pollux_protocol::Declaration;
use serde_json::{Value, json};
use thiserror::Error;

use crate::tool_names;

mod assemble;
mod conjoin;
mod expand;
mod keywords;
mod reference;
mod root;

/// Dialect that a schema is compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolDialect {
    /// The Gemini API (`parametersJsonSchema`). An optional type is written as `nullable`, as
    /// Gemini CLI does.
    Gemini,
    /// OpenAI's Chat Completions. The root has properties and neither alternatives nor `enum`,
    /// `const` and `not`; arrays have `items`; types are written in lower case.
    Chat,
    /// Anthropic's Messages API. As for [`Self::Chat`]; names of parameters are short, and consist
    /// of letters, digits, `_`, `.` and `-`.
    Anthropic,
}

/// A declaration in the form of a dialect.
#[derive(Debug, Clone, PartialEq)]
pub struct Compiled {
    /// Name to send: the declared name, if the dialect accepts it.
    pub name: String,
    /// Schema of the arguments: an object of type `object`.
    pub parameters: Value,
}

/// Reason why a tool cannot be offered to a model; the rest of a sentence that begins with the
/// tool.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Unusable {
    /// The arguments of a call are an object, and the schema accepts none.
    #[error("its parameters are not described as an object")]
    NotAnObject,
    /// The schema has more parameters than can be sent.
    #[error("the description of its parameters is too large")]
    TooLarge,
}

/// Compiles a declaration for a dialect. Takes a few milliseconds at most, whatever the schema is.
///
/// # Errors
/// [`Unusable`] for a schema that accepts no object, and for a schema whose root alone exceeds the
/// limits (256 KiB, 10,000 parameters).
pub fn compile(declaration: &Declaration, dialect: ToolDialect) -> Result<Compiled, Unusable> {
    let name = tool_names::sent_name(&declaration.name, dialect).into_owned();
    let parameters = match &declaration.parameters {
        Value::Null | Value::Bool(true) => no_parameters(),
        Value::Object(keys) if keys.is_empty() => no_parameters(),
        schema @ Value::Object(_) => {
            let tree = expand::expand(schema).ok_or(Unusable::TooLarge)?;
            root::normalised(assemble::assemble(tree, dialect), dialect)?.into()
        }
        _ => return Err(Unusable::NotAnObject),
    };
    Ok(Compiled { name, parameters })
}

/// Returns the schema of a tool without parameters.
fn no_parameters() -> Value {
    json!({"type": "object", "properties": {}})
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
