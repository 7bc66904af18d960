//! Answers that a program reads.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

/// What an answer must be like.
pub trait AnswerSchema: Send + Sync {
    /// The JSON Schema.
    fn document(&self) -> Arc<Value>;

    /// What keeps a value from satisfying it, for the model; empty when nothing does. Bounded in number and length.
    fn problems(&self, value: &Value) -> Vec<String>;
}

/// An answer that does not satisfy its schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsatisfied {
    /// What the model said.
    pub text: String,
    /// What is wrong with it.
    pub problems: Vec<String>,
    /// How often it was asked for again at most.
    pub repairs: u32,
}

impl fmt::Display for Unsatisfied {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let problem = self.problems.first().map_or("there is none.", String::as_str);
        write!(
            formatter,
            "The answer does not satisfy the schema of --output-schema: {problem}\nRaise pollux.outputSchema.repairs, simplify the schema, or use another model."
        )
    }
}
