//! Subcommands of Pollux, and the rule that separates them from prompts.
//!
//! A mistyped subcommand must not become a prompt, because a prompt costs money and may change
//! files. A line whose first word is the name of a subcommand is:
//!
//! | line | meaning |
//! |---|---|
//! | no other word, or an option as the second word | the subcommand |
//! | a verb of the subcommand as the second word, or a word within one edit of it | the subcommand |
//! | `trust` with one other word | the subcommand |
//! | any line that begins with `completions`, `config`, `man` or `prompt` | the subcommand |
//! | a word such as `check` or `add` as the second word, if the subcommand has verbs | neither; it is refused |
//! | another line of three or more words | a prompt |
//! | another line of two words | neither; it is refused |
//!
//! A quoted prompt is one word and therefore never a subcommand; nor are the words after `--`. A
//! single word that is a subcommand of other agents, or within one edit of a subcommand, is refused
//! too ([`foreign`]).

use clap::{Command, FromArgMatches};
use pollux_protocol::spelling;

use super::auth::AuthArguments;
use super::completions::CompletionsArguments;
use super::config::ConfigArguments;
use super::demo::DemoArguments;
use super::doctor::DoctorArguments;
use super::extensions::ExtensionsArguments;
use super::hooks::HooksArguments;
use super::line::{Line, Table};
use super::mcp::{self, McpArguments};
use super::models::ModelsArguments;
use super::policy::PolicyArguments;
use super::prompt::PromptArguments;
use super::sandbox::SandboxArguments;
use super::skills::SkillsArguments;
use super::trust::TrustArguments;
use super::{Exit, checks, flags, foreign, help_of, later};

/// Subcommand with its arguments. The order is that of the help.
#[derive(Debug, Clone, PartialEq, clap::Subcommand)]
pub(crate) enum Subcommand {
    Demo(DemoArguments),
    Auth(AuthArguments),
    Config(ConfigArguments),
    Doctor(DoctorArguments),
    Extensions(ExtensionsArguments),
    Hooks(HooksArguments),
    Mcp(McpArguments),
    Models(ModelsArguments),
    Policy(PolicyArguments),
    Prompt(PromptArguments),
    Sandbox(SandboxArguments),
    Skills(SkillsArguments),
    Trust(TrustArguments),
    Completions(CompletionsArguments),
    /// Print the man page
    Man,
    /// Print the help of the program or of a subcommand
    Help {
        subcommand: Vec<String>,
    },
    /// Print the version
    Version,
}

/// Subcommands that take every line that begins with their name.
const GREEDY: [&str; 4] = ["completions", "config", "man", "prompt"];
/// Subcommand that takes a word that is no verb.
const TRUST: &str = "trust";
const HELP: &str = "help";
const VERSION: &str = "version";

/// Words that are verbs of subcommands rather than words of a prompt.
const VERBS: [&str; 22] = [
    "add", "check", "create", "delete", "disable", "edit", "enable", "get", "help", "info", "list",
    "ls", "new", "remove", "reset", "rm", "run", "set", "show", "status", "test", "validate",
];

/// Meaning of a line whose first word is the name of a subcommand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meaning {
    Subcommand,
    Prompt,
    Neither,
}

/// Returns the words of a line that is a subcommand; `None` if the line is a prompt.
///
/// # Errors
/// The exit of a line that is neither.
pub(super) fn words<'l>(
    line: &'l Line<'_>,
    whole: &Command,
    called_as: &str,
) -> Result<Option<Vec<&'l str>>, Exit> {
    let words = line.command_words();
    let verbs = words.first().and_then(|name| verbs(whole, name));
    let Some(verbs) = verbs else {
        return match foreign::refusal(line, &names(whole), called_as) {
            Some(message) => Err(unclear(message)),
            None => Ok(None),
        };
    };
    match meaning(&words, line.option_follows_first_word, &verbs) {
        Meaning::Prompt => Ok(None),
        Meaning::Neither => Err(neither(&words, &verbs, called_as)),
        Meaning::Subcommand => Ok(Some(words)),
    }
}

