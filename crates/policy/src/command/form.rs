//! Text of a command in the forms that patterns are matched against, created on first use.

use std::cell::OnceCell;

use pollux_config::{Expression, ExpressionMatch};
use serde_json::Value;

use crate::arguments;
use crate::rule::Ruling;

/// End of the JSON form after a command: the quote and the end of all arguments.
const END: &str = "\"\0}";
/// Start of the JSON form before the command.
const KEY: &str = "\"command\":\"";

/// Arguments of a call, as rules see them.
#[derive(Debug)]
pub(super) struct SeenArguments<'a> {
    pub(super) all: &'a Value,
    /// The only arguments that rules which allow a call see, if there are others.
    pub(super) declared: Option<Value>,
}

/// All arguments including a command, and the offset of the command in them.
type ArgumentsForm = (String, usize);

/// Text of a command or of a line.
#[derive(Debug)]
pub(super) struct Form {
    text: String,
    /// The text as JSON, with its end.
    json: OnceCell<String>,
    arguments: OnceCell<ArgumentsForm>,
    /// The same with the arguments that the tool declares, if there are others.
    declared: OnceCell<ArgumentsForm>,
}

impl Form {
    pub(super) fn new(text: &str) -> Self {
        let text = text.to_owned();
        let (arguments, declared) = (OnceCell::new(), OnceCell::new());
        Self { text, json: OnceCell::new(), arguments, declared }
    }

    /// Returns the text as JSON, with the quote that ends it.
    pub(super) fn as_command(&self) -> &str {
        self.json.get_or_init(|| arguments::escaped(&self.text) + END)
    }

    /// Returns all arguments including this command, and the offset of the command in them.
    pub(super) fn as_arguments(&self, args: &Value) -> (&str, usize) {
        let (json, start) = self.arguments.get_or_init(|| self.with_arguments(args));
        (json, *start)
    }

    fn with_arguments(&self, args: &Value) -> ArgumentsForm {
        let json = arguments::text_with(args, Some(("command", &self.text)));
        let start = json.find(&format!("\0{KEY}")).map_or(0, |at| at + 1 + KEY.len());
        (json, start)
    }

    /// Searches with a pattern for commands, which is matched against the text as JSON, with the
    /// quote that ends it.
    pub(super) fn find_in_command(&self, expression: &Expression) -> ExpressionMatch {
        let json = self.as_command();
        let length = json.len() - END.len();
        if expression.as_str().contains('$') {
            let found = expression.find(&json[..length]);
            if found != ExpressionMatch::No {
                return found;
            }
        }
        match expression.find(json) {
            ExpressionMatch::Until(end) => ExpressionMatch::Until(end.min(length)),
            other => other,
        }
    }

    /// Searches with a pattern for arguments, which is matched against the arguments that rules
    /// with this ruling see, including this command.
    pub(super) fn find_in_arguments(
        &self,
        expression: &Expression,
        args: &SeenArguments<'_>,
        ruling: Ruling,
    ) -> ExpressionMatch {
        let (json, start) = match &args.declared {
            Some(declared) if ruling == Ruling::Allow => {
                let (json, start) = self.declared.get_or_init(|| self.with_arguments(declared));
                (json.as_str(), *start)
            }
            _ => self.as_arguments(args.all),
        };
        match expression.find(json) {
            ExpressionMatch::Until(end) => ExpressionMatch::Until(end.saturating_sub(start)),
            other => other,
        }
    }
}
