//! Arguments of `doctor`.

use clap::Args;

/// Check the connection, keys, servers and state, and name the culprit
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct DoctorArguments {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
