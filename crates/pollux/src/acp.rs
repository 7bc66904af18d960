//! Run that serves an editor on standard input and output.

#![expect(clippy::disallowed_methods, reason = "hands the standard streams to the server")]

use std::sync::Arc;

use pollux_host::Host;
use pollux_protocol::SessionRequest;
use pollux_serve::{AcpOptions, AcpServer};

use crate::arguments::version;
use crate::exit::Failure;
use crate::process::Process;
use crate::run::Start;
use crate::signals::Signals;
use crate::stderr::notices;

/// Serves a client until it is gone. The flags of the command line apply to every session.
pub(crate) async fn run(start: Start, signals: &mut Signals) -> u8 {
    let Start { arguments, process, folder, .. } = start;
    let Process { called_as, environment } = process;
    let host = Host { environment, options: arguments.options(), called_as };
    let options = AcpOptions {
        version: version(),
        request: SessionRequest { notices: notices(), ..arguments.request(folder) },
        describe_failure: |outcome| Failure::outcome(outcome).map(|failure| failure.message),
    };
    let mut code = 0;
    let stop = async { code = signals.next().await };
    let server = AcpServer::new(Arc::new(host), options);
    server.serve(std::io::stdin(), std::io::stdout(), stop).await;
    u8::try_from(code).unwrap_or(1)
}
