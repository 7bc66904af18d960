//! Wrappers around a command line: removal of needless ones, and addition of our own. Pure
//! functions.

use std::borrow::Cow;
use std::path::Path;

mod argument;

pub use argument::{CannotQuote, with_argument};

/// Shells that models often call with `-c`, although a shell runs the command anyway.
const POSIX_SHELLS: &[&str] = &["sh", "bash", "zsh"];
const POWERSHELLS: &[&str] = &["powershell", "powershell.exe", "pwsh", "pwsh.exe"];

/// Removes a needless shell call from a command line: `bash -c 'ls -l'` becomes `ls -l`.
///
/// Recognised calls are `sh`, `bash` and `zsh` with `-c` (also by absolute path), `cmd.exe /c`, and
/// `powershell` or `pwsh` with an optional `-NoProfile` and `-Command`, as in Gemini CLI 0.61. One
/// level of quotes is removed, too. The wrapper is kept if its removal could change the meaning: if
/// more text follows the quoted word, or if the outer shell would expand something inside double
/// quotes. The result is trimmed.
pub fn strip_wrapper(command: &str) -> Cow<'_, str> {
    let command = command.trim();
    strip_posix(command)
        .or_else(|| strip_windows(command).map(Cow::Borrowed))
        .unwrap_or(Cow::Borrowed(command))
}

fn strip_posix(command: &str) -> Option<Cow<'_, str>> {
    let (shell, rest) = split_word(command)?;
    let name = if shell.starts_with('/') { shell.rsplit('/').next()? } else { shell };
    let (flag, script) = split_word(rest)?;
    if !POSIX_SHELLS.contains(&name) || flag != "-c" {
        return None;
    }
    single_word(script)
}

fn strip_windows(command: &str) -> Option<&str> {
    let (shell, rest) = split_word(command)?;
    let shell = shell.to_ascii_lowercase();
    let (mut flag, mut script) = split_word(rest)?;
    if POWERSHELLS.contains(&shell.as_str()) {
        if flag.eq_ignore_ascii_case("-NoProfile") {
            (flag, script) = split_word(script)?;
        }
        if !flag.eq_ignore_ascii_case("-Command") {
            return None;
        }
    } else if shell != "cmd.exe" || !flag.eq_ignore_ascii_case("/c") {
        return None;
    }
    let quoted = ['"', '\''].into_iter().find_map(|quote| {
        let inner = script.strip_prefix(quote)?.strip_suffix(quote)?;
        (!inner.contains(quote)).then_some(inner)
    });
    Some(quoted.unwrap_or(script))
}

/// Returns the first word and the rest; `None` if there is only one word.
fn split_word(text: &str) -> Option<(&str, &str)> {
    let (word, rest) = text.split_once([' ', '\t', '\n'])?;
    let rest = rest.trim_start();
    (!rest.is_empty()).then_some((word, rest))
}

/// Returns the value of `text` if it is exactly one shell word that needs no expansion.
fn single_word(text: &str) -> Option<Cow<'_, str>> {
    if let Some(inner) = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
        return (!inner.contains('\'')).then_some(Cow::Borrowed(inner));
    }
    if let Some(inner) = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        return double_quoted(inner).map(Cow::Owned);
    }
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "_-./+:@%,".contains(letter);
    text.chars().all(plain).then_some(Cow::Borrowed(text))
}

/// Returns the value of a POSIX shell's double-quoted text; `None` if the shell would expand
/// something or if the quotes end early.
fn double_quoted(inner: &str) -> Option<String> {
    let mut value = String::with_capacity(inner.len());
    let mut letters = inner.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '$' | '`' | '"' => return None,
            '\\' => match letters.next()? {
                '\n' => {}
                escaped @ ('$' | '`' | '"' | '\\') => value.push(escaped),
                other => value.extend(['\\', other]),
            },
            other => value.push(other),
        }
    }
    Some(value)
}

/// Returns a script that runs `command` in the shell itself. When the shell ends, it writes the
/// process ids of its background jobs to `jobs_file`.
///
/// The command is passed to `eval` as one quoted word. Therefore nothing in it, such as a comment,
/// an open here-document or a syntax error, can affect the surrounding text; `exit` and `exec` keep
/// their meaning; and a shell that runs an exit trap keeps its exit status. If a command replaces
/// the trap or the shell, only the list of jobs is lost.
pub(crate) fn with_job_list(command: &str, jobs_file: &Path) -> Option<String> {
    let jobs_file = quote(jobs_file.to_str()?);
    // `>|` works even if the command has set noclobber. The braces also hide the error of a missing
    // folder.
    let trap = r#"trap '{ jobs -p >|"$_bgpids_file"; } 2>/dev/null' EXIT"#;
    Some(format!("_bgpids_file={jobs_file}; {trap}; {}", evaluated(command)))
}

/// Returns a script that only runs `command`.
pub(crate) fn evaluated(command: &str) -> String {
    // The space at the beginning keeps a leading `-` from being read as an option of `eval`. As in
    // Gemini CLI, a space after a final backslash keeps the backslash from quoting the end of the
    // text.
    let end = if command.ends_with('\\') { " " } else { "" };
    format!("eval {}", quote(&format!(" {command}{end}")))
}

/// Returns `text` as one word of a POSIX shell, quoted where that is necessary.
pub fn quoted(text: &str) -> String {
    let is_plain =
        |character: char| character.is_ascii_alphanumeric() || "-_./:=@,+%".contains(character);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    quote(text)
}

/// Returns `text` in single quotes.
fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests;
