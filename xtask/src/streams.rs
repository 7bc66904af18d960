//! Checks the use of standard streams, which is reserved for frontends and for the output modules
//! of the program.
//!
//! A library that prints writes into the output of its caller, and a library that reads standard
//! input takes it from the frontend. Clippy denies the printing macros, but each file may allow
//! them again, and Clippy does not check the stream handles.

use std::path::Path;

use crate::finding::Finding;
use crate::lexer::{self, Token};
use crate::source::SourceFile;

/// Crates that communicate with the user, and crates that are not part of the product.
const FRONTENDS: &[&str] = &["line", "scripted", "testkit", "xtask", "fuzz"];

/// File that uses a standard stream for a good reason.
struct OutputModule {
    path: &'static str,
    /// Names of the streams.
    streams: &'static [&'static str],
    reason: &'static str,
}

const OUTPUT_MODULES: &[OutputModule] = &[
    OutputModule {
        path: "crates/pollux/src/stdout.rs",
        streams: &["stdout"],
        reason: "prints the output of subcommands",
    },
    OutputModule {
        path: "crates/pollux/src/stderr.rs",
        streams: &["stderr"],
        reason: "prints messages",
    },
    OutputModule {
        path: "crates/pollux/src/input.rs",
        streams: &["stdin"],
        reason: "sees whether there is input to read",
    },
    OutputModule {
        path: "crates/pollux/src/input/stdin.rs",
        streams: &["stdin"],
        reason: "reads the input of a headless run",
    },
    OutputModule {
        path: "crates/pollux/src/run.rs",
        streams: &["stdin", "stdout", "stderr"],
        reason: "sees which of them are terminals",
    },
    OutputModule {
        path: "crates/shell/src/child/unix.rs",
        streams: &["stdin"],
        reason: "gives a child its terminal, in the child",
    },
    OutputModule {
        path: "crates/agent/src/loop_guard/corpus.rs",
        streams: &["stdout"],
        reason: "is compiled for tests only, and prints their figures",
    },
];

/// Standard streams, by their names in `std::io`, `tokio::io` and `rustix::stdio`.
const STREAMS: &[&str] = &["stdin", "stdout", "stderr"];

/// Modules that contain the streams.
const MODULES: &[&str] = &["io", "stdio"];

/// Macros that print, each with its stream.
const MACROS: &[(&str, &str)] = &[
    ("print", "stdout"),
    ("println", "stdout"),
    ("eprint", "stderr"),
    ("eprintln", "stderr"),
    ("dbg", "stderr"),
];

/// Returns every use of a standard stream outside frontends and output modules, and every output
/// module that uses no stream.
pub(crate) fn check(files: &[SourceFile]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut needed = vec![false; OUTPUT_MODULES.len()];
    for file in files.iter().filter(|file| !is_frontend(file)) {
        let tokens = lexer::without_tests(&lexer::tokens(&file.text));
        for (stream, name, line) in uses(&tokens) {
            let module = OUTPUT_MODULES.iter().position(|module| module.has(&file.path, stream));
            if let Some(module) = module {
                needed[module] = true;
                continue;
            }
            let message = format!(
                "`{name}` outside the frontends and the output modules of the program; report it as \
                 an event, through `Notices`, or as an error"
            );
            findings.push(Finding::error(&file.path, line, message));
        }
    }
    for (module, _) in OUTPUT_MODULES.iter().zip(needed).filter(|(_, needed)| !needed) {
        let message =
            format!("no standard stream is used here any more ({}): drop it", module.reason);
        findings.push(Finding::error(Path::new(module.path), 1, message));
    }
    findings
}

impl OutputModule {
    fn has(&self, path: &Path, stream: &str) -> bool {
        path == Path::new(self.path) && self.streams.contains(&stream)
    }
}

/// Returns true for frontends, tests and examples, which are separate programs.
fn is_frontend(file: &SourceFile) -> bool {
    let is_example = file.path.components().any(|part| part.as_os_str() == "examples");
    FRONTENDS.contains(&file.owner.as_str()) || is_example || file.is_test()
}

/// Returns the uses of standard streams: the stream, its name in the source, and the line.
fn uses(tokens: &[Token<'_>]) -> Vec<(&'static str, String, usize)> {
    let mut found = Vec::new();
    for (path, line) in lexer::paths(tokens) {
        let member = path.windows(2).find_map(|pair| {
            let stream = STREAMS.iter().find(|stream| *stream == &pair[1])?;
            MODULES.contains(&pair[0].as_str()).then_some(*stream)
        });
        found.extend(member.map(|stream| (stream, path.join("::"), line)));
    }
    for pair in tokens.windows(2).filter(|pair| pair[1].text == "!") {
        let printing = MACROS.iter().find(|(name, _)| *name == pair[0].text);
        found.extend(printing.map(|(name, stream)| (*stream, format!("{name}!"), pair[0].line)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, owner: &str, text: &str) -> SourceFile {
        SourceFile { path: path.into(), owner: owner.into(), text: text.into() }
    }

    /// Returns the findings in one file, next to output modules that all use their streams.
    fn found(path: &str, owner: &str, text: &str) -> Vec<String> {
        let mut files = vec![file(path, owner, text)];
        files.extend(OUTPUT_MODULES.iter().filter(|module| module.path != path).map(|module| {
            file(module.path, "pollux", &format!("std::io::{}();", module.streams[0]))
        }));
        check(&files).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn streams_and_printing_are_found_in_libraries() {
        let cases = [
            ("std::io::stdout().lock();", 1),
            ("use std::io;\nfn f() { io::stderr(); }", 1),
            ("use std::io::{Write, stdin};", 1),
            ("use tokio::io::{stderr as e, stdout};", 2),
            ("rustix::stdio::stdout();", 1),
            ("println!(\"a\"); eprint!(\"b\"); dbg!(c);", 3),
            ("#![allow(clippy::print_stdout)]\nfn f() { std::print!(\"x\") }", 1),
            ("use std::process::Stdio; child.stdin.take(); let stdout = 1; writeln!(f, \"x\");", 0),
            ("fn print(stdout: &str) {} // println!(\"x\")", 0),
            ("let text = \"println!(std::io::stdout())\";", 0),
            ("#[cfg(test)]\nmod tests { fn f() { println!(\"x\"); std::io::stdin(); } }", 0),
        ];
        for (text, count) in cases {
            let found = found("crates/agent/src/a.rs", "agent", text);
            assert_eq!(found.len(), count, "{text}: {found:?}");
        }
        assert_eq!(
            found("crates/agent/src/a.rs", "agent", "\nuse std::io::stdout;"),
            [
                "crates/agent/src/a.rs:2: `std::io::stdout` outside the frontends and the output modules \
              of the program; report it as an event, through `Notices`, or as an error"
            ]
        );
    }

    #[test]
    fn frontends_and_output_modules_have_their_streams_and_no_others() {
        for (path, owner, count) in [
            ("crates/line/src/output.rs", "line", 0),
            ("crates/host/examples/frontend.rs", "host", 0),
            ("crates/host/tests/suite/a.rs", "host", 0),
            ("crates/pollux/src/stdout.rs", "pollux", 0),
            ("crates/pollux/src/program.rs", "pollux", 1),
        ] {
            assert_eq!(found(path, owner, "std::io::stdout();").len(), count, "{path}");
        }
        // The wrong stream is used, and the stream of the module is unused.
        assert_eq!(found("crates/pollux/src/stdout.rs", "pollux", "io::stderr();").len(), 2);
    }
}
