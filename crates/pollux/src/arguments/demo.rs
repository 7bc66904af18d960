//! Arguments of `demo`.

use clap::Args;

use super::OutputFormat;

/// Show the agent at work on a sample project, with a recorded model: no key, no network
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub(crate) struct DemoArguments {
    /// Keep the sample project, and print its path
    #[arg(long)]
    pub(crate) keep: bool,

    /// The form of standard output
    #[arg(short, long, value_name = "FORMAT", value_enum)]
    pub(crate) output_format: Option<OutputFormat>,

    /// Verbose output on standard error
    #[arg(short, long)]
    pub(crate) debug: bool,
}
