//! Slash commands by name.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt;
use std::sync::Arc;

use super::prompt_command::NamedPrompt;
use super::{Command, CommandSource, PromptCommand};
use crate::spelling;

/// Maximum number of bytes at the start of a line in which a command's name is searched.
const LONGEST_NAME: usize = 512;

/// Function that explains why a known name is not a command of this session.
pub type CommandExplainer = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// Slash commands by name. The set of a session is a [`crate::Live`] value.
///
/// Built-in commands keep their names. If a prompt command asks for a name that a built-in command
/// has, or that another prompt command asks for, too, it is called by a name that begins with its
/// source: `/user.deploy`.
#[derive(Clone, Default)]
pub struct CommandSet {
    built_in: Vec<Arc<dyn Command>>,
    /// Names that no prompt command can have, although no command of this set has them.
    reserved: BTreeSet<String>,
    sources: BTreeMap<CommandSource, Source>,
    /// The commands of all sources, under the names by which they are called.
    prompts: Vec<Arc<dyn Command>>,
    renamed: Vec<RenamedCommand>,
    explain: Option<CommandExplainer>,
}

/// Commands of one source.
#[derive(Clone, Default)]
struct Source {
    commands: Vec<Arc<dyn PromptCommand>>,
    /// Names of commands that cannot be used, each with the reason.
    unusable: Vec<(String, String)>,
}

/// Command that is called by another name than the one it asks for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RenamedCommand {
    /// Source of the command.
    pub source: CommandSource,
    /// Name that it asks for.
    pub wanted: String,
    /// Name by which it is called.
    pub name: String,
    /// Source of another command with the name; `None` if a built-in command has it.
    pub conflict: Option<CommandSource>,
}

impl fmt::Display for RenamedCommand {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { source, wanted, name, conflict } = self;
        let source = source.to_string();
        let (first, rest) = source.split_at(source.ceil_char_boundary(1));
        let first = first.to_uppercase();
        write!(
            formatter,
            "{first}{rest} '/{wanted}' was renamed to '/{name}' because it conflicts with "
        )?;
        match conflict {
            Some(other) => write!(formatter, "{other}."),
            None => formatter.write_str("built-in command."),
        }
    }
}

impl CommandSet {
    /// Creates a set of these built-in commands.
    pub fn new(built_in: Vec<Arc<dyn Command>>) -> Self {
        Self { built_in, ..Self::default() }
    }

