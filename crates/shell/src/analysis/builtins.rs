//! What the shell carries out itself, and which of it runs or changes more than it seems.

use super::command::{Call, Judge};
use super::model::{Reason, Scope, Via};
use super::word::{Word, is_name};

/// Built into every POSIX shell that we know: dash, bash, ksh, busybox.
const COMMON: &[&str] = &[
    ".", ":", "[", "alias", "bg", "break", "cd", "command", "continue", "echo", "eval", "exec",
    "exit", "export", "false", "fg", "getopts", "hash", "jobs", "kill", "local", "printf", "pwd",
    "read", "readonly", "return", "set", "shift", "test", "times", "trap", "true", "type",
    "ulimit", "umask", "unalias", "unset", "wait",
];

/// Built into bash besides.
const BASH: &[&str] = &[
    "bind",
    "builtin",
    "caller",
    "compgen",
    "complete",
    "compopt",
    "declare",
    "dirs",
    "disown",
    "enable",
    "fc",
    "help",
    "history",
    "let",
    "logout",
    "mapfile",
    "popd",
    "pushd",
    "readarray",
    "shopt",
    "source",
    "suspend",
    "typeset",
];

/// Where a name is found that is no function's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    BuiltIn,
    Program,
    /// That depends on the shell.
    Either,
}

/// Where `name` is found.
pub(super) fn standing(name: &str, is_posix: bool) -> Standing {
    if COMMON.contains(&name) {
        Standing::BuiltIn
    } else if !BASH.contains(&name) {
        Standing::Program
    } else if is_posix {
        Standing::Either
    } else {
        Standing::BuiltIn
    }
}

