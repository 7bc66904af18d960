//! Reader of a command line in the dialect of yargs, as Gemini CLI configures it.
//!
//! | rule | example |
//! |---|---|
//! | a flag has a camelCase twin; a letter may have two dashes | `--approvalMode plan`, `--p hi` |
//! | a switch may have a value | `--yolo=false`, `--sandbox false`, `--no-yolo` |
//! | a value never looks like a flag | wrong: `-p -x`; right: `-p=-x`, `-p "-x is odd"` |
//! | a list has one value per flag, split at commas | `--include-directories a,b` |
//! | other repeated values are kept whole | `mcp add -e A=1,2 -e B=3` |
//! | the last of repeated values counts | `-m a -m b` |
//! | a first word that names a group takes the rest of the line | `mcp add -s user x y` |
//! | so does a command line to explain | `policy explain git status --short` |
//! | unknown options belong to the server that is added | `mcp add x npx -y y` |
//!
//! [`Line::matches`] passes the result to clap in a form that clap cannot misread.

use std::iter::Peekable;
use std::vec::IntoIter;

use clap::{Arg, ArgAction, ArgMatches, Command};

use super::flags;

/// Session that a `--resume` without a value continues.
pub(super) const LATEST: &str = "latest";

/// Kind of value that a flag takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// No value, `true` or `false`.
    Switch,
    /// One value.
    Text,
    /// At most one value.
    OptionalText,
    /// One value per use of the flag, with items separated by commas.
    List,
    /// One value per use of the flag, which is kept whole.
    Repeated,
}

/// Group of subcommands of Gemini CLI, with all its names.
pub(super) struct Group {
    pub(super) names: &'static [&'static str],
    pub(super) verbs: &'static [&'static str],
}

impl Group {
    /// Returns true if `word` is one of the names.
    pub(super) fn is_called(&self, word: &str) -> bool {
        self.names.contains(&word)
    }
}

/// Flag as the reader uses it.
#[derive(Debug)]
pub(super) struct Flag {
    pub(super) name: String,
    pub(super) alias: Option<String>,
    pub(super) short: Option<char>,
    pub(super) kind: Kind,
    /// Accepted values; any value is accepted if empty.
    pub(super) choices: Vec<String>,
}

/// All flags of some commands.
#[derive(Debug)]
pub(super) struct Table {
    flags: Vec<Flag>,
}

impl Table {
    /// Returns the flags among `arguments`; the first of several flags with the same name.
    pub(super) fn of<'a>(arguments: impl IntoIterator<Item = &'a Arg>) -> Self {
        let mut flags: Vec<Flag> = Vec::new();
        for argument in arguments {
            let Some(name) = argument.get_long() else { continue };
            if flags.iter().any(|flag| flag.name == name) {
                continue;
            }
            let optional = argument.get_num_args().is_some_and(|count| count.min_values() == 0);
            let kind = match argument.get_action() {
                ArgAction::SetTrue | ArgAction::Help => Kind::Switch,
                ArgAction::Append if argument.get_value_delimiter().is_none() => Kind::Repeated,
                ArgAction::Append => Kind::List,
                _ if optional => Kind::OptionalText,
                _ => Kind::Text,
            };
            let choices =
                if kind == Kind::Switch { Vec::new() } else { argument.get_possible_values() };
            flags.push(Flag {
                name: name.to_owned(),
                alias: argument
                    .get_visible_aliases()
                    .unwrap_or_default()
                    .first()
                    .map(|alias| (*alias).to_owned()),
                short: argument.get_short(),
                kind,
                choices: choices.iter().map(|choice| choice.get_name().to_owned()).collect(),
            });
        }
        Self { flags }
    }

    /// Returns true if a text is the letter of a flag.
    fn is_short(&self, text: &str) -> bool {
        let mut letters = text.chars();
        let letter = letters.next().and_then(|letter| self.short(letter));
        letter.is_some() && letters.next().is_none()
    }

    fn short(&self, letter: char) -> Option<&Flag> {
        self.flags.iter().find(|flag| flag.short == Some(letter))
    }

    fn long(&self, name: &str) -> Option<&Flag> {
        let mut letters = name.chars();
        if let (Some(letter), None) = (letters.next(), letters.next()) {
            return self.short(letter);
        }
        let kebab = kebab_case(name);
        let is_called =
            |flag: &&Flag, name: &str| flag.name == name || flag.alias.as_deref() == Some(name);
        let by = |name: &str| self.flags.iter().find(|flag| is_called(flag, name));
        by(name).or_else(|| by(&kebab))
    }
}

