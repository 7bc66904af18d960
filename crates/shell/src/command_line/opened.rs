//! Files whose content a command reads, as far as its words name them.

use std::borrow::Cow;

use super::model::{RedirectionKind, SimpleCommand, Word};
use super::programs::usage;
use super::walk::Walk;

/// Programs that open each file which they take as an operand of the form `read` in their tables.
/// Others, such as `ls` and `stat`, only look at names.
const READERS: [&str; 58] = [
    "awk",
    "b2sum",
    "base32",
    "base64",
    "bat",
    "batcat",
    "bzcat",
    "cat",
    "cksum",
    "cmp",
    "column",
    "comm",
    "cut",
    "diff",
    "diff3",
    "egrep",
    "expand",
    "fgrep",
    "fmt",
    "fold",
    "gawk",
    "git",
    "grep",
    "head",
    "hexdump",
    "iconv",
    "join",
    "jq",
    "mawk",
    "md5sum",
    "nawk",
    "nl",
    "od",
    "paste",
    "pr",
    "rev",
    "rg",
    "sdiff",
    "sed",
    "sha1sum",
    "sha224sum",
    "sha256sum",
    "sha384sum",
    "sha512sum",
    "shasum",
    "sort",
    "strings",
    "sum",
    "tac",
    "tail",
    "tokei",
    "tsort",
    "unexpand",
    "uniq",
    "wc",
    "xxd",
    "xzcat",
    "zcat",
];

/// Programs that read all files of a folder, and the options without which they do not. An empty
/// list stands for programs that always do.
const RECURSIVE: [(&[&str], &[&str]); 3] = [
    (&["rg", "git", "tokei"], &[]),
    (&["grep", "egrep", "fgrep"], &["-r", "-R", "--recursive", "--dereference-recursive"]),
    (&["diff"], &["-r", "--recursive"]),
];

/// File or folder that a command opens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenedPath {
    /// The path, as the command names it.
    pub path: Word,
    /// True if the command reads the files in it, if it is a folder.
    pub is_tree: bool,
}

impl SimpleCommand {
    /// Returns the files and folders whose content the command reads, as far as its words and its
    /// table name them. A word that is listed need not exist.
    pub fn opened(&self) -> Vec<OpenedPath> {
        let redirections = self.redirections.iter();
        let read = redirections.filter(|redirection| redirection.kind == RedirectionKind::Read);
        let mut opened: Vec<OpenedPath> = read
            .filter_map(|redirection| redirection.target.clone())
            .map(|path| OpenedPath { path, is_tree: false })
            .collect();
        let name = self.base_name();
        if let Some(usage) = usage(self.name()).filter(|_| READERS.contains(&name)) {
            let mut walk = Walk::new(usage, &self.words);
            // An error is ignored: the walk counts as far as it went.
            walk.all().ok();
            let is_tree = self.is_recursive();
            let read = walk.read.into_iter().map(Cow::into_owned);
            opened.extend(read.map(|path| OpenedPath { path, is_tree }));
        }
        opened
    }

    fn is_recursive(&self) -> bool {
        let found = RECURSIVE.iter().find(|(names, _)| names.contains(&self.base_name()));
        let Some((_, options)) = found else { return false };
        let has = |word: &str| {
            let is_group = word.starts_with('-') && !word.starts_with("--");
            options.iter().any(|option| match option.strip_prefix('-') {
                Some(letter) if letter.len() == 1 => is_group && word.contains(letter),
                _ => word == *option,
            })
        };
        options.is_empty() || self.words.iter().skip(1).filter_map(Word::literal).any(has)
    }
}
