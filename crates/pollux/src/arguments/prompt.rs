//! Arguments of `prompt`.

use clap::{ArgAction, Args, Subcommand};
use pollux_protocol::ApprovalMode;

use super::flags::approval_mode;

/// Show the system prompt and the tools that a model receives, and their size in tokens
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct PromptArguments {
    #[command(subcommand)]
    pub(crate) verb: PromptVerb,
}

/// Action of `prompt`.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum PromptVerb {
    Show(PromptShowArguments),
}

/// Show the system prompt and the tools that a model receives, and their size in tokens
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct PromptShowArguments {
    /// As for a run
    #[arg(short, long, value_name = "NAME")]
    pub(crate) model: Option<String>,

    /// As for a run
    #[arg(long, value_name = "MODE", value_parser = approval_mode())]
    pub(crate) approval_mode: Option<ApprovalMode>,

    /// As for a conversation at the terminal instead of a headless run
    #[arg(long)]
    pub(crate) interactive: bool,

    /// As for a run
    #[arg(long, value_name = "FOLDERS", action = ArgAction::Append, value_delimiter = ',')]
    pub(crate) include_directories: Vec<String>,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,

    /// Trust the current folder for this question
    #[arg(long)]
    pub(crate) skip_trust: bool,

    /// Verbose output on standard error
    #[arg(short, long)]
    pub(crate) debug: bool,
}