impl Judge<'_> {
    /// What a built-in runs or changes.
    pub(super) fn effects_of_built_in(&mut self, name: &str, words: &[Word], call: &Call) {
        let (first, arguments) = (&words[0], &words[1..]);
        match name {
            "command" | "builtin" | "exec" => self.caller(name, words, call),
            "eval" => self.eval(words),
            "." | "source" if !arguments.is_empty() => self.note(Reason::Source, first),
            "alias" if !arguments.is_empty() => self.note(Reason::Alias, first),
            "trap" => self.trap(words),
            "export" | "readonly" | "local" | "declare" | "typeset" => self.declare(name, words),
            "unset" => {
                // A function may be gone from here on.
                self.analyser.defined.clear();
                self.variable_names(arguments);
            }
            "read" | "getopts" | "mapfile" | "readarray" => {
                self.analyser.has_hidden_values = true;
                self.variable_names(arguments);
                self.filled_names(arguments);
                let is_array = matches!(name, "mapfile" | "readarray");
                if is_array && arguments.iter().any(|word| has_option(word, 'C')) {
                    self.note(Reason::BuiltIn, first);
                }
            }
            "printf" if arguments.first().is_some_and(|word| may_be_option(word, 'v')) => {
                self.analyser.has_hidden_values = true;
                let names = &arguments[..arguments.len().min(2)];
                self.variable_names(names);
                self.filled_names(names);
            }
            "test" | "[" => self.simple_test(arguments),
            "wait" if arguments.iter().any(|word| has_option(word, 'p')) => {
                self.analyser.has_hidden_values = true;
                self.variable_names(arguments);
            }
            "let" => self.evaluate(arguments),
            "set" => self.set(words),
            "shopt" => {
                let is_known = arguments.iter().all(|word| word.is_constant);
                if !is_known || arguments.iter().any(|word| word.text.contains("expand_aliases")) {
                    self.note(Reason::BuiltIn, first);
                }
            }
            "hash" if arguments.iter().any(|word| may_be_option(word, 'p')) => {
                self.note(Reason::BuiltIn, first);
            }
            "jobs" if arguments.iter().any(|word| may_be_option(word, 'x')) => {
                self.note(Reason::BuiltIn, first);
            }
            "fc" => self.note(Reason::BuiltIn, first),
            "enable" | "complete" | "compgen" | "compopt" | "bind" if !arguments.is_empty() => {
                self.note(Reason::BuiltIn, first);
            }
            _ => {}
        }
    }

    /// `command`, `builtin` and `exec` call what follows their options.
    fn caller(&mut self, name: &str, words: &[Word], call: &Call) {
        let mut at = 1;
        while let Some(word) = words.get(at) {
            let Some(text) = word.constant() else { break };
            if !text.starts_with('-') || text == "-" {
                break;
            }
            at += 1;
            match (name, text) {
                (_, "--") => break,
                ("command", "-p") | ("exec", "-c" | "-l" | "-cl" | "-lc") => {}
                ("command", _) if text[1..].bytes().all(|byte| b"pvV".contains(&byte)) => return,
                ("exec", "-a" | "-ca" | "-la") => {
                    if !words.get(at).is_some_and(|word| word.is_single) {
                        return self.note(Reason::WrapperOption, &words[0]);
                    }
                    at += 1;
                }
                _ => return self.note(Reason::WrapperOption, word),
            }
        }
        let mut inner = call.through(name);
        inner.finds_built_ins = name != "exec";
        if name == "builtin" {
            let word = words.get(at);
            if word.is_some_and(|word| {
                word.constant()
                    .is_some_and(|text| standing(text, self.frame.is_posix) == Standing::Program)
            }) {
                // It fails: nothing of this name is built in.
                return;
            }
        }
        self.inner(&words[at.min(words.len())..], &inner);
    }

    fn eval(&mut self, words: &[Word]) {
        let (first, arguments) = (&words[0], &words[1..]);
        if arguments.is_empty() {
            return;
        }
        self.note(Reason::Eval, first);
        let parts: Option<Vec<&str>> = arguments.iter().map(Word::code).collect();
        let code = parts.map(|parts| parts.join(" "));
        match code {
            Some(code) => {
                let code = code.strip_prefix("-- ").unwrap_or(&code);
                self.code_text(code, first, Via::Eval, self.frame.is_posix);
            }
            None => self.analyser.has_hidden_values = true,
        }
    }

    fn trap(&mut self, words: &[Word]) {
        let mut arguments = &words[1..];
        let Some(first) = arguments.first() else { return };
        match first.constant() {
            Some("--") => arguments = &arguments[1..],
            Some("-") => return,
            Some(text) if text.starts_with('-') => {
                if !text[1..].bytes().all(|byte| b"lp".contains(&byte)) {
                    self.note(Reason::Trap, first);
                }
                return;
            }
            _ => {}
        }
        let Some(code) = arguments.first() else { return };
        if arguments.len() == 1 && code.is_constant {
            // Only a signal: its trap is reset.
            return;
        }
        let is_posix = self.frame.is_posix;
        self.code(code, Via::Trap, is_posix, Reason::Trap);
    }

    /// `export`, `declare` and the like.
    fn declare(&mut self, name: &str, words: &[Word]) {
        let scope = if name == "export" { Scope::Exported } else { Scope::Shell };
        for word in &words[1..] {
            let text = word.known_prefix();
            if word.assignment.is_some() {
                self.assignment(word, scope);
            } else if let Some((variable, value)) = text.split_once('=') {
                // Quoted: `export "A=$b"`.
                let variable = variable.strip_suffix('+').unwrap_or(variable);
                if !is_name(variable) {
                    self.note(Reason::Indirection, word);
                    continue;
                }
                let value = word.is_constant.then(|| value.to_owned());
                self.analyser.assign(variable, value.as_deref(), false);
                let position = self.frame.position(word.start);
                self.analyser.push_assignment(variable.to_owned(), value, scope, position);
            } else if !word.is_constant {
                self.note(Reason::Indirection, word);
            } else if text.starts_with(['-', '+']) {
                // `-i` evaluates what is assigned, `-n` makes names out of values.
                if text.contains(['i', 'n']) && name != "export" {
                    self.note(Reason::Indirection, word);
                }
            } else {
                self.variable_names(std::slice::from_ref(word));
            }
        }
    }

    /// Arguments that name variables: a subscript in them is evaluated.
    fn variable_names(&mut self, words: &[Word]) {
        for word in words {
            if !word.is_constant {
                // A value with a subscript is needed to do harm; as an option's value it is common.
                self.note(Reason::Indirection, word);
            } else if word.text.contains('[') && word.text.contains(['$', '`']) {
                self.note(Reason::Arithmetic, word);
            } else if let Some((_, index)) = word.text.split_once('[')
                && !index.trim_end_matches(']').bytes().all(|byte| byte.is_ascii_digit())
            {
                self.note(Reason::Arithmetic, word);
            }
        }
    }

    /// Arguments that may name variables which get values that nobody sees.
    fn filled_names(&mut self, words: &[Word]) {
        for word in words {
            let Some(text) = word.constant() else { continue };
            let name = text.strip_prefix("-v").unwrap_or(text);
            let name = name.split('[').next().unwrap_or(name);
            if is_name(name) {
                let position = self.frame.position(word.start);
                self.analyser.push_assignment(name.to_owned(), None, Scope::Shell, position);
            }
        }
    }

    /// `test -v name` evaluates a subscript of the name.
    fn simple_test(&mut self, words: &[Word]) {
        for (index, word) in words.iter().enumerate() {
            let is_harmless_name =
                |name: &Word| name.is_constant && !name.text.contains('[') || name.text == "]";
            // Only where it is an operator: with one operand behind it.
            let names = words.get(index + 1);
            if matches!(word.constant(), Some("-v" | "-R")) && !names.is_some_and(is_harmless_name)
            {
                self.note(Reason::Arithmetic, word);
            }
        }
        // An operator may also come out of a variable: `[ $x ]`, `[ "$x" "$y" ]`.
        let operands = words.iter().filter(|word| word.raw != "]");
        let are_two =
            operands.clone().count() == 2 && operands.clone().all(|word| !word.is_constant);
        if are_two || operands.clone().any(|word| !word.is_single && !word.is_operand()) {
            self.analyser.note(Reason::Arithmetic, self.frame.position(words[0].start));
        }
    }

    /// Arguments that are arithmetic.
    fn evaluate(&mut self, words: &[Word]) {
        for word in words {
            let is_number =
                word.constant().is_some_and(|text| super::arithmetic::is_harmless(text, |_| false));
            if !is_number {
                self.note(Reason::Arithmetic, word);
            }
        }
    }

    /// `set`: some options change how the words that follow are read.
    fn set(&mut self, words: &[Word]) {
        let mut options = words[1..].iter();
        while let Some(word) = options.next() {
            let Some(text) = word.constant() else {
                if !word.is_operand() {
                    self.note(Reason::BuiltIn, word);
                }
                return;
            };
            if text == "--" || !text.starts_with(['-', '+']) {
                return;
            }
            if text.contains('k') {
                self.note(Reason::BuiltIn, word);
            }
            if text.ends_with('o') {
                let is_harmless = |name: &Word| {
                    name.constant().is_some_and(|name| !matches!(name, "keyword" | "posix"))
                };
                match options.next() {
                    Some(name) if is_harmless(name) => {}
                    Some(name) => self.note(Reason::BuiltIn, name),
                    None => {}
                }
            }
        }
    }
}

/// Whether a word is a group of short options with this letter.
fn has_option(word: &Word, letter: char) -> bool {
    word.text.starts_with('-') && !word.text.starts_with("--") && word.text.contains(letter)
}

/// Whether it is one, or may become one.
fn may_be_option(word: &Word, letter: char) -> bool {
    has_option(word, letter) || (!word.is_constant && !word.is_operand())
}
