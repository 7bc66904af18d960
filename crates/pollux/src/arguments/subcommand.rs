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
//! | another line of three or more words | a prompt |
//! | another line of two words | neither; it is refused |
//!
//! A quoted prompt is one word and therefore never a subcommand; nor are the words after `--`.

use clap::{Command, FromArgMatches};
use pollux_protocol::spelling;

use super::flags::{
    self, DemoArguments, PolicyArguments, PolicyVerb, PromptArguments, TrustArguments,
};
use super::line::Line;
use super::{Exit, Invocation, checks, config, help_of, later, version};

/// Subcommands that take every line that begins with their name.
const GREEDY: [&str; 4] = [flags::COMPLETIONS, config::CONFIG, flags::MAN, flags::PROMPT];

/// Meaning of a line whose first word is the name of a subcommand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meaning {
    Subcommand,
    Prompt,
    Neither,
}

/// Returns the subcommand of the line; `None` if the line is a prompt.
///
/// # Errors
/// The exit with help, version or an error message.
pub(super) fn parse(line: &Line<'_>, called_as: &str) -> Result<Option<Invocation>, Exit> {
    let Some(words) = line.command_words() else { return Ok(None) };
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let whole = flags::whole(called_as);
    let name = words[0];
    let Some(verbs) = verbs(&whole, name) else { return Ok(None) };
    match meaning(&words, line.option_follows_first_word, &verbs) {
        Meaning::Prompt => Ok(None),
        Meaning::Neither => Err(neither(&words, &verbs, called_as)),
        Meaning::Subcommand => invocation(line, &words, &verbs, called_as).map(Some),
    }
}

/// Returns the words that may follow a subcommand; `None` if there is no subcommand of this name.
fn verbs(whole: &Command, name: &str) -> Option<Vec<String>> {
    if let Some(verbs) = later::verbs(name) {
        return Some(verbs.iter().map(|verb| (*verb).to_owned()).collect());
    }
    let names = |command: &Command| {
        command.get_subcommands().map(|verb| verb.get_name().to_owned()).collect()
    };
    if name == flags::HELP {
        return Some(names(whole));
    }
    whole.find_subcommand(name).map(names)
}

fn meaning(words: &[&str], option_follows: bool, verbs: &[String]) -> Meaning {
    let Some(second) = words.get(1).filter(|_| !option_follows) else {
        return Meaning::Subcommand;
    };
    let is_operand = words[0] == flags::TRUST && words.len() == 2;
    if is_operand || GREEDY.contains(&words[0]) || nearest(second, verbs).is_some() {
        return Meaning::Subcommand;
    }
    if words.len() > 2 { Meaning::Prompt } else { Meaning::Neither }
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
        "There is no subcommand \"{line}\". Did you mean {meant}?\nA prompt that begins with the name of a subcommand must be quoted: {called_as} \"{line}\"\n"
    ))
}

/// Refuses a subcommand with an unknown verb.
fn unknown_verb(name: &str, word: &str, verbs: &[String], called_as: &str) -> Exit {
    let meant = nearest(word, verbs).map_or_else(
        || format!("The subcommands of {name} are {}.", verbs.join(", ")),
        |verb| format!("Did you mean \"{called_as} {name} {verb}\"?"),
    );
    unclear(format!(
        "There is no subcommand \"{name} {word}\". {meant}\nA prompt that begins with the name of a subcommand must be quoted.\n"
    ))
}

fn unclear(stderr: String) -> Exit {
    Exit { code: 42, stdout: String::new(), stderr }
}

