//! One command of a line, in the forms that rules are matched against.

use std::cell::OnceCell;

use pollux_shell::command_line::{CommandLine, Does, SimpleCommand, Word};

use super::form::Form;

/// One command of a line.
#[derive(Debug)]
pub(super) struct Part<'a> {
    pub(super) command: &'a SimpleCommand,
    /// Exact words; `None` for a word that is known only when the command runs.
    pub(super) words: Vec<Option<&'a str>>,
    /// Words as a user writes them, separated by one space.
    pub(super) text: String,
    /// True for the `cd` at the beginning of the line.
    pub(super) is_folder: bool,
    forms: OnceCell<Forms>,
    effect: OnceCell<Option<Does>>,
}

/// Texts of a command that patterns are matched against.
#[derive(Debug)]
pub(super) struct Forms {
    /// Words separated by one space.
    pub(super) plain: Form,
    /// Text as written, if it differs.
    pub(super) written: Option<Form>,
    /// Words without the directories in the program's path, if there are any.
    pub(super) bare: Option<Form>,
}

impl Forms {
    pub(super) fn all(&self) -> impl Iterator<Item = &Form> {
        [Some(&self.plain), self.written.as_ref(), self.bare.as_ref()].into_iter().flatten()
    }
}

impl<'a> Part<'a> {
    /// Returns the commands of a line.
    pub(super) fn all(line: &'a CommandLine) -> Vec<Self> {
        let parts = line.commands.iter().enumerate().map(|(index, command)| Self {
            command,
            words: command.words.iter().map(Word::literal).collect(),
            text: command.shown(),
            is_folder: index == 0 && line.folder.is_some(),
            forms: OnceCell::new(),
            effect: OnceCell::new(),
        });
        parts.collect()
    }

    /// Returns the program's name without directories.
    pub(super) fn name(&self) -> &'a str {
        self.command.base_name()
    }

    /// Returns the effect of the command under a rule that names all of its words; `None` if
    /// unknown.
    pub(super) fn effect(&self) -> Option<Does> {
        *self.effect.get_or_init(|| self.command.known(self.words.len()).ok()?.does)
    }

    /// Returns the texts that patterns are matched against.
    pub(super) fn forms(&self) -> &Forms {
        self.forms.get_or_init(|| {
            let (full, name) = (self.command.name(), self.name());
            let bare = (name != full).then(|| self.text.replacen(full, name, 1));
            let written = (self.command.text != self.text).then_some(&self.command.text);
            Forms {
                plain: Form::new(&self.text),
                written: written.map(|text| Form::new(text)),
                bare: bare.as_deref().map(Form::new),
            }
        })
    }
}
