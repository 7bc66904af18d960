//! A program that is given one input and answers on two streams.

use std::ffi::{OsStr, OsString};
use std::future::pending;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::process::ChildStdin;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::command::Ended;
use crate::error::ShellError;
use crate::pipe::{PipeReader, READ_SIZE, Source, discard_rest};
use crate::run::{LAST_WORDS, SILENCE, deadline, reached, read_some, signal};
use crate::sessions::{Session, lead_session};
use crate::shell::{Dialect, Shell};

/// What is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Runnable {
    /// A script for the user's shell, as it is.
    Script(String),
    /// A program with its arguments: no shell looks at them.
    Program {
        /// Its file.
        file: PathBuf,
        /// What it is given.
        arguments: Vec<String>,
    },
}

/// A program to run, its input, and the bounds it runs in.
#[derive(Debug, Clone)]
pub struct PipedCommand {
    /// What is run.
    pub run: Runnable,
    /// The folder to run in.
    pub cwd: PathBuf,
    /// The whole environment.
    pub environment: Vec<(OsString, OsString)>,
    /// What it reads from standard input. It need not.
    pub input: Vec<u8>,
    /// How long it may take in all.
    pub timeout: Duration,
    /// Bytes of each stream that are kept; the rest is read and dropped.
    pub limit: usize,
}

/// What it did.
#[derive(Debug, Clone)]
pub struct PipedOutcome {
    /// The beginning of its standard output.
    pub stdout: Vec<u8>,
    /// The beginning of its standard error.
    pub stderr: Vec<u8>,
    /// One of them was longer than the limit.
    pub overflowed: bool,
    /// Its exit code, unless a signal or we ended it.
    pub exit_code: Option<i32>,
    /// The signal that ended it, if one did that we did not send.
    pub signal: Option<i32>,
    /// Why it is over.
    pub ended: Ended,
}

/// Runs a script or a program and returns when it ends. What it leaves running goes on, also when this program ends.
///
/// On cancel, time-out or when the future is dropped, everything that it started is ended behind the caller's
/// back, as [`run`](crate::run) does it. Needs a tokio runtime with I/O and time.
///
/// # Errors
/// It could not be started, or its end could not be observed.
pub async fn run_piped(
    command: PipedCommand,
    cancel: &CancellationToken,
) -> Result<PipedOutcome, ShellError> {
    if cancel.is_cancelled() {
        return Err(ShellError::CancelledBeforeStart);
    }
    let (timeout, limit) = (deadline(Some(command.timeout)), command.limit);
    let mut piped = Piped::start(&command)?;
    let writing = feed(piped.stdin.take(), command.input);
    tokio::pin!(writing);
    let mut fed = false;
    let (ended, status) = loop {
        tokio::select! {
            biased;
            status = piped.child.wait() => {
                break (Ended::Exited, Some(status.map_err(ShellError::Wait)?));
            }
            () = cancel.cancelled() => break (Ended::Cancelled, None),
            () = reached(timeout) => break (Ended::TimedOut, None),
            () = piped.streams.read(limit) => {}
            () = &mut writing, if !fed => fed = true,
        }
    };
    piped.finish(ended, status, limit).await
}

/// Hands over the input. A program that does not read it, or has gone, is none the worse.
async fn feed(stdin: Option<ChildStdin>, input: Vec<u8>) {
    if let Some(mut stdin) = stdin
        && stdin.write_all(&input).await.is_ok()
    {
        drop(stdin.shutdown().await);
    }
}

/// A program under way.
struct Piped {
    child: tokio::process::Child,
    session: Session,
    stdin: Option<ChildStdin>,
    streams: Streams,
}

