//! What `git` runs beside itself.

use super::classify::is_option;
use super::escapes::may_be_option;
use super::part::Part;

/// Subcommands that do what their names say. Any other word may be an alias, or a program of that name.
const VERBS: &[&str] = &[
    "add",
    "am",
    "annotate",
    "apply",
    "archive",
    "bisect",
    "blame",
    "branch",
    "bundle",
    "cat-file",
    "check-attr",
    "check-ignore",
    "check-mailmap",
    "check-ref-format",
    "checkout",
    "checkout-index",
    "cherry",
    "cherry-pick",
    "clean",
    "clone",
    "column",
    "commit",
    "commit-graph",
    "commit-tree",
    "count-objects",
    "describe",
    "diff",
    "diff-files",
    "diff-index",
    "diff-tree",
    "fetch",
    "for-each-ref",
    "format-patch",
    "fsck",
    "gc",
    "grep",
    "hash-object",
    "help",
    "init",
    "interpret-trailers",
    "log",
    "ls-files",
    "ls-remote",
    "ls-tree",
    "maintenance",
    "merge",
    "merge-base",
    "merge-file",
    "merge-tree",
    "mktree",
    "mv",
    "name-rev",
    "notes",
    "pack-refs",
    "prune",
    "pull",
    "push",
    "range-diff",
    "read-tree",
    "rebase",
    "reflog",
    "remote",
    "replace",
    "rerere",
    "reset",
    "restore",
    "rev-list",
    "rev-parse",
    "revert",
    "rm",
    "shortlog",
    "show",
    "show-branch",
    "show-ref",
    "sparse-checkout",
    "stage",
    "stash",
    "status",
    "stripspace",
    "submodule",
    "switch",
    "symbolic-ref",
    "tag",
    "update-index",
    "update-ref",
    "var",
    "verify-commit",
    "verify-pack",
    "verify-tag",
    "version",
    "whatchanged",
    "worktree",
    "write-tree",
    "config",
];

/// Options that run something, for any subcommand.
const OPTIONS: &[&str] = &[
    "--config-env",
    "--exec-path",
    "--upload-pack",
    "--receive-pack",
    "--exec",
    "--ext-diff",
    "--textconv",
    "--extcmd",
    "--open-files-in-pager",
    "--template",
    "--output",
    "--output-directory",
    "--paginate",
    "--config",
    "--interactive",
    "--edit-description",
    "--strategy",
];

/// Options before the subcommand that take a value of their own.
const VALUES: &[&str] = &["-C", "--git-dir", "--work-tree", "--namespace", "--super-prefix"];

/// Options of subcommands whose value is no option, whatever it is.
const TEXTS: &[&str] =
    &["-m", "--message", "-F", "--file", "--author", "--date", "-S", "-G", "--grep"];

/// The first word behind the first `covered` ones by which git runs something else, or may; in words.
pub(super) fn escape_of(part: &Part<'_>, covered: usize) -> Option<String> {
    let tell = |word: &str| Some(format!("`{word}` makes git run or write something else"));
    let mut verb: Option<&str> = None;
    let mut at = 1;
    while at < part.words.len() {
        let (index, word) = (at, part.words[at]);
        at += 1;
        let is_covered = index < covered;
        let Some(word) = word else {
            let before = index.checked_sub(1).and_then(|before| part.words[before]);
            let is_text = verb.is_some()
                && before.is_some_and(|before| TEXTS.contains(&before))
                && part.shown[index].starts_with('"');
            if !is_covered && !is_text && may_be_option_at(part, index) {
                return Some("git may get an option that is only known when it runs".to_owned());
            }
            continue;
        };
        if verb.is_none() {
            if VALUES.contains(&word) {
                at += 1;
                continue;
            }
            if word.starts_with('-') {
                if !is_covered && (word.starts_with("-c") || is_listed(word)) {
                    return tell(word);
                }
                continue;
            }
            verb = Some(word);
            if !is_covered && !VERBS.contains(&word) {
                return Some(format!("`git {word}` may be an alias or a program of that name"));
            }
            continue;
        }
        if !is_covered && runs(verb.unwrap_or_default(), word, index, part) {
            return tell(word);
        }
    }
    let is_open = part.has_more && (verb.is_none() || may_be_option(part, covered));
    is_open.then(|| "git may get an option that is only known when it runs".to_owned())
}

fn may_be_option_at(part: &Part<'_>, index: usize) -> bool {
    let one = part.with_words(vec![Some("git"), None], vec!["git", part.shown[index]], false);
    may_be_option(&one, 1)
}

fn is_listed(word: &str) -> bool {
    OPTIONS.iter().any(|option| is_option(word, option))
}

/// Whether a word behind a subcommand makes it run something.
fn runs(verb: &str, word: &str, index: usize, part: &Part<'_>) -> bool {
    let is_first =
        part.words[..index].iter().flatten().filter(|word| !word.starts_with('-')).count() == 2;
    match verb {
        "bisect" => is_first && word == "run",
        "submodule" => is_first && word == "foreach",
        "config" => !is_reading(part),
        "rebase" => word.starts_with("-x") || is_listed(word) || word == "-i",
        "grep" => word.starts_with("-O") || is_listed(word),
        "clone" | "fetch" | "ls-remote" | "pull" | "push" | "remote" => {
            (verb == "clone" && (is_option(word, "-u") || word.starts_with("-c")))
                || word.contains("::")
                || is_listed(word)
        }
        "difftool" => word.starts_with("-x") || is_listed(word),
        "credential" | "web--browse" | "filter-branch" => true,
        "help" => word == "-w" || word == "--web",
        _ => is_listed(word) && word != "--interactive",
    }
}

/// `git config` that only reads, or that sets who the author is.
fn is_reading(part: &Part<'_>) -> bool {
    const READS: &[&str] =
        &["--get", "--get-all", "--get-regexp", "--get-urlmatch", "--list", "-l", "get", "list"];
    let mut words = part.constants().skip_while(|word| *word != "config").skip(1);
    let names: Vec<&str> = words.by_ref().collect();
    names.iter().any(|word| READS.contains(word))
        || names.iter().filter(|word| !word.starts_with('-')).count() < 2
            && !names.iter().any(|word| matches!(*word, "-e" | "--edit" | "edit"))
        || names.iter().any(|word| matches!(*word, "user.name" | "user.email"))
}
