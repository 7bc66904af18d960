//! Settings for subcommands that only show information: they open no session, ask no questions and
//! pin nothing.

use pollux_host::{Host, RunOptions, Setup, problem_notices};
use pollux_protocol::SessionRequest;

use crate::exit::Failure;
use crate::process::Process;
use crate::stderr::{notices, stderr_line};

/// Reads the settings as a run with these options would have them.
///
/// # Errors
/// For settings that cannot be read.
pub(crate) fn set_up(
    process: &Process,
    options: RunOptions,
    request: SessionRequest,
) -> Result<Setup, Failure> {
    let setup = set_up_silently(process, options, request)?;
    for line in problem_notices(&setup.rules) {
        stderr_line(&line);
    }
    Ok(setup)
}

/// Reads the settings without the notices about problems of policy files, for a command that
/// reports them itself.
///
/// # Errors
/// For settings that cannot be read.
pub(crate) fn set_up_silently(
    process: &Process,
    options: RunOptions,
    request: SessionRequest,
) -> Result<Setup, Failure> {
    let host = Host {
        environment: process.environment.clone(),
        options: RunOptions { looks_up: true, ..options },
        called_as: process.called_as.clone(),
    };
    Ok(host.look(&SessionRequest { notices: notices(), ..request })?)
}
