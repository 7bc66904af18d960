//! Arguments of `auth`.

use clap::{Args, Subcommand};

/// Show which sign-in is used, and sign in to Google
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct AuthArguments {
    #[command(subcommand)]
    pub(crate) verb: AuthVerb,
}

/// Action of `auth`.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum AuthVerb {
    /// Show which credentials a run in this folder uses, and why not others
    Status {
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// Trust the current folder for this run
        #[arg(long)]
        skip_trust: bool,
    },
    /// Sign in to Google in the browser, through an OAuth client of your own
    Login {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove the stored sign-in to Google
    Logout {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

impl AuthArguments {
    /// Returns true for JSON on standard output.
    pub(crate) fn json(&self) -> bool {
        match self.verb {
            AuthVerb::Status { json, .. }
            | AuthVerb::Login { json }
            | AuthVerb::Logout { json } => json,
        }
    }
}
