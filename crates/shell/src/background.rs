//! Commands that run in the background: the processes of one session, their states and their logs.
//!
//! A process gets here in two ways: it is started here, or a running command is handed over (see
//! [`run_or_hand_over`](crate::run_or_hand_over)). From then on a separate task reads its output
//! into its log, so that the process never waits for a reader and memory use stays constant.
//! Dropping the registry ends every process in it.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use pollux_protocol::{BackgroundCommand, Live};
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::child::ChildProcess;
use crate::command::{ShellCommand, signal};
use crate::error::ShellError;
use crate::output::Output;
use crate::sessions;
use log::Log;
use pump::Pump;

mod log;
mod pump;

/// Number of processes that a session remembers (Gemini CLI 0.61). Running processes are never
/// forgotten.
const HISTORY: usize = 100;
/// Maximum time to wait for the end of a stopped process: SIGTERM, SIGKILL and a margin.
const STOP_LIMIT: Duration = Duration::from_millis(1500);
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// State of a background process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessState {
    /// The process is running.
    Running,
    /// The process has ended, and all its output is in its log.
    Exited {
        /// Exit code, unless a signal ended the process.
        code: Option<i32>,
        /// Signal that ended the process.
        signal: Option<i32>,
    },
}

impl ProcessState {
    /// Returns the state of a process that has ended. `status` is `None` if waiting for the process
    /// failed.
    pub(crate) fn of(status: Option<ExitStatus>) -> Self {
        Self::Exited {
            code: status.and_then(|status| status.code()),
            signal: status.and_then(signal),
        }
    }
}

/// The background processes of one session, oldest first.
#[derive(Debug)]
pub struct BackgroundProcesses {
    folder: PathBuf,
    history: Mutex<VecDeque<Arc<BackgroundProcess>>>,
    running: Live<Vec<BackgroundCommand>>,
}