fn invocation(
    line: &Line<'_>,
    words: &[&str],
    verbs: &[String],
    called_as: &str,
) -> Result<Invocation, Exit> {
    let name = words[0];
    let refuse =
        |message: String| Exit::refusal(format!("{message}\n{}", help_of(words, called_as)));
    if !verbs.is_empty() && name != flags::HELP {
        match words.get(1) {
            None if later::verbs(name).is_some() => {}
            None => return Err(refuse(checks::NO_VERB.to_owned())),
            Some(word) if verbs.iter().any(|verb| verb == word) => {}
            Some(word) => return Err(unknown_verb(name, word, verbs, called_as)),
        }
    }
    match name {
        flags::HELP => Err(help(&words[1..], verbs, called_as)),
        flags::VERSION => {
            none_left(words, 1).map_err(refuse)?;
            Err(Exit::answer(format!("{}\n", version())))
        }
        config::CONFIG => config::read(line).map(Invocation::Config).map_err(refuse),
        flags::DEMO => {
            none_left(words, 1).map_err(refuse)?;
            read::<DemoArguments>(line, flags::demo()).map(Invocation::Demo).map_err(refuse)
        }
        flags::POLICY => policy(line, words).map(Invocation::Policy).map_err(refuse),
        flags::PROMPT => {
            none_left(words, 2).map_err(refuse)?;
            let arguments = read::<PromptArguments>(line, flags::prompt_flags());
            arguments.map(Invocation::Prompt).map_err(refuse)
        }
        flags::TRUST => trust(line, words).map(Invocation::Trust).map_err(refuse),
        flags::COMPLETIONS => shell(line, words).map(Invocation::Completions).map_err(refuse),
        flags::MAN => {
            none_left(words, 1).and_then(|()| checks::only_global(line)).map_err(refuse)?;
            Ok(Invocation::Man)
        }
        _ => Err(Exit::refusal(later::subcommand(name))),
    }
}

/// Returns the help of a subcommand, or of the program.
fn help(words: &[&str], names: &[String], called_as: &str) -> Exit {
    match words.first() {
        Some(word) if !names.iter().any(|name| name == word) => {
            unknown_verb(flags::HELP, word, names, called_as)
        }
        _ => Exit::answer(help_of(words, called_as)),
    }
}

fn policy(line: &Line<'_>, words: &[&str]) -> Result<PolicyArguments, String> {
    let verb = match words[1] {
        flags::EXPLAIN if words.len() < 3 => {
            return Err("policy explain requires a command line.".to_owned());
        }
        flags::EXPLAIN => PolicyVerb::Explain(command_line(&words[2..])),
        name => {
            none_left(words, 2)?;
            if name == flags::LINT { PolicyVerb::Lint } else { PolicyVerb::List }
        }
    };
    let arguments = read::<PolicyArguments>(line, flags::policy_flags())?;
    Ok(PolicyArguments { verb, ..arguments })
}

fn trust(line: &Line<'_>, words: &[&str]) -> Result<TrustArguments, String> {
    none_left(words, 2)?;
    checks::flags_of(line, &flags::trust())?;
    let folder = words.get(1).copied().unwrap_or(".").to_owned();
    Ok(TrustArguments { folder, revoke: line.switch("revoke") == Some(true) })
}

/// Returns the command line that these words make. A single word is a quoted command line.
fn command_line(words: &[&str]) -> String {
    match words {
        [line] => (*line).to_owned(),
        words => words.iter().map(|word| pollux_shell::quoted(word)).collect::<Vec<_>>().join(" "),
    }
}

fn shell(line: &Line<'_>, words: &[&str]) -> Result<clap_complete::Shell, String> {
    checks::only_global(line)?;
    let shells = || {
        let names = clap::ValueEnum::value_variants().iter().map(clap_complete::Shell::to_string);
        names.collect::<Vec<_>>().join(", ")
    };
    match words {
        [_, shell] => shell
            .parse()
            .map_err(|_| format!("Unknown shell {shell}. The shells are {}.", shells())),
        _ => Err(format!("completions takes the name of one shell: {}.", shells())),
    }
}

/// Refuses words after the first `count`.
fn none_left(words: &[&str], count: usize) -> Result<(), String> {
    if words.len() <= count {
        return Ok(());
    }
    Err(format!("{} takes no further arguments.", words[..count].join(" ")))
}

/// Reads the flags of a subcommand.
fn read<A: FromArgMatches>(line: &Line<'_>, command: Command) -> Result<A, String> {
    checks::flags_of(line, &command)?;
    let matches = line.matches(command).and_then(|matches| A::from_arg_matches(&matches));
    matches.map_err(|error| error.to_string())
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

    #[test]
    fn words_of_a_command_line_stay_words() {
        assert_eq!(command_line(&["ls | sort"]), "ls | sort");
        assert_eq!(command_line(&["git", "status"]), "git status");
        assert_eq!(command_line(&["echo", "it's; rm x"]), r"echo 'it'\''s; rm x'");
    }
}
