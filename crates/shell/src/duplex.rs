//! A long-running server that communicates over its standard streams.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::AsyncReadExt as _;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::background::ProcessState;
use crate::child::ChildProcess;
use crate::error::ShellError;
use crate::output::{Output, OutputLimits};
use crate::pipe::DRAIN_LIMIT;
use crate::sessions::Leftovers;
use crate::spec::{ChildSpec, ChildStdio};

/// Maximum number of bytes in one read from standard error.
const READ_SIZE: usize = 4096;

/// A server that was started with [`spawn_duplex`].
#[derive(Debug)]
pub struct Duplex {
    /// Standard input of the server. Dropping it closes the pipe, which asks most servers to end.
    pub stdin: ChildStdin,
    /// Standard output of the server.
    pub stdout: ChildStdout,
    /// The server's process.
    pub process: DuplexProcess,
}

/// Process of a server. Dropping it ends the server and all its descendants in the background, even
/// if the server itself has already ended; [`reap_all`](crate::reap_all) does the same.
pub struct DuplexProcess {
    child: ChildProcess,
    stderr: Arc<Mutex<Output>>,
    reading: JoinHandle<()>,
}

/// Starts a server. Its standard error is kept within the limits `stderr`. Must be called inside a
/// tokio runtime with I/O and time.
///
/// # Errors
/// Fails if the server cannot be started.
pub fn spawn_duplex(spec: &ChildSpec, stderr: OutputLimits) -> Result<Duplex, ShellError> {
    let mut child = ChildProcess::start(spec, ChildStdio::Separate, Leftovers::End)?;
    let process = &mut child.process;
    let (Some(stdin), Some(stdout), Some(errors)) =
        (process.stdin.take(), process.stdout.take(), process.stderr.take())
    else {
        return Err(ShellError::Streams(std::io::ErrorKind::BrokenPipe.into()));
    };
    let stderr = Arc::new(Mutex::new(Output::new(stderr)));
    let reading = tokio::spawn(keep(errors, Arc::clone(&stderr)));
    Ok(Duplex { stdin, stdout, process: DuplexProcess { child, stderr, reading } })
}

/// Reads standard error to its end and keeps it.
async fn keep(mut errors: ChildStderr, kept: Arc<Mutex<Output>>) {
    let mut buffer = vec![0; READ_SIZE];
    loop {
        match errors.read(&mut buffer).await {
            Ok(0) | Err(_) => return,
            Ok(length) => {
                kept.lock().unwrap_or_else(PoisonError::into_inner).push(&buffer[..length]);
            }
        }
    }
}

impl DuplexProcess {
    /// Returns the process number, which is also the number of its process group and session.
    pub fn id(&self) -> u32 {
        self.child.session.id()
    }

    /// Returns the standard error until now. It is complete after [`Self::ended`].
    pub fn stderr(&self) -> Output {
        self.stderr.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits until the server has ended. Can be called repeatedly. Cancel safe.
    pub async fn ended(&mut self) -> ProcessState {
        let state = ProcessState::of(self.child.process.wait().await.ok());
        if !self.reading.is_finished() {
            // A descendant may hold the pipe open.
            drop(timeout(DRAIN_LIMIT, &mut self.reading).await);
        }
        state
    }
}

impl std::fmt::Debug for DuplexProcess {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("DuplexProcess").field("id", &self.id()).finish_non_exhaustive()
    }
}
