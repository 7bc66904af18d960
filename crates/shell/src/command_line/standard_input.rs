//! Programs that run their standard input as a shell script.

use super::model::{SimpleCommand, Word};
use super::nested::BUILT_IN;
use super::programs::DIRECTORIES;
use super::table::{RunsInput, Usage};
use super::walk::Walk;

/// Shells without a table, by their names in any directory.
const SHELLS: [&str; 17] = [
    "busybox",
    "csh",
    "elvish",
    "fish",
    "hush",
    "ksh93",
    "nu",
    "osh",
    "pdksh",
    "posh",
    "powershell",
    "pwsh",
    "sash",
    "tcsh",
    "toybox",
    "xonsh",
    "ysh",
];

/// Programs without a table that do not run their standard input as a shell script: interpreters of
/// other languages, whose code no rule can read, and filters. All other programs may do so, because
/// many start a shell (`unshare`, `script`, `newgrp`, `parallel`).
const OTHERS: [&str; 62] = [
    "Rscript",
    "brotli",
    "cargo-fmt",
    "clang-format",
    "colordiff",
    "datamash",
    "delta",
    "deno",
    "diffstat",
    "dos2unix",
    "dot",
    "elixir",
    "fx",
    "fzf",
    "gpg",
    "groovy",
    "gron",
    "hexyl",
    "html2text",
    "java",
    "julia",
    "less",
    "lua",
    "luajit",
    "lz4",
    "mlr",
    "more",
    "most",
    "neato",
    "node",
    "nodejs",
    "openssl",
    "pandoc",
    "pbcopy",
    "perl",
    "php",
    "protoc",
    "pv",
    "pypy",
    "python",
    "racket",
    "ruby",
    "shellcheck",
    "shfmt",
    "sponge",
    "sqlfluff",
    "swift",
    "taplo",
    "tclsh",
    "tidy",
    "ts",
    "ts-node",
    "tsx",
    "unix2dos",
    "units",
    "wl-copy",
    "xclip",
    "xmllint",
    "xq",
    "xsel",
    "yq",
    "zstd",
];

impl SimpleCommand {
    /// Returns true if the program, which has no table, may run its standard input.
    pub(super) fn may_run_input(&self) -> bool {
        let name = self.base_name();
        let is_sourced = matches!(self.name(), "." | "source");
        if is_sourced {
            return self.words.iter().skip(1).any(may_be_input);
        }
        if !self.receives_input || name.is_empty() {
            return false;
        }
        if SHELLS.contains(&name) {
            return true;
        }
        let folder = self.name().rsplit_once('/').map(|(folder, _)| folder);
        // A file of the project is like a script in a file, which no rule can read either.
        let is_installed = folder.is_none_or(|folder| DIRECTORIES.contains(&folder));
        let version = |letter: char| letter.is_ascii_digit() || letter == '.';
        let other = name.trim_end_matches(version);
        // The reader lists the words of a loop and of a condition like a command.
        let is_syntax = matches!(name, "for" | "[[") || BUILT_IN.contains(&name);
        is_installed && !is_syntax && !OTHERS.contains(&other)
    }

    /// Returns true if the program, which has this table, may start a shell that reads the standard
    /// input.
    pub(super) fn may_start_shell(&self, usage: &Usage, walk: &Walk<'_>, is_known: bool) -> bool {
        let has_command = !walk.inner.scripts.is_empty() || !walk.inner.commands.is_empty();
        self.receives_input
            && match usage.runs_input {
                Some(RunsInput::Always) => true,
                Some(RunsInput::WithoutCommand) => !has_command,
                Some(RunsInput::WithoutFile) => false,
                // Options may name a program that runs the input (`make -f -`, `docker exec`).
                None => !is_known && usage.starts.is_some(),
            }
    }
}

/// Returns true if the program with this table is a shell that runs its standard input.
pub(super) fn runs_input(usage: &Usage, walk: &Walk<'_>, is_known: bool) -> bool {
    let has_script = !walk.inner.scripts.is_empty();
    let has_file = walk.operand_words().first().is_some_and(|file| !may_be_input(file));
    let is_shell = usage.runs_input == Some(RunsInput::WithoutFile);
    is_shell && !(is_known && (has_script || has_file))
}

/// Returns true for a file that may be the standard input: a file in `/dev` or `/proc`, or one of
/// such a name, because the directory may have been changed before.
fn may_be_input(word: &Word) -> bool {
    let (Word::Literal(text) | Word::InHome(text) | Word::InFolder(text)) = word else {
        return true;
    };
    if text == "-" {
        return true;
    }
    let mut path: Vec<&str> = Vec::new();
    let mut is_absolute = text.starts_with('/') && matches!(word, Word::Literal(_));
    for component in text.split('/').filter(|component| !matches!(*component, "" | ".")) {
        match component {
            // Enough of them lead to the root directory.
            ".." => is_absolute |= path.pop().is_none(),
            component => path.push(component),
        }
    }
    let is_device = is_absolute && matches!(path.first(), Some(&"dev" | &"proc"));
    let is_numbered = |name: &&str| name.bytes().all(|byte| byte.is_ascii_digit());
    let is_named = path.last().is_none_or(|name| *name == "stdin" || is_numbered(name));
    is_device || is_named || path.contains(&"fd")
}