fn kebab_case(camel: &str) -> String {
    let mut kebab = String::with_capacity(camel.len() + 4);
    for character in camel.chars() {
        if character.is_ascii_uppercase() {
            kebab.push('-');
        }
        kebab.push(character.to_ascii_lowercase());
    }
    kebab
}

/// Flag that prints information instead of starting a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    /// `--help`.
    Help,
    /// `--version`.
    Version,
}

/// Value of one use of a flag.
#[derive(Debug)]
enum Value {
    Switch(bool),
    Text(String),
}

/// Command line that is parsed but not checked.
#[derive(Debug, Default)]
pub(super) struct Line<'t> {
    /// Words that are neither flags nor values of flags.
    pub(super) words: Vec<String>,
    /// Names of unknown flags, as typed.
    pub(super) unknown: Vec<String>,
    /// First flag without its value, as typed.
    pub(super) missing_value: Option<String>,
    /// First of `--help` and `--version`.
    pub(super) asked: Option<Asked>,
    /// Group of subcommands, with the unparsed rest of the line.
    pub(super) group: Option<(String, Vec<String>)>,
    /// True if a flag stands directly after the first word.
    pub(super) option_follows_first_word: bool,
    /// True if the first word follows a `--`.
    literal_words: bool,
    given: Vec<(&'t Flag, Value)>,
}

impl<'t> Line<'t> {
    /// Parses a line.
    pub(super) fn read(table: &'t Table, words: Vec<String>, groups: &[Group]) -> Self {
        Reader::new(table, words, None).read(groups)
    }

    /// Parses a line in which unknown options after the first `own` words are words too: they
    /// belong to another program. Short options are not combined, as in Gemini CLI.
    pub(super) fn read_of_program(table: &'t Table, words: Vec<String>, own: usize) -> Self {
        Reader::new(table, words, Some(own)).read(&[])
    }

    /// Returns the words.
    pub(super) fn words(&self) -> Vec<&str> {
        self.words.iter().map(String::as_str).collect()
    }

    /// Returns the words if they can be a subcommand, otherwise none: the first may follow a `--`.
    pub(super) fn command_words(&self) -> Vec<&str> {
        if self.literal_words { Vec::new() } else { self.words() }
    }

