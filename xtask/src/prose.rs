//! The form of comments: the first word of a doc comment, its headings, and the length of a line.

use crate::finding::Finding;
use crate::source::SourceFile;
use crate::tokens::{self, Token};

/// Maximum number of characters in a line.
const WIDTH: usize = 100;

/// First words of a clause.
const CLAUSES: &[&str] = &[
    "How", "If", "That", "What", "Whatever", "When", "Where", "Whether", "Which", "Who", "Whoever",
    "Why",
];

/// Returns the problems with the comments and the lines of one file.
pub(crate) fn check(file: &SourceFile) -> Vec<Finding> {
    let tokens = tokens::read(&file.text);
    let mut findings: Vec<Finding> =
        first_lines(&tokens).filter_map(|(line, text)| clause(file, line, text)).collect();
    findings.extend(doc_lines(&tokens).filter_map(|(line, text)| heading(file, line, text)));
    findings.extend(long_lines(file, &tokens));
    findings
}

/// Returns the lines of all doc comments, with their line numbers.
fn doc_lines(tokens: &[Token]) -> impl Iterator<Item = (usize, &str)> {
    let is_doc =
        |window: &[Token]| window[0].text == "doc" && window[1].text == "=" && window[2].is_literal;
    let lines = tokens.windows(3).filter(move |window| is_doc(window)).map(|window| &window[2]);
    lines.map(|comment| (comment.line, comment.text.trim_start_matches(['r', '#', '"'])))
}

/// Returns the first line of each doc comment, with its line number.
fn first_lines(tokens: &[Token]) -> impl Iterator<Item = (usize, &str)> {
    let mut before = None;
    doc_lines(tokens).filter(move |(line, _)| before.replace(*line) != Some(*line - 1))
}

/// Finds a heading that continues with its text: rustdoc would show the text as a heading.
fn heading(file: &SourceFile, line: usize, text: &str) -> Option<Finding> {
    let text = text.trim_start().strip_prefix("# Errors ")?.trim_end_matches('"');
    let message = "write the text below the heading `# Errors`, on a line of its own";
    (!text.trim().is_empty()).then(|| Finding::error(&file.path, line, message))
}

fn clause(file: &SourceFile, line: usize, text: &str) -> Option<Finding> {
    let word = text.split_whitespace().next()?;
    let message = format!(
        "a doc comment begins with the clause `{word} …`; begin with a noun phrase for a value \
         (`Maximum number of …`, `True if …`) or a verb for a function (`Returns …`)"
    );
    CLAUSES
        .contains(&word.trim_matches(|letter: char| !letter.is_alphabetic()))
        .then(|| Finding::error(&file.path, line, message))
}

/// Returns the lines that are too long. A line that holds a string literal, a URL or a row of a
/// table cannot always be split.
fn long_lines(file: &SourceFile, tokens: &[Token]) -> Vec<Finding> {
    let mut has_literal = vec![false; file.text.lines().count() + 1];
    let literals = tokens.iter().filter(|token| token.is_literal);
    // A doc comment is a literal, too, but its `#` is no character of the file.
    for token in literals.filter(|token| token.text.starts_with(['"', 'r', 'b', 'c'])) {
        let lines = token.line..=token.line + token.text.matches('\n').count();
        lines.for_each(|line| has_literal[line] = true);
    }
    let mut findings = Vec::new();
    for (number, line) in (1..).zip(file.text.lines()) {
        let length = line.chars().count();
        let is_comment = line.trim_start().starts_with("//");
        let is_free = line.contains("://")
            || is_comment && line.contains("| ")
            || !is_comment && has_literal[number];
        if length > WIDTH && !is_free {
            let message = format!("{length} characters, the limit is {WIDTH}; wrap the line");
            findings.push(Finding::error(&file.path, number, message));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let file = SourceFile { path: "a.rs".into(), owner: "a".into(), text: text.into() };
        check(&file).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn doc_comments_that_begin_with_a_clause_are_found() {
        for (text, count) in [
            ("//! What this is.\nmod a;", 1),
            ("/// How long.\nconst A: u8 = 1;", 1),
            ("struct A {\n    /// Where it is.\n    a: u8,\n}", 1),
            ("/** Who. */\nstruct A;", 1),
            ("/// Reports\n/// What follows.\nfn f() {}", 0),
            ("/// Whatsoever, of 3 bytes.\nfn f() {}", 0),
            ("// What a comment without a mark may be.\nfn f() {}", 0),
            ("fn f() { g(\"/// What\"); }", 0),
        ] {
            assert_eq!(found(text).len(), count, "{text}: {:?}", found(text));
        }
        assert!(found("\n/// Why not.\nfn f() {}")[0].starts_with("a.rs:2: a doc comment begins"));
    }

    #[test]
    fn headings_that_continue_with_their_text_are_found() {
        for (text, count) in [
            ("/// Reads.\n///\n/// # Errors The message.\nfn f() {}", 1),
            ("/// # Errors Returns an error.\nfn f() {}", 1),
            ("/// Reads.\n///\n/// # Errors\n/// The message.\nfn f() {}", 0),
            ("/// # Errors of files\nfn f() {}", 1),
            ("// # Errors The message.\nfn f() {}", 0),
        ] {
            assert_eq!(found(text).len(), count, "{text}: {:?}", found(text));
        }
        let found = found("/// Reads.\n///\n/// # Errors The message.\nfn f() {}");
        assert!(found[0].starts_with("a.rs:3: write the text below the heading"), "{found:?}");
    }

    #[test]
    fn long_lines_are_found_in_code_and_in_comments() {
        let long = "x".repeat(100);
        for (text, count) in [
            (format!("// {long}"), 1),
            (format!("/// {long}\nfn f() {{}}"), 1),
            (format!("fn {long}() {{}}"), 1),
            (format!("//! | {long} | b |"), 0),
            (format!("// https://x.org/{long}"), 0),
            (format!("const A: &str = \"{long}\";"), 0),
            (format!("const A: &str = r#\"\n{long}y\n\"#;"), 0),
            (format!("// {}", "ü".repeat(97)), 0),
        ] {
            assert_eq!(found(&text).len(), count, "{text}: {:?}", found(&text));
        }
    }
}
