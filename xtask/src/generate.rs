//! `cargo xtask gen`: reference material that the program itself writes.
//!
//! The man page, the completions and the command-line page are printed by the built program, so
//! they always agree with it.

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

use crate::finding::Finding;
use crate::process;

/// Folder of the generated files, relative to the repository root. All files except the pages
/// of the tools and of the variables are in a subfolder.
pub(crate) const FOLDER: &str = "docs";

/// One generated file.
struct Page {
    /// Path relative to [`FOLDER`].
    path: &'static str,
    /// Program that prints the page.
    source: Source,
    /// Conversion of the printed text to the text of the page.
    dress: fn(&str) -> String,
}

/// Program that prints a page.
enum Source {
    /// Pollux, called with these arguments.
    Program(&'static [&'static str]),
    /// The example of this name.
    Example(&'static str),
}

const PAGES: &[Page] = &[
    Page { path: "generated/pollux.1", source: Source::Program(&["man"]), dress: str::to_owned },
    Page {
        path: "generated/completions/pollux.bash",
        source: Source::Program(&["completions", "bash"]),
        dress: str::to_owned,
    },
    Page {
        path: "generated/completions/_pollux",
        source: Source::Program(&["completions", "zsh"]),
        dress: str::to_owned,
    },
    Page {
        path: "generated/completions/pollux.fish",
        source: Source::Program(&["completions", "fish"]),
        dress: str::to_owned,
    },
    Page {
        path: "generated/completions/pollux.ps1",
        source: Source::Program(&["completions", "powershell"]),
        dress: str::to_owned,
    },
    Page { path: "tools.md", source: Source::Example("declarations"), dress: str::to_owned },
    Page {
        path: "environment.md",
        source: Source::Example("environment_reference"),
        dress: str::to_owned,
    },
    Page {
        path: "generated/settings.md",
        source: Source::Example("settings_reference"),
        dress: str::to_owned,
    },
    Page {
        path: "generated/settings.schema.json",
        source: Source::Example("settings_schema"),
        dress: str::to_owned,
    },
    Page {
        path: "generated/starters.md",
        source: Source::Example("starters"),
        dress: str::to_owned,
    },
    Page {
        path: "generated/slash-commands.md",
        source: Source::Example("slash_commands"),
        dress: str::to_owned,
    },
    Page {
        path: "generated/cli.md",
        source: Source::Program(&["--help"]),
        dress: command_line_page,
    },
];

/// Writes every page.
pub(crate) fn write(root: &Path) -> Result<ExitCode> {
    let programs = process::build_for_development(root)?;
    for page in PAGES {
        let target = root.join(FOLDER).join(page.path);
        if let Some(folder) = target.parent() {
            fs::create_dir_all(folder)
                .with_context(|| format!("cannot create {}", folder.display()))?;
        }
        fs::write(&target, content(root, &programs, page)?)
            .with_context(|| format!("cannot write {}", target.display()))?;
        println!("{FOLDER}/{}", page.path);
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns a finding for each page that is missing or differs from the current output of the
/// program.
pub(crate) fn compare(root: &Path) -> Result<Vec<Finding>> {
    let programs = process::build_for_development(root)?;
    let mut findings = Vec::new();
    for page in PAGES {
        let path = Path::new(FOLDER).join(page.path);
        let current = fs::read_to_string(root.join(&path)).unwrap_or_default();
        if let Some(line) = first_difference(&current, &content(root, &programs, page)?) {
            findings.push(Finding::error(&path, line, "stale; run `cargo xtask gen`"));
        }
    }
    Ok(findings)
}

/// Returns the first line, counted from 1, where two texts differ; `None` if they are equal.
fn first_difference(current: &str, fresh: &str) -> Option<usize> {
    if current == fresh {
        return None;
    }
    let equal = current.split('\n').zip(fresh.split('\n')).take_while(|(old, new)| old == new);
    Some(equal.count() + 1)
}

fn content(root: &Path, programs: &Path, page: &Page) -> Result<String> {
    let mut command = match page.source {
        Source::Program(arguments) => {
            let mut command = Command::new(programs.join("pollux"));
            command.args(arguments);
            command
        }
        Source::Example(name) => Command::new(programs.join("examples").join(name)),
    };
    // A fixed environment: no colours, a fixed width, and no settings of the user who runs this
    // task.
    command
        .current_dir(root)
        .env("NO_COLOR", "1")
        .env("COLUMNS", "100")
        .env("GEMINI_CLI_HOME", root.join("target").join("generate-home"));
    Ok((page.dress)(&process::capture(command)?))
}

fn command_line_page(help: &str) -> String {
    let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
    format!(
        "# The command line\n\n\
         This page is generated by `cargo xtask gen` from `pollux --help`.\n\n\
         ```text\n{}\n```\n",
        lines.join("\n").trim_end()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_is_a_line_number() {
        let cases = [
            ("a\nb\n", "a\nb\n", None),
            ("", "a\n", Some(1)),
            ("a\nb\n", "a\nc\n", Some(2)),
            ("a\n", "a\nb\n", Some(2)),
            ("a\nb", "a\nb\n", Some(3)),
        ];
        for (current, fresh, expected) in cases {
            assert_eq!(first_difference(current, fresh), expected, "{current:?} {fresh:?}");
        }
    }

    #[test]
    fn the_help_is_fenced_without_trailing_blanks() {
        let page = command_line_page("Usage: x  \n\n");
        assert!(page.ends_with("```text\nUsage: x\n```\n"), "{page}");
    }
}
