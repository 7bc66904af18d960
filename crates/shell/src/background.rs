//! Commands that go on while other work does: the processes of one session, their states and their
//! logs.
//!
//! A process gets here in two ways: it is started here, or a command under way is handed over (see
//! [`run_or_hand_over`](crate::run_or_hand_over)). From then on a task of its own reads what it
//! prints into its log, so that it never waits for a reader and memory stays flat. Dropping the
//! registry ends every process in it.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

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

/// Processes that a session remembers (Gemini CLI 0.61). Those that run are never forgotten.
const HISTORY: usize = 100;
/// The longest that the end of a stopped process is waited for: asking, killing, and some more.
const STOP_LIMIT: Duration = Duration::from_millis(1500);
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// Where a process stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessState {
    /// It runs.
    Running,
    /// It has ended, and everything that it printed is in its log.
    Exited {
        /// Its exit code, unless a signal ended it.
        code: Option<i32>,
        /// The signal that ended it.
        signal: Option<i32>,
    },
}

impl ProcessState {
    /// State of a process that has ended; `None` for one that cannot be waited for.
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
}

impl BackgroundProcesses {
    /// None yet. Logs will be in `folder`, which is made when needed (0700).
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), history: Mutex::default() }
    }

    /// Starts a command that runs in the background from its first moment. Its inactivity limit and
    /// its spill file mean nothing here; of its limits see
    /// [`BackgroundProcess::take_first_output`]. Must be called inside a tokio runtime.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start(&self, command: &ShellCommand) -> Result<Arc<BackgroundProcess>, ShellError> {
        let child = command.start()?;
        let first = Output::new(command.limits);
        let text = command.child.program.text();
        Ok(self.adopt(text, child, Some(first), command.timeout, |_| {}))
    }

    /// Takes charge of a command. `so_far` writes what it has printed until now.
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
        tokio::spawn(pump.run());
        self.remember(Arc::clone(&process));
        process
    }

    fn remember(&self, process: Arc<BackgroundProcess>) {
        let mut history = self.lock();
        // A number that the system has given away again means the new process.
        history.retain(|known| known.id != process.id);
        history.push_back(process);
        while history.len() > HISTORY {
            let ended = history.iter().position(|known| known.state() != ProcessState::Running);
            let Some(oldest) = ended else { return };
            history.remove(oldest);
        }
    }

    /// All processes that are remembered, oldest first.
    pub fn list(&self) -> Vec<Arc<BackgroundProcess>> {
        self.lock().iter().cloned().collect()
    }

    /// The process with this number, if it is one of this session.
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
    /// Its process number, also that of its process group and session.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// The command line.
    pub fn command(&self) -> &str {
        &self.command
    }

    /// Where it stands.
    pub fn state(&self) -> ProcessState {
        *self.state.borrow()
    }

    /// Waits for its end.
    pub async fn ended(&self) -> ProcessState {
        let mut state = self.state.clone();
        let is_over = |state: &ProcessState| *state != ProcessState::Running;
        // A task that was dropped has ended its process.
        let lost = ProcessState::Exited { code: None, signal: None };
        state.wait_for(is_over).await.map_or(lost, |state| *state)
    }

    /// What it has printed since its start, within the limits of its command. Given once: from then
    /// on only the log has more. None for a command that was handed over.
    pub fn take_first_output(&self) -> Option<Output> {
        self.first.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// The file with what it printed, without escape sequences: two ends of it when it is more than
    /// 100 MB.
    pub fn log_path(&self) -> PathBuf {
        self.lock_log().path().to_path_buf()
    }

    /// Why the log is not whole: the disk is full, the folder cannot be made.
    pub fn log_failure(&self) -> Option<String> {
        self.lock_log().failure().map(str::to_owned)
    }

    /// The last bytes of the log, at most `limit`. Blocks.
    ///
    /// # Errors
    /// Those of [`pollux_fs::read_tail_of_file_itself`]: also when somebody put a link in its
    /// place.
    pub fn read_log(&self, limit: usize) -> pollux_fs::Result<Vec<u8>> {
        // Nothing is moved in the file while it is read.
        let log = self.lock_log();
        pollux_fs::read_tail_of_file_itself(log.path(), limit)
    }

    /// Whether it was told to end.
    pub fn is_stopped(&self) -> bool {
        self.stop.is_cancelled()
    }

    /// Begins to end the process and all that it started, and does not wait for it.
    pub fn end(&self) {
        self.stop.cancel();
        if self.state() != ProcessState::Running {
            sessions::end_rest(self.leader);
        }
    }

    /// Ends the process and all that it started: SIGTERM, 200 ms later SIGKILL. Returns once
    /// nothing of it is left, which takes a second and a half at most, with whether that is so.
    pub async fn stop(&self) -> bool {
        self.end();
        let gone = async {
            self.ended().await;
            // It may have ended by itself a moment ago, before it was told to.
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