    /// Keeps names for built-in commands that this set does not have.
    #[must_use]
    pub fn reserving<'a>(self, names: impl IntoIterator<Item = &'a str>) -> Self {
        let mut set = self;
        set.reserved.extend(names.into_iter().map(str::to_owned));
        set.name_prompts();
        set
    }

    /// Adds a built-in command, such as one of the frontend. It replaces one of the same name.
    pub fn add_built_in(&mut self, command: Arc<dyn Command>) {
        self.built_in.retain(|known| known.name() != command.name());
        self.built_in.push(command);
        self.name_prompts();
    }

    /// Sets the function that explains unknown names.
    #[must_use]
    pub fn explained_by(self, explain: CommandExplainer) -> Self {
        Self { explain: Some(explain), ..self }
    }

    /// Replaces all commands of a source. `unusable` has the names of commands that cannot be used,
    /// each with a reason in one sentence. Returns the commands, of this source or another, that
    /// have a new name that they do not ask for.
    pub fn replace_source(
        &mut self,
        source: CommandSource,
        commands: Vec<Arc<dyn PromptCommand>>,
        unusable: Vec<(String, String)>,
    ) -> Vec<RenamedCommand> {
        if commands.is_empty() && unusable.is_empty() {
            self.sources.remove(&source);
        } else {
            self.sources.insert(source, Source { commands, unusable });
        }
        let before: HashSet<RenamedCommand> = self.renamed.drain(..).collect();
        self.name_prompts();
        self.renamed.iter().filter(|renamed| !before.contains(renamed)).cloned().collect()
    }

    /// Returns the commands that are called by other names than they ask for.
    pub fn renamed(&self) -> &[RenamedCommand] {
        &self.renamed
    }

    /// Gives every prompt command the name by which it is called.
    fn name_prompts(&mut self) {
        let mut claims: BTreeMap<&str, Vec<&CommandSource>> = BTreeMap::new();
        for (source, command) in prompts(&self.sources) {
            claims.entry(command.name()).or_default().push(source);
        }
        let built_in = self.built_in.iter().map(|command| command.name());
        let mut taken: HashSet<String> =
            built_in.chain(self.reserved.iter().map(String::as_str)).map(str::to_owned).collect();
        let is_free = |name: &str| !taken.contains(name) && claims[name].len() == 1;
        let (free, clashing): (Vec<_>, Vec<_>) =
            prompts(&self.sources).partition(|(_, command)| is_free(command.name()));
        let is_built_in = |name: &str| taken.contains(name);
        let mut renamed: Vec<RenamedCommand> = Vec::new();
        let conflicts: Vec<Option<CommandSource>> = (clashing.iter())
            .map(|(source, command)| {
                let mut others = claims[command.name()].iter().filter(|other| *other != source);
                let other = others.next().unwrap_or(source);
                (!is_built_in(command.name())).then(|| CommandSource::clone(other))
            })
            .collect();
        let mut named: Vec<(String, &Arc<dyn PromptCommand>)> =
            free.into_iter().map(|(_, command)| (command.name().to_owned(), command)).collect();
        taken.extend(named.iter().map(|(name, _)| name.clone()));
        for ((source, command), conflict) in clashing.into_iter().zip(conflicts) {
            let qualified = source.qualified(command.name());
            let numbered = (1..).map(|number| format!("{qualified}{number}"));
            let mut names = std::iter::once(qualified.clone()).chain(numbered);
            let name = names.find(|name| !taken.contains(name)).unwrap_or_default();
            taken.insert(name.clone());
            let (source, wanted) = (source.clone(), command.name().to_owned());
            renamed.push(RenamedCommand { source, wanted, name: name.clone(), conflict });
            named.push((name, command));
        }
        named.sort_by(|(one, _), (other, _)| one.cmp(other));
        let as_command = |(name, command): (String, &Arc<dyn PromptCommand>)| {
            Arc::new(NamedPrompt { name, command: Arc::clone(command) }) as Arc<dyn Command>
        };
        self.prompts = named.into_iter().map(as_command).collect();
        self.renamed = renamed;
    }

    /// Returns why a name that was given to a command cannot be called: the command cannot be used,
    /// or it is called by another name. `None` for every other name, and for a name that can be
    /// called.
    pub fn obstacle(&self, name: &str) -> Option<String> {
        if self.get(name).is_some() {
            return None;
        }
        let mut unusable = self.sources.values().flat_map(|source| &source.unusable);
        if let Some((_, reason)) = unusable.find(|(known, _)| known == name) {
            return Some(reason.clone());
        }
        let renamed = self.renamed.iter().filter(|renamed| renamed.wanted == name);
        let names: Vec<String> = renamed.map(|renamed| format!("/{}", renamed.name)).collect();
        (!names.is_empty()).then(|| {
            format!("/{name} is ambiguous or reserved. Call it as {}.", names.join(" or "))
        })
    }

    /// Returns the message for a name that no command has: an explanation, or the most similar
    /// name.
    pub fn unknown(&self, name: &str) -> String {
        let explain = || self.explain.as_ref().and_then(|explain| explain(name));
        if let Some(text) = self.obstacle(name).or_else(explain) {
            return text;
        }
        let names = self.iter().flat_map(|command| {
            let first = command.name().split(' ').next();
            first.into_iter().chain(command.aliases().iter().copied())
        });
        let meant = spelling::nearest(name, names).map(|known| format!(" Did you mean /{known}?"));
        format!("Unknown command: /{name}.{} Type /help for a list.", meant.unwrap_or_default())
    }

    /// Removes the built-in commands for which `keep` returns false. No prompt command gets their
    /// names.
    pub fn retain_built_in(&mut self, keep: impl Fn(&dyn Command) -> bool) {
        let removed = self.built_in.extract_if(.., |command| !keep(command.as_ref()));
        self.reserved.extend(removed.map(|command| command.name().to_owned()));
    }

    /// Returns all commands: the built-in ones, and then the others by name.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Command>> {
        self.built_in.iter().chain(&self.prompts)
    }

    /// Returns the command of this exact name or alias; names win over aliases.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Command>> {
        let named = self.iter().find(|command| command.name() == name);
        named.or_else(|| self.iter().find(|command| command.aliases().contains(&name)))
    }

    /// Returns the command that a line such as `/memory show all` calls, and the rest of the line.
    /// The name is the longest sequence of leading words that names a command.
    pub fn find<'line>(&self, line: &'line str) -> Option<(&Arc<dyn Command>, &'line str)> {
        self.called(line).map(|(command, end)| (command, line[end..].trim()))
    }

    /// Returns the command that a line calls, and the index at which its name ends.
    fn called(&self, line: &str) -> Option<(&Arc<dyn Command>, usize)> {
        line.strip_prefix('/')?;
        let mut ends: Vec<usize> =
            line.match_indices(char::is_whitespace).map(|(index, _)| index).collect();
        ends.push(line.len());
        ends.into_iter()
            .rev()
            .filter(|end| *end <= LONGEST_NAME)
            .find_map(|end| self.get(&words(&line[1..end])).map(|command| (command, end)))
    }

    /// Returns the completions of a partly typed line: names of commands, or after a name its
    /// subcommands and arguments. A name has the typed letters in this order, whatever their case;
    /// what is typed in full comes first, then names that begin with it, then the others. Of the
    /// names of a command, that which fits best is returned.
    pub async fn complete(&self, line: &str) -> Vec<String> {
        let Some(start) = line.strip_prefix('/') else { return Vec::new() };
        let whole = |names: Vec<&str>| names.into_iter().map(|name| format!("/{name}")).collect();
        if !line.contains(char::is_whitespace) {
            let typed = start.to_lowercase();
            let mut named: Vec<(Fit, &str)> =
                self.iter().filter_map(|command| self.best_name(command, &typed)).collect();
            named.sort_by_key(|(fit, _)| *fit);
            return whole(named.into_iter().map(|(_, name)| name).collect());
        }
        let Some((command, end)) = self.called(line) else { return Vec::new() };
        let partial = line[end..].trim_start();
        let head = &line[..line.len() - partial.len()];
        let below = format!("{} {partial}", command.name());
        let names = self.iter().map(|command| command.name());
        let mut completed: Vec<String> =
            whole(names.filter(|name| name.starts_with(&below)).collect());
        let arguments = command.complete(partial).await.into_iter();
        completed.extend(arguments.map(|rest| format!("{head}{rest}")));
        completed
    }

    /// Returns the name of a command that fits typed letters best; `None` if none does, or if the
    /// command is a subcommand.
    fn best_name<'name>(
        &self,
        command: &'name Arc<dyn Command>,
        typed: &str,
    ) -> Option<(Fit, &'name str)> {
        let fit = |name: &str, whole, start| {
            let name = name.to_lowercase();
            match name.strip_prefix(typed) {
                Some("") => Some(whole),
                Some(_) => Some(start),
                None => span(&name, typed).map(Fit::Letters),
            }
        };
        let name = Some(command.name()).filter(|name| !name.contains(' '))?;
        let is_own = |alias: &&&str| self.get(alias).is_some_and(|it| Arc::ptr_eq(it, command));
        let aliases = command.aliases().iter().filter(is_own);
        let aliases = aliases
            .filter_map(|alias| Some((fit(alias, Fit::WholeAlias, Fit::StartOfAlias)?, *alias)));
        let named = fit(name, Fit::Whole, Fit::Start).map(|fit| (fit, name));
        named.into_iter().chain(aliases).min_by_key(|(fit, _)| *fit)
    }
}

/// Returns the words of a text with one blank between them.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Fit of a name for typed letters, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    Whole,
    WholeAlias,
    Start,
    StartOfAlias,
    /// The letters are in the name; the length of the text from the first to the last of them.
    Letters(usize),
}

/// Returns the length of the text from the first to the last of the letters, which it has in this
/// order.
fn span(text: &str, letters: &str) -> Option<usize> {
    let start = text.find(letters.chars().next()?)?;
    let mut rest = &text[start..];
    for letter in letters.chars() {
        rest = &rest[rest.find(letter)? + letter.len_utf8()..];
    }
    Some(text.len() - start - rest.len())
}

impl fmt::Debug for CommandSet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.iter().map(|command| command.name())).finish()
    }
}

/// Returns the commands of all sources.
fn prompts(
    sources: &BTreeMap<CommandSource, Source>,
) -> impl Iterator<Item = (&CommandSource, &Arc<dyn PromptCommand>)> {
    let of = |(source, own)| {
        let own: &Source = own;
        own.commands.iter().map(move |command| (source, command))
    };
    sources.iter().flat_map(of)
}

#[cfg(test)]
mod tests;
