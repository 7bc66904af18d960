//! Imports that are restricted to certain crates.
//!
//! A capability that one crate owns (files, processes, HTTP, the terminal) is used through that
//! crate everywhere: its guarantees only hold if no other crate bypasses it.

use crate::finding::Finding;
use crate::lexer;
use crate::source::SourceFile;

/// One restricted path prefix.
struct Ban {
    /// Forbidden prefix: `["std", "fs"]` covers `std::fs` and everything below it.
    prefix: &'static [&'static str],
    /// Crates that may use the prefix.
    owners: &'static [&'static str],
    /// Members that are allowed despite the ban: (crate or `*`, member).
    exceptions: &'static [(&'static str, &'static str)],
    /// Correct alternative, for the message.
    remedy: &'static str,
}

/// Crates that are exempt from all bans, because they are not part of the product.
const EXEMPT: &[&str] = &["scripted", "testkit", "xtask", "fuzz"];

const BANS: &[Ban] = &[
    Ban {
        prefix: &["std", "fs"],
        owners: &["fs"],
        exceptions: &[],
        remedy: "go through pollux-fs, which never leaves a file half-written",
    },
    Ban {
        prefix: &["tokio", "fs"],
        owners: &["fs"],
        exceptions: &[],
        remedy: "go through pollux-fs, on a blocking task where it may take long",
    },
    Ban {
        prefix: &["std", "process"],
        owners: &["shell"],
        exceptions: &[
            ("*", "id"),
            ("pollux", "ExitCode"),
            ("pollux", "Termination"),
            ("pollux", "abort"),
            ("pollux", "exit"),
        ],
        remedy: "start programs through pollux-shell; name allowed members one by one",
    },
    Ban {
        prefix: &["tokio", "process"],
        owners: &["shell"],
        exceptions: &[],
        remedy: "start programs through pollux-shell, which ends the whole process group",
    },
    Ban {
        prefix: &["reqwest"],
        owners: &["net", "models"],
        exceptions: &[],
        remedy: "use the HTTP client of pollux-net, which knows proxies, certificates and retries",
    },
    Ban {
        prefix: &["hyper"],
        owners: &["net", "models"],
        exceptions: &[],
        remedy: "use the HTTP client of pollux-net, which knows proxies, certificates and retries",
    },
    Ban {
        prefix: &["ratatui"],
        owners: &["tui"],
        exceptions: &[],
        remedy: "drawing belongs to the terminal crate; send it an event instead",
    },
];

/// Returns the banned imports of one file. Test code may import anything.
pub(crate) fn check(file: &SourceFile) -> Vec<Finding> {
    if EXEMPT.contains(&file.owner.as_str()) || file.is_test() {
        return Vec::new();
    }
    let tokens = lexer::without_tests(&lexer::tokens(&file.text));
    let mut findings = Vec::new();
    for (path, line) in lexer::paths(&tokens) {
        let Some(ban) = BANS.iter().find(|ban| ban.forbids(&file.owner, &path)) else { continue };
        let message =
            format!("`{}` is not for the crate `{}`; {}", path.join("::"), file.owner, ban.remedy);
        findings.push(Finding::error(&file.path, line, message));
    }
    findings
}

impl Ban {
    fn forbids(&self, owner: &str, path: &[String]) -> bool {
        if self.owners.contains(&owner) {
            return false;
        }
        let Some(member) = path.get(..self.prefix.len()).filter(|start| *start == self.prefix)
        else {
            return false;
        };
        let member = path.get(member.len()).map(String::as_str);
        !self
            .exceptions
            .iter()
            .any(|(who, what)| (*who == "*" || *who == owner) && member == Some(what))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(owner: &str, path: &str, text: &str) -> Vec<String> {
        let file = SourceFile { path: path.into(), owner: owner.into(), text: text.into() };
        check(&file).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn bans_hold_outside_their_owners_and_only_there() {
        let cases = [
            ("agent", "use std::fs;", 1),
            ("agent", "use std::{io, fs::{self, File}};", 2),
            ("agent", "fn f() { ::std::fs::read(p); }", 1),
            ("fs", "use std::fs;", 0),
            ("testkit", "use std::fs;", 0),
            ("agent", "use pollux_fs::write; mod fs; use fs::x;", 0),
            ("tools", "use tokio::process::Command;", 1),
            ("shell", "use tokio::process::Command;", 0),
            ("pollux", "use std::process::{ExitCode, exit};", 0),
            ("pollux", "use std::process;", 1),
            ("pollux", "use std::process::{Command, ExitCode};", 1),
            ("session", "let pid = std::process::id();", 0),
            ("session", "std::process::exit(1);", 1),
            ("agent", "use reqwest as r; use ratatui::text::Line;", 2),
            ("models", "use reqwest::Client;", 0),
            ("agent", "// use std::fs;\nlet s = \"std::fs\";", 0),
            ("agent", "#[cfg(test)]\nmod tests { use std::fs; }", 0),
        ];
        for (owner, text, count) in cases {
            assert_eq!(found(owner, "crates/x/src/a.rs", text).len(), count, "{owner}: {text}");
        }
    }

    #[test]
    fn test_files_are_left_alone() {
        for path in ["crates/agent/src/turn/tests.rs", "crates/agent/tests/suite/a.rs"] {
            assert_eq!(found("agent", path, "use std::fs;"), [""; 0]);
        }
    }

    #[test]
    fn the_message_names_place_import_and_remedy() {
        assert_eq!(
            found("agent", "crates/agent/src/a.rs", "\nuse std::fs::File;"),
            ["crates/agent/src/a.rs:2: `std::fs::File` is not for the crate `agent`; \
             go through pollux-fs, which never leaves a file half-written"]
        );
    }
}
