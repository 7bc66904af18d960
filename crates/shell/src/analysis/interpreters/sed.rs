//! What scripts of `sed` do beside working on text.

use super::{Code, is_one_word, text};
use crate::analysis::model::Argument;

/// What the scripts among the arguments of `sed` do. Scripts in files are not looked at.
pub(super) fn code(arguments: &[Argument]) -> Code {
    let Some(scripts) = scripts(arguments) else { return Code::UNKNOWN };
    let mut code = Code::NONE;
    for script in scripts {
        let found = script.and_then(|script| Reader { rest: script }.read());
        let Code { runs, writes } = found.unwrap_or(Code::UNKNOWN);
        code = Code { runs: code.runs | runs, writes: code.writes | writes };
    }
    code
}

/// The arguments that are scripts; none among them for one that is only known when it runs. None at all when
/// it cannot be told which are.
fn scripts(arguments: &[Argument]) -> Option<Vec<Option<&str>>> {
    let mut scripts = Vec::new();
    let (mut first, mut is_named, mut at) = (None, false, 0);
    while let Some(argument) = arguments.get(at) {
        at += 1;
        let Some(word) = argument.constant() else {
            if !is_one_word(text(argument)) && !is_named && first.is_none() {
                return None;
            }
            first = first.or(Some(None));
            continue;
        };
        if word == "--" {
            first = first.or_else(|| arguments.get(at).map(Argument::constant));
            break;
        }
        if !word.starts_with('-') || word == "-" {
            first = first.or(Some(Some(word)));
            continue;
        }
        if let Some(long) = word.strip_prefix("--") {
            let (name, value) =
                long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
            let is = |option: &str| name.len() > 1 && option.starts_with(name);
            match value {
                _ if name == "sandbox" => return Some(Vec::new()),
                Some(value) if is("expression") => scripts.push(Some(value)),
                None if is("expression") => {
                    scripts.push(arguments.get(at)?.constant());
                    at += 1;
                }
                None if is("file") || is("line-length") => at += 1,
                _ => {}
            }
            is_named |= is("expression") || is("file");
            continue;
        }
        for (index, letter) in word.char_indices().skip(1) {
            let attached = word.get(index + 1..).filter(|rest| !rest.is_empty());
            match letter {
                'e' | 'f' | 'l' => {
                    is_named |= letter != 'l';
                    let value = attached
                        .map_or_else(|| arguments.get(at).and_then(Argument::constant), Some);
                    at += usize::from(attached.is_none());
                    if letter == 'e' {
                        scripts.push(value);
                    }
                    break;
                }
                'i' => break,
                _ => {}
            }
        }
    }
    if !is_named {
        scripts.extend(first);
    }
    Some(scripts)
}

