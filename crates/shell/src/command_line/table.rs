//! Tables of programs: the format of `programs/<name>.toml`.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::programs::Does;

/// Maximum length of a pattern that expressions may name, in bytes.
const MAX_PATTERN: usize = 1024;
/// Maximum length of an expression after its named patterns are inserted, in bytes.
const MAX_EXPRESSION: usize = 16 * 1024;

/// Arguments that a program or a subcommand takes, and their effects. Anything that is not listed
/// is unknown.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Usage {
    /// Further names of the program or subcommand.
    pub(super) names: Vec<String>,
    /// Effect; `None` for a program that only runs the command in its arguments, and for a
    /// subcommand with the same effect as its program.
    pub(super) does: Option<Does>,
    /// Programs that the program starts by itself, as a noun phrase.
    pub(super) starts: Option<String>,
    /// Options without value, as written: `-l`, `--all`. `-<number>` stands for `-5` and the like.
    pub(super) flags: Vec<String>,
    /// Options with a value, as written, and the kind of the value. The file groups them by kind:
    /// `options.number = ["-n", "--lines"]`. After a kind, `?` stands for a value that may be
    /// omitted and that is never a separate word, and `$` for one that may be omitted at the end.
    #[serde(deserialize_with = "options_by_name")]
    pub(super) options: BTreeMap<String, Kind>,
    /// Effects of words that are not listed because they destroy data. The first is the worst.
    pub(super) risks: Vec<Risk>,
    /// Names of sets in `shared` whose flags and options are also part of this usage.
    #[serde(rename = "with")]
    pub(super) sets: Vec<String>,
    /// Sets of flags and options that several subcommands share. Only at the top level of a table.
    pub(super) shared: BTreeMap<String, Self>,
    /// Options of which at least one must be present.
    pub(super) requires: Vec<String>,
    /// Kinds of the operands in their order.
    pub(super) operands: Vec<Operand>,
    /// Files that the program changes, in addition to words of the form [`Form::Write`], for
    /// messages only: `last` for the last of several operands (no other operand is changed then),
    /// `rest` for all but the first, `all` for all words that are not options, an option (`-o`) for
    /// its value, also if no list contains the option, and `of=` for the rest of such an operand.
    pub(super) written: Vec<String>,
    /// Minimum number of operands. With fewer, the program reads commands from its standard input.
    pub(super) min_operands: usize,
    /// True if each word `@FILE` stands for the arguments in that file.
    pub(super) response_files: bool,
    /// True if words that begin with a single `-` are whole options, not groups of letters.
    pub(super) single_dash: bool,
    /// True if options may not follow the first operand: from there on, all words are operands.
    pub(super) options_first: bool,
    /// True if the program only reads, for any arguments, so that the arguments need not be known.
    pub(super) any_arguments: bool,
    /// True if the program adds arguments to the command that it runs.
    pub(super) adds_arguments: bool,
    /// Arguments with which the program runs its standard input as a script.
    pub(super) runs_input: Option<RunsInput>,
    /// Subcommands by their names. If the map is not empty, the first operand must be one of them.
    pub(super) subcommands: BTreeMap<String, Self>,
    /// Alternative usage for words that do not fit this one: `git branch NAME` next to `git branch
    /// --list`.
    pub(super) otherwise: Option<Box<Self>>,
}

/// Effect of words that the table does not list, for messages only.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Risk {
    /// Predicate of a sentence about the command, such as `deletes branches`.
    pub(super) effect: String,
    /// Options and subcommands.
    pub(super) words: Vec<String>,
}

/// Reads lists of options, grouped by the kind of their value.
fn options_by_name<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, Kind>, D::Error> {
    let by_kind = BTreeMap::<String, Vec<String>>::deserialize(deserializer)?;
    let mut by_name = BTreeMap::new();
    for (text, names) in by_kind {
        let kind = Kind::read(&text).map_err(serde::de::Error::custom)?;
        by_name.extend(names.into_iter().map(|name| (name, kind.clone())));
    }
    Ok(by_name)
}

/// Arguments with which a program runs its standard input as a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum RunsInput {
    /// All arguments, unless they name a script or the file of one.
    WithoutFile,
    /// All arguments without a command.
    WithoutCommand,
    /// All arguments.
    Always,
}

/// Kind of the value of an option.
#[derive(Debug, Clone)]
pub(super) struct Kind {
    pub(super) form: Form,
    /// True if the value may be omitted. If present, the value is attached to the option.
    pub(super) is_optional: bool,
    /// True if the value may be omitted at the end of the line. Everywhere else, the next word is
    /// the value (`git branch --merged`).
    pub(super) is_optional_at_end: bool,
}

