//! What programs of `awk` do beside working on text.

use super::{Code, is_one_word, text};
use crate::analysis::model::Argument;

/// Options whose value is the next argument, when it is not attached.
const VALUES: &str = "Fv";
/// Options that name a file with the program, or more of it.
const FILES: &[&str] = &["-f", "--file", "-E", "--exec", "-i", "--include", "-l", "--load"];

/// What the program among the arguments of `awk` does. A program in a file is not looked at.
pub(super) fn code(arguments: &[Argument]) -> Code {
    let mut at = 0;
    while let Some(argument) = arguments.get(at) {
        let Some(word) = argument.constant() else {
            if is_one_word(text(argument)) && text(argument).starts_with('-') {
                at += 1;
                continue;
            }
            return Code::UNKNOWN;
        };
        at += 1;
        if word == "--" {
            return program(arguments.get(at));
        }
        if !word.starts_with('-') || word == "-" {
            return program(arguments.get(at - 1));
        }
        if FILES.iter().any(|file| word.starts_with(file)) {
            return Code::NONE;
        }
        if word == "-e" || word == "--source" {
            return program(arguments.get(at));
        }
        let is_value = word.len() == 2 && VALUES.contains(&word[1..]);
        if is_value || matches!(word, "--assign" | "--field-separator") {
            if arguments.get(at).is_some_and(|value| !is_one_word(text(value))) {
                return Code::UNKNOWN;
            }
            at += 1;
        } else if !is_harmless(word) {
            return Code::UNKNOWN;
        }
    }
    Code::NONE
}

/// An option that stands by itself and brings no code.
fn is_harmless(word: &str) -> bool {
    const LONG: &[&str] = &[
        "--assign=",
        "--field-separator=",
        "--posix",
        "--traditional",
        "--re-interval",
        "--sandbox",
        "--characters-as-bytes",
        "--version",
        "--help",
        "--lint",
        "--csv",
        "--bignum",
    ];
    match word.strip_prefix("--") {
        Some(_) => LONG.iter().any(|option| word.starts_with(option)),
        None => {
            word[1..].starts_with(['F', 'v', 'P', 'c', 'r', 'S', 'b', 'V', 'h', 't', 'k', 'M', 'N'])
        }
    }
}

fn program(argument: Option<&Argument>) -> Code {
    match argument {
        Some(Argument::Constant(program)) => read(program).unwrap_or(Code::UNKNOWN),
        Some(Argument::Unknown(_)) => Code::UNKNOWN,
        None => Code::NONE,
    }
}

/// Reads a program; none when it cannot be told where its strings and patterns end.
fn read(program: &str) -> Option<Code> {
    let mut code = Code::NONE;
    let mut letters = program.chars().peekable();
    // Whether a value stands before: then a slash divides, otherwise it begins a pattern.
    let mut is_value = false;
    let mut depth = 0_usize;
    // Inside of a `print`, and how deep in parentheses it began: there `>` writes.
    let mut printing: Option<usize> = None;
    while let Some(letter) = letters.next() {
        match letter {
            ' ' | '\t' | '\r' | '\\' => continue,
            '"' => quoted(&mut letters, '"')?,
            '/' if !is_value => quoted(&mut letters, '/')?,
            '#' => while letters.next_if(|letter| *letter != '\n').is_some() {},
            '|' if letters.next_if_eq(&'|').is_none() => code.runs = true,
            '@' => code.runs = true,
            '>' if letters.next_if_eq(&'=').is_none() => code.writes |= printing == Some(depth),
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ';' | '\n' | '}' => printing = None,
            _ if letter.is_alphanumeric() || letter == '_' => {
                let mut word = letter.to_string();
                while let Some(next) =
                    letters.next_if(|next| next.is_alphanumeric() || *next == '_')
                {
                    word.push(next);
                }
                match word.as_str() {
                    "system" => code.runs = true,
                    "print" | "printf" => printing = Some(depth),
                    _ => {}
                }
                let is_keyword = matches!(
                    word.as_str(),
                    "print" | "printf" | "return" | "in" | "case" | "else" | "do" | "getline"
                );
                is_value = !is_keyword;
                continue;
            }
            _ => {}
        }
        is_value = matches!(letter, '"' | ')' | ']' | '$') || (letter == '/' && !is_value);
    }
    Some(code)
}

/// Skips to the end of a string or a pattern.
fn quoted(letters: &mut std::iter::Peekable<std::str::Chars<'_>>, end: char) -> Option<()> {
    let mut in_brackets = false;
    loop {
        match letters.next()? {
            '\\' => {
                letters.next()?;
            }
            '\n' => return None,
            // Some versions end the pattern here, others do not.
            '/' if end == '/' && in_brackets => return None,
            letter if letter == end => return Some(()),
            '[' if end == '/' => in_brackets = true,
            ']' => in_brackets = false,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_that_start_others_or_write() {
        let table = [
            ("{ print $1 }", ""),
            ("/a|b/ { print $2 / 2 }", ""),
            ("$3 > 5 { print }", ""),
            ("NR >= 2 && $1 != \"x > y\" { s += $1 } END { print s / NR }", ""),
            ("{ print (a > b) }", ""),
            ("{ gsub(/[|>]/, \"\"); print }", ""),
            ("BEGIN { while ((getline line < \"f\") > 0) n++; print n }", ""),
            ("{ x = $1 || $2 } # system(\"a\") | b", ""),
            ("$1 ~ /system/", ""),
            ("{ system($0) }", "runs"),
            ("{ print | \"sh\" }", "runs"),
            ("{ \"date\" | getline }", "runs"),
            ("{ f = \"system\"; @f(\"a\") }", "runs"),
            ("{ print > \"x\" }", "writes"),
            ("{ print $1, $2 >> \"x\" }", "writes"),
            ("{ printf(\"%s\", $1) > \"x\" }", "writes"),
            ("{ x = 4 / 2; system(\"a\") / 3 }", "runs"),
            ("{ x = y /system(\"a\")/ 1 }", "runs"),
            ("{ print \"a", "runs writes"),
            ("/[/]/ { print }", "runs writes"),
        ];
        for (program, expected) in table {
            let code = super::program(Some(&Argument::Constant(program.to_owned())));
            assert_eq!(code.words(), expected, "{program}");
        }
    }
}
