//! Arguments of `models`.

use clap::{Args, Subcommand};

/// List the models that can be used
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct ModelsArguments {
    #[command(subcommand)]
    pub(crate) verb: ModelsVerb,
}

/// Action of `models`.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum ModelsVerb {
    /// List the models for which there is a key, and those of servers on this machine
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}
