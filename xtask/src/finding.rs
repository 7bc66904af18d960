//! Findings of the checks, in a format that both editors and people can read.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Effect of a finding on the result of the check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Severity {
    /// The check fails.
    Error,
    /// The check passes, and the reader decides.
    Warning,
}

/// One broken rule at one place, displayed as `file:line: message`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    /// Path relative to the repository root.
    path: PathBuf,
    /// Line number, counted from 1.
    line: usize,
    severity: Severity,
    /// Description of the problem and its remedy.
    message: String,
}

impl Finding {
    /// Creates a finding that makes the check fail.
    pub(crate) fn error(path: &Path, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, severity: Severity::Error, message: message.into() }
    }

    /// Creates a finding that only asks for attention.
    pub(crate) fn warning(path: &Path, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, severity: Severity::Warning, message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = match self.severity {
            Severity::Error => "",
            Severity::Warning => "warning: ",
        };
        let message = one_line(&self.message);
        write!(formatter, "{}:{}: {mark}{message}", self.path.display(), self.line)
    }
}

/// Shortens a message, which may quote another program's output, to one line of bounded length.
fn one_line(message: &str) -> String {
    const LONGEST: usize = 300;
    let words = message.split_whitespace().collect::<Vec<_>>().join(" ");
    match words.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &words[..end]),
        None => words,
    }
}

/// Prints the findings and their number, and turns errors into exit code 1.
pub(crate) fn report(findings: &[Finding]) -> ExitCode {
    for finding in findings {
        println!("{finding}");
    }
    let errors = findings.iter().filter(|finding| finding.severity == Severity::Error).count();
    println!("{errors} errors, {} warnings", findings.len() - errors);
    if errors == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_prints_where_before_what() {
        let path = Path::new("crates/fs/src/lib.rs");
        assert_eq!(
            Finding::error(path, 7, "too long; split it").to_string(),
            "crates/fs/src/lib.rs:7: too long; split it"
        );
        assert_eq!(
            Finding::warning(path, 1, "long").to_string(),
            "crates/fs/src/lib.rs:1: warning: long"
        );
        let quoted = Finding::error(path, 1, format!("failed:\n\n  a {}", "ü".repeat(400)));
        assert_eq!(quoted.to_string().lines().count(), 1);
        assert!(quoted.to_string().ends_with("ü…"));
    }
}