/// Reads a script.
struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    /// What the script does; none when it is not understood.
    fn read(&mut self) -> Option<Code> {
        let mut code = Code::NONE;
        loop {
            self.rest = self
                .rest
                .trim_start_matches(|letter: char| letter.is_whitespace() || letter == ';');
            self.addresses()?;
            let Some(command) = self.next() else { return Some(code) };
            match command {
                '{' | '}' | '=' | 'd' | 'D' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P'
                | 'x' | 'z' | 'F' => {}
                'l' | 'L' | 'q' | 'Q' => self.digits(),
                '#' | 'r' | 'R' => {
                    self.line();
                }
                ':' | 'b' | 't' | 'T' | 'v' => {
                    self.skip(|letter| letter != '\n' && letter != ';' && letter != '}');
                }
                'w' | 'W' => code.writes |= is_file(self.line()),
                'a' | 'i' | 'c' => self.text(),
                'y' => {
                    let delimiter = self.next()?;
                    self.until(delimiter)?;
                    self.until(delimiter)?;
                }
                's' => {
                    let delimiter = self.next()?;
                    self.until(delimiter)?;
                    self.until(delimiter)?;
                    self.flags(&mut code);
                }
                'e' => code.runs = true,
                _ => return None,
            }
            if code.runs {
                return Some(code);
            }
        }
    }

    /// The lines that a command is for.
    fn addresses(&mut self) -> Option<()> {
        loop {
            match self.rest.chars().next() {
                Some('0'..='9' | '$' | ',' | '~' | '+' | '!' | ' ' | '\t') => {
                    self.next();
                }
                Some('/') => self.pattern('/')?,
                Some('\\') => {
                    let delimiter = self.rest.chars().nth(1)?;
                    self.next();
                    self.pattern(delimiter)?;
                }
                _ => return Some(()),
            }
        }
    }

    fn pattern(&mut self, delimiter: char) -> Option<()> {
        self.next();
        self.until(delimiter)?;
        self.skip(|letter| matches!(letter, 'I' | 'M'));
        Some(())
    }

    fn next(&mut self) -> Option<char> {
        let letter = self.rest.chars().next()?;
        self.rest = &self.rest[letter.len_utf8()..];
        Some(letter)
    }

    fn skip(&mut self, belongs: impl Fn(char) -> bool) {
        self.rest = self.rest.trim_start_matches(belongs);
    }

    fn digits(&mut self) {
        self.skip(|letter| letter == ' ' || letter.is_ascii_digit());
    }

    /// The rest of the line.
    fn line(&mut self) -> &'a str {
        let (line, rest) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
        self.rest = rest;
        line
    }

    /// Lines of text, as long as each ends with a backslash.
    fn text(&mut self) {
        while self.line().ends_with('\\') && !self.rest.is_empty() {}
    }

    /// Up to this character.
    fn until(&mut self, delimiter: char) -> Option<()> {
        let mut in_brackets = false;
        loop {
            match self.next()? {
                '\\' => {
                    self.next()?;
                }
                letter if letter == delimiter && in_brackets => return None,
                letter if letter == delimiter => return Some(()),
                '[' => in_brackets = true,
                ']' => in_brackets = false,
                _ => {}
            }
        }
    }

    /// What stands behind `s/…/…/`.
    fn flags(&mut self, code: &mut Code) {
        loop {
            match self.rest.chars().next() {
                Some('e') => code.runs = true,
                Some('w') => {
                    self.next();
                    code.writes |= is_file(self.line());
                    return;
                }
                Some('g' | 'p' | 'I' | 'i' | 'M' | 'm' | '0'..='9') => {}
                _ => return,
            }
            self.next();
        }
    }
}

fn is_file(name: &str) -> bool {
    !matches!(name.trim(), "/dev/stdout" | "/dev/stderr" | "/dev/null")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> String {
        let argument = |word: &str| match word.strip_prefix('?') {
            Some(unknown) => Argument::Unknown(unknown.to_owned()),
            None => Argument::Constant(word.to_owned()),
        };
        let arguments: Vec<Argument> = line.split('•').map(argument).collect();
        code(&arguments).words()
    }

    #[test]
    fn scripts_that_start_programs_or_write() {
        let table = [
            ("s/one/three/•words", ""),
            ("-n•2p•words", ""),
            ("-n•/a/,/e/p•test.me", ""),
            ("-i.bak•-e•s/a/b/g•-e•$d•key.pem", ""),
            ("s/a/b/;s/c/d/2gp;/x/d;10,20!d;$!N;P;D", ""),
            ("/^#/d\n1i\\\ntext e\na more\n", ""),
            ("s|a/b|c|g;y/abc/xyz/;:a;ta;bend;q5", ""),
            ("-E•s/(e+)/\\1/I", ""),
            ("--expression=s/a/b/•--quiet", ""),
            ("/x/{s/a/b/;p;}", ""),
            ("w /dev/stdout", ""),
            ("s/a/b/•?\"$file\"", ""),
            ("-f•script", ""),
            ("--sandbox•1e date", ""),
            ("1e date", "runs"),
            ("e", "runs"),
            ("/touch/e", "runs"),
            ("1{e date\n}", "runs"),
            ("s/a/b/e", "runs"),
            ("s|a|b|ge", "runs"),
            ("s/a/b/2pe", "runs"),
            ("-n•-e•p•-e•1e x", "runs"),
            ("--expression=1e x", "runs"),
            ("--expr•1e x", "runs"),
            ("-ne1e", "runs"),
            ("w out", "writes"),
            ("/a/W out", "writes"),
            ("s/a/b/gw out", "writes"),
            ("?$x", "runs writes"),
            ("?\"$x\"•words", "runs writes"),
            ("s/[/]/x/", "runs writes"),
            ("s/a/b", "runs writes"),
        ];
        for (line, expected) in table {
            assert_eq!(words(line), expected, "{line}");
        }
    }
}
