//! Problems of policy files, for the author of the file.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::rule::Tier;

/// Kind of problem. The strings are Gemini CLI's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProblemKind {
    /// The file cannot be read.
    FileRead,
    /// The file is not valid TOML.
    TomlParse,
    /// A field has the wrong type, or is missing.
    SchemaValidation,
    /// Fields exclude each other, or a name is empty.
    RuleValidation,
    /// A pattern is invalid or not supported.
    RegexCompilation,
    /// No tool has this name.
    ToolName,
    /// A rule that never applies, or a pattern that may take many steps.
    Doubtful,
}

impl ProblemKind {
    /// Returns the string of the kind.
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

    /// True if the file cannot be relied on: its denials are unknown.
    pub fn is_error(self) -> bool {
        !matches!(self, Self::ToolName | Self::Doubtful)
    }
}

/// Problem of a policy file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Path of the file.
    pub path: PathBuf,
    /// Tier of the file.
    pub tier: Tier,
    /// Kind of problem.
    pub kind: ProblemKind,
    /// Line and column, from 1; `None` for the file as a whole.
    pub position: Option<(usize, usize)>,
    /// Description of the problem.
    pub message: String,
    /// Suggested correction.
    pub suggestion: Option<String>,
}

impl Problem {
    /// Creates a problem of a file as a whole.
    pub fn new(path: &Path, tier: Tier, kind: ProblemKind, message: impl Into<String>) -> Self {
        let (path, message) = (path.to_owned(), message.into());
        Self { path, tier, kind, position: None, message, suggestion: None }
    }

    /// True if the problem must be fixed before the rules can be relied on.
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

/// Returns line and column of a byte, from 1; columns count characters.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_match_the_kinds_of_problems() {
        use ProblemKind as Kind;
        for (kind, name, is_error) in [
            (Kind::FileRead, "file_read", true),
            (Kind::TomlParse, "toml_parse", true),
            (Kind::SchemaValidation, "schema_validation", true),
            (Kind::RuleValidation, "rule_validation", true),
            (Kind::RegexCompilation, "regex_compilation", true),
            (Kind::ToolName, "tool_name_warning", false),
            (Kind::Doubtful, "doubtful_rule", false),
        ] {
            assert_eq!((kind.as_str(), kind.is_error()), (name, is_error));
        }
    }

    #[test]
    fn positions_count_characters_from_one() {
        let text = "é\nab\n";
        for (byte, expected) in [
            (0, (1, 1)),
            (1, (1, 1)),
            (2, (1, 2)),
            (3, (2, 1)),
            (5, (2, 3)),
            (6, (3, 1)),
            (99, (3, 1)),
        ] {
            assert_eq!(position(text, byte), expected, "{byte}");
        }
    }
}
