//! One command of a line, in the forms that rules look at.

use std::cell::OnceCell;

use pollux_shell::analysis::{Analysis, Argument, SubCommand, Via};

use super::form::Form;
use crate::prefix::base_name;

/// One command of a line: a program or something that the shell does itself.
#[derive(Debug)]
pub(super) struct Part<'a> {
    /// The name and the arguments; none for those that are only known when it runs.
    pub(super) words: Vec<Option<&'a str>>,
    /// The name and the arguments as they are shown.
    pub(super) shown: Vec<&'a str>,
    /// The words, parted by one space.
    pub(super) text: String,
    /// As it was written, with its variables and redirections.
    pub(super) written: Option<&'a str>,
    /// Variables that are set for it alone.
    pub(super) environment: &'a [String],
    /// How it is reached.
    pub(super) via: &'a [Via],
    /// More arguments follow that nobody knows.
    pub(super) has_more: bool,
    /// An argument is code.
    pub(super) runs_code: bool,
    /// An argument is code that may write files.
    pub(super) code_writes: bool,
    /// The shell does it itself.
    pub(super) is_built_in: bool,
    /// Where it stands in the line.
    pub(super) position: usize,
    /// The wrapper that runs it, by its place among the parts.
    pub(super) wrapper: Option<usize>,
    /// The program without its folders.
    name: &'a str,
    /// Made when a pattern first looks.
    forms: OnceCell<Forms>,
}

/// The texts of a command that patterns look at.
#[derive(Debug)]
pub(super) struct Forms {
    /// Its words, parted by one space.
    pub(super) plain: Form,
    /// As it was written, where that is something else.
    pub(super) written: Option<Form>,
    /// Without the folders of the program, where it has some.
    pub(super) bare: Option<Form>,
}

impl Forms {
    /// All of them.
    pub(super) fn all(&self) -> impl Iterator<Item = &Form> {
        [Some(&self.plain), self.written.as_ref(), self.bare.as_ref()].into_iter().flatten()
    }
}

impl<'a> Part<'a> {
    /// All commands of a line, in their order.
    pub(super) fn all(analysis: &'a Analysis) -> Vec<Self> {
        let programs = analysis.programs.iter().map(|program| {
            let mut part =
                Self::new(&program.name, &program.arguments, &program.via, program.position);
            part.environment = &program.environment;
            part.has_more = program.has_more_arguments;
            part.runs_code = program.runs_code;
            part.code_writes = program.code_writes;
            part
        });
        let built_ins = analysis.built_ins.iter().map(|built_in| {
            let (name, arguments) = (&built_in.name, &built_in.arguments);
            let part = Self::new(name, arguments, &built_in.via, built_in.position);
            Self { is_built_in: true, ..part }
        });
        let mut parts: Vec<Self> = programs.chain(built_ins).collect();
        parts.sort_by_key(|part| part.position);
        for index in 0..parts.len() {
            parts[index].written = written(&parts[index], &analysis.sub_commands);
            parts[index].wrapper = wrapper(&parts, index);
        }
        parts
    }

    fn new(name: &'a str, arguments: &'a [Argument], via: &'a [Via], position: usize) -> Self {
        let mut words = Vec::with_capacity(arguments.len() + 1);
        let mut shown = Vec::with_capacity(arguments.len() + 1);
        words.push(Some(name));
        shown.push(name);
        for argument in arguments {
            words.push(argument.constant());
            shown.push(match argument {
                Argument::Constant(text) | Argument::Unknown(text) => text,
            });
        }
        let text = shown.join(" ");
        Self {
            words,
            shown,
            text,
            written: None,
            environment: &[],
            via,
            has_more: false,
            runs_code: false,
            code_writes: false,
            is_built_in: false,
            position,
            wrapper: None,
            name: base_name(name),
            forms: OnceCell::new(),
        }
    }

    /// The same command with other words.
    pub(super) fn with_words(
        &self,
        words: Vec<Option<&'a str>>,
        shown: Vec<&'a str>,
        has_more: bool,
    ) -> Self {
        Self {
            name: base_name(shown[0]),
            words,
            shown,
            text: String::new(),
            written: None,
            environment: self.environment,
            via: self.via,
            has_more,
            runs_code: self.runs_code,
            code_writes: self.code_writes,
            is_built_in: self.is_built_in,
            position: self.position,
            wrapper: None,
            forms: OnceCell::new(),
        }
    }

    /// The program without its folders.
    pub(super) fn name(&self) -> &'a str {
        self.name
    }

    /// The texts that patterns look at.
    pub(super) fn forms(&self) -> &Forms {
        self.forms.get_or_init(|| {
            let has_folder = self.name.len() < self.shown[0].len();
            let bare = has_folder.then(|| self.text.replacen(self.shown[0], self.name, 1));
            let written = self.written.filter(|written| *written != self.text);
            Forms {
                plain: Form::new(&self.text),
                written: written.map(Form::new),
                bare: bare.as_deref().map(Form::new),
            }
        })
    }

    /// The constant arguments.
    pub(super) fn constants(&self) -> impl Iterator<Item = &'a str> {
        self.words[1..].iter().copied().flatten()
    }

    /// Whether all that it is given is known.
    pub(super) fn is_constant(&self) -> bool {
        !self.has_more && self.words.iter().all(Option::is_some)
    }
}

/// The text of a command: of those that are reached in the same way, the last that begins before it.
fn written<'a>(part: &Part<'a>, written: &'a [SubCommand]) -> Option<&'a str> {
    let same = |sub: &&SubCommand| sub.position <= part.position && sub.via == part.via;
    // Commands of one script in quotes all stand where the script does.
    let in_script =
        part.via.iter().any(|via| matches!(via, Via::Script(_) | Via::Eval | Via::Trap));
    if in_script {
        let first = part.shown[0];
        let fits = |sub: &&SubCommand| same(sub) && sub.text.trim_start().starts_with(first);
        return written.iter().find(fits).map(|sub| sub.text.as_str());
    }
    let end = written.partition_point(|sub| sub.position <= part.position);
    written[..end].iter().rev().find(same).map(|sub| sub.text.as_str())
}

/// The wrapper around a command.
fn wrapper(parts: &[Part<'_>], index: usize) -> Option<usize> {
    let (Via::Wrapper(name), outer) = parts[index].via.split_last()? else { return None };
    parts[..index].iter().rposition(|part| part.via == outer && part.name() == name)
}
