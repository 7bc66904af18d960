//! Checks that the names of tools do not appear in the agent loop and the policy.
//!
//! Facts about a tool that others need are data in its declaration (`ToolFacts`, effects). A name
//! in `agent` or `policy` would give built-in tools a property that an MCP server's tool cannot
//! have.

use std::collections::BTreeSet;
use std::path::Path;

use crate::finding::Finding;
use crate::source::SourceFile;
use crate::tokens::{self, Token};

/// Crates that must not name a tool.
const WITHOUT_NAMES: &[&str] = &["agent", "policy"];

/// File with the names that are fixed by the formats of policy files and settings.
const FIXED_NAMES: &str = "crates/policy/src/names.rs";

/// A reason for which a file may contain literals that look like tool names.
struct Excuse {
    path: &'static str,
    /// Permitted literals; empty for any literal.
    literals: &'static [&'static str],
    /// Explanation.
    reason: &'static str,
}

const EXCUSES: &[Excuse] = &[
    Excuse {
        path: FIXED_NAMES,
        literals: &[],
        reason: "the formats of policy files and settings prescribe them",
    },
    Excuse {
        path: "crates/agent/src/prompt/built_in.rs",
        literals: &[],
        reason: "texts of the system instruction describe these built-in tools",
    },
    Excuse {
        path: "crates/agent/src/scheduler/hooked.rs",
        literals: &["ask_user", "exit_plan_mode"],
        reason: "the format of hook payloads uses these names for questions and plans",
    },
    Excuse {
        path: "crates/policy/src/rule.rs",
        literals: &["ask_user"],
        reason: "policy files use this name for the ruling",
    },
];

/// Returns every name of a tool in a forbidden place, and every excuse that is not needed.
pub(crate) fn check(files: &[SourceFile]) -> Vec<Finding> {
    let built_in = built_in(files);
    let fixed_literals: Vec<Token> = files
        .iter()
        .filter(|file| file.path == Path::new(FIXED_NAMES))
        .flat_map(|file| tokens::literals(&file.text))
        .collect();
    let fixed = fixed_literals.iter().filter_map(|literal| name_in(&literal.text)).collect();
    let names: BTreeSet<&str> = built_in.union(&fixed).copied().collect();
    let mut findings = Vec::new();
    for name in built_in.difference(&fixed) {
        let message = format!("the list of names that rules may use lacks the tool `{name}`");
        findings.push(Finding::error(Path::new(FIXED_NAMES), 1, message));
    }
    let mut used = vec![false; EXCUSES.len()];
    for file in files {
        if !WITHOUT_NAMES.contains(&file.owner.as_str()) || file.is_test() {
            continue;
        }
        for literal in tokens::literals(&file.text) {
            let Some(name) = names.iter().find(|name| names_tool(&literal.text, name)) else {
                continue;
            };
            let excuse = EXCUSES.iter().position(|excuse| excuse.holds(&file.path, name));
            if let Some(excuse) = excuse {
                used[excuse] = true;
                continue;
            }
            let message = format!(
                "the tool `{name}` by its name; use `ToolFacts` or effects instead, so that the code works for any tool"
            );
            findings.push(Finding::error(&file.path, literal.line, message));
        }
    }
    for (excuse, _) in EXCUSES.iter().zip(used).filter(|(_, used)| !used) {
        let message = format!(
            "this file contains no tool name any more ({}); remove the exception",
            excuse.reason
        );
        findings.push(Finding::error(Path::new(excuse.path), 1, message));
    }
    findings
}

impl Excuse {
    fn holds(&self, path: &Path, name: &str) -> bool {
        path == Path::new(self.path) && (self.literals.is_empty() || self.literals.contains(&name))
    }
}

/// Returns the names of the built-in tools, which are constants called `NAME` in the files of the
/// tools.
fn built_in(files: &[SourceFile]) -> BTreeSet<&str> {
    let tools = files.iter().filter(|file| file.owner == "tools" && !file.is_test());
    let lines = tools.flat_map(|file| file.text.lines());
    lines
        .filter_map(|line| {
            let (kind, value) = line.trim_start().split_once(": &")?;
            let is_name = matches!(kind, "const NAME" | "pub(crate) const NAME");
            name_in(value.split_once("= ")?.1.strip_suffix(';')?).filter(|_| is_name)
        })
        .collect()
}