    /// Returns the names of all known flags on the line.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.given.iter().map(|(flag, _)| flag.name.as_str())
    }

    /// Returns true if a flag is on the line, with any value.
    pub(super) fn is_given(&self, name: &str) -> bool {
        self.names().any(|given| given == name)
    }

    fn values(&self, name: &str) -> impl DoubleEndedIterator<Item = &Value> {
        self.given.iter().filter(move |(flag, _)| flag.name == name).map(|(_, value)| value)
    }

    /// Returns the last value of a switch.
    pub(super) fn switch(&self, name: &str) -> Option<bool> {
        self.values(name).rev().find_map(|value| match value {
            Value::Switch(on) => Some(*on),
            Value::Text(_) => None,
        })
    }

    /// Returns the last value of a flag.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.values(name).rev().find_map(|value| match value {
            Value::Text(text) => Some(text.as_str()),
            Value::Switch(_) => None,
        })
    }

    /// Returns the items of a list, trimmed, without empty items; a single empty value is kept,
    /// because it means an empty list.
    pub(super) fn list(&self, name: &str) -> Vec<String> {
        let values = self.values(name).filter_map(|value| match value {
            Value::Text(text) => Some(text.as_str()),
            Value::Switch(_) => None,
        });
        let values: Vec<&str> = values.collect();
        if values == [""] {
            return vec![String::new()];
        }
        let items = values.iter().flat_map(|value| value.split(',')).map(str::trim);
        items.filter(|item| !item.is_empty()).map(str::to_owned).collect()
    }

    /// Returns the flags that take a value, each with its values.
    pub(super) fn texts(&self) -> Vec<(&'t Flag, Vec<String>)> {
        let mut texts: Vec<(&'t Flag, Vec<String>)> = Vec::new();
        for (flag, value) in &self.given {
            let Value::Text(text) = value else { continue };
            match texts.iter_mut().find(|(known, _)| known.name == flag.name) {
                Some((_, values)) => values.push(text.clone()),
                None => texts.push((flag, vec![text.clone()])),
            }
        }
        texts
    }

    /// Passes the line to clap: the names of the subcommand and its verb, one `--name=value` for
    /// every effective value of a flag of this command, then the operands.
    pub(super) fn matches(
        &self,
        whole: Command,
        path: &[&str],
        operands: &[&str],
    ) -> clap::error::Result<ArgMatches> {
        let owned =
            |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let mut words = owned(&[&[whole.get_name()], path].concat());
        let (command, _) = flags::descend(&whole, path);
        let is_of_command =
            |name: &str| command.get_arguments().any(|flag| flag.get_long() == Some(name));
        let mut done: Vec<&str> = Vec::new();
        for (flag, _) in &self.given {
            let name = flag.name.as_str();
            if done.contains(&name) || !is_of_command(name) {
                continue;
            }
            done.push(name);
            match flag.kind {
                Kind::Switch => {
                    words.extend(self.switch(name).filter(|on| *on).map(|_| format!("--{name}")));
                }
                Kind::List => {
                    words.extend(self.list(name).iter().map(|item| format!("--{name}={item}")));
                }
                Kind::Repeated => {
                    let texts = self.values(name).filter_map(|value| match value {
                        Value::Text(text) => Some(text),
                        Value::Switch(_) => None,
                    });
                    words.extend(texts.map(|text| format!("--{name}={text}")));
                }
                Kind::Text => words.extend(self.text(name).map(|text| format!("--{name}={text}"))),
                Kind::OptionalText => {
                    let text = self.text(name).filter(|text| !text.trim().is_empty());
                    words.push(format!("--{name}={}", text.unwrap_or(LATEST)));
                }
            }
        }
        words.push("--".to_owned());
        words.extend(owned(operands));
        whole.try_get_matches_from(words)
    }
}

/// Returns true if all further arguments are words of the command line to explain. A command line
/// that is quoted as one argument can be followed by flags.
fn takes_the_rest(words: &[String]) -> bool {
    match words {
        [policy, explain, first] => {
            policy == "policy" && explain == "explain" && !first.contains(char::is_whitespace)
        }
        _ => false,
    }
}

/// Returns true if a word is a flag: a dash and then something that is not a number.
fn is_flag(word: &str) -> bool {
    let Some(body) = word.strip_prefix('-') else { return false };
    !body.is_empty()
        && body.parse::<f64>().map_or(true, |_| {
            !body.starts_with(|first: char| first.is_ascii_digit() || first == '.')
        })
}

/// Returns true if a word can be the value of the flag before it.
fn is_value(word: &str) -> bool {
    let looks_like_a_flag = word.strip_prefix('-').is_some_and(|body| {
        body.starts_with(|first: char| !first.is_ascii_digit()) && is_flag(word)
    });
    // Prose that begins with a dash is a value; yargs would reject it.
    let is_prose = || {
        let end = word.find(|character: char| character.is_whitespace() || character == '=');
        end.is_some_and(|end| !word[end..].starts_with('='))
    };
    !looks_like_a_flag || is_prose()
}

struct Reader<'t> {
    table: &'t Table,
    rest: Peekable<IntoIter<String>>,
    line: Line<'t>,
    /// Number of words after which unknown options are words; `None` if they never are.
    own: Option<usize>,
}

impl<'t> Reader<'t> {
    fn new(table: &'t Table, words: Vec<String>, own: Option<usize>) -> Self {
        Self { table, rest: words.into_iter().peekable(), line: Line::default(), own }
    }

