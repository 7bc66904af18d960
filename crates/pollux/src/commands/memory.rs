//! `/memory`: the context files of this conversation.

use std::sync::Arc;

use async_trait::async_trait;
use pollux_protocol::{Command, CommandEffect, CommandError};

use crate::memory::Memory;

const USAGE: &str = "Usage: /memory list, /memory show, /memory refresh, or /memory add FACT";

/// Holds what has been loaded.
pub(super) struct MemoryCommand(pub(super) Arc<Memory>);

#[async_trait]
impl Command for MemoryCommand {
    fn name(&self) -> &'static str {
        "memory"
    }

    fn description(&self) -> &'static str {
        "list, show or refresh the context files, or add a fact to your own: list, show, refresh, add FACT"
    }

    fn complete(&self, partial: &str) -> Vec<String> {
        let verbs = ["list", "show", "refresh", "add"].into_iter();
        verbs.filter(|verb| verb.starts_with(partial)).map(str::to_owned).collect()
    }

    async fn run(&self, arguments: &str) -> Result<CommandEffect, CommandError> {
        let (verb, rest) =
            arguments.trim().split_once(char::is_whitespace).unwrap_or((arguments.trim(), ""));
        let (verb, rest, memory) = (verb.to_owned(), rest.trim().to_owned(), Arc::clone(&self.0));
        let work = move || match (verb.as_str(), rest.as_str()) {
            ("list", "") => Ok(memory.list()),
            ("show", "") => Ok(memory.show()),
            ("refresh" | "reload", "") => Ok(memory.reload()),
            ("add", fact) if !fact.is_empty() => memory.add(fact),
            _ => Err(USAGE.to_owned()),
        };
        let told = tokio::task::spawn_blocking(work).await;
        let told = told.map_err(|error| CommandError(error.to_string()))?;
        told.map(CommandEffect::Message).map_err(CommandError)
    }
}
