//! Regular expressions with the semantics of ECMAScript, without flags.
//!
//! Policy rules and the matchers of hooks are written for Gemini CLI, which passes their patterns
//! to JavaScript. Pollux parses them with the ECMAScript grammar and translates them for an engine
//! with linear run time; only look-around and back-references need a backtracking engine, which has
//! a limit of steps. A pattern that neither engine supports is an error, so that no pattern is
//! ignored. Text is matched by characters, not by UTF-16 code units.

use std::sync::OnceLock;

mod class;
mod translate;

use translate::{Translated, translate};

/// Maximum length of a pattern, in bytes.
const MAX_LENGTH: usize = 64 << 10;
/// Maximum number of steps of the backtracking engine.
const MAX_STEPS: usize = 100_000;
/// Maximum size of one compiled expression, in bytes.
const MAX_SIZE: usize = 4 << 20;

/// Error of a pattern that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message} (at character {position} of the pattern)")]
pub struct ExpressionError {
    /// Reason why the pattern cannot be used.
    pub kind: ExpressionErrorKind,
    /// Description of the error.
    pub message: String,
    /// Position of the character, from 1.
    pub position: usize,
}

/// Reason why a pattern cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpressionErrorKind {
    /// ECMAScript rejects the pattern, too.
    Invalid,
    /// ECMAScript accepts the pattern, but it exceeds a limit or cannot be translated.
    Unsupported,
}

/// Parsed pattern. It is compiled on first use.
#[derive(Debug)]
pub struct Expression {
    source: String,
    translated: Translated,
    engine: OnceLock<Engine>,
}

/// Engine that matches the pattern.
#[derive(Debug, Clone)]
enum Engine {
    Linear(regex::Regex),
    Stepping(fancy_regex::Regex),
    /// The pattern is too big, which is found out only by compiling it.
    Broken,
}

/// Result of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpressionMatch {
    /// The pattern was found; the match ends at this byte.
    Until(usize),
    /// The pattern was not found.
    No,
    /// The limit of steps or of size was reached first.
    TooMuch,
}

impl ExpressionMatch {
    /// True if the pattern was found.
    pub fn is_sure(self) -> bool {
        matches!(self, Self::Until(_))
    }

    /// True unless it is certain that the pattern does not occur.
    pub fn is_possible(self) -> bool {
        self != Self::No
    }
}

impl ExpressionError {
    /// Creates the error of a pattern that is unsupported as a whole.
    fn unsupported(message: String) -> Self {
        Self { kind: ExpressionErrorKind::Unsupported, message, position: 1 }
    }
}

impl Expression {
    /// Parses a pattern.
    ///
    /// # Errors
    /// Returns an error if the pattern is invalid, too long, or not supported.
    pub fn new(source: &str) -> Result<Self, ExpressionError> {
        if source.len() > MAX_LENGTH {
            let message = format!("the pattern is longer than {MAX_LENGTH} bytes");
            return Err(ExpressionError::unsupported(message));
        }
        let translated = translate(source)?;
        Ok(Self { source: source.to_owned(), translated, engine: OnceLock::new() })
    }

    /// Parses a pattern that matches only at the beginning of a text.
    ///
    /// # Errors
    /// The same as of [`Self::new`].
    pub fn at_start(source: &str) -> Result<Self, ExpressionError> {
        let mut expression = Self::new(source)?;
        expression.translated.text = format!("\\A(?:{})", expression.translated.text);
        Ok(expression)
    }

    /// Returns the pattern as it was written.
    pub fn as_str(&self) -> &str {
        &self.source
    }

    /// Returns the pattern in the syntax of the `regex` crate; `None` if it contains look-around or
    /// back-references.
    pub fn as_linear(&self) -> Option<&str> {
        (!self.translated.is_stepping).then_some(self.translated.text.as_str())
    }

    /// True if a search may reach the limit of steps: the engine backtracks over a nested
    /// repetition.
    pub fn may_give_up(&self) -> bool {
        self.translated.is_stepping && repeats_repeated(&self.source)
    }

    /// Searches a text.
    pub fn find(&self, text: &str) -> ExpressionMatch {
        match self.engine.get_or_init(|| Engine::new(&self.translated)) {
            Engine::Linear(regex) => regex
                .find(text)
                .map_or(ExpressionMatch::No, |found| ExpressionMatch::Until(found.end())),
            Engine::Stepping(regex) => match regex.find(text) {
                Ok(Some(found)) => ExpressionMatch::Until(found.end()),
                Ok(None) => ExpressionMatch::No,
                Err(_) => ExpressionMatch::TooMuch,
            },
            Engine::Broken => ExpressionMatch::TooMuch,
        }
    }

    /// Compiles the pattern now.
    ///
    /// # Errors
    /// Returns an error if the pattern is too big to be compiled.
    pub fn check(&self) -> Result<(), ExpressionError> {
        match self.engine.get_or_init(|| Engine::new(&self.translated)) {
            Engine::Broken => {
                let message =
                    "the pattern is too large, or it has a look-behind without a fixed length";
                Err(ExpressionError::unsupported(message.to_owned()))
            }
            Engine::Linear(_) | Engine::Stepping(_) => Ok(()),
        }
    }
}

impl Clone for Expression {
    fn clone(&self) -> Self {
        Self {
            source: self.source.clone(),
            translated: self.translated.clone(),
            engine: self.engine.clone(),
        }
    }
}

/// Returns true if a group that contains a repetition is itself repeated.
fn repeats_repeated(source: &str) -> bool {
    let repeats = |letter: char| "*+{".contains(letter);
    // For each open group, true if something in the group is repeated.
    let mut open = Vec::new();
    let mut letters = source.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => drop(letters.next()),
            '(' => open.push(false),
            ')' => {
                let is_repeated = letters.peek().copied().is_some_and(repeats);
                if open.pop() == Some(true) && is_repeated {
                    return true;
                }
                if let Some(outer) = open.last_mut() {
                    *outer |= is_repeated;
                }
            }
            letter if repeats(letter) => {
                if let Some(group) = open.last_mut() {
                    *group = true;
                }
            }
            _ => {}
        }
    }
    false
}

impl Engine {
    fn new(translated: &Translated) -> Self {
        let built = if translated.is_stepping {
            fancy_regex::RegexBuilder::new(&translated.text)
                .backtrack_limit(MAX_STEPS)
                .delegate_size_limit(MAX_SIZE)
                .build()
                .map(Self::Stepping)
                .map_err(drop)
        } else {
            regex::RegexBuilder::new(&translated.text)
                .size_limit(MAX_SIZE)
                .build()
                .map(Self::Linear)
                .map_err(drop)
        };
        built.unwrap_or(Self::Broken)
    }
}

#[cfg(test)]
mod tests;
