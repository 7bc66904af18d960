//! Programs that take program text as an argument.

use super::model::Argument;

mod awk;
mod sed;

/// What the code in the arguments of a program does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Code {
    /// It may start programs.
    pub(super) runs: bool,
    /// It may write files.
    pub(super) writes: bool,
}

impl Code {
    /// There is none, or it only works on text.
    const NONE: Self = Self { runs: false, writes: false };
    /// It cannot be told.
    const UNKNOWN: Self = Self { runs: true, writes: true };

    #[cfg(test)]
    fn words(self) -> String {
        let words = [(self.runs, "runs"), (self.writes, "writes")];
        let said: Vec<&str> = words.iter().filter(|(is, _)| *is).map(|(_, word)| *word).collect();
        said.join(" ")
    }
}

/// Languages, by the beginning of the program's name, and the options behind which code stands.
const LANGUAGES: &[(&str, &str, &[&str])] = &[
    ("python", "c", &[]),
    ("pypy", "c", &[]),
    ("perl", "eE", &[]),
    ("ruby", "e", &[]),
    ("node", "ep", &["--eval", "--print"]),
    ("nodejs", "ep", &["--eval", "--print"]),
    ("bun", "ep", &["--eval", "--print"]),
    ("php", "rBRE", &["--run"]),
    ("lua", "e", &[]),
    ("Rscript", "e", &[]),
    ("groovy", "e", &[]),
    ("scala", "e", &[]),
    ("elixir", "e", &["--eval"]),
    ("julia", "eE", &["--eval", "--print"]),
    ("osascript", "e", &[]),
    ("tclsh", "c", &[]),
    ("ghc", "e", &[]),
    ("fish", "cC", &["--command", "--init-command"]),
    ("pwsh", "", &["-Command", "-c", "-EncodedCommand", "-e", "-ec"]),
    ("powershell", "", &["-Command", "-c", "-EncodedCommand", "-e", "-ec"]),
    ("nu", "c", &["--commands"]),
    ("xonsh", "c", &[]),
];

/// What the code among the arguments does. `name` is without folders. Languages that are not read here may do
/// anything.
pub(super) fn code(name: &str, arguments: &[Argument]) -> Code {
    match name {
        "awk" | "gawk" | "mawk" | "nawk" | "original-awk" => awk::code(arguments),
        "sed" | "gsed" => sed::code(arguments),
        _ if has_code(name, arguments) => Code::UNKNOWN,
        _ => Code::NONE,
    }
}

/// Whether one of the arguments is program text that is not read here.
fn has_code(name: &str, arguments: &[Argument]) -> bool {
    let texts = || arguments.iter().map(text);
    if name == "deno" {
        return texts().next() == Some("eval");
    }
    let Some((_, letters, long)) =
        LANGUAGES.iter().find(|(language, ..)| is_version(name, language))
    else {
        return false;
    };
    texts().any(|text| {
        let name = text.split('=').next().unwrap_or(text);
        let is_group = text.starts_with('-') && !text.starts_with("--");
        long.contains(&name) || (is_group && text[1..].contains(|c| letters.contains(c)))
    })
}

/// `python`, `python3`, `python3.12`.
fn is_version(name: &str, language: &str) -> bool {
    let rest = name.strip_prefix(language);
    rest.is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit() || b".-".contains(&byte)))
}

fn text(argument: &Argument) -> &str {
    match argument {
        Argument::Constant(text) | Argument::Unknown(text) => text,
    }
}

/// Whether text that is only known when it runs stays one word: what changes in it stands in quotes.
fn is_one_word(text: &str) -> bool {
    let mut is_quoted = false;
    for piece in text.split('"') {
        let is_plain = !piece.contains(['$', '`', '*', '?', '[', '{', '<', '>']);
        if !is_quoted && !is_plain || is_quoted && (piece.contains("$@") || piece.contains("[@]")) {
            return false;
        }
        is_quoted = !is_quoted;
    }
    true
}
