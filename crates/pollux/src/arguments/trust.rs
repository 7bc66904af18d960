//! Arguments of `trust`.

use clap::Args;

/// Trust a folder permanently, without accepting the items in it that could do harm
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct TrustArguments {
    /// The folder; the current one if omitted
    #[arg(value_name = "DIR", default_value = ".", hide_default_value = true)]
    pub(crate) folder: String,

    /// Stop trusting the folder
    #[arg(long)]
    pub(crate) revoke: bool,
}
