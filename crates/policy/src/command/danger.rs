//! Commands that a rule for the whole shell tool does not cover, as in Gemini CLI: they destroy
//! files without a question, or they are programs for reading and searching with options that write
//! files or run programs.
//!
//! A rule that names the command covers it, and so does yolo mode.

use super::part::Part;

/// Options of `find` that run programs or write files.
const FIND: [&str; 9] =
    ["-exec", "-execdir", "-ok", "-okdir", "-delete", "-fls", "-fprint", "-fprint0", "-fprintf"];
/// Options of `rg` that run programs.
const RIPGREP: [&str; 3] = ["--pre", "--hostname-bin", "--search-zip"];
/// Options of `git` that run programs or write files.
const GIT: [&str; 6] =
    ["--config-env", "--output", "--ext-diff", "--textconv", "--exec", "--paginate"];

/// Returns the dangerous part of a command, such as `rm -rf`; `None` if there is none.
pub(super) fn dangerous(part: &Part<'_>) -> Option<String> {
    let name = part.name().to_lowercase();
    let words = || part.words.iter().skip(1).copied().flatten();
    let options = || words().take_while(|word| *word != "--").filter(|word| word.starts_with('-'));
    let is_one_of = |word: &str, names: &[&str]| {
        let option = word.split_once('=').map_or(word, |(option, _)| option);
        names.contains(&option)
    };
    let option = match name.as_str() {
        "rm" => options().find(|word| removes_freely(word)),
        // `find` has no `--`, and its expression follows the paths.
        "find" => words().find(|word| FIND.contains(word)),
        "rg" => options().find(|word| is_one_of(word, &RIPGREP) || has_letter(word, 'z')),
        "base64" => options().find(|word| is_one_of(word, &["--output"]) || has_letter(word, 'o')),
        "git" => words()
            .take_while(|word| word.starts_with('-'))
            .find(|word| word.starts_with("-c") || *word == "-p")
            .or_else(|| options().find(|word| is_one_of(word, &GIT))),
        _ => None,
    };
    option.map(|option| format!("{} {option}", part.name()))
}

/// Returns true for an option of `rm` that removes folders, or files without a question. Long
/// options may be abbreviated.
fn removes_freely(option: &str) -> bool {
    let is_long = |name: &str| option.len() > 2 && name.starts_with(option);
    is_long("--force")
        || is_long("--recursive")
        || ['f', 'r', 'R'].iter().any(|letter| has_letter(option, *letter))
}

/// Returns true for a group of short options that contains this letter.
fn has_letter(option: &str, letter: char) -> bool {
    option.starts_with('-') && !option.starts_with("--") && option.contains(letter)
}
