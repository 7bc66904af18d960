//! One command from start to end.

use std::ffi::OsString;
use std::future::pending;
use std::io;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::time::{Instant, sleep_until, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::capture::{BINARY_NOTICE, Capture, Chunk};
use crate::error::ShellError;
use crate::jobs::JobList;
use crate::output::{Limits, Output};
use crate::pipe::{PipeReader, READ_SIZE, discard_rest};
use crate::script::{evaluated, strip_wrapper, with_job_list};
use crate::sessions::{Session, lead_session};
use crate::shell::{Dialect, Shell};
use crate::spill::{Spill, Spilled};

/// After the end of the command: no output for so long means there is no more to wait for.
const SILENCE: Duration = Duration::from_millis(50);
/// After the end of the command: the longest a talkative grandchild is listened to.
const LAST_WORDS: Duration = Duration::from_millis(200);
/// After the end of the command: the most that is read. A Linux pipe holds no more than this.
const LAST_BYTES: usize = 1 << 20;

/// A command line to run, and the bounds it runs in.
#[derive(Debug, Clone)]
pub struct ShellCommand {
    /// The command line, in the language of the shell. A needless `bash -c '…'` around it is taken
    /// off, see [`strip_wrapper`].
    pub command: String,
    /// The folder to run in.
    pub cwd: PathBuf,
    /// The whole environment of the command, see [`child_environment`](crate::child_environment).
    pub environment: Vec<(OsString, OsString)>,
    /// How long the command may take in all; `None` is for ever.
    pub timeout: Option<Duration>,
    /// How long the command may print nothing; `None` is for ever.
    pub inactivity: Option<Duration>,
    /// How much output stays in memory.
    pub limits: Limits,
    /// Where output goes that is too long; `None` is nowhere.
    pub spill: Option<Spill>,
}

impl ShellCommand {
    /// A command without environment and time limits.
    pub fn new(command: impl Into<String>, cwd: impl Into<PathBuf>) -> Self {
        Self {
            command: command.into(),
            cwd: cwd.into(),
            environment: Vec::new(),
            timeout: None,
            inactivity: None,
            limits: Limits::default(),
            spill: None,
        }
    }
}

/// Why [`run`] returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The command ended by itself.
    Exited,
    /// The token was cancelled.
    Cancelled,
    /// [`ShellCommand::timeout`] passed.
    TimedOut,
    /// [`ShellCommand::inactivity`] passed.
    Inactive,
}

/// What a command did.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// What it printed, on both streams, in order.
    pub output: Output,
    /// Its exit code, unless a signal or we ended it.
    pub exit_code: Option<i32>,
    /// The signal that ended it, if one did that we did not send.
    pub signal: Option<i32>,
    /// Why it is over.
    pub ended: Ended,
    /// Number of its process group and session, also its own process number.
    pub process_group: u32,
    /// Background jobs of the shell (`jobs -p`) that go on. Empty if we ended the command, if it
    /// replaced the shell with `exec` or set an exit trap of its own, and on Windows.
    pub background_pids: Vec<u32>,
    /// Whether the output is binary: a NUL among its first 4096 bytes.
    pub binary: bool,
    /// How many bytes it printed.
    pub bytes: u64,
    /// The file with the whole output, if it was long enough to need one.
    pub spilled: Option<Spilled>,
}

impl Outcome {
    /// The output as [`Output::text`] gives it, or [`BINARY_NOTICE`].
    pub fn text(&self) -> String {
        if self.binary { BINARY_NOTICE.to_owned() } else { self.output.text() }
    }
}

