//! The shape of files: their length, their names, and the contents of each `lib.rs`.

use std::path::Path;

use crate::finding::Finding;
use crate::source::SourceFile;
use crate::tokens::{self, Token};

/// Maximum number of lines; a longer file makes the check fail.
const HARD_LIMIT: usize = 800;
/// Number of lines, without test code, above which a file should be split.
const SOFT_LIMIT: usize = 500;
/// Files that may exceed the hard limit: tables that are easier to read in one file.
const LONG_TABLES: &[&str] = &[];
/// File names that do not describe the contents.
const EMPTY_NAMES: &[&str] = &["utils", "util", "common", "helpers", "helper", "misc", "manager"];

/// Returns the problems with the shape of one file.
pub(crate) fn check(file: &SourceFile) -> Vec<Finding> {
    let tokens = tokens::read(&file.text);
    let mut findings = Vec::new();
    findings.extend(length(file, &tokens));
    findings.extend(name(file));
    if file.path.ends_with(Path::new("src/lib.rs")) {
        findings.extend(contents_only(file, &tokens));
    }
    findings
}

fn length(file: &SourceFile, tokens: &[Token]) -> Option<Finding> {
    let total = file.text.lines().count();
    if total > HARD_LIMIT && !LONG_TABLES.iter().any(|table| file.path == Path::new(table)) {
        let message = format!("{total} lines, the limit is {HARD_LIMIT}; split it by subject");
        return Some(Finding::error(&file.path, HARD_LIMIT + 1, message));
    }
    let product = total - tokens::lines_of_tests(tokens);
    if !file.is_test() && product > SOFT_LIMIT {
        let message = format!("{product} lines without tests; past {SOFT_LIMIT}, split it");
        return Some(Finding::warning(&file.path, SOFT_LIMIT + 1, message));
    }
    None
}

fn name(file: &SourceFile) -> Option<Finding> {
    let in_sources = file.path.components().any(|part| part.as_os_str() == "src");
    let named = |part: &std::ffi::OsStr| {
        let part = part.to_string_lossy();
        EMPTY_NAMES.iter().find(|name| part.strip_suffix(".rs").unwrap_or(&part) == **name).copied()
    };
    let empty = file.path.iter().find_map(named).filter(|_| in_sources)?;
    let message = format!("`{empty}` is not descriptive; name the file after its content");
    Some(Finding::error(&file.path, 1, message))
}

/// Checks that a `lib.rs` is a table of contents: documentation, `mod` and `use`, but no code.
fn contents_only(file: &SourceFile, tokens: &[Token]) -> Option<Finding> {
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate() {
        match token.text.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            "fn" | "struct" | "enum" | "union" | "trait" | "impl" | "static" | "const" | "type"
            | "macro_rules" | "unsafe"
                if depth == 0 && index.checked_sub(1).is_none_or(|i| tokens[i].text != "::") =>
            {
                let message = format!(
                    "lib.rs is a table of contents; move this `{}` to a module",
                    token.text
                );
                return Some(Finding::warning(&file.path, token.line, message));
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        let file = SourceFile { path: path.into(), owner: "a".into(), text: text.into() };
        check(&file).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn long_files_fail_and_longish_files_warn() {
        let lines = |count: usize| "// x\n".repeat(count);
        assert_eq!(found("crates/a/src/b.rs", &lines(500)), [""; 0]);
        assert_eq!(
            found("crates/a/src/b.rs", &lines(501)),
            ["crates/a/src/b.rs:501: warning: 501 lines without tests; past 500, split it"]
        );
        assert_eq!(
            found("crates/a/src/b.rs", &lines(801)),
            ["crates/a/src/b.rs:801: 801 lines, the limit is 800; split it by subject"]
        );
        assert_eq!(found("crates/a/tests/suite/b.rs", &lines(700)), [""; 0]);
    }

    #[test]
    fn test_modules_do_not_count_towards_the_soft_limit() {
        let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", "a();\n".repeat(300));
        let text = format!("{}{tests}", "// x\n".repeat(490));
        assert_eq!(found("crates/a/src/b.rs", &text), [""; 0]);
    }

    #[test]
    fn empty_names_are_refused_as_files_and_folders() {
        for path in ["crates/a/src/utils.rs", "crates/a/src/helpers/x.rs"] {
            assert_eq!(found(path, "").len(), 1, "{path}");
        }
        assert_eq!(found("crates/a/src/utilisation.rs", ""), [""; 0]);
    }

    #[test]
    fn a_library_root_holds_no_code() {
        let contents =
            "//! Docs.\n#![allow(x)]\nmod a;\npub mod b { pub use c::fn_d; }\npub use a::A;";
        assert_eq!(found("crates/a/src/lib.rs", contents), [""; 0]);
        assert_eq!(
            found("crates/a/src/lib.rs", "mod a;\npub fn f() {}"),
            ["crates/a/src/lib.rs:2: warning: lib.rs is a table of contents; \
             move this `fn` to a module"]
        );
    }
}
