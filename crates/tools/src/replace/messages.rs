//! What a model is told when an edit does not go as it asked.

use std::fmt::Write as _;

use pollux_protocol::{ToolError, ToolErrorKind};

use super::correction::Correction;
use crate::edit::{EditFailure, NearbyLines};

/// The failure of a search, with what helps to mend it in one step. `path` is the path as the model gave it.
pub(super) fn failure(failure: &EditFailure, path: &str) -> ToolError {
    let (kind, message) = match failure {
        EditFailure::NotFound { nearest } => (
            ToolErrorKind::EditNoOccurrenceFound,
            format!(
                "Failed to edit, 0 occurrences found for old_string in {path}. Nothing was changed. old_string must \
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
            format!("No changes to apply: the edit leaves the file as it is: {path}"),
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

fn nearest_lines(nearest: &NearbyLines) -> String {
    let mut text = "\n\nThe nearest lines are:\n".to_owned();
    for (number, line) in (nearest.first..).zip(&nearest.lines) {
        // Writing to a string cannot fail.
        writeln!(text, "{number}: {line}").unwrap_or_default();
    }
    text.pop();
    text
}

fn places(lines: &[usize], count: usize) -> String {
    let numbers: Vec<String> = lines.iter().map(usize::to_string).collect();
    let more = if count > lines.len() { " and more" } else { "" };
    format!(" Found at lines {}{more}.", numbers.join(", "))
}

/// Where a fuzzy match went: ` Applied fuzzy match at lines 12-15, 20.`
pub(super) fn fuzzy_match(ranges: &[(usize, usize)]) -> String {
    let range = |(first, last): &(usize, usize)| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    };
    let ranges: Vec<String> = ranges.iter().map(range).collect();
    let line = if ranges.len() == 1 { "line" } else { "lines" };
    format!(" Applied fuzzy match at {line} {}.", ranges.join(", "))
}

/// What the model is told of an edit that another model has mended.
pub(super) fn corrected(correction: &Correction) -> String {
    let why = correction.explanation.trim_end_matches('.');
    format!(" old_string did not match and was corrected by a model: {why}.")
}

/// The failure of an edit that another model holds for done already.
pub(super) fn nothing_to_do(explanation: &str, first: &ToolError) -> ToolError {
    ToolError::new(
        ToolErrorKind::EditNoChangeLlmJudgement,
        format!(
            "A model that looked at the failed edit says that the file already is as the change wants it: {explanation} \
             Nothing was changed. The failure was: {}",
            first.message
        ),
    )
}

/// What the model is told when the person has changed its text.
pub(super) fn modified_by_user(content: &str) -> String {
    format!(" User modified the `new_string` content to be: {content}.")
}
