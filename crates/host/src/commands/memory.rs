//! `/memory`: the context files of this conversation.

use std::sync::Arc;

use async_trait::async_trait;
use pollux_agent::Toolset;
use pollux_memory::MemoryInbox;
use pollux_protocol::{Command, CommandContext, CommandError, Live, Op};

use crate::memory::Memory;
use crate::skills::Skills;

const USAGE: &str =
    "Usage: /memory list, /memory show, /memory reload, /memory add FACT, or /memory inbox";
const INBOX_USAGE: &str = "Usage: /memory inbox, /memory inbox show NAME, /memory inbox accept NAME, or /memory inbox discard NAME";
const NO_INBOX: &str =
    "The inbox is disabled. Set experimental.autoMemory to true, and restart Pollux.";

/// `/memory`, with the loaded context files and the inbox of proposals.
pub(super) struct MemoryCommand {
    pub(super) memory: Arc<Memory>,
    pub(super) inbox: Option<MemoryInbox>,
    pub(super) skills: Arc<Skills>,
    pub(super) toolset: Live<Toolset>,
}

/// Runs a subcommand of `/memory inbox`. An accepted proposal takes effect immediately.
fn sort_out(inbox: Option<&MemoryInbox>, memory: &Memory, words: &str) -> Result<String, String> {
    let inbox = inbox.ok_or(NO_INBOX)?;
    let (verb, name) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
    match (verb, name.trim()) {
        ("" | "list", "") => Ok(inbox.list()),
        ("show", name) if !name.is_empty() => inbox.show(name),
        ("discard", name) if !name.is_empty() => inbox.discard(name),
        ("accept", name) if !name.is_empty() => {
            Ok(format!("{}\n{}", inbox.accept(name)?, memory.reload()))
        }
        _ => Err(INBOX_USAGE.to_owned()),
    }
}

#[async_trait]
impl Command for MemoryCommand {
    fn name(&self) -> &'static str {
        "memory"
    }

    fn description(&self) -> &'static str {
        "show or extend your context files, or review proposals"
    }

    fn arguments(&self) -> Option<&str> {
        Some("[list|show|reload|add FACT|inbox]")
    }

    fn needs_user(&self) -> bool {
        true
    }

    async fn complete(&self, partial: &str) -> Vec<String> {
        let verbs = ["list", "show", "reload", "add", "inbox"].into_iter();
        verbs.filter(|verb| verb.starts_with(partial)).map(str::to_owned).collect()
    }

    async fn run(&self, context: CommandContext) -> Result<Option<Op>, CommandError> {
        let (verb, rest) = context
            .arguments
            .trim()
            .split_once(char::is_whitespace)
            .unwrap_or((context.arguments.trim(), ""));
        let (verb, rest, memory) =
            (verb.to_owned(), rest.trim().to_owned(), Arc::clone(&self.memory));
        let inbox = self.inbox.clone();
        let is_accepted = verb == "inbox" && rest.starts_with("accept");
        let work = move || match (verb.as_str(), rest.as_str()) {
            ("list", "") => Ok(memory.list()),
            ("" | "show", "") => Ok(memory.show()),
            ("refresh" | "reload", "") => Ok(memory.reload()),
            ("inbox", words) => sort_out(inbox.as_ref(), &memory, words),
            ("add", fact) if !fact.is_empty() => memory.add(fact),
            _ => Err(USAGE.to_owned()),
        };
        let reported = tokio::task::spawn_blocking(work).await;
        let reported = reported.map_err(|error| CommandError(error.to_string()))?;
        context.say(reported.map_err(CommandError)?);
        if is_accepted {
            // The proposal may be a skill.
            self.skills.refresh(&self.toolset, &context.session.commands).await?;
        }
        Ok(None)
    }
}
