//! Commands that are known to do no harm, and those that are known to do much. The lists are Gemini CLI's.

use super::part::Part;

/// Whatever they are given, they only read and print.
const SAFE: &[&str] = &[
    "cat", "cd", "cut", "echo", "expr", "false", "grep", "head", "id", "ls", "nl", "paste", "pwd",
    "rev", "seq", "stat", "tail", "tr", "true", "uname", "wc", "which", "whoami", "numfmt", "tac",
];
/// The shell does them itself, and they only look.
const SAFE_BUILT_INS: &[&str] = &["cd", "echo", "false", "pwd", "true", ":", "test", "["];
/// `find` with one of these does more than find.
const FIND_ACTIONS: &[&str] =
    &["-exec", "-execdir", "-ok", "-okdir", "-delete", "-fls", "-fprint", "-fprint0", "-fprintf"];
/// Of `git`, these only look.
const GIT_READS: &[&str] = &["status", "log", "diff", "show", "branch"];
/// With these they do more.
const GIT_OPTIONS: &[&str] =
    &["-c", "--config-env", "--output", "--ext-diff", "--textconv", "--exec", "--paginate"];
/// `git branch` with these only lists.
const BRANCH_LISTS: &[&str] = &[
    "-a",
    "-r",
    "-v",
    "-vv",
    "--all",
    "--remotes",
    "--verbose",
    "--list",
    "-l",
    "--show-current",
    "--column",
    "--no-column",
    "--color",
    "--no-color",
    "--merged",
    "--no-merged",
    "--contains",
    "--no-contains",
    "--sort",
    "--points-at",
    "--format",
];

/// It only reads and prints.
pub(super) fn is_safe(part: &Part<'_>) -> bool {
    if !part.environment.is_empty() || part.shown[0] != part.name() {
        return is_safe_search(part);
    }
    if part.is_built_in {
        return SAFE_BUILT_INS.contains(&part.name());
    }
    match part.name() {
        // What it prints is not what it does, but it can write what it prints.
        "base64" => part.is_constant() && !has_any(part, &["-o", "--output"]),
        "find" => part.is_constant() && !part.constants().any(|word| FIND_ACTIONS.contains(&word)),
        "git" => part.is_constant() && is_safe_git(part),
        "sed" => part.is_constant() && is_safe_sed(part),
        // With two files it writes the second one.
        "uniq" => {
            part.is_constant() && part.constants().filter(|word| !word.starts_with('-')).count() < 2
        }
        name => SAFE.contains(&name),
    }
}

/// Ripgrep counts only where the system has it: the name alone might be something else.
fn is_safe_search(part: &Part<'_>) -> bool {
    let is_ripgrep = ["/usr/bin/rg", "/usr/local/bin/rg", "/opt/homebrew/bin/rg", "/bin/rg"]
        .contains(&part.shown[0]);
    let options = ["--pre", "--hostname-bin", "--search-zip", "-z"];
    is_ripgrep && part.environment.is_empty() && part.is_constant() && !has_any(part, &options)
}

fn is_safe_git(part: &Part<'_>) -> bool {
    let Some(verb) = part.words.get(1).copied().flatten() else { return false };
    let rest = &part.shown[2..];
    GIT_READS.contains(&verb)
        && !has_any(part, GIT_OPTIONS)
        && (verb != "branch"
            || rest.iter().all(|word| {
                word.starts_with('-')
                    && BRANCH_LISTS.contains(&word.split('=').next().unwrap_or(word))
            }))
}

/// `sed -n 5p file` and `sed -n 5,7p file`.
fn is_safe_sed(part: &Part<'_>) -> bool {
    let words: Vec<&str> = part.constants().collect();
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let prints = |script: &str| {
        let Some(lines) = script.strip_suffix('p') else { return false };
        match lines.split_once(',') {
            Some((first, last)) => is_number(first) && is_number(last),
            None => is_number(lines),
        }
    };
    words.len() <= 3
        && words.first() == Some(&"-n")
        && words.get(1).is_some_and(|script| prints(script))
        && words.get(2).is_none_or(|file| !file.starts_with('-'))
}

/// An option is given, also with a value behind `=`, shortened, or in a group of letters.
pub(super) fn has_any(part: &Part<'_>, options: &[&str]) -> bool {
    part.constants().any(|word| options.iter().any(|option| is_option(word, option)))
}

/// A word is this option: `--output`, `--output=x`, `--outp`, and of `-o` also `-xo` and `-ox`.
pub(super) fn is_option(word: &str, option: &str) -> bool {
    let name = word.split('=').next().unwrap_or(word);
    if option.starts_with("--") {
        return name == option || (name.len() > 3 && option.starts_with(name));
    }
    let is_single = option.len() == 2 && word.starts_with('-') && !word.starts_with("--");
    if is_single { word[1..].contains(&option[1..]) } else { name == option }
}

/// It destroys what cannot be had back.
pub(super) fn is_dangerous(part: &Part<'_>) -> bool {
    match part.name() {
        "rm" => part.constants().any(|word| {
            word == "--force"
                || word.starts_with("--recursive")
                || (word.starts_with('-')
                    && !word.starts_with("--")
                    && word.contains(['r', 'R', 'f']))
        }),
        "find" => part.constants().any(|word| FIND_ACTIONS.contains(&word)),
        "git" => has_any(part, &["-c", "--config-env", "--ext-diff", "--textconv"]),
        "rg" => has_any(part, &["--pre", "--hostname-bin"]),
        _ => false,
    }
}
