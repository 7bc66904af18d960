//! The slash commands of Gemini CLI 0.61, with what Pollux does about each of them.

use std::sync::Arc;

use pollux_protocol::CommandExplainer;

/// Slash command of Gemini CLI.
#[derive(Debug, Clone, Copy)]
pub struct GeminiCommand {
    /// Name without the slash.
    pub name: &'static str,
    /// Other names.
    pub aliases: &'static [&'static str],
    /// State of the command in Pollux.
    pub availability: Availability,
    /// Remark for users of Gemini CLI, in whole sentences: the difference, the reason, or what
    /// to do instead. Often empty.
    pub remark: &'static str,
    /// True if the command opens a dialog, which is an error in a headless run.
    has_dialog: bool,
}

/// State of a command of Gemini CLI in Pollux.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Availability {
    /// Pollux has the command.
    Available,
    /// Pollux has the command at a terminal.
    AtTerminal,
    /// Pollux gets the command together with this part.
    Planned(PlannedPart),
    /// Pollux does not get the command.
    LeftOut,
}

/// Part of Pollux that does not exist yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlannedPart {
    /// The connection to an editor in which the terminal runs.
    Editor,
}

impl PlannedPart {
    /// Name of the part, with its article, in the middle of a sentence.
    pub fn name(self) -> &'static str {
        match self {
            Self::Editor => "the connection to editors",
        }
    }
}

/// All slash commands of Gemini CLI 0.61, by name.
pub const GEMINI_COMMANDS: &[GeminiCommand] = &[
    available("about"),
    available("agents"),
    left_out(
        "auth",
        "At the shell, `pollux auth status` names the sign-in, and `pollux auth login` signs in.",
    )
    .dialog(),
    available("bug"),
    left_out("bug-memory", "It saves the heap of Node.js, which Pollux does not use."),
    available("chat").remarked("/chat debug is missing: no request is kept after its answer."),
    available("clear").also(&["new"]),
    available("commands"),
    available("compress").also(&["summarize", "compact"]),
    available("copy").dialog(),
    left_out("corgi", "It is a joke."),
    available("directory").also(&["dir"]),
    available("docs"),
    left_out("editor", "Ctrl-G opens the prompt in $VISUAL or $EDITOR.").dialog(),
    available("export-session"),
    available("extensions")
        .remarked("Extensions are installed and updated at the shell: extensions install."),
    left_out("footer", "/settings changes ui.footer.items, the parts of the last row.")
        .also(&["statusline"])
        .dialog(),
    left_out("gemma", "Pollux has no local model that selects models."),
    available("help").also(&["?"]),
    available("hooks").dialog(),
    planned("ide", PlannedPart::Editor).dialog(),
    available("init"),
    available("mcp"),
    available("memory"),
    available("model").dialog(),
    left_out("oncall", "It serves the developers of Gemini CLI."),
    available("permissions").dialog(),
    available("plan"),
    available("policies"),
    available("privacy").dialog(),
    left_out("profile", "It serves the developers of Gemini CLI."),
    available("quit").also(&["exit"]),
    available("restore").remarked("Set general.checkpointing.enabled."),
    available("resume").dialog(),
    available("rewind").dialog(),
    available("settings").dialog(),
    left_out("setup-github", "It downloads workflows that run Gemini CLI."),
    at_terminal("shortcuts"),
    available("skills"),
    available("stats").also(&["usage"]),
    available("tasks").also(&["bg", "background", "shells", "bashes"]),
    left_out(
        "terminal-setup",
        "No setup is needed: Alt-Enter and Ctrl-J begin a new line in every terminal.",
    )
    .dialog(),
    at_terminal("theme").remarked("It needs the screen.").dialog(),
    available("tools"),
    left_out("upgrade", "Pollux sells nothing."),
    at_terminal("vim").remarked("It needs the screen.").dialog(),
    left_out("voice", "Pollux does not record sound."),
];

/// Commands that only Pollux has. No custom command can have their names.
const OWN: [&str; 2] = ["mode", "shell"];

impl GeminiCommand {
    const fn also(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }

    const fn remarked(self, remark: &'static str) -> Self {
        Self { remark, ..self }
    }

    const fn dialog(self) -> Self {
        Self { has_dialog: true, ..self }
    }
}

const fn available(name: &'static str) -> GeminiCommand {
    let availability = Availability::Available;
    GeminiCommand { name, aliases: &[], availability, remark: "", has_dialog: false }
}

const fn at_terminal(name: &'static str) -> GeminiCommand {
    GeminiCommand { availability: Availability::AtTerminal, ..available(name) }
}

const fn planned(name: &'static str, part: PlannedPart) -> GeminiCommand {
    GeminiCommand { availability: Availability::Planned(part), ..available(name) }
}

const fn left_out(name: &'static str, reason: &'static str) -> GeminiCommand {
    GeminiCommand { availability: Availability::LeftOut, remark: reason, ..available(name) }
}

/// Returns true if a prompt calls a command that opens a dialog in Gemini CLI. In a headless run it
/// is an error; other unknown commands are sent to the model as text.
pub fn needs_a_screen(prompt: &str) -> bool {
    let name = prompt.strip_prefix('/').and_then(|rest| rest.split_whitespace().next());
    name.is_some_and(|name| {
        GEMINI_COMMANDS.iter().any(|command| command.name == name && command.has_dialog)
    })
}

/// Returns the names that no other command may have, so that custom commands have the same names in
/// every session, and keep them when a later version has more commands.
pub(super) fn reserved_names() -> impl Iterator<Item = &'static str> {
    GEMINI_COMMANDS.iter().map(|command| command.name).chain(OWN)
}

/// Returns the function that explains why a command of Gemini CLI is not in a session.
pub(super) fn explainer() -> CommandExplainer {
    Arc::new(|name| {
        let has_name =
            |command: &&GeminiCommand| command.name == name || command.aliases.contains(&name);
        let command = GEMINI_COMMANDS.iter().find(has_name)?;
        let text = match command.availability {
            Availability::Available | Availability::AtTerminal => {
                format!("/{name} is not available in this session. {}", command.remark)
            }
            Availability::Planned(part) => format!(
                "/{name} is not available yet: it comes with {}. {}",
                part.name(),
                command.remark
            ),
            Availability::LeftOut => {
                format!("/{name} is not a command of Pollux. {}", command.remark)
            }
        };
        Some(text.trim_end().to_owned())
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn every_name_stands_once_and_in_order() {
        let names: Vec<&str> = GEMINI_COMMANDS.iter().map(|command| command.name).collect();
        assert!(names.is_sorted(), "{names:?}");
        let all: Vec<&str> = GEMINI_COMMANDS
            .iter()
            .flat_map(|command| std::iter::once(&command.name).chain(command.aliases))
            .copied()
            .chain(OWN)
            .collect();
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len(), "{all:?}");
    }

    #[test]
    fn whatever_is_not_there_is_explained() {
        let explain = explainer();
        assert_eq!(
            explain("ide").unwrap(),
            "/ide is not available yet: it comes with the connection to editors."
        );
        assert_eq!(explain("corgi").unwrap(), "/corgi is not a command of Pollux. It is a joke.");
        assert_eq!(explain("hooks").unwrap(), "/hooks is not available in this session.");
        assert_eq!(explain("hlp"), None);
        for command in GEMINI_COMMANDS {
            let has_reason =
                command.availability != Availability::LeftOut || !command.remark.is_empty();
            assert!(has_reason, "{}", command.name);
        }
    }
}