/// Runs a command in the user's shell and returns when it ends.
///
/// Standard input is closed; both output streams share one pipe, so their order is exact.
/// `on_output` is called with each piece of output as it arrives and must not block. On cancel,
/// time-out or when the future is dropped, everything the command started gets SIGTERM and, 200 ms
/// later, SIGKILL, behind the caller's back: `run` itself returns within 100 ms. Needs a tokio
/// runtime with I/O and time.
pub async fn run(
    command: ShellCommand,
    cancel: CancellationToken,
    on_output: impl FnMut(Chunk<'_>) + Send,
) -> Result<Outcome, ShellError> {
    run_with(Shell::current()?, command, cancel, on_output).await
}

/// [`run`] with a given shell.
pub async fn run_with(
    shell: &Shell,
    command: ShellCommand,
    cancel: CancellationToken,
    on_output: impl FnMut(Chunk<'_>) + Send,
) -> Result<Outcome, ShellError> {
    if cancel.is_cancelled() {
        return Err(ShellError::CancelledBeforeStart);
    }
    let started = Started::new(shell, &command)?;
    let capture = Capture::new(command.limits, command.spill, on_output);
    let mut running = Running { started, capture, buffer: vec![0; READ_SIZE] };
    let (ended, status) = running.watch(command.timeout, command.inactivity, &cancel).await?;
    Ok(running.finish(ended, status).await)
}

/// The child and what is tied to it.
struct Started {
    child: tokio::process::Child,
    session: Session,
    reader: Option<PipeReader>,
    jobs: Option<JobList>,
}

impl Started {
    fn new(shell: &Shell, command: &ShellCommand) -> Result<Self, ShellError> {
        if command.command.contains('\0') {
            return Err(ShellError::NulCharacter);
        }
        if !command.cwd.is_dir() {
            return Err(ShellError::WorkingDirectory(command.cwd.clone()));
        }
        let (script, jobs) = script(shell, &command.command);
        let (reader, writer) = io::pipe().map_err(ShellError::Pipe)?;
        let reader = PipeReader::new(reader).map_err(ShellError::Pipe)?;
        let mut process = std::process::Command::new(&shell.program);
        process
            .args(shell.arguments(&script))
            .current_dir(&command.cwd)
            .env_clear()
            .envs(command.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(writer.try_clone().map_err(ShellError::Pipe)?)
            .stderr(writer);
        lead_session(&mut process);
        // The command holds our copies of the writing end: it is dropped with this statement, or the
        // pipe would never end.
        let child = tokio::process::Command::from(process)
            .spawn()
            .map_err(|source| ShellError::Spawn { shell: shell.program.clone(), source })?;
        let session = Session::new(child.id().unwrap_or_default());
        Ok(Self { child, session, reader: Some(reader), jobs })
    }
}

/// The text the shell runs, and where it lists its background jobs.
fn script(shell: &Shell, command: &str) -> (String, Option<JobList>) {
    let command = strip_wrapper(command);
    if shell.dialect == Dialect::PowerShell {
        return (command.into_owned(), None);
    }
    // Without a folder for temporary files the command still runs; only the list is lost.
    let jobs = JobList::new().ok();
    let listed = jobs.as_ref().and_then(|jobs| with_job_list(&command, jobs.path()));
    (listed.unwrap_or_else(|| evaluated(&command)), jobs)
}

/// A command under way.
struct Running<F> {
    started: Started,
    capture: Capture<F>,
    buffer: Vec<u8>,
}

impl<F: FnMut(Chunk<'_>) + Send> Running<F> {
    /// Collects output until the command ends or must be ended.
    async fn watch(
        &mut self,
        timeout: Option<Duration>,
        inactivity: Option<Duration>,
        cancel: &CancellationToken,
    ) -> Result<(Ended, Option<ExitStatus>), ShellError> {
        let time_out = deadline(timeout);
        let mut inactive = deadline(inactivity);
        loop {
            let Started { child, reader, .. } = &mut self.started;
            tokio::select! {
                biased;
                status = child.wait() => {
                    return Ok((Ended::Exited, Some(status.map_err(ShellError::Wait)?)));
                }
                () = cancel.cancelled() => return Ok((Ended::Cancelled, None)),
                () = reached(time_out) => return Ok((Ended::TimedOut, None)),
                () = reached(inactive) => return Ok((Ended::Inactive, None)),
                read = read_some(reader, &mut self.buffer) => {
                    self.take(read);
                    inactive = deadline(inactivity);
                }
            }
        }
    }

    /// Takes what one read brought and returns its length. The end of the output, or an error, closes
    /// the reader; the command may go on without output.
    fn take(&mut self, read: io::Result<usize>) -> usize {
        let length = read.unwrap_or(0);
        if length == 0 {
            self.started.reader = None;
        } else {
            self.capture.push(&self.buffer[..length]);
        }
        length
    }

    /// The command is over: last output, then the report.
    async fn finish(mut self, ended: Ended, status: Option<ExitStatus>) -> Outcome {
        let process_group = self.started.session.id();
        if status.is_some() {
            self.drain(LAST_WORDS).await;
            self.started.session.release();
        } else {
            self.started.session.end();
            self.drain(SILENCE).await;
        }
        if let Some(reader) = self.started.reader.take() {
            discard_rest(reader);
        }
        let jobs = self.started.jobs.filter(|_| status.is_some());
        let captured = self.capture.finish();
        Outcome {
            output: captured.output,
            exit_code: status.and_then(|status| status.code()),
            signal: status.and_then(signal),
            ended,
            process_group,
            background_pids: jobs.and_then(|jobs| jobs.read().ok()).unwrap_or_default(),
            binary: captured.binary,
            bytes: captured.bytes,
            spilled: captured.spilled,
        }
    }

    /// Reads what is in the pipe when nobody who matters writes any more.
    async fn drain(&mut self, longest: Duration) {
        let last = Instant::now() + longest;
        let mut drained = 0;
        while drained < LAST_BYTES && self.started.reader.is_some() {
            let silence = (Instant::now() + SILENCE).min(last);
            let read = read_some(&mut self.started.reader, &mut self.buffer);
            let Ok(read) = timeout_at(silence, read).await else { return };
            match self.take(read) {
                0 => return,
                length => drained += length,
            }
        }
    }
}

async fn read_some(reader: &mut Option<PipeReader>, buffer: &mut [u8]) -> io::Result<usize> {
    match reader {
        Some(reader) => reader.read(buffer).await,
        None => pending().await,
    }
}

/// The moment `limit` from now; `None` if there is no limit or none this clock can express.
fn deadline(limit: Option<Duration>) -> Option<Instant> {
    Instant::now().checked_add(limit?)
}

async fn reached(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => pending().await,
    }
}

#[cfg(unix)]
fn signal(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(not(unix))]
fn signal(_status: ExitStatus) -> Option<i32> {
    None
}
