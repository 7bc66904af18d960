//! Features of Gemini CLI, and planned features of Pollux, that this version does not have.
//!
//! Each flag is recognised and rejected by name. No flag is ignored, because a run without a
//! requested sandbox or policy is worse than no run.

use clap::{Arg, ArgAction};

use super::checks;
use super::line::{Group, Kind, Line};

/// A flag that is not available yet.
struct LaterFlag {
    name: &'static str,
    short: Option<char>,
    kind: Kind,
    /// Alternative for the user, as a sentence.
    remedy: Option<&'static str>,
}

const fn flag(name: &'static str, short: Option<char>, kind: Kind) -> LaterFlag {
    LaterFlag { name, short, kind, remedy: None }
}

impl LaterFlag {
    const fn instead(self, remedy: &'static str) -> Self {
        Self { remedy: Some(remedy), ..self }
    }
}

/// Flags, with their types in Gemini CLI.
const FLAGS: &[LaterFlag] = &[
    flag("worktree", Some('w'), Kind::OptionalText)
        .instead("Create the worktree with git worktree add and start Pollux there."),
    flag(SANDBOX, Some('s'), Kind::Switch),
    flag(SCREEN_READER, None, Kind::Switch),
];

/// Flag for short lines in a conversation, which overrides the setting.
pub(super) const SCREEN_READER: &str = "screen-reader";

/// Flag for a sandbox; its availability is checked together with the settings and the environment.
pub(super) const SANDBOX: &str = "sandbox";

/// Groups of subcommands. As in Gemini CLI, the first word of a line selects a group even if the
/// rest is invalid.
pub(super) const GROUPS: &[Group] = &[
    Group { names: &["mcp"], verbs: &[] },
    Group { names: &["extensions", "extension"], verbs: &[] },
    Group { names: &["skills", "skill"], verbs: &[] },
    Group { names: &["hooks", "hook"], verbs: &[] },
    Group { names: &["gemma"], verbs: &["setup", "start", "stop", "status", "logs"] },
];

/// Planned subcommands of Pollux, with their verbs.
const RESERVED: &[(&str, &[&str])] = &[("undo", &[]), ("sessions", &["list"]), ("rewind", &[])];

/// Returns the message for a feature that is not available yet, with a final line end. `what`
/// begins with a capital letter.
fn not_yet(what: &str, remedy: Option<&str>) -> String {
    let mut message = format!("{what} is not available in this version of Pollux yet.\n");
    if let Some(remedy) = remedy {
        message.push_str(remedy);
        message.push('\n');
    }
    message
}

/// Returns the flags as hidden arguments for the main command.
pub(super) fn flags() -> impl Iterator<Item = Arg> {
    FLAGS.iter().map(|flag| {
        let arg = Arg::new(flag.name).long(flag.name).short(flag.short).hide(true);
        match flag.kind {
            Kind::Switch => arg.action(ArgAction::SetTrue),
            Kind::Text => arg,
            Kind::OptionalText => arg.num_args(0..=1),
            Kind::List | Kind::Repeated => arg.action(ArgAction::Append).value_delimiter(','),
        }
    })
}

/// Returns the message for the first flag of the line that is not available yet.
pub(super) fn flag_in(line: &Line<'_>) -> Option<String> {
    let asks = |flag: &&LaterFlag| match flag.kind {
        Kind::Switch => {
            line.switch(flag.name) == Some(true) && ![SCREEN_READER, SANDBOX].contains(&flag.name)
        }
        _ => line.is_given(flag.name),
    };
    let flag = FLAGS.iter().find(asks)?;
    Some(not_yet(&format!("The flag --{}", flag.name), flag.remedy))
}

/// Returns the message for a subcommand of a group.
///
/// # Errors
/// Gemini CLI's message if the verb is missing or unknown.
pub(super) fn group(name: &str, rest: &[String]) -> Result<String, String> {
    let known = GROUPS.iter().find(|group| group.is_called(name)).is_some_and(|group| {
        match rest.iter().find(|word| !word.starts_with('-')) {
            Some(verb) => group.verbs.contains(&verb.as_str()),
            None => rest.iter().any(|word| word == "--help" || word == "-h"),
        }
    });
    if known {
        Ok(not_yet(&format!("The subcommand {name}"), None))
    } else {
        Err(checks::NO_VERB.to_owned())
    }
}

/// Returns the verbs of a planned subcommand.
pub(super) fn verbs(name: &str) -> Option<&'static [&'static str]> {
    RESERVED.iter().find(|(reserved, _)| *reserved == name).map(|(_, verbs)| *verbs)
}

/// Returns the message for a planned subcommand.
pub(super) fn subcommand(name: &str) -> String {
    not_yet(&format!("The subcommand {name}"), None)
}