impl Piped {
    fn start(command: &PipedCommand) -> Result<Self, ShellError> {
        let (program, arguments) = command.run.words()?;
        if !command.cwd.is_dir() {
            return Err(ShellError::WorkingDirectory(command.cwd.clone()));
        }
        let (stdout, out_writer) = io::pipe().map_err(ShellError::Pipe)?;
        let (stderr, err_writer) = io::pipe().map_err(ShellError::Pipe)?;
        let streams = Streams {
            stdout: Stream::new(stdout).map_err(ShellError::Pipe)?,
            stderr: Stream::new(stderr).map_err(ShellError::Pipe)?,
        };
        let mut process = std::process::Command::new(program);
        process
            .args(arguments)
            .current_dir(&command.cwd)
            .env_clear()
            .envs(command.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(out_writer)
            .stderr(err_writer);
        lead_session(&mut process);
        let (mut child, session) = Session::start(tokio::process::Command::from(process))
            .map_err(|source| ShellError::Spawn { program: program.to_owned(), source })?;
        let stdin = child.stdin.take();
        Ok(Self { child, session, stdin, streams })
    }

    async fn finish(
        mut self,
        ended: Ended,
        status: Option<ExitStatus>,
        limit: usize,
    ) -> Result<PipedOutcome, ShellError> {
        if status.is_some() {
            self.streams.drain(LAST_WORDS, limit).await;
            self.session.set_free();
        } else {
            self.session.end();
        }
        let Streams { mut stdout, mut stderr } = self.streams;
        for reader in [stdout.reader.take(), stderr.reader.take()].into_iter().flatten() {
            discard_rest(reader);
        }
        Ok(PipedOutcome {
            overflowed: stdout.overflowed || stderr.overflowed,
            stdout: stdout.kept,
            stderr: stderr.kept,
            exit_code: status.and_then(|status| status.code()),
            signal: status.and_then(signal),
            ended,
        })
    }
}

impl Runnable {
    /// The program's file and its arguments.
    fn words(&self) -> Result<(&Path, Vec<OsString>), ShellError> {
        let has_nul = |text: &String| text.contains('\0');
        match self {
            Self::Script(script) if has_nul(script) => Err(ShellError::NulCharacter),
            Self::Script(script) => {
                let shell = Shell::current()?;
                Ok((&shell.program, arguments(shell, script)))
            }
            Self::Program { arguments, .. } if arguments.iter().any(has_nul) => {
                Err(ShellError::NulCharacter)
            }
            Self::Program { file, arguments } => {
                Ok((file, arguments.iter().map(OsString::from).collect()))
            }
        }
    }
}

/// The arguments that make the shell run the script and nothing else.
fn arguments(shell: &Shell, script: &str) -> Vec<OsString> {
    let words: &[&str] = match shell.dialect {
        Dialect::Bash | Dialect::Posix => &["-c"],
        Dialect::PowerShell => &["-NoProfile", "-Command"],
    };
    // PowerShell has an exit code of its own unless it is told to pass on that of the program.
    let script = match shell.dialect {
        Dialect::PowerShell => {
            format!("{script}; if ($LASTEXITCODE -ne 0) {{ exit $LASTEXITCODE }}")
        }
        Dialect::Bash | Dialect::Posix => script.to_owned(),
    };
    words.iter().map(OsStr::new).map(OsString::from).chain([script.into()]).collect()
}

/// Both streams of a program.
struct Streams {
    stdout: Stream,
    stderr: Stream,
}

impl Streams {
    /// Takes more from either; never resolves once both have ended.
    async fn read(&mut self, limit: usize) {
        if self.have_ended() {
            return pending().await;
        }
        tokio::select! {
            () = self.stdout.read(limit) => {}
            () = self.stderr.read(limit) => {}
        }
    }

    fn have_ended(&self) -> bool {
        self.stdout.reader.is_none() && self.stderr.reader.is_none()
    }

    /// Reads what is in the pipes when nobody who matters writes any more.
    async fn drain(&mut self, longest: Duration, limit: usize) {
        let last = Instant::now() + longest;
        while !self.have_ended() {
            let silence = (Instant::now() + SILENCE).min(last);
            if timeout_at(silence, self.read(limit)).await.is_err() || Instant::now() >= last {
                return;
            }
        }
    }
}

/// One stream and what is kept of it.
struct Stream {
    reader: Option<Source>,
    buffer: Vec<u8>,
    kept: Vec<u8>,
    overflowed: bool,
}

impl Stream {
    fn new(reader: io::PipeReader) -> io::Result<Self> {
        let reader = Some(Source::Pipe(PipeReader::new(reader)?));
        Ok(Self { reader, buffer: vec![0; READ_SIZE], kept: Vec::new(), overflowed: false })
    }

    /// One read. The end of the stream, or an error, closes it. Safe to drop.
    async fn read(&mut self, limit: usize) {
        let length = read_some(&mut self.reader, &mut self.buffer).await.unwrap_or(0);
        if length == 0 {
            self.reader = None;
            return;
        }
        let room = limit.saturating_sub(self.kept.len()).min(length);
        self.kept.extend_from_slice(&self.buffer[..room]);
        self.overflowed |= room < length;
    }
}
