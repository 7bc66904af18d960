//! The slash commands that belong to the program itself.

use std::sync::Arc;

use async_trait::async_trait;
use pollux_agent::Commands;
use pollux_hooks::Hooks;
use pollux_protocol::{Command, CommandEffect, CommandError};
use pollux_session::Statistics;

use crate::memory::Memory;
use crate::setup::{Setup, approval_request};

mod memory;
mod permissions;
mod plan;
mod session;

/// Commands of Gemini CLI that open a screen or belong to one. Without a person they end the run; the words of
/// all others that are unknown go to the model.
const OF_A_SCREEN: [&str; 15] = [
    "auth",
    "copy",
    "editor",
    "footer",
    "hooks",
    "ide",
    "model",
    "permissions",
    "privacy",
    "resume",
    "rewind",
    "settings",
    "terminal-setup",
    "theme",
    "vim",
];

/// True for a prompt that calls a command which needs a screen.
pub(crate) fn needs_a_screen(prompt: &str) -> bool {
    let name = prompt.strip_prefix('/').and_then(|rest| rest.split_whitespace().next());
    name.is_some_and(|name| OF_A_SCREEN.contains(&name))
}

/// The slash commands that make sense without a person.
pub(crate) fn all() -> Commands {
    with_help(general())
}

/// All slash commands of this build, for a conversation.
pub(crate) fn interactive(
    setup: &Setup,
    session_id: &str,
    statistics: &Arc<Statistics>,
    hooks: &Hooks,
    memory: &Arc<Memory>,
) -> Commands {
    let request = approval_request(&setup.arguments, &setup.loaded);
    let plan = plan::Plan { request, folder: setup.plans_directory(session_id) };
    let mut named = general();
    named.push(Arc::new(session::Compress));
    named.push(Arc::new(session::Model));
    named.push(Arc::new(session::Mode(request)));
    named.push(Arc::new(plan));
    let (memory, inbox) = (Arc::clone(memory), setup.inbox());
    named.push(Arc::new(memory::MemoryCommand { memory, inbox }));
    named.push(Arc::new(session::Stats(Arc::clone(statistics))));
    if setup.loaded.settings.security.folder_trust_enabled {
        named.push(Arc::new(permissions::Permissions::new(setup)));
    }
    named.extend(pollux_hooks::commands(hooks, &crate::hooks::saving(setup)));
    with_help(named)
}

fn general() -> Vec<Arc<dyn Command>> {
    vec![Arc::new(About { called_as: crate::called_as() }), Arc::new(Quit)]
}

fn with_help(named: Vec<Arc<dyn Command>>) -> Commands {
    let help = Help(named.iter().map(|command| line(command.as_ref())).collect());
    Commands::new(named.into_iter().chain([Arc::new(help) as Arc<dyn Command>]).collect())
}

fn line(command: &dyn Command) -> String {
    format!("/{} — {}", command.name(), command.description())
}

struct About {
    called_as: String,
}

#[async_trait]
impl Command for About {
    fn name(&self) -> &'static str {
        "about"
    }

    fn description(&self) -> &'static str {
        "show version and platform"
    }

    async fn run(&self, _arguments: &str) -> Result<CommandEffect, CommandError> {
        let (version, system) = (env!("CARGO_PKG_VERSION"), crate::setup::node_platform());
        let architecture = std::env::consts::ARCH;
        let text =
            format!("Pollux {version} ({system}, {architecture}), called as {}", self.called_as);
        Ok(CommandEffect::Message(text))
    }
}

struct Quit;

#[async_trait]
impl Command for Quit {
    fn name(&self) -> &'static str {
        "quit"
    }

    fn aliases(&self) -> &[&str] {
        &["exit"]
    }

    fn description(&self) -> &'static str {
        "end the program"
    }

    async fn run(&self, _arguments: &str) -> Result<CommandEffect, CommandError> {
        Ok(CommandEffect::Quit)
    }
}

/// Holds the lines of all other commands.
struct Help(Vec<String>);

#[async_trait]
impl Command for Help {
    fn name(&self) -> &'static str {
        "help"
    }

    fn aliases(&self) -> &[&str] {
        &["?"]
    }

    fn description(&self) -> &'static str {
        "list the slash commands"
    }

    async fn run(&self, _arguments: &str) -> Result<CommandEffect, CommandError> {
        Ok(CommandEffect::Message(format!("{}\n{}", self.0.join("\n"), line(self))))
    }
}