/// Returns the words that may follow a subcommand; `None` if there is no subcommand of this name.
fn verbs(whole: &Command, name: &str) -> Option<Vec<String>> {
    if let Some(verbs) = later::verbs(name) {
        return Some(verbs.iter().map(|verb| (*verb).to_owned()).collect());
    }
    if name == HELP {
        return Some(names(whole));
    }
    whole.find_subcommand(name).map(names)
}

/// Returns the names of the subcommands of a command.
fn names(command: &Command) -> Vec<String> {
    command.get_subcommands().map(|verb| verb.get_name().to_owned()).collect()
}

fn meaning(words: &[&str], option_follows: bool, verbs: &[String]) -> Meaning {
    let Some(second) = words.get(1).filter(|_| !option_follows) else {
        return Meaning::Subcommand;
    };
    let is_operand = words[0] == TRUST && words.len() == 2;
    if is_operand || GREEDY.contains(&words[0]) || nearest(second, verbs).is_some() {
        return Meaning::Subcommand;
    }
    let is_verb = !verbs.is_empty() && VERBS.contains(second);
    if words.len() > 2 && !is_verb { Meaning::Prompt } else { Meaning::Neither }
}

/// Returns the verb that is the word, or the first that is within one edit of it.
fn nearest<'v>(word: &str, verbs: &'v [String]) -> Option<&'v str> {
    let exact = verbs.iter().find(|verb| *verb == word);
    exact
        .or_else(|| verbs.iter().find(|verb| spelling::is_one_edit(word, verb)))
        .map(String::as_str)
}

/// Refuses a line that is neither a subcommand nor clearly a prompt.
fn neither(words: &[&str], verbs: &[String], called_as: &str) -> Exit {
    let (name, line) = (words[0], words.join(" "));
    let meant = match verbs {
        [] => format!("\"{called_as} {name}\""),
        verbs => format!("\"{called_as} {name}\" with {}", verbs.join(", ")),
    };
    unclear(format!(
        "There is no subcommand \"{line}\". Did you mean {meant}?\nTo send it as a prompt, quote it: {called_as} -p \"{line}\"\n"
    ))
}

/// Refuses a subcommand with an unknown verb.
fn unknown_verb(name: &str, word: &str, verbs: &[String], called_as: &str) -> Exit {
    let meant = nearest(word, verbs).map_or_else(
        || format!("The subcommands of {name} are {}.", verbs.join(", ")),
        |verb| format!("Did you mean \"{called_as} {name} {verb}\"?"),
    );
    unclear(format!(
        "There is no subcommand \"{name} {word}\". {meant}\nTo send it as a prompt, quote it: {called_as} -p \"{name} {word} ...\"\n"
    ))
}

fn unclear(stderr: String) -> Exit {
    Exit { code: 42, stdout: String::new(), stderr }
}

/// Returns the subcommand of a line with these words.
///
/// # Errors
/// The exit of a line that is incomplete or has other flags, words or values.
pub(super) fn parse(
    line: &Line<'_>,
    words: &[&str],
    whole: Command,
    called_as: &str,
) -> Result<Subcommand, Exit> {
    let name = words[0];
    let verbs = verbs(&whole, name).unwrap_or_default();
    if let Some(word) = words.get(1).filter(|_| !verbs.is_empty())
        && !verbs.iter().any(|verb| verb == word)
    {
        return Err(unknown_verb(name, word, &verbs, called_as));
    }
    if later::verbs(name).is_some() {
        return Err(Exit::refusal(later::subcommand(name)));
    }
    if name == HELP {
        let subcommand = words[1..].iter().map(|word| (*word).to_owned()).collect();
        return Ok(Subcommand::Help { subcommand });
    }
    read(line, words, whole).map_err(|message| refusal(&message, words, called_as))
}

