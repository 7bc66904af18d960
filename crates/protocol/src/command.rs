//! Slash commands.

use async_trait::async_trait;

use crate::{ApprovalMode, Op, Part};

/// What running a command leads to.
#[derive(Debug, Clone)]
pub enum CommandEffect {
    /// It has acted; nothing more follows.
    Done,
    /// Send this to the model.
    Submit(Vec<Part>),
    /// Send this to the model, in this mode from now on.
    SubmitIn {
        /// The mode.
        mode: ApprovalMode,
        /// What is sent.
        parts: Vec<Part>,
    },
    /// Show this text.
    Message(String),
    /// Do these, in order.
    Ops(Vec<Op>),
    /// Compress the conversation now.
    Compress,
    /// Bring the whole conversation back.
    Uncompress,
    /// End the program.
    Quit,
}

/// A command could not run.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{0}")]
pub struct CommandError(pub String);

/// One slash command. The crate that owns its subject implements it; the agent holds the list.
#[async_trait]
pub trait Command: Send + Sync {
    /// The name without the slash; words of a subcommand are separated by a space.
    fn name(&self) -> &str;

    /// Other names it answers to.
    fn aliases(&self) -> &[&str] {
        &[]
    }

    /// One line of help.
    fn description(&self) -> &str;

    /// Continuations of a half-typed argument.
    fn complete(&self, _partial: &str) -> Vec<String> {
        Vec::new()
    }

    /// Runs it with the rest of the line.
    async fn run(&self, arguments: &str) -> Result<CommandEffect, CommandError>;
}
