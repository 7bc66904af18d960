//! A command in the form that patterns look at, made when the first pattern does.

use std::cell::OnceCell;

use serde_json::Value;

use crate::arguments;
use crate::expression::{Expression, Found};

/// What stands behind a command as JSON writes it: the quote and the end of all arguments.
const END: &str = "\"\0}";
/// What stands before it among the arguments.
const KEY: &str = "\"command\":\"";

/// The text of a command or of a line.
#[derive(Debug)]
pub(super) struct Form {
    text: String,
    /// As JSON writes it, with its end.
    json: OnceCell<String>,
    /// All arguments with this command among them, and where it begins there.
    arguments: OnceCell<(String, usize)>,
}

impl Form {
    pub(super) fn new(text: &str) -> Self {
        Self { text: text.to_owned(), json: OnceCell::new(), arguments: OnceCell::new() }
    }

    /// As JSON writes it, with the quote that ends it.
    pub(super) fn as_command(&self) -> &str {
        self.json.get_or_init(|| arguments::escaped(&self.text) + END)
    }

    /// All arguments with this command among them, and where it begins there.
    pub(super) fn as_arguments(&self, args: &Value) -> (&str, usize) {
        let (json, start) = self.arguments.get_or_init(|| {
            let json = arguments::text_with(args, Some(("command", &self.text)));
            let start = json.find(&format!("\0{KEY}")).map_or(0, |at| at + 1 + KEY.len());
            (json, start)
        });
        (json, *start)
    }

    /// A pattern of commands looks at the text as JSON writes it, with the quote that ends it.
    pub(super) fn find_in_command(&self, expression: &Expression) -> Found {
        let json = self.as_command();
        let length = json.len() - END.len();
        if expression.as_str().contains('$') {
            let found = expression.find(&json[..length]);
            if found != Found::No {
                return found;
            }
        }
        match expression.find(json) {
            Found::Until(end) => Found::Until(end.min(length)),
            other => other,
        }
    }

    /// A pattern of arguments looks at all arguments, with this command among them.
    pub(super) fn find_in_arguments(&self, expression: &Expression, args: &Value) -> Found {
        let (json, start) = self.as_arguments(args);
        match expression.find(json) {
            Found::Until(end) => Found::Until(end.saturating_sub(start)),
            other => other,
        }
    }
}