impl BackgroundProcesses {
    /// Creates an empty registry. Logs are written to `folder`, which is created (mode 0700) when
    /// needed.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), history: Mutex::default(), running: Live::default() }
    }

    /// Starts a command that runs in the background from the beginning. Its inactivity limit and
    /// its spill file are ignored; see [`BackgroundProcess::take_first_output`] for its output
    /// limits. Must be called inside a tokio runtime.
    ///
    /// # Errors
    /// Fails if the command cannot be started.
    pub fn start(&self, command: &ShellCommand) -> Result<Arc<BackgroundProcess>, ShellError> {
        let child = command.start_now()?;
        let first = Output::new(command.limits);
        let text = command.child.program.text();
        Ok(self.adopt(text, child, Some(first), command.timeout, |_| {}))
    }

    /// Takes over a running command. `so_far` writes the output that it has printed until now.
    pub(crate) fn adopt(
        &self,
        command: String,
        child: ChildProcess,
        first: Option<Output>,
        limit: Option<Duration>,
        so_far: impl FnOnce(&mut Log),
    ) -> Arc<BackgroundProcess> {
        let id = child.session.id();
        let mut log = Log::create(self.folder.join(format!("background-{id}.log")));
        so_far(&mut log);
        let (sender, state) = watch::channel(ProcessState::Running);
        let process = Arc::new(BackgroundProcess {
            id,
            command,
            log: Arc::new(Mutex::new(log)),
            first: Arc::new(Mutex::new(first)),
            state,
            stop: CancellationToken::new(),
            leader: child.session.leader(),
        });
        let pump = Pump::new(child, &process, sender, limit);
        let running = self.running.clone();
        let (command, since) = (process.command.clone(), Instant::now());
        running.update(|all| all.push(BackgroundCommand { id, command, since }));
        tokio::spawn(async move {
            pump.run().await;
            running.update(|all| all.retain(|command| command.id != id));
        });
        self.remember(Arc::clone(&process));
        process
    }

    /// Returns the processes that run, oldest first.
    pub fn running(&self) -> Live<Vec<BackgroundCommand>> {
        self.running.clone()
    }

    fn remember(&self, process: Arc<BackgroundProcess>) {
        let mut history = self.lock();
        // If the system has reused a process number, it now means the new process.
        history.retain(|known| known.id != process.id);
        history.push_back(process);
        while history.len() > HISTORY {
            let ended = history.iter().position(|known| known.state() != ProcessState::Running);
            let Some(oldest) = ended else { return };
            history.remove(oldest);
        }
    }

    /// Returns all remembered processes, oldest first.
    pub fn list(&self) -> Vec<Arc<BackgroundProcess>> {
        self.lock().iter().cloned().collect()
    }

    /// Returns the process with this number, if it belongs to this session.
    pub fn find(&self, id: u32) -> Option<Arc<BackgroundProcess>> {
        self.lock().iter().find(|process| process.id == id).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Arc<BackgroundProcess>>> {
        self.history.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for BackgroundProcesses {
    fn drop(&mut self) {
        for process in self.lock().iter() {
            process.end();
        }
    }
}

/// One command in the background.
#[derive(Debug)]
pub struct BackgroundProcess {
    id: u32,
    command: String,
    log: Arc<Mutex<Log>>,
    first: Arc<Mutex<Option<Output>>>,
    state: watch::Receiver<ProcessState>,
    stop: CancellationToken,
    leader: sessions::Leader,
}

impl BackgroundProcess {
    /// Returns the process number, which is also the number of its process group and session.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Returns the command line.
    pub fn command(&self) -> &str {
        &self.command
    }

    /// Returns the state of the process.
    pub fn state(&self) -> ProcessState {
        *self.state.borrow()
    }

    /// Waits until the process has ended.
    pub async fn ended(&self) -> ProcessState {
        let mut state = self.state.clone();
        let is_over = |state: &ProcessState| *state != ProcessState::Running;
        // If the task was dropped, it has ended its process.
        let lost = ProcessState::Exited { code: None, signal: None };
        state.wait_for(is_over).await.map_or(lost, |state| *state)
    }

    /// Returns the output since the start, within the limits of the command. Later calls return
    /// `None`, as does a call for a command that was handed over; the log has the rest.
    pub fn take_first_output(&self) -> Option<Output> {
        self.first.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Returns the path of the log, without escape sequences. Of more than 100 MB only the
    /// beginning and the end are kept.
    pub fn log_path(&self) -> PathBuf {
        self.lock_log().path().to_path_buf()
    }

    /// Returns the reason for which the log is incomplete, such as a full disk or a folder that
    /// cannot be created.
    pub fn log_failure(&self) -> Option<String> {
        self.lock_log().failure().map(str::to_owned)
    }

    /// Returns the last bytes of the log, at most `limit`. Blocks.
    ///
    /// # Errors
    /// Those of [`pollux_fs::read_tail_of_file_itself`], which also fails if the log was replaced
    /// by a link.
    pub fn read_log(&self, limit: usize) -> pollux_fs::Result<Vec<u8>> {
        // The lock keeps the contents of the file in place while it is read.
        let log = self.lock_log();
        pollux_fs::read_tail_of_file_itself(log.path(), limit)
    }

    /// Returns true if the process was asked to end.
    pub fn is_stopped(&self) -> bool {
        self.stop.is_cancelled()
    }

    /// Starts to end the process and everything that it started, without waiting for the end.
    pub fn end(&self) {
        self.stop.cancel();
        if self.state() != ProcessState::Running {
            sessions::end_rest(self.leader);
        }
    }

    /// Ends the process and everything that it started: SIGTERM, 200 ms later SIGKILL. Returns true
    /// as soon as all of these processes are gone, and false if some remain after 1.5 s.
    pub async fn stop(&self) -> bool {
        self.end();
        let gone = async {
            self.ended().await;
            // The process may have ended by itself just before the request.
            sessions::end_rest(self.leader);
            while sessions::is_known(self.leader) {
                tokio::time::sleep(LOOK_AGAIN).await;
            }
        };
        timeout(STOP_LIMIT, gone).await.is_ok()
    }

    fn lock_log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
