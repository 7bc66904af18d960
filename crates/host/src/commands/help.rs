//! `/help`: the commands of the session, or one of them in full.

use async_trait::async_trait;
use pollux_protocol::plain_text::visible;
use pollux_protocol::{Command, CommandContext, CommandError, CommandSet, Op};

use super::table;

/// Columns of a line. Longer descriptions are cut.
const COLUMNS: usize = 80;
/// Maximum number of columns of the names.
const NAMES: usize = 24;

/// Lines about the input itself, each with the command that it needs.
const BASICS: [(&str, &str, Option<&str>); 3] = [
    ("@PATH", "send a file or folder together with the prompt", None),
    ("!COMMAND", "run a command line yourself", Some("shell")),
    ("/shortcuts", "list the keys", Some("shortcuts")),
];

pub(super) struct Help;

#[async_trait]
impl Command for Help {
    fn name(&self) -> &'static str {
        "help"
    }

    fn aliases(&self) -> &[&str] {
        &["?"]
    }

    fn description(&self) -> &'static str {
        "list the commands, or describe one"
    }

    fn arguments(&self) -> Option<&str> {
        Some("[COMMAND]")
    }

    fn runs_while_working(&self) -> bool {
        true
    }

    async fn run(&self, context: CommandContext) -> Result<Option<Op>, CommandError> {
        let commands = context.session.commands.get();
        let name = context.arguments.trim().trim_start_matches('/');
        if name.is_empty() {
            context.say(list(&commands));
        } else {
            let text = describe(&commands, name);
            context.say(text.ok_or_else(|| CommandError(commands.unknown(name)))?);
        }
        Ok(None)
    }
}

/// Returns the list of all commands, in sections.
fn list(commands: &CommandSet) -> String {
    let basics = BASICS
        .iter()
        .filter(|(_, _, needs)| needs.is_none_or(|needs| commands.get(needs).is_some()));
    let basics = basics.map(|(name, text, _)| ((*name).to_owned(), (*text).to_owned()));
    let row =
        |command: &dyn Command| (format!("/{}", command.name()), visible(command.description()));
    let of_kind = |is_own: bool| {
        let of_kind = commands.iter().filter(move |command| {
            is_own != table::reserved_names().any(|name| name == command.name())
        });
        let mut rows: Vec<_> = of_kind
            .filter(|command| command.is_prompt() || !command.name().contains(' '))
            .map(|command| row(command.as_ref()))
            .collect();
        rows.sort();
        rows
    };
    let sections = [
        ("Input", basics.collect()),
        ("Commands", of_kind(false)),
        ("Your commands", of_kind(true)),
    ];
    let names = sections.iter().flat_map(|(_, rows)| rows).map(|(name, _)| name.chars().count());
    let width = names.max().unwrap_or_default().min(NAMES);
    let sections = sections.into_iter().filter(|(_, rows)| !rows.is_empty());
    let sections = sections.map(|(title, rows): (&str, Vec<(String, String)>)| {
        let rows = rows.iter().map(|(name, text)| entry(name, text, width));
        format!("{title}\n{}", rows.collect::<Vec<_>>().join("\n"))
    });
    let sections = sections.collect::<Vec<_>>().join("\n\n");
    format!("{sections}\n\n/help COMMAND describes a command.")
}

/// Returns one line of a list. A name that is too long moves its text.
fn entry(name: &str, text: &str, width: usize) -> String {
    let line = format!("  {name:<width$}  {text}");
    match line.char_indices().nth(COLUMNS) {
        Some(_) => line.chars().take(COLUMNS - 1).chain(['…']).collect(),
        None => line,
    }
}

/// Returns everything about one command; `None` if no command has the name.
fn describe(commands: &CommandSet, name: &str) -> Option<String> {
    let command = commands.get(name)?;
    let mut lines = vec![usage(command.as_ref()), visible(command.description())];
    if !command.aliases().is_empty() {
        let aliases = command.aliases().iter().map(|alias| format!("/{alias}"));
        lines.push(format!("Other names: {}", aliases.collect::<Vec<_>>().join(", ")));
    }
    let prefix = format!("{} ", command.name());
    let below = commands.iter().filter(|other| other.name().starts_with(&prefix));
    let below: Vec<(String, &str)> =
        below.map(|other| (usage(other.as_ref()), other.description())).collect();
    let width = below.iter().map(|(usage, _)| usage.chars().count()).max().unwrap_or_default();
    lines.extend(below.iter().map(|(usage, text)| entry(usage, text, width)));
    Some(lines.join("\n"))
}

/// Returns a command with its arguments: `/compress [undo]`.
fn usage(command: &dyn Command) -> String {
    let arguments = command.arguments().map(|arguments| format!(" {}", visible(arguments)));
    format!("/{}{}", visible(command.name()), arguments.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use pretty_assertions::assert_eq;

    use super::super::Quit;
    use super::*;

    #[test]
    fn lists_are_aligned_and_descriptions_are_cut() {
        let commands = CommandSet::new(vec![Arc::new(Quit::default()), Arc::new(Help)]);
        assert_eq!(
            list(&commands),
            "Input\n  @PATH  send a file or folder together with the prompt\n\n\
             Commands\n  /help  list the commands, or describe one\n  /quit  end the program; --delete also deletes the session\n\n\
             /help COMMAND describes a command."
        );
        assert_eq!(entry("/x", &"y".repeat(99), 4).chars().count(), COLUMNS);
        assert_eq!(
            describe(&commands, "exit").unwrap(),
            "/quit [--delete]\nend the program; --delete also deletes the session\nOther names: /exit"
        );
        assert_eq!(describe(&commands, "nosuch"), None);
    }
}