/// Form of a word.
#[derive(Debug, Clone)]
pub(super) enum Form {
    /// Any text that is only data to the program.
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
    /// A shell script.
    Script,
    /// A text that this regular expression matches as a whole.
    Matches(regex::Regex),
}

/// Form of an operand, and whether the operand may be repeated.
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
                let inner = inner.ok_or_else(|| format!("{text:?} is not a kind of word"))?;
                if inner.len() > MAX_EXPRESSION {
                    return Err(format!("an expression is longer than {MAX_EXPRESSION} bytes"));
                }
                let expression = regex::Regex::new(&format!("^(?:{inner})$"));
                Self::Matches(expression.map_err(|error| error.to_string())?)
            }
        })
    }
}

/// Replaces `<name>` by the pattern of this name in expressions, which are written between slashes.
fn fill(patterns: &toml::Table, key: &str, value: toml::Value) -> (String, toml::Value) {
    use toml::Value::{Array, String as Text, Table};
    let filled = |text: &str| {
        let mut text = text.to_owned();
        if text.starts_with('/') && text.contains('<') {
            for (name, pattern) in patterns {
                // An expression that is too long is rejected later, when it is parsed.
                if text.len() > MAX_EXPRESSION {
                    break;
                }
                text = text.replace(&format!("<{name}>"), pattern.as_str().unwrap_or_default());
            }
        }
        text
    };
    let value = match value {
        Text(text) => Text(filled(&text)),
        Array(values) => {
            Array(values.into_iter().map(|value| fill(patterns, "", value).1).collect())
        }
        Table(table) => {
            Table(table.into_iter().map(|(key, value)| fill(patterns, &key, value)).collect())
        }
        other => other,
    };
    (filled(key), value)
}

impl Kind {
    fn read(text: &str) -> Result<Self, String> {
        let form = text.trim_end_matches(['?', '$']);
        let is_optional = text.ends_with('?');
        let is_optional_at_end = text.ends_with('$');
        Ok(Self { form: Form::read(form)?, is_optional, is_optional_at_end })
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
    /// Reads the text of a table.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut table: toml::Table = toml::from_str(text).map_err(|error| error.to_string())?;
        let patterns = match table.remove("patterns") {
            Some(toml::Value::Table(patterns)) => patterns,
            _ => toml::Table::new(),
        };
        let is_long =
            |pattern: &toml::Value| pattern.as_str().is_some_and(|text| text.len() > MAX_PATTERN);
        if patterns.values().any(is_long) {
            return Err(format!("a pattern is longer than {MAX_PATTERN} bytes"));
        }
        // Patterns may refer to each other; one round per pattern resolves all references.
        for _ in 0..patterns.len() {
            let rest = std::mem::take(&mut table);
            table = rest.into_iter().map(|(key, value)| fill(&patterns, &key, value)).collect();
        }
        let mut usage: Self = table.try_into().map_err(|error| error.to_string())?;
        let shared = std::mem::take(&mut usage.shared);
        usage.include(&shared)?;
        Ok(usage)
    }

    /// Copies the shared flags and options to the usages that name them.
    fn include(&mut self, shared: &BTreeMap<String, Self>) -> Result<(), String> {
        for name in &self.sets {
            let set = shared.get(name).ok_or_else(|| format!("there is no shared set {name}"))?;
            self.flags.extend(set.flags.iter().cloned());
            let options = set.options.iter().map(|(name, kind)| (name.clone(), kind.clone()));
            self.options.extend(options);
        }
        let inner = self.subcommands.values_mut().chain(self.otherwise.as_deref_mut());
        for usage in inner {
            usage.include(shared)?;
        }
        Ok(())
    }

    /// Returns true if an operand may be a command, a script or a program to run.
    pub(super) fn runs_operands(&self) -> bool {
        let runs = |operand: &Operand| {
            matches!(operand.form, Form::Command | Form::Script | Form::Program)
        };
        self.operands.iter().any(runs)
            || self.otherwise.as_ref().is_some_and(|other| other.runs_operands())
    }

    /// Returns true if the value of this option is a command or a script.
    pub(super) fn runs_value(&self, option: &str) -> bool {
        let kind = self.options.get(option);
        kind.is_some_and(|kind| {
            matches!(kind.form, Form::Command | Form::Terminated | Form::Script)
        })
    }

    /// Returns true if `written` contains this text.
    pub(super) fn writes(&self, what: &str) -> bool {
        self.written.iter().any(|written| written == what)
    }

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
