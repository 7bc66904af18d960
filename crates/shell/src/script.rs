//! Command lines as text: what is taken off in front, and what is put around. Pure.

use std::borrow::Cow;
use std::path::Path;

/// Shells whose `-c` a model likes to add although a shell runs the command anyway.
const POSIX_SHELLS: &[&str] = &["sh", "bash", "zsh"];
const POWERSHELLS: &[&str] = &["powershell", "powershell.exe", "pwsh", "pwsh.exe"];

/// Takes a needless shell off the front of a command line: `bash -c 'ls -l'` becomes `ls -l`.
///
/// Recognised are `sh`, `bash` and `zsh` with `-c` (also by absolute path), `cmd.exe /c`, and
/// `powershell` or `pwsh` with an optional `-NoProfile` and `-Command`, as in Gemini CLI 0.61. One
/// level of quotes goes with it. The wrapper stays on where taking it off could change the meaning:
/// when more follows the quoted word, or when the outer shell would expand something inside double
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

/// The first word and what follows it, or `None` when there is only one.
fn split_word(text: &str) -> Option<(&str, &str)> {
    let (word, rest) = text.split_once([' ', '\t', '\n'])?;
    let rest = rest.trim_start();
    (!rest.is_empty()).then_some((word, rest))
}

/// The value of `text` when it is exactly one shell word that needs no expansion.
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

/// What a POSIX shell makes of the inside of double quotes, or `None` if it would expand something
/// or if the quotes end early.
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

/// A script that runs `command` in the shell itself and, when the shell ends, writes the process
/// numbers of its background jobs to `jobs_file`.
///
/// The command goes through `eval` as one quoted word. So nothing in it, be it a comment, an open
/// here-document or a syntax error, can reach the text around it; `exit` and `exec` mean what they
/// always mean; and a shell that runs an exit trap keeps its exit status. A command that replaces
/// the trap or the shell only loses the list of jobs.
pub(crate) fn with_job_list(command: &str, jobs_file: &Path) -> Option<String> {
    let jobs_file = quote(jobs_file.to_str()?);
    // `>|`: the command may have set noclobber. The braces also silence a folder that is gone.
    let trap = r#"trap '{ jobs -p >|"$_bgpids_file"; } 2>/dev/null' EXIT"#;
    Some(format!("_bgpids_file={jobs_file}; {trap}; {}", evaluated(command)))
}

/// A script that runs `command` and nothing else.
pub(crate) fn evaluated(command: &str) -> String {
    // The space in front keeps a leading `-` from being read as an option of `eval`; the one behind
    // a final backslash is Gemini CLI's way to keep that backslash from quoting the end of the text.
    let end = if command.ends_with('\\') { " " } else { "" };
    format!("eval {}", quote(&format!(" {command}{end}")))
}

/// `text` as one word of a POSIX shell.
fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests;
