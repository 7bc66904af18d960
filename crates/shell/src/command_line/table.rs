//! Tables of programs: the format of `programs/<name>.toml`.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::programs::Does;

/// Arguments that a program or a subcommand takes, and what it does with them. Whatever is not listed is not known.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Usage {
    /// Further names of the program or subcommand.
    pub(super) names: Vec<String>,
    /// What it does; `None` for a program that only runs the command it is given, and for a subcommand that does what
    /// the program does.
    pub(super) does: Option<Does>,
    /// What it starts by itself, as a noun phrase.
    pub(super) starts: Option<String>,
    /// Options without value, as written: `-l`, `--all`. `-<number>` stands for `-5` and the like.
    pub(super) flags: Vec<String>,
    /// Options with a value, as written, and the kind of the value.
    pub(super) options: BTreeMap<String, Kind>,
    /// Kinds of the operands in their order.
    pub(super) operands: Vec<Operand>,
    /// Words that begin with one `-` are whole options, not groups of letters.
    pub(super) single_dash: bool,
    /// Options may not follow the first operand: from there on all words are operands.
    pub(super) options_first: bool,
    /// It only reads whatever its arguments are, so that they need not be known.
    pub(super) any_arguments: bool,
    /// It adds arguments to the command that it runs.
    pub(super) adds_arguments: bool,
    /// Without operands it runs its standard input as a script.
    pub(super) runs_input: bool,
    /// Subcommands by their names. If there are some, the first operand must be one of them.
    pub(super) subcommands: BTreeMap<String, Usage>,
}

/// Kind of a word.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Kind {
    pub(super) form: Form,
    /// The value may be left out. It is then attached to the option or not there.
    pub(super) is_optional: bool,
}

/// Form of a word.
#[derive(Debug, Clone)]
pub(super) enum Form {
    /// Any text that is data to the program.
    Text,
    /// A number, possibly with a sign and a unit.
    Number,
    /// A path that is read.
    Read,
    /// A path that is changed.
    Write,
    /// A file that is run.
    Program,
    /// The first word of a command that takes up the rest of the line.
    Command,
    /// The first word of a command that ends with `;` or `+`.
    Terminated,
    /// A script of the shell.
    Script,
    /// A text that this expression matches as a whole.
    Matches(regex::Regex),
}

/// Kind of an operand and how often it occurs.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Operand {
    pub(super) form: Form,
    pub(super) repeats: bool,
}

impl Form {
    fn read(text: &str) -> Result<Self, String> {
        Ok(match text {
            "text" => Self::Text,
            "number" => Self::Number,
            "read" => Self::Read,
            "write" => Self::Write,
            "program" => Self::Program,
            "command" => Self::Command,
            "command;" => Self::Terminated,
            "script" => Self::Script,
            _ => {
                let inner = text.strip_prefix('/').and_then(|rest| rest.strip_suffix('/'));
                let inner = inner.ok_or_else(|| format!("{text:?} is no kind of word"))?;
                let expression = regex::Regex::new(&format!("^(?:{inner})$"));
                Self::Matches(expression.map_err(|error| error.to_string())?)
            }
        })
    }
}

impl TryFrom<String> for Kind {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let is_optional = text.ends_with('?') && !text.starts_with('/');
        let form = if is_optional { text.trim_end_matches('?') } else { &text };
        Ok(Self { form: Form::read(form)?, is_optional })
    }
}

impl TryFrom<String> for Operand {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let repeats = text.ends_with('*');
        let form = if repeats { &text[..text.len() - 1] } else { &text };
        Ok(Self { form: Form::read(form)?, repeats })
    }
}

impl Usage {
    /// Returns the subcommand of this name.
    pub(super) fn subcommand(&self, name: &str) -> Option<&Self> {
        let is_named = |usage: &&Self| usage.names.iter().any(|other| other == name);
        self.subcommands.get(name).or_else(|| self.subcommands.values().find(is_named))
    }

    /// Returns true for an option without value.
    pub(super) fn has_flag(&self, option: &str) -> bool {
        let is_number = || {
            let digits = option.strip_prefix('-').unwrap_or_default();
            !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
        };
        self.flags.iter().any(|flag| flag == option || (flag == "-<number>" && is_number()))
    }
}
