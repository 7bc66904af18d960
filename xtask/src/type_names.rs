//! The names of public types, which are unique in the workspace.
//!
//! A name that stands for two things has to be looked up each time it is read.

use std::collections::BTreeMap;

use crate::finding::Finding;
use crate::source::SourceFile;
use crate::tokens;

/// Names that each crate may define once.
const ONE_PER_CRATE: &[&str] = &["Error", "Result"];

/// Keywords that begin the definition of a type.
const DEFINITIONS: &[&str] = &["struct", "enum", "union", "trait", "type"];

/// Crates that are not part of the product.
const EXEMPT: &[&str] = &["xtask", "fuzz"];

/// Returns every public type whose name another public type has.
pub(crate) fn check(files: &[SourceFile]) -> Vec<Finding> {
    let mut first: BTreeMap<String, (&SourceFile, usize)> = BTreeMap::new();
    let mut findings = Vec::new();
    for file in files.iter().filter(|file| !EXEMPT.contains(&file.owner.as_str())) {
        if file.is_test() {
            continue;
        }
        for (name, line) in public_types(&file.text) {
            if ONE_PER_CRATE.contains(&name.as_str()) {
                let key = format!("{}::{name}", file.owner);
                findings.extend(repeated(&mut first, key, file, line));
            } else {
                findings.extend(repeated(&mut first, name, file, line));
            }
        }
    }
    findings
}

/// Remembers a name, or reports it if it is known.
fn repeated<'a>(
    first: &mut BTreeMap<String, (&'a SourceFile, usize)>,
    name: String,
    file: &'a SourceFile,
    line: usize,
) -> Option<Finding> {
    let Some((other, at)) = first.get(&name) else {
        first.insert(name, (file, line));
        return None;
    };
    let message = format!(
        "the public type `{name}` already exists ({}, line {at}); choose a more specific name",
        other.path.display()
    );
    Some(Finding::error(&file.path, line, message))
}

/// Returns the names of the types that a file defines with `pub`, and their lines. Associated types
/// have no visibility of their own and are not among them.
fn public_types(text: &str) -> Vec<(String, usize)> {
    let tokens = tokens::without_tests(&tokens::read(text));
    let is_definition = |window: &&[tokens::Token]| {
        window[0].text == "pub" && DEFINITIONS.contains(&window[1].text.as_str())
    };
    let definitions = tokens.windows(3).filter(is_definition);
    definitions.map(|window| (window[2].text.clone(), window[2].line)).collect()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_name_is_defined_once() {
        let file = |path: &str, owner: &str, text: &str| SourceFile {
            path: path.into(),
            owner: owner.into(),
            text: text.into(),
        };
        let files = [
            file("crates/a/src/a.rs", "a", "pub struct Found;\npub enum Error {}"),
            file("crates/b/src/a.rs", "b", "pub enum Error {}\npub(crate) struct Found;"),
            file("crates/b/src/b.rs", "b", "\npub trait Found {}\npub type Error = u8;"),
            file("crates/b/src/tests.rs", "b", "pub struct Found;"),
            file("crates/c/src/a.rs", "c", "#[cfg(test)]\nmod tests { pub struct Found; }"),
            file("xtask/src/a.rs", "xtask", "pub struct Found;"),
        ];
        let found: Vec<String> = check(&files).iter().map(ToString::to_string).collect();
        assert_eq!(
            found,
            [
                "crates/b/src/b.rs:2: the public type `Found` already exists (crates/a/src/a.rs, line 1); choose a more specific name",
                "crates/b/src/b.rs:3: the public type `b::Error` already exists (crates/b/src/a.rs, \
                 line 1); choose a more specific name",
            ]
        );
    }
}
