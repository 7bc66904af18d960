//! What is wrong with a policy file, so that whoever wrote it can mend it.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::rule::Tier;

/// What sort of thing is wrong. The strings are Gemini CLI's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProblemKind {
    /// The file cannot be read.
    FileRead,
    /// It is no TOML.
    TomlParse,
    /// A field has the wrong type, or is missing.
    SchemaValidation,
    /// Fields exclude each other, or a name is empty.
    RuleValidation,
    /// A pattern is no pattern, or cannot be expressed.
    RegexCompilation,
    /// A name that no tool has.
    ToolName,
    /// A rule that nothing ever comes to, or a pattern that may take many steps.
    Doubtful,
}

impl ProblemKind {
    /// Its string.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::FileRead => "file_read",
            Self::TomlParse => "toml_parse",
            Self::SchemaValidation => "schema_validation",
            Self::RuleValidation => "rule_validation",
            Self::RegexCompilation => "regex_compilation",
            Self::ToolName => "tool_name_warning",
            Self::Doubtful => "doubtful_rule",
        }
    }

    /// The file cannot be relied on: nobody knows what it would have denied.
    pub fn is_error(self) -> bool {
        !matches!(self, Self::ToolName | Self::Doubtful)
    }
}

/// Something that is wrong with a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file.
    pub path: PathBuf,
    /// Whose it is.
    pub tier: Tier,
    /// What sort of thing.
    pub kind: ProblemKind,
    /// Line and column, from 1; none for the file as a whole.
    pub position: Option<(usize, usize)>,
    /// What is wrong.
    pub message: String,
    /// What would be right.
    pub suggestion: Option<String>,
}

impl Problem {
    /// A problem of a file as a whole.
    pub fn new(path: &Path, tier: Tier, kind: ProblemKind, message: impl Into<String>) -> Self {
        let (path, message) = (path.to_owned(), message.into());
        Self { path, tier, kind, position: None, message, suggestion: None }
    }

    /// It must be mended before the rules can be relied on.
    pub fn is_error(&self) -> bool {
        self.kind.is_error()
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = if self.is_error() { "error" } else { "warning" };
        let tier = self.tier.name().to_uppercase();
        write!(formatter, "[{tier}] Policy file {severity} in {}", self.path.display())?;
        if let Some((line, column)) = self.position {
            write!(formatter, ":{line}:{column}")?;
        }
        write!(formatter, ":\n  {}", self.message)?;
        match &self.suggestion {
            Some(suggestion) => write!(formatter, "\n  Suggestion: {suggestion}"),
            None => Ok(()),
        }
    }
}

/// Line and column of a byte, from 1; columns count characters.
pub(crate) fn position(text: &str, byte: usize) -> (usize, usize) {
    let mut byte = byte.min(text.len());
    while !text.is_char_boundary(byte) {
        byte -= 1;
    }
    let before = &text[..byte];
    let line = before.matches('\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    (line, before[start..].chars().count() + 1)
}
