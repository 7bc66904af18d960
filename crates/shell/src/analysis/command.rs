//! One simple command: what it is, and what it runs.

use super::analyser::{Analyser, Frame};
use super::builtins::{Standing, standing};
use super::line::Line;
use super::model::{Argument, BuiltIn, Program, Reason, Scope, SubCommand, Via};
use super::walk::Walker;
use super::word::{RESERVED, Word};

/// How a command came to be called.
#[derive(Debug, Clone, Default)]
pub(super) struct Call {
    pub(super) via: Vec<Via>,
    /// Variables for this command.
    pub(super) environment: Vec<String>,
    /// Whether arguments follow that nobody knows.
    pub(super) has_more: bool,
    /// Whether the name may be a function's.
    pub(super) finds_functions: bool,
    /// Whether the name may be a built-in's.
    pub(super) finds_built_ins: bool,
    /// How many wrappers are around it.
    pub(super) depth: usize,
}

impl Call {
    /// A command that a program starts: it knows neither functions nor built-ins.
    pub(super) fn through(&self, wrapper: &str) -> Self {
        let mut call = self.clone();
        call.via.push(Via::Wrapper(wrapper.to_owned()));
        call.finds_functions = false;
        call.finds_built_ins = false;
        call.depth += 1;
        call
    }
}

/// Judges the simple commands of one script.
pub(super) struct Judge<'j> {
    pub(super) analyser: &'j mut Analyser,
    pub(super) text: &'j str,
    pub(super) frame: &'j Frame,
}

impl Walker<'_, '_> {
    /// A simple command whose words have been read.
    pub(super) fn command(&mut self, line: &Line) {
        let named = line.words.iter().find(|word| word.assignment.is_none());
        if let Some(word) = named {
            let name = word.constant().unwrap_or(&word.raw).to_owned();
            self.display(&name, word.start);
        }
        let (start, end) = (line.start, line.end);
        let call = Call {
            via: self.frame.via.clone(),
            finds_functions: true,
            finds_built_ins: true,
            ..Call::default()
        };
        let mut judge =
            Judge { analyser: &mut *self.analyser, text: self.scanner.text, frame: &self.frame };
        if named.is_some() {
            judge.sub_command(start, end, &call);
        }
        judge.typed(&line.words, call);
    }
}

