//! `pollux trust`: stores whether a folder is trusted.

use std::process::ExitCode;

use pollux_config::{Places, TrustLevel};
use pollux_host::commands::set_trust;

use crate::arguments::TrustArguments;
use crate::exit::Failure;
use crate::process::Process;
use crate::stderr::stderr_line;
use crate::stdout::print_once;

/// Addition for a folder that becomes trusted.
const ITEMS: &str = "Pollux asks at the terminal about each item in it that could do harm.";

/// Stores the answer and prints it.
pub(crate) fn run(process: &Process, arguments: &TrustArguments) -> ExitCode {
    let (level, more) = if arguments.revoke {
        (TrustLevel::DoNotTrust, String::new())
    } else {
        (TrustLevel::TrustFolder, format!(" {ITEMS}"))
    };
    let places = Places::new(&process.environment);
    let answer = Process::folder().and_then(|cwd| {
        set_trust(&places, &cwd, &arguments.folder, level).map_err(Failure::general)
    });
    match answer {
        Ok(text) => {
            print_once(&format!("{text}{more}\n"));
            ExitCode::SUCCESS
        }
        Err(failure) => {
            stderr_line(&failure.message);
            ExitCode::from(failure.exit_code(false))
        }
    }
}
