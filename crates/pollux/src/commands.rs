//! The slash commands that belong to the program itself.

use std::sync::Arc;

use async_trait::async_trait;
use pollux_agent::Commands;
use pollux_protocol::{Command, CommandEffect, CommandError};

/// All slash commands of this build.
pub(crate) fn all() -> Commands {
    let about = About { called_as: crate::called_as() };
    let named: Vec<Arc<dyn Command>> = vec![Arc::new(about), Arc::new(Quit)];
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
