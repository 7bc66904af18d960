//! Report of the matches.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use pollux_fs::{FileMatches, MatchLine, SearchResult};
use pollux_protocol::{Display, ToolOutput};
use serde_json::{Value, json};
use unicode_segmentation::UnicodeSegmentation as _;

use super::Params;

/// Number of characters (grapheme clusters) shown of a line.
const MAX_LINE_LENGTH: usize = 2000;
/// Text appended to a line that was cut.
const CUT: &str = "... [truncated]";
/// Maximum number of binary files that are named.
const MAX_BINARY_FILES: usize = 10;

/// Returns the result for model and user. Paths are relative to `base`.
pub(super) fn output(result: &SearchResult, params: &Params, base: &Path) -> ToolOutput {
    let place = place(params);
    let pattern = &params.pattern;
    if result.files.is_empty() {
        let text = format!("No matches found for pattern \"{pattern}\" {place}.");
        let text = text + &binary_files(result, base);
        return ToolOutput::quiet(text)
            .display(Display::Structured(json!({"summary": "No matches found", "matches": []})));
    }
    let limited = if result.truncated {
        let limit = params.total_max_matches.map_or(super::DEFAULT_MATCHES as u64, |limit| limit);
        format!(" (results limited to {limit} matches for performance)")
    } else {
        String::new()
    };
    let (mut text, mut summary) = if params.names_only {
        names(result, &format!("for pattern \"{pattern}\" {place}{limited}"), base)
    } else {
        matches(result, &format!("for pattern \"{pattern}\" {place}{limited}"), base)
    };
    text.push_str(&binary_files(result, base));
    if result.timed_out {
        text.push_str(
            "\n\nThe search exceeded the time limit and was ended early: there may be more matches.",
        );
    }
    if result.truncated {
        summary.push_str(" (limited)");
    }
    let shown: Vec<Value> = result.files.iter().flat_map(|file| displayed(file, base)).collect();
    ToolOutput::quiet(text)
        .display(Display::Structured(json!({"summary": summary, "matches": shown})))
}

fn place(params: &Params) -> String {
    let path = params.dir_path.as_deref().filter(|path| !path.is_empty()).unwrap_or(".");
    match params.include_pattern.as_deref().filter(|glob| !glob.is_empty()) {
        Some(glob) => format!("in path \"{path}\" (filter: \"{glob}\")"),
        None => format!("in path \"{path}\""),
    }
}

fn names(result: &SearchResult, of_what: &str, base: &Path) -> (String, String) {
    let count = result.files.len();
    let paths: Vec<String> = result.files.iter().map(|file| relative(&file.path, base)).collect();
    let text = format!("Found {count} files with matches {of_what}:\n{}", paths.join("\n"));
    (text, format!("Found {count} files"))
}

fn matches(result: &SearchResult, of_what: &str, base: &Path) -> (String, String) {
    let count = result.matches;
    let noun = if count == 1 { "match" } else { "matches" };
    let mut text = format!("Found {count} {noun} {of_what}:\n---\n");
    for file in &result.files {
        // Writing to a string cannot fail.
        writeln!(text, "File: {}", relative(&file.path, base)).unwrap_or_default();
        for line in &file.lines {
            let sign = if line.is_match { ':' } else { '-' };
            writeln!(text, "L{}{sign} {}", line.number, shortened(line)).unwrap_or_default();
        }
        text.push_str("---\n");
    }
    text.truncate(text.trim_end().len());
    (text, format!("Found {count} {noun}"))
}

/// Returns one line for each file with a match that is not text, in the form of GNU grep.
fn binary_files(result: &SearchResult, base: &Path) -> String {
    let named = result.binary.iter().take(MAX_BINARY_FILES);
    let line = |path: &PathBuf| format!("\n{}: binary file matches", relative(path, base));
    let more = match result.binary.len().saturating_sub(MAX_BINARY_FILES) {
        0 => String::new(),
        more => format!("\n... and {more} more binary files with matches"),
    };
    named.map(line).collect::<String>() + &more
}

fn displayed(file: &FileMatches, base: &Path) -> impl Iterator<Item = Value> {
    let (relative, absolute) = (relative(&file.path, base), file.path.display().to_string());
    file.lines.iter().filter(|line| line.is_match).map(move |line| {
        json!({
            "filePath": relative,
            "absolutePath": absolute,
            "lineNumber": line.number,
            "line": shortened(line),
        })
    })
}

fn relative(path: &Path, base: &Path) -> String {
    path.strip_prefix(base).unwrap_or(path).display().to_string()
}

fn shortened(line: &MatchLine) -> String {
    let text = line.text.trim_end();
    if text.len() <= MAX_LINE_LENGTH {
        return text.to_owned();
    }
    match text.grapheme_indices(true).nth(MAX_LINE_LENGTH) {
        Some((at, _)) => format!("{}{CUT}", &text[..at]),
        None => text.to_owned(),
    }
}
