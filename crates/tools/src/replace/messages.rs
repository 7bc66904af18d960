//! Messages to the model about an edit that failed or was changed.

use std::fmt::Write as _;

use pollux_protocol::{ToolError, ToolErrorKind};

use super::correction::Correction;
use crate::diff::Difference;
use crate::edit::{EditFailure, EditStrategy, NearbyLines};

/// Returns the error of a search, with information to correct the edit in one step. `path` is the
/// path as the model gave it.
pub(super) fn failure(failure: &EditFailure, path: &str) -> ToolError {
    let (kind, message) = match failure {
        EditFailure::NotFound { nearest } => (
            ToolErrorKind::EditNoOccurrenceFound,
            format!(
                "Could not find an exact match for old_string in '{path}'. Nothing was changed. old_string must \
                 be the file's own text, white space and indentation included; use read_file to see it.{}",
                nearest.as_ref().map(nearest_lines).unwrap_or_default()
            ),
        ),
        EditFailure::Ambiguous { count, lines } => (
            ToolErrorKind::EditExpectedOccurrenceMismatch,
            format!(
                "Failed to edit, Expected 1 occurrence but found {count} for old_string in file: {path}. Nothing was \
                 changed. Add lines around it until it is unique, or set allow_multiple to change all of them.{}",
                places(lines, *count)
            ),
        ),
        EditFailure::NoChange => (
            ToolErrorKind::EditNoChange,
            format!("No changes to apply: the edit does not change the file: {path}"),
        ),
        EditFailure::TooLarge => (
            ToolErrorKind::EditPreparationFailure,
            format!("Failed to edit, the result would be too large: {path}. Nothing was changed."),
        ),
        EditFailure::EmptySearch => (
            ToolErrorKind::EditPreparationFailure,
            format!("Failed to edit, old_string is empty: {path}"),
        ),
    };
    ToolError::new(kind, message)
}

/// Formats the nearest lines with their numbers, and the differences from old_string.
fn nearest_lines(nearest: &NearbyLines) -> String {
    let NearbyLines { first, lines, wanted, others } = nearest;
    let mut text = "\n\nThe nearest lines are:\n".to_owned();
    for (number, line) in (*first..).zip(lines) {
        // Writing to a string cannot fail.
        writeln!(text, "{number}: {line}").unwrap_or_default();
    }
    let joined = |lines: &[String]| lines.join("\n") + "\n";
    let (wanted, found) = (joined(wanted), joined(lines));
    let difference = Difference::between(&wanted, &found).lines();
    if !difference.is_empty() {
        text.push_str("\nThe file's text (+) differs from old_string (-):\n");
        text.push_str(&difference);
    }
    text.pop();
    if !others.is_empty() {
        let others: Vec<String> = others.iter().map(usize::to_string).collect();
        write!(text, "\n\nEqually similar places begin at lines {}.", others.join(", "))
            .unwrap_or_default();
    }
    text
}

fn places(lines: &[usize], count: usize) -> String {
    let numbers: Vec<String> = lines.iter().map(usize::to_string).collect();
    let more = if count > lines.len() { " and more" } else { "" };
    format!(" Found at lines {}{more}.", numbers.join(", "))
}

/// Describes the match and its lines if old_string does not occur exactly in the file: ` Applied
/// fuzzy match at lines 12-15, 20.`
pub(super) fn match_found(strategy: EditStrategy, ranges: &[(usize, usize)]) -> String {
    let how = match strategy {
        EditStrategy::Exact => return String::new(),
        EditStrategy::Flexible => {
            "old_string was found with different indentation or trailing white space,"
        }
        EditStrategy::Regex => "old_string was found with different white space,",
        EditStrategy::Fuzzy => "Applied fuzzy match",
    };
    let range = |(first, last): &(usize, usize)| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    };
    let ranges: Vec<String> = ranges.iter().map(range).collect();
    let line = if ranges.len() == 1 { "line" } else { "lines" };
    format!(" {how} at {line} {}.", ranges.join(", "))
}

/// Returns the message to the model about an edit that another model has corrected.
pub(super) fn corrected(correction: &Correction) -> String {
    let why = correction.explanation.trim_end_matches('.');
    format!(" old_string did not match and was corrected by a model: {why}.")
}

/// Returns the error of an edit that another model considers already done.
pub(super) fn nothing_to_do(explanation: &str, first: &ToolError) -> ToolError {
    ToolError::new(
        ToolErrorKind::EditNoChangeLlmJudgement,
        format!(
            "A model that checked the failed edit reports that the file already contains the change: {explanation} Nothing was changed. The error was: {}",
            first.message
        ),
    )
}

/// Returns the message to the model if the user has changed its text.
pub(super) fn modified_by_user(content: &str) -> String {
    format!(" User modified the `new_string` content to be: {content}.")
}
