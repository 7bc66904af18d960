//! `pollux mcp serve`: serves a client of the Model Context Protocol on standard input and output.

#![expect(clippy::disallowed_methods, reason = "hands the standard streams to the server")]

use std::sync::Arc;

use pollux_host::Host;
use pollux_protocol::SessionRequest;
use pollux_serve::{McpOptions, McpServer};

use crate::arguments::{ServeArguments, version};
use crate::exit::Failure;
use crate::process::Process;
use crate::signals::Signals;
use crate::stderr::{notices, stderr_failure};

/// Serves a client until it is gone. The flags of the command line apply to every session.
pub(crate) async fn serve(process: Process, arguments: &ServeArguments) -> u8 {
    let begun = Signals::listen()
        .map_err(|error| Failure::general(format!("Cannot handle signals: {error}.")))
        .and_then(|signals| Ok((signals, Process::folder()?)));
    let (mut signals, folder) = match begun {
        Ok(begun) => begun,
        Err(failure) => {
            stderr_failure(&failure.message);
            return failure.exit_code(false);
        }
    };
    let arguments = arguments.of_sessions();
    let Process { called_as, environment } = process;
    let host = Host { environment, options: arguments.options(), called_as };
    let options = McpOptions {
        version: version(),
        request: SessionRequest { notices: notices(), ..arguments.request(folder) },
        describe_failure: |outcome| Failure::outcome(outcome).map(|failure| failure.message),
    };
    let mut code = 0;
    let stop = async { code = signals.next().await };
    let server = McpServer::new(Arc::new(host), options);
    server.serve(std::io::stdin(), std::io::stdout(), stop).await;
    u8::try_from(code).unwrap_or(1)
}
