//! Structured answers, for programs to read.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

/// Schema that an answer must satisfy.
pub trait AnswerSchema: Send + Sync {
    /// Returns the JSON Schema.
    fn document(&self) -> Arc<Value>;

    /// Returns the reasons why a value does not satisfy the schema, written for the model; empty
    /// for a valid value. The number and the length of the reasons are bounded.
    fn problems(&self, value: &Value) -> Vec<String>;
}

/// Error of an answer that does not satisfy its schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsatisfied {
    /// Text of the model's answer.
    pub text: String,
    /// Reasons why the text does not satisfy the schema.
    pub problems: Vec<String>,
    /// Maximum number of times the model is asked to correct its answer.
    pub repairs: u32,
}

impl Unsatisfied {
    /// Returns the first reason why the text does not satisfy the schema.
    pub fn problem(&self) -> &str {
        self.problems.first().map_or("it is missing.", String::as_str)
    }
}

impl fmt::Display for Unsatisfied {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "The answer does not satisfy its schema: {}", self.problem())
    }
}
