//! Programs that run their standard input as a shell script.

use std::sync::LazyLock;

use regex::Regex;

use super::model::{SimpleCommand, Word};
use super::nested::BUILT_IN;
use super::programs::{DIRECTORIES, usage};
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

/// Beginnings of the paths of installed programs, besides [`DIRECTORIES`].
const INSTALLED: [&str; 9] =
    ["/bin/", "/lib", "/nix/", "/opt/", "/proc/", "/sbin/", "/snap/", "/system/", "/usr/"];

/// Variables that name a script which a shell runs before its own.
const SCRIPTS: [&str; 2] = ["BASH_ENV", "ENV"];

/// Built-in commands that run their standard input, or replace a program, with one of these letters
/// among their options.
const EVALUATING: [(&str, char); 4] =
    [("enable", 'f'), ("hash", 'p'), ("mapfile", 'C'), ("readarray", 'C')];

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
        if is_shell(name) {
            return true;
        }
        let folder = self.name().rsplit_once('/').map(|(folder, _)| folder);
        // A file of the project is like a script in a file, which no rule can read either.
        let is_installed = folder.is_none_or(|folder| {
            DIRECTORIES.contains(&folder)
                || INSTALLED.iter().any(|beginning| self.name().starts_with(beginning))
        });
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
        let names_shell = || !is_known && self.words.iter().skip(1).any(names_shell);
        let runs_in_sed =
            || self.base_name() == "sed" && !is_known && self.words.iter().skip(1).any(runs_in_sed);
        if self.receives_input && (names_shell() || runs_in_sed()) {
            return true;
        }
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

impl SimpleCommand {
    /// Returns true if a variable or an option makes a shell run a text that is not in the line, or
    /// another program instead of a command of the line.
    pub(super) fn changes_shell(&self) -> bool {
        let words = self.words.iter().filter_map(Word::literal);
        let in_words = words.clone().filter_map(|word| word.split_once('='));
        let own = self.assignments.iter();
        let assigned = own.map(|(name, value)| (name.as_str(), value.as_deref()));
        let assigned = assigned.chain(in_words.map(|(name, value)| (name, Some(value))));
        let reads_input = |value: &str| may_be_input(&Word::Literal(value.to_owned()));
        let mut scripts = assigned.filter(|(name, _)| SCRIPTS.contains(name));
        let evaluates = EVALUATING.iter().any(|(name, letter)| {
            let mut options = words.clone().skip(1).filter(|word| word.starts_with('-'));
            self.name() == *name && options.any(|option| option.contains(*letter))
        });
        evaluates || scripts.any(|(_, value)| value.is_none_or(reads_input))
    }
}

fn is_shell(name: &str) -> bool {
    let is_tabled = |usage: &Usage| usage.runs_input == Some(RunsInput::WithoutFile);
    SHELLS.contains(&name) || usage(name).is_some_and(is_tabled)
}

/// Returns true for a word, or the value of an option, that names a shell: `--filter=sh`, `-Ibash`.
fn names_shell(word: &Word) -> bool {
    let Word::Literal(text) = word else { return false };
    let values = [Some(text.as_str()), text.split_once('=').map(|(_, value)| value), text.get(2..)];
    let program = |value: &str| -> Option<String> {
        let first = value.split_whitespace().next()?;
        Some(first.rsplit('/').next().unwrap_or(first).to_owned())
    };
    let is_option = text.starts_with('-');
    let count = if is_option { 3 } else { 1 };
    values
        .iter()
        .take(count)
        .flatten()
        .filter_map(|value| program(value))
        .any(|name| is_shell(&name))
}

/// Returns true for a script of sed that may have the command `e`, or the flag `e` of a
/// substitution: both run text as a shell script.
fn runs_in_sed(word: &Word) -> bool {
    static EXECUTES: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let command = r"(?:^|[;{}\n!$/0-9,+~])\s*e\s*(?:$|[;}\n])";
        let flag = r"[^\sA-Za-z0-9\\][gpiImM0-9]*e[gpiImMe0-9]*\s*(?:$|[;}\n])";
        Regex::new(&format!("{command}|{flag}")).ok()
    });
    let executes = |text: &str| EXECUTES.as_ref().is_none_or(|found| found.is_match(text));
    word.literal().is_some_and(executes)
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
