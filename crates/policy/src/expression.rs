//! Regular expressions with the meaning that they have in ECMAScript, without flags.
//!
//! Rules are written for Gemini CLI, which gives their patterns to JavaScript. They are read here by its grammar and
//! written anew for an engine that answers in linear time; only look-around and back-references need one that goes
//! back and forth, and that has a limit of steps. What cannot be said in either is an error when the rule is read, so
//! no rule is ever passed over. Text is taken by characters, not by halves of UTF-16.

use std::sync::OnceLock;

mod class;
mod needles;
mod translate;

use translate::{Translated, translate};

/// The longest pattern, in bytes; Gemini CLI has the same limit.
pub(crate) const MAX_LENGTH: usize = 2048;
/// Steps of an engine that goes back and forth.
const MAX_STEPS: usize = 100_000;
/// Bytes of one compiled expression.
const MAX_SIZE: usize = 4 << 20;

/// Why a pattern cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message} (at character {position} of the pattern)")]
pub struct ExpressionError {
    /// What is wrong.
    pub message: String,
    /// The character, from 1.
    pub position: usize,
}

/// A pattern that has been read. It is compiled when it is first needed.
#[derive(Debug)]
pub struct Expression {
    source: String,
    translated: Translated,
    engine: OnceLock<Engine>,
}

/// What does the matching.
#[derive(Debug, Clone)]
enum Engine {
    Linear(regex::Regex),
    Stepping(fancy_regex::Regex),
    /// It is too big, which only shows when it is compiled.
    Broken,
}

/// What became of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// It is there, and ends at this byte.
    Until(usize),
    /// It is not there.
    No,
    /// The limit of steps or of size was reached first.
    TooMuch,
}

impl Found {
    /// True when it is surely there.
    pub fn is_sure(self) -> bool {
        matches!(self, Self::Until(_))
    }

    /// True unless it is surely not there.
    pub fn is_possible(self) -> bool {
        self != Self::No
    }
}

impl Expression {
    /// Reads a pattern.
    ///
    /// # Errors
    /// When it is no pattern, is too long, or means something that cannot be had here.
    pub fn new(source: &str) -> Result<Self, ExpressionError> {
        if source.len() > MAX_LENGTH {
            let message = format!("the pattern is longer than {MAX_LENGTH} bytes");
            return Err(ExpressionError { message, position: 1 });
        }
        let translated = translate(source)?;
        Ok(Self { source: source.to_owned(), translated, engine: OnceLock::new() })
    }

    /// A pattern that is found only where its text begins.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn at_start(source: &str) -> Result<Self, ExpressionError> {
        let mut expression = Self::new(source)?;
        expression.translated.text = format!("\\A(?:{})", expression.translated.text);
        Ok(expression)
    }

    /// As it was written.
    pub fn as_str(&self) -> &str {
        &self.source
    }

    /// It may take many steps, because it looks around or back.
    pub fn is_stepping(&self) -> bool {
        self.translated.is_stepping
    }

    /// Of these texts one is in every text in which it is found; none when nothing of use can be told.
    pub(crate) fn needles(&self) -> Option<Vec<String>> {
        if self.is_stepping() { None } else { needles::needles(&self.translated.text) }
    }

    /// Its search may reach the limit of steps: it goes back and forth over something repeated that is repeated.
    pub(crate) fn may_give_up(&self) -> bool {
        self.is_stepping() && repeats_repeated(&self.source)
    }

    /// Looks for it.
    pub fn find(&self, text: &str) -> Found {
        match self.engine.get_or_init(|| Engine::new(&self.translated)) {
            Engine::Linear(regex) => {
                regex.find(text).map_or(Found::No, |found| Found::Until(found.end()))
            }
            Engine::Stepping(regex) => match regex.find(text) {
                Ok(Some(found)) => Found::Until(found.end()),
                Ok(None) => Found::No,
                Err(_) => Found::TooMuch,
            },
            Engine::Broken => Found::TooMuch,
        }
    }

    /// Compiles it now.
    ///
    /// # Errors
    /// When it is too big to be compiled.
    pub fn check(&self) -> Result<(), ExpressionError> {
        match self.engine.get_or_init(|| Engine::new(&self.translated)) {
            Engine::Broken => {
                let message = "the pattern is too big, or looks back over text of no fixed shape";
                Err(ExpressionError { message: message.to_owned(), position: 1 })
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

/// A group with a repetition inside is repeated itself.
fn repeats_repeated(source: &str) -> bool {
    let repeats = |letter: char| "*+{".contains(letter);
    // For each group that is open, whether something in it is repeated.
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