/// Returns the name in a literal that contains nothing else: lower-case letters, digits and `_`.
fn name_in(literal: &str) -> Option<&str> {
    let name = literal.strip_prefix('"')?.strip_suffix('"')?;
    let is_part = |letter: char| letter.is_ascii_lowercase() || matches!(letter, '0'..='9' | '_');
    (!name.is_empty() && name.chars().all(is_part)).then_some(name)
}

/// Returns true if a literal is the name of a tool, or contains the name in a text. A name that is
/// an English word only counts in a text if it is quoted.
fn names_tool(literal: &str, name: &str) -> bool {
    if name_in(literal) == Some(name) {
        return true;
    }
    let is_word = !name.contains('_');
    literal.match_indices(name).any(|(start, _)| {
        let before = literal[..start].chars().next_back();
        let after = literal[start + name.len()..].chars().next();
        let is_bounded = |letter: Option<char>| {
            letter.is_none_or(|letter| letter != '_' && !letter.is_alphanumeric())
        };
        is_bounded(before)
            && is_bounded(after)
            && (!is_word || (before, after) == (Some('`'), Some('`')))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, owner: &str, text: &str) -> SourceFile {
        SourceFile { path: path.into(), owner: owner.into(), text: text.into() }
    }

    /// Returns the findings for `text` in the agent crate, next to files that need all excuses.
    fn found(text: &str) -> Vec<String> {
        let mut files = vec![
            file(FIXED_NAMES, "policy", "const KNOWN: &[&str] = &[\"write_file\", \"glob\"];"),
            file("crates/tools/src/a.rs", "tools", "const NAME: &str = \"write_file\";"),
            file("crates/tools/src/b.rs", "tools", "    const NAME: &'static str = \"glob\";"),
            file("crates/agent/src/x.rs", "agent", text),
        ];
        let excused = EXCUSES.iter().filter(|excuse| excuse.path != FIXED_NAMES);
        files.extend(excused.map(|excuse| {
            let literal = excuse.literals.first().unwrap_or(&"glob");
            file(excuse.path, "policy", &format!("const A: &str = \"{literal}\";"))
        }));
        let known = "const K: &[&str] = &[\"write_file\", \"glob\", \"ask_user\", \"replace\"];";
        files[0].text = known.to_owned();
        check(&files).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_name_is_found_wherever_it_acts() {
        let cases = [
            ("if name == \"write_file\" {}", 1),
            ("const TOOLS: [&str; 2] = [\n\"glob\",\n\"write_file\"];", 2),
            ("let text = \"Use write_file for that.\";", 1),
            ("let text = \"Use `glob` for that.\";", 1),
            ("let text = r#\"call \"write_file\" now\"#;", 1),
            ("let text = \"a glob pattern\"; let other = \"rewrite_files\";", 0),
            ("// write_file\n/* \"glob\" */ fn write_file() { glob(); }", 0),
            ("#[cfg(test)]\nmod tests {\n    const A: &str = \"glob\";\n}", 0),
        ];
        for (text, count) in cases {
            assert_eq!(found(text).len(), count, "{text}: {:?}", found(text));
        }
        assert_eq!(
            found("\nlet tool = \"glob\";"),
            [
                "crates/agent/src/x.rs:2: the tool `glob` by its name; use `ToolFacts` or effects instead, so that the code works for any tool"
            ]
        );
    }

    #[test]
    fn excuses_hold_for_their_file_and_as_long_as_they_are_needed() {
        let needless = check(&[file(FIXED_NAMES, "policy", "const K: &str = \"glob\";")]);
        assert_eq!(needless.len(), EXCUSES.len() - 1);
        let other = found("let word = \"ask_user\";");
        assert!(other[0].contains("the tool `ask_user` by its name"), "{other:?}");
    }

    #[test]
    fn a_tool_that_rules_cannot_name_is_found() {
        let files = [file("crates/tools/src/a.rs", "tools", "const NAME: &str = \"new_tool\";")];
        let missing = check(&files);
        assert!(missing[0].to_string().contains("lacks the tool `new_tool`"), "{missing:?}");
    }
}