/// Returns the subcommand of a group of Gemini CLI. Its flags are not those of the main command.
///
/// # Errors
/// The exit with help or an error message.
pub(super) fn parse_group(
    group: &str,
    rest: Vec<String>,
    whole: Command,
    called_as: &str,
) -> Result<Subcommand, Exit> {
    let help_flag = flags::help_flag();
    let (command, _) = flags::descend(&whole, &[group]);
    let program = mcp::of_program(group, &rest);
    let table = match program.and_then(|(verb, _)| command.find_subcommand(verb)) {
        Some(verb) => Table::of(verb.get_arguments().chain([&help_flag])),
        None => Table::of(flags::of_verbs(command).chain([&help_flag])),
    };
    let line = match program {
        Some((_, own)) => Line::read_of_program(&table, rest, own),
        None => Line::read(&table, rest, &[]),
    };
    let words = [&[group], &line.words()[..]].concat();
    if line.asked.is_some() {
        return Err(Exit::answer(help_of(&words, called_as)));
    }
    let subcommand = checks::no_missing_value(&line).and_then(|()| read(&line, &words, whole));
    subcommand.map_err(|message| refusal(&message, &[group], called_as))
}

/// Reads the flags and operands of a subcommand.
fn read(line: &Line<'_>, words: &[&str], whole: Command) -> Result<Subcommand, String> {
    let (command, depth) = flags::descend(&whole, words);
    let (path, operands) = words.split_at(depth);
    if command.has_subcommands() {
        let is_of_gemini = later::GROUPS.iter().any(|group| group.is_called(words[0]));
        return Err(if is_of_gemini {
            checks::NO_VERB.to_owned()
        } else {
            checks::needs_verb(words[0], &names(command))
        });
    }
    checks::operands(path, operands, command)?;
    if words[0] != VERSION {
        checks::flags_of(line, path, command)?;
    }
    let matches = line.matches(whole, path, operands);
    match matches.and_then(|matches| Subcommand::from_arg_matches(&matches)) {
        Ok(Subcommand::Config(config)) => config.with_overrides(line).map(Subcommand::Config),
        Ok(Subcommand::Mcp(mcp)) => Ok(Subcommand::Mcp(mcp.with_switches(line))),
        Ok(subcommand) => Ok(subcommand),
        Err(error) => Err(checks::message(&error)),
    }
}

/// Refuses a line of a subcommand, and names its help. The help itself would hide the message.
pub(super) fn refusal(message: &str, words: &[&str], called_as: &str) -> Exit {
    let depth = flags::descend(&flags::whole(called_as), words).1;
    let path: Vec<&str> =
        std::iter::once(called_as).chain(words[..depth].iter().copied()).collect();
    Exit::refusal(format!("{message}\nFor the usage: {} --help\n", path.join(" ")))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn subcommands_and_prompts() {
        use Meaning::{Neither, Prompt, Subcommand};
        let verbs = ["list", "explain"].map(str::to_owned);
        for (line, verbs, expected) in [
            ("policy", &verbs[..], Subcommand),
            ("policy list", &verbs, Subcommand),
            ("policy lsit", &verbs, Subcommand),
            ("policy lists all of it", &verbs, Subcommand),
            ("policy explain git status", &verbs, Subcommand),
            ("policy of the house", &verbs, Prompt),
            ("policy help", &verbs, Neither),
            ("policy liszt", &verbs, Subcommand),
            ("policy lsits", &verbs, Neither),
            ("policy check x", &verbs, Neither),
            ("policy test git push", &verbs, Neither),
            ("demo test of it", &[], Prompt),
            ("demo", &[], Subcommand),
            ("demo now", &[], Neither),
            ("demo mode fails", &[], Prompt),
            ("man overboard", &[], Subcommand),
            ("config the server please", &verbs, Subcommand),
            ("prompt me for a name", &verbs, Subcommand),
            ("completions of bash", &[], Subcommand),
            ("trust ../other", &[], Subcommand),
            ("trust me now", &[], Prompt),
        ] {
            let words: Vec<&str> = line.split(' ').collect();
            assert_eq!(meaning(&words, false, verbs), expected, "{line}");
        }
        assert_eq!(meaning(&["demo", "of", "it"], true, &[]), Subcommand);
    }
}