impl Judge<'_> {
    pub(super) fn note(&mut self, reason: Reason, word: &Word) {
        self.analyser.note(reason, self.frame.position(word.start));
    }

    fn sub_command(&mut self, start: usize, end: usize, call: &Call) {
        let position = self.frame.position(start);
        let Some(text) = self.text.get(start..end) else { return };
        if self.analyser.spend(text.len() + call.via.len() * 16, position) {
            let sub_command = SubCommand { text: text.to_owned(), via: call.via.clone(), position };
            self.analyser.analysis.sub_commands.push(sub_command);
        }
    }

    /// Words where the shell expects a command: assignments and words with a meaning come first.
    fn typed(&mut self, words: &[Word], mut call: Call) {
        let mut words = words;
        let mut has_assignments = false;
        loop {
            let Some((first, rest)) = words.split_first() else { return };
            let is_bare = first.is_constant && !first.is_quoted;
            if first.assignment.is_some() {
                let is_command = rest.iter().any(|word| word.assignment.is_none());
                let scope = if is_command { Scope::Command } else { Scope::Shell };
                self.assignment(first, scope);
                if is_command {
                    call.environment.extend(first.assignment.as_ref().map(|a| a.name.clone()));
                }
                has_assignments = true;
            } else if is_looking_like_subscript(first) {
                // `a[ 1 ]=x` is an assignment of several words.
                self.note(Reason::Syntax, first);
                return;
            } else if !is_bare || has_assignments {
                break;
            } else if first.text == "time" && !self.frame.is_posix {
                call.via.push(Via::Wrapper("time".to_owned()));
                words = self.after_time(first, rest);
                continue;
            } else if first.text == "coproc" && !self.frame.is_posix {
                call.via.push(Via::Wrapper("coproc".to_owned()));
                self.analyser.analysis.background.push(self.frame.position(first.start));
            } else if first.text != "!" {
                break;
            }
            words = rest;
        }
        let bare = words.first().filter(|first| first.is_constant && !first.is_quoted);
        if let Some(first) = bare.filter(|_| !has_assignments)
            && RESERVED.contains(&first.text.as_str())
        {
            return self.note(Reason::Syntax, first);
        }
        self.judge(words, &call);
    }

    /// Behind the options of the keyword `time`.
    fn after_time<'w>(&mut self, time: &Word, words: &'w [Word]) -> &'w [Word] {
        let mut words = words;
        while let Some((first, rest)) = words.split_first() {
            match first.constant() {
                Some("-p" | "--") => words = rest,
                Some(text) if text.starts_with('-') => {
                    // The keyword gives way to the program here in some versions.
                    self.note(Reason::WrapperOption, time);
                    return words;
                }
                _ => return words,
            }
        }
        words
    }

    /// `name=value` in front of a command, alone, or as an argument of `export` and the like.
    pub(super) fn assignment(&mut self, word: &Word, scope: Scope) {
        let Some(assigned) = &word.assignment else { return };
        let value = word.assigned_value();
        let is_sum = word.raw.split_once('=').is_some_and(|(_, value)| is_sum(value));
        self.analyser.assign(&assigned.name, value, is_sum);
        let position = self.frame.position(word.start);
        let value = value.map(str::to_owned);
        self.analyser.push_assignment(assigned.name.clone(), value, scope, position);
    }

    /// A command inside a wrapper.
    pub(super) fn inner(&mut self, words: &[Word], call: &Call) {
        let (Some(first), Some(last)) = (words.first(), words.last()) else { return };
        if call.depth + self.frame.depth > super::MAX_WRAPPERS {
            return self.note(Reason::TooMuch, first);
        }
        self.sub_command(first.start, last.end, call);
        self.judge(words, call);
    }

    /// A command by its words, the name first.
    fn judge(&mut self, words: &[Word], call: &Call) {
        let Some(first) = words.first() else { return };
        let Some(name) = first.constant() else {
            return self.note(Reason::CommandName, first);
        };
        if name.contains("/proc/") {
            // Whatever a process runs, such as the shell itself.
            self.note(Reason::CommandName, first);
        }
        if self.frame.is_posix && name.starts_with('=') {
            self.note(Reason::ShellDependent, first);
        }
        if call.finds_functions && !first.has_tilde && self.analyser.defined.contains(name) {
            return;
        }
        let standing = if call.finds_built_ins {
            standing(name, self.frame.is_posix)
        } else {
            Standing::Program
        };
        match standing {
            Standing::BuiltIn => self.built_in(name, words, call),
            Standing::Program => self.program(name, words, call),
            Standing::Either => {
                self.note(Reason::ShellDependent, first);
                self.built_in(name, words, call);
                self.program(name, words, call);
            }
        }
    }

    fn built_in(&mut self, name: &str, words: &[Word], call: &Call) {
        let position = self.frame.position(words[0].start);
        let Some(arguments) = self.arguments(words, position) else { return };
        self.analyser.analysis.built_ins.push(BuiltIn {
            name: name.to_owned(),
            arguments,
            via: call.via.clone(),
            position,
        });
        self.effects_of_built_in(name, words, call);
    }

    fn program(&mut self, name: &str, words: &[Word], call: &Call) {
        let position = self.frame.position(words[0].start);
        let Some(arguments) = self.arguments(words, position) else { return };
        let base = name.rsplit('/').next().unwrap_or(name);
        let code = super::interpreters::code(base, &arguments);
        self.analyser.analysis.programs.push(Program {
            name: name.to_owned(),
            runs_code: code.runs,
            code_writes: code.writes,
            arguments,
            has_more_arguments: call.has_more,
            environment: call.environment.clone(),
            via: call.via.clone(),
            position,
        });
        self.effects_of_program(base, words, call);
    }

    /// What a command is given; none when there is too much of it.
    fn arguments(&mut self, words: &[Word], position: usize) -> Option<Vec<Argument>> {
        let size = words.iter().map(|word| word.raw.len() + 16).sum();
        let argument = |word: &Word| match word.constant() {
            Some(text) => Argument::Constant(text.to_owned()),
            None => Argument::Unknown(word.raw.clone()),
        };
        let is_affordable = self.analyser.spend(size, position);
        is_affordable.then(|| words.iter().skip(1).map(argument).collect())
    }

    /// Code in a word, for a shell.
    pub(super) fn code(&mut self, word: &Word, step: Via, is_posix: bool, reason: Reason) {
        let Some(code) = word.code() else { return self.note(reason, word) };
        self.code_text(code, word, step, is_posix);
    }

    /// Code that stands at `word`.
    pub(super) fn code_text(&mut self, code: &str, word: &Word, step: Via, is_posix: bool) {
        let mut frame = self.frame.inner(word.start, step);
        frame.is_posix = is_posix;
        self.analyser.script(code, &frame);
    }
}

/// Whether a value is one arithmetic expansion, whose result is a number.
fn is_sum(value: &str) -> bool {
    let inner = value.strip_prefix("$((").and_then(|rest| rest.strip_suffix("))"));
    inner.is_some_and(|inner| !inner.contains("))"))
}

/// `name[` without its other half: what follows may belong to it.
fn is_looking_like_subscript(word: &Word) -> bool {
    let (name, rest) = word.raw.split_at(super::word::name_length(&word.raw));
    super::word::is_name(name) && rest.starts_with('[')
}
