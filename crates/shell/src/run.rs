//! One command from start to end.

use std::collections::VecDeque;
use std::future::pending;
use std::io;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::{Instant, sleep_until, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::attention::{Attention, Look};
use crate::background::{BackgroundProcess, BackgroundProcesses};
use crate::capture::{Collector, OutputChunk};
use crate::child::ChildProcess;
use crate::command::{CommandOp, Ended, ShellCommand, ShellOutcome, signal};
use crate::deadline::{deadline, reached};
use crate::error::ShellError;
use crate::pipe::{DRAIN_LIMIT, QUIET_PERIOD, READ_SIZE, discard_rest, read_some};
use crate::terminal::Terminal;

/// Maximum number of bytes read after the end of the command. The capacity of a Linux pipe is not
/// larger.
const LAST_BYTES: usize = 1 << 20;
/// Time between two reports of a changing screen.
const SHOWN_EVERY: Duration = Duration::from_millis(100);
/// Maximum number of bytes waiting to be typed, so that a program that does not read cannot use up
/// memory.
const MOST_TYPED: usize = 64 << 10;

/// Runs a command in the user's shell and returns when it ends.
///
/// Without a terminal, standard input is closed, and both output streams share one pipe, so their
/// order is exact. `on_output` is called with each piece of output as it arrives and must not
/// block. On cancel or time-out, or if the future is dropped, everything that the command started
/// gets SIGTERM and, 200 ms later, SIGKILL. This happens in the background: `run` itself returns
/// within 100 ms. Needs a tokio runtime with I/O and time.
pub async fn run(
    command: ShellCommand,
    cancel: CancellationToken,
    on_output: impl FnMut(OutputChunk<'_>) + Send,
) -> Result<ShellOutcome, ShellError> {
    let (_nobody, mut ops) = unbounded_channel();
    let mut running = Running::start(&command, &cancel, on_output).await?;
    match running.watch(&command, &cancel, &mut ops).await? {
        Some((ended, status)) => Ok(running.finish(ended, status).await),
        // Not reachable: nobody sends a request to hand over.
        None => Ok(running.finish(Ended::Cancelled, None).await),
    }
}

/// Result of [`run_or_hand_over`].
#[derive(Debug)]
pub enum Ran {
    /// The command has ended.
    Ended(Box<ShellOutcome>),
    /// The command continues in the background, without its time limits.
    InBackground(Arc<BackgroundProcess>),
}

/// Runs a command as [`run`] does, and handles requests to it. On [`CommandOp::MoveToBackground`] a
/// command that still runs is moved to `processes`, with its output so far in its log.
///
/// # Errors
/// Those of [`run`].
pub async fn run_or_hand_over(
    command: ShellCommand,
    cancel: CancellationToken,
    on_output: impl FnMut(OutputChunk<'_>) + Send,
    mut ops: UnboundedReceiver<CommandOp>,
    processes: &BackgroundProcesses,
) -> Result<Ran, ShellError> {
    let mut running = Running::start(&command, &cancel, on_output).await?;
    Ok(match running.watch(&command, &cancel, &mut ops).await? {
        Some((ended, status)) => Ran::Ended(Box::new(running.finish(ended, status).await)),
        None => Ran::InBackground(running.hand_over(command.child.program.text(), processes).await),
    })
}

/// A running command.
struct Running<F> {
    child: ChildProcess,
    collector: Collector<F>,
    attention: Attention,
    buffer: Vec<u8>,
    /// Bytes that the programs in the terminal have not read yet.
    typed: VecDeque<u8>,
    /// Time of the next report of the screen.
    show_at: Instant,
}

/// Event while a command runs.
enum Happening {
    Exited(ExitStatus),
    Cancelled,
    Requested(CommandOp),
    TimedOut,
    Inactive,
    Read(io::Result<usize>),
    Typed(io::Result<usize>),
    Shown,
    Looked(Look),
}

impl<F: FnMut(OutputChunk<'_>) + Send> Running<F> {
    async fn start(
        command: &ShellCommand,
        cancel: &CancellationToken,
        on_output: F,
    ) -> Result<Self, ShellError> {
        if cancel.is_cancelled() {
            return Err(ShellError::CancelledBeforeStart);
        }
        let child = command.start().await?;
        let in_terminal = child.terminal.is_some();
        Ok(Self {
            collector: Collector::new(command, in_terminal, on_output),
            attention: Attention::new(&child, command.attended && in_terminal),
            child,
            buffer: vec![0; READ_SIZE],
            typed: VecDeque::new(),
            show_at: Instant::now(),
        })
    }

    /// Moves the running command to the background.
    async fn hand_over(
        self,
        command: String,
        processes: &BackgroundProcesses,
    ) -> Arc<BackgroundProcess> {
        let so_far = self.collector.finish().await.output;
        processes.adopt(command, self.child, None, None, |log| log.push_output(&so_far))
    }

    /// Serves the command until it ends, must be ended, or is to be handed over (`None`).
    async fn watch(
        &mut self,
        command: &ShellCommand,
        cancel: &CancellationToken,
        ops: &mut UnboundedReceiver<CommandOp>,
    ) -> Result<Option<(Ended, Option<ExitStatus>)>, ShellError> {
        let time_out = deadline(command.timeout);
        let mut inactive = deadline(command.inactivity);
        loop {
            let ended = match self.next(time_out, inactive, cancel, ops).await? {
                Happening::Exited(status) => return Ok(Some((Ended::Exited, Some(status)))),
                Happening::Cancelled => Some(Ended::Cancelled),
                Happening::TimedOut => Some(Ended::TimedOut),
                Happening::Inactive => Some(Ended::Inactive),
                Happening::Read(read) => {
                    self.take(read);
                    inactive = deadline(command.inactivity);
                    self.reset_input_wait();
                    None
                }
                Happening::Typed(written) => {
                    // After an error no program is left that could read the input, so all of it is
                    // dropped.
                    self.forget_typed(written.unwrap_or(usize::MAX));
                    None
                }
                Happening::Shown => {
                    self.show();
                    None
                }
                Happening::Looked(look) => self.judge(look).then_some(Ended::Unanswered),
                Happening::Requested(CommandOp::MoveToBackground) => return Ok(None),
                Happening::Requested(CommandOp::Resize(size)) => {
                    self.child.terminal.iter().for_each(|terminal| terminal.resize(size));
                    self.collector.resize(size);
                    None
                }
                Happening::Requested(CommandOp::Type(bytes)) => {
                    self.type_bytes(&bytes);
                    inactive = deadline(command.inactivity);
                    self.reset_input_wait();
                    None
                }
            };
            if let Some(ended) = ended {
                return Ok(Some((ended, None)));
            }
        }
    }

    /// Waits for the first event.
    async fn next(
        &mut self,
        time_out: Option<Instant>,
        inactive: Option<Instant>,
        cancel: &CancellationToken,
        ops: &mut UnboundedReceiver<CommandOp>,
    ) -> Result<Happening, ShellError> {
        let ChildProcess { process, output, terminal, .. } = &mut self.child;
        let changed = self.collector.has_changed();
        let typed = self.typed.as_slices().0;
        Ok(tokio::select! {
            biased;
            status = process.wait() => Happening::Exited(status.map_err(ShellError::Wait)?),
            () = cancel.cancelled() => Happening::Cancelled,
            Some(op) = ops.recv() => Happening::Requested(op),
            () = reached(time_out) => Happening::TimedOut,
            () = reached(inactive) => Happening::Inactive,
            () = sleep_until(self.show_at), if changed => Happening::Shown,
            written = write_some(terminal.as_deref(), typed), if !typed.is_empty() => {
                Happening::Typed(written)
            }
            read = read_some(output, &mut self.buffer) => Happening::Read(read),
            look = self.attention.look() => Happening::Looked(look),
        })
    }

    /// Takes the bytes of one read and returns their number. The end of the output, or an error,
    /// closes the reader; the command may continue without output.
    fn take(&mut self, read: io::Result<usize>) -> usize {
        let length = read.unwrap_or(0);
        if length == 0 {
            self.child.output = None;
        } else {
            let answers = self.collector.push(&self.buffer[..length]);
            self.type_bytes(&answers);
        }
        length
    }

    fn type_bytes(&mut self, bytes: &[u8]) {
        let room = MOST_TYPED.saturating_sub(self.typed.len());
        if self.child.terminal.is_some() {
            self.typed.extend(&bytes[..bytes.len().min(room)]);
        }
    }

    fn forget_typed(&mut self, length: usize) {
        self.typed.drain(..length.min(self.typed.len()));
    }

    fn show(&mut self) {
        let answers = self.collector.show();
        self.type_bytes(&answers);
        self.show_at = Instant::now() + SHOWN_EVERY;
    }

    /// Records that something was printed or typed, so the command presumably does not wait.
    fn reset_input_wait(&mut self) {
        if self.attention.reset_input_wait() {
            self.collector.tell_input(None);
        }
    }

    /// Reports a change in whether the command waits for input. Returns true if the command must be
    /// ended for this reason.
    fn judge(&mut self, look: Look) -> bool {
        let line = self.collector.line_of_cursor();
        let verdict = self.attention.judge(look, &line);
        if verdict.is_new {
            self.show();
            self.collector.tell_input(self.attention.awaited());
        }
        verdict.is_over
    }

    /// Reads the last output after the end of the command and returns its outcome.
    async fn finish(mut self, ended: Ended, status: Option<ExitStatus>) -> ShellOutcome {
        let process_group = self.child.session.id();
        if status.is_some() {
            self.drain(DRAIN_LIMIT).await;
            self.child.session.release();
        } else {
            self.child.session.end();
            self.drain(QUIET_PERIOD).await;
        }
        if let Some(reader) = self.child.output.take() {
            discard_rest(reader);
        }
        let jobs = self.child.files.remove();
        let captured = self.collector.finish().await;
        let jobs = jobs.await.unwrap_or_default();
        ShellOutcome {
            output: captured.output,
            exit_code: status.and_then(|status| status.code()),
            signal: status.and_then(signal),
            ended,
            process_group,
            background_pids: if status.is_some() { jobs } else { Vec::new() },
            binary: captured.binary,
            bytes: captured.bytes,
            spilled: captured.spilled,
            lines: captured.lines,
            awaited: self.attention.into_awaited(),
        }
    }

    /// Reads the rest of the output from the pipe after the command has ended.
    async fn drain(&mut self, longest: Duration) {
        let last = Instant::now() + longest;
        let mut drained = 0;
        while drained < LAST_BYTES && self.child.output.is_some() {
            let silence = (Instant::now() + QUIET_PERIOD).min(last);
            let read = read_some(&mut self.child.output, &mut self.buffer);
            let Ok(read) = timeout_at(silence, read).await else { return };
            match self.take(read) {
                0 => return,
                length => drained += length,
            }
        }
    }
}

async fn write_some(terminal: Option<&Terminal>, bytes: &[u8]) -> io::Result<usize> {
    match terminal {
        Some(terminal) => terminal.write(bytes).await,
        None => pending().await,
    }
}