    fn read(mut self, groups: &[Group]) -> Line<'t> {
        while let Some(word) = self.rest.next() {
            if word == "--" {
                self.line.literal_words = self.line.words.is_empty();
                self.line.words.extend(self.rest);
                return self.line;
            }
            if self.is_of_program(&word) {
                self.line.words.push(word);
            } else if let Some(body) =
                word.strip_prefix("--").filter(|body| !body.starts_with("-="))
            {
                self.line.option_follows_first_word |= self.line.words.len() == 1;
                self.long(body);
            } else if is_flag(&word) {
                self.line.option_follows_first_word |= self.line.words.len() == 1;
                self.short(&word[1..]);
            } else if self.line.words.is_empty()
                && groups.iter().any(|group| group.is_called(&word))
            {
                self.line.group = Some((word, self.rest.collect()));
                return self.line;
            } else {
                self.line.words.push(word);
                if takes_the_rest(&self.line.words) {
                    self.line.words.extend(self.rest);
                    return self.line;
                }
            }
        }
        self.line
    }

    /// Returns true for an unknown option that belongs to another program.
    fn is_of_program(&self, word: &str) -> bool {
        if self.own.is_none_or(|own| self.line.words.len() < own) || !is_flag(word) {
            return false;
        }
        let body = word.trim_start_matches('-');
        let name = body.split_once('=').map_or(body, |(name, _)| name);
        if !word.starts_with("--") {
            return !self.table.is_short(name);
        }
        let switch = name.strip_prefix("no-").and_then(|name| self.table.long(name));
        let is_negated = body == name && switch.is_some_and(|flag| flag.kind == Kind::Switch);
        self.table.long(name).is_none() && !is_negated
    }

    /// Handles `--body`.
    fn long(&mut self, body: &str) {
        let (name, value) = match body.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (body, None),
        };
        if let Some(flag) = self.table.long(name) {
            self.give(flag, name, value);
            return;
        }
        match name.strip_prefix("no-").filter(|_| value.is_none()) {
            Some(name) => match self.table.long(name) {
                Some(flag) if flag.kind == Kind::Switch => {
                    self.line.given.push((flag, Value::Switch(false)));
                }
                _ => self.line.unknown.push(name.to_owned()),
            },
            None => self.line.unknown.push(name.to_owned()),
        }
    }

    /// Handles `-cluster`: switches, and possibly a flag with a value as the last one.
    fn short(&mut self, cluster: &str) {
        for (index, letter) in cluster.char_indices() {
            let rest = &cluster[index + letter.len_utf8()..];
            let attached = rest.strip_prefix('=');
            let Some(flag) = self.table.short(letter) else {
                self.line.unknown.push(letter.to_string());
                if rest.starts_with(|next: char| !next.is_alphanumeric()) {
                    return;
                }
                continue;
            };
            let name = letter.to_string();
            match (flag.kind, attached) {
                (Kind::Switch, None) if !rest.is_empty() => {
                    self.give(flag, &name, Some("true".to_owned()));
                }
                (_, Some(value)) => return self.give(flag, &name, Some(value.to_owned())),
                (_, None) if rest.is_empty() => return self.give(flag, &name, None),
                (_, None) => return self.give(flag, &name, Some(rest.to_owned())),
            }
        }
    }

    /// Records one use of a flag, with the name as typed and the attached value.
    fn give(&mut self, flag: &'t Flag, typed: &str, attached: Option<String>) {
        let value = match flag.kind {
            Kind::Switch => {
                let beside = |word: &String| word == "true" || word == "false";
                let word = attached.or_else(|| self.rest.next_if(beside));
                Value::Switch(word.is_none_or(|word| is_on(flag, &word)))
            }
            Kind::OptionalText => {
                let word = attached.or_else(|| self.rest.next_if(|word| is_value(word)));
                Value::Text(word.unwrap_or_default())
            }
            Kind::Text | Kind::List | Kind::Repeated => {
                let Some(word) = attached.or_else(|| self.rest.next_if(|word| is_value(word)))
                else {
                    self.line.missing_value.get_or_insert_with(|| typed.to_owned());
                    return;
                };
                Value::Text(word)
            }
        };
        let asked = match flag.name.as_str() {
            "help" => Some(Asked::Help),
            "version" => Some(Asked::Version),
            _ => None,
        };
        match asked {
            Some(asked) if matches!(value, Value::Switch(true)) => {
                self.line.asked.get_or_insert(asked);
            }
            Some(_) => {}
            None => self.line.given.push((flag, value)),
        }
    }
}

/// Returns the value of a switch. yargs treats every word except `true` as false; for `--sandbox`,
/// however, every word except `false` is a request for a sandbox.
fn is_on(flag: &Flag, word: &str) -> bool {
    word == "true" || flag.name == "sandbox" && word != "false"
}
