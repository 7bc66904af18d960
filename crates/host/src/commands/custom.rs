//! `/commands`: the custom commands of this conversation.

use std::sync::Arc;

use async_trait::async_trait;
use pollux_protocol::{Command, CommandContext, CommandError, Op};

use crate::custom_commands::CustomCommands;

const VERBS: [&str; 2] = ["list", "reload"];

/// `/commands`, with the custom commands of the session.
pub(super) struct Commands(pub(super) Arc<CustomCommands>);

#[async_trait]
impl Command for Commands {
    fn name(&self) -> &'static str {
        "commands"
    }

    fn description(&self) -> &'static str {
        "list your own commands, or read their files again"
    }

    fn arguments(&self) -> Option<&str> {
        Some("[list|reload]")
    }

    async fn complete(&self, partial: &str) -> Vec<String> {
        super::continuations(partial, VERBS)
    }

    async fn run(&self, context: CommandContext) -> Result<Option<Op>, CommandError> {
        match context.arguments.trim() {
            "" | "list" => context.say(self.0.list().await),
            "reload" | "refresh" => {
                for message in self.0.reload(&context).await.map_err(CommandError)? {
                    context.say(message);
                }
                context.say("Custom commands reloaded successfully.");
            }
            _ => {
                let usage = "Usage: /commands list, or /commands reload";
                return Err(CommandError(usage.to_owned()));
            }
        }
        Ok(None)
    }
}
