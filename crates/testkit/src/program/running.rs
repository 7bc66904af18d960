//! A running program.

use std::io::{Read, Write as _};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::Finished;
use super::finished::streams;
use crate::exit::wait_for_exit;

/// Interval between two samples of the memory.
const TICK: Duration = Duration::from_millis(2);
/// Maximum time to wait for more output after the child has ended, because a grandchild can still
/// hold the pipe.
const LAST_OUTPUT: Duration = Duration::from_secs(2);

/// A started program. Dropping it kills its process group.
pub struct RunningProgram {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: Arc<Output>,
    stderr: Arc<Output>,
    sampler: Option<JoinHandle<Option<u64>>>,
    ended: Arc<AtomicBool>,
    started: Instant,
    timeout: Duration,
}

/// Output of one stream of the child, collected by a separate thread.
#[derive(Default)]
struct Output {
    state: Mutex<Collected>,
    grown: Condvar,
}

#[derive(Default)]
struct Collected {
    bytes: Vec<u8>,
    closed: bool,
}

impl RunningProgram {
    pub(super) fn start(
        mut command: Command,
        stdin: Option<(Vec<u8>, bool)>,
        stdout_limit: Option<usize>,
        measures_memory: bool,
        timeout: Duration,
    ) -> Self {
        command.stdin(if stdin.is_some() { Stdio::piped() } else { Stdio::null() });
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let started = Instant::now();
        let mut child =
            command.spawn().unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"));
        let ended = Arc::new(AtomicBool::new(false));
        let stdin = match (child.stdin.take(), stdin) {
            (Some(pipe), Some((_, true))) => Some(pipe),
            (Some(pipe), Some((bytes, false))) => {
                feed(pipe, bytes);
                None
            }
            _ => None,
        };
        Self {
            stdin,
            stdout: Output::collect(child.stdout.take().unwrap(), stdout_limit),
            stderr: Output::collect(child.stderr.take().unwrap(), None),
            sampler: measures_memory.then(|| sample_memory(child.id(), Arc::clone(&ended))),
            ended,
            started,
            timeout,
            child,
        }
    }

    /// Returns the child's process id, which is also the id of its process group.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Returns the standard output so far.
    pub fn stdout(&self) -> String {
        self.stdout.text()
    }

    /// Returns the standard error so far.
    pub fn stderr(&self) -> String {
        self.stderr.text()
    }

    /// Waits until standard output contains this text and returns all output so far; fails the test
    /// if the stream ends first or the time limit is reached.
    pub fn stdout_until(&mut self, text: &str) -> String {
        let output = Arc::clone(&self.stdout);
        self.until(&output, "stdout", text)
    }

    /// Does the same as [`stdout_until`](Self::stdout_until) for standard error.
    pub fn stderr_until(&mut self, text: &str) -> String {
        let output = Arc::clone(&self.stderr);
        self.until(&output, "stderr", text)
    }

    /// Writes to a standard input that was held open.
    pub fn write_stdin(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().expect("standard input was not held open");
        stdin.write_all(bytes).and_then(|()| stdin.flush()).expect("the program reads its input");
    }

    /// Returns true if the program has read all bytes that were written to a standard input that
    /// was held open.
    #[cfg(unix)]
    pub fn stdin_is_read(&self) -> bool {
        let stdin = self.stdin.as_ref().expect("standard input was not held open");
        rustix::io::ioctl_fionread(stdin).expect("standard input is a pipe") == 0
    }

    /// Closes a standard input that was held open.
    pub fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// Sends a signal to the program only, as `kill` does.
    #[cfg(unix)]
    pub fn signal(&self, signal: rustix::process::Signal) {
        rustix::process::kill_process(self.process(), signal).expect("the program still runs");
    }

    /// Sends a signal to the program's process group, as a terminal does for Ctrl+C.
    #[cfg(unix)]
    pub fn signal_group(&self, signal: rustix::process::Signal) {
        rustix::process::kill_process_group(self.process(), signal)
            .expect("the program still runs");
    }

    /// Returns true while the program runs.
    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().expect("the child can be waited for").is_none()
    }

    /// Waits for the end of the program. After the time limit, kills the process group and fails
    /// the test with the output so far. Standard input, if held open, stays open until then.
    #[must_use]
    pub fn wait(mut self) -> Finished {
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("the child can be waited for") {
                break status;
            }
            self.assert_in_time("end");
            wait_for_exit(self.child.id(), self.time_left());
        };
        let duration = self.started.elapsed();
        self.ended.store(true, Ordering::Relaxed);
        let peak_rss = self.sampler.take().and_then(|sampler| sampler.join().ok()).flatten();
        Finished {
            code: status.code(),
            signal: signal_of(status),
            stdout: self.stdout.rest(),
            stderr: self.stderr.rest(),
            duration,
            peak_rss,
        }
    }

    fn time_left(&self) -> Duration {
        self.timeout.saturating_sub(self.started.elapsed())
    }

    fn until(&mut self, output: &Output, name: &str, text: &str) -> String {
        loop {
            let state = output.lock();
            let seen = String::from_utf8_lossy(&state.bytes).into_owned();
            if seen.contains(text) {
                return seen;
            }
            if state.closed {
                drop(state);
                panic!("{name} ended without {text:?}\n{}", self.so_far());
            }
            drop(output.grown.wait_timeout(state, self.time_left()));
            self.assert_in_time(&format!("print {text:?} on {name}"));
        }
    }

    fn assert_in_time(&mut self, what: &str) {
        if self.time_left().is_zero() {
            self.kill();
            panic!("the program did not {what} within {:?}\n{}", self.timeout, self.so_far());
        }
    }

    fn so_far(&self) -> String {
        streams(&self.stdout.lock().bytes, &self.stderr.lock().bytes)
    }

    fn kill(&mut self) {
        // Without an exit status the child is not reaped yet, so its process id still belongs to
        // it.
        if !matches!(self.child.try_wait(), Ok(None)) {
            return;
        }
        #[cfg(unix)]
        rustix::process::kill_process_group(self.process(), rustix::process::Signal::KILL).ok();
        #[cfg(not(unix))]
        self.child.kill().ok();
        self.child.wait().ok();
    }

    #[cfg(unix)]
    fn process(&self) -> rustix::process::Pid {
        rustix::process::Pid::from_child(&self.child)
    }
}

impl Drop for RunningProgram {
    fn drop(&mut self) {
        self.kill();
        self.ended.store(true, Ordering::Relaxed);
    }
}

impl Output {
    /// Reads a stream to its end or until `limit` bytes were read, then closes it.
    fn collect(mut stream: impl Read + Send + 'static, limit: Option<usize>) -> Arc<Self> {
        let output = Arc::new(Self::default());
        let collector = Arc::clone(&output);
        std::thread::spawn(move || {
            let mut buffer = vec![0; 64 * 1024];
            let mut left = limit.unwrap_or(usize::MAX);
            while left > 0 {
                let wanted = left.min(buffer.len());
                match stream.read(&mut buffer[..wanted]) {
                    Ok(0) => break,
                    Ok(count) => {
                        left -= count;
                        collector.lock().bytes.extend_from_slice(&buffer[..count]);
                        collector.grown.notify_all();
                    }
                    Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                    Err(_) => break,
                }
            }
            drop(stream);
            collector.lock().closed = true;
            collector.grown.notify_all();
        });
        output
    }

    fn lock(&self) -> MutexGuard<'_, Collected> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.lock().bytes).into_owned()
    }

    /// Returns all output, once the stream is closed or after [`LAST_OUTPUT`].
    fn rest(&self) -> Vec<u8> {
        let waited = self.grown.wait_timeout_while(self.lock(), LAST_OUTPUT, |state| !state.closed);
        std::mem::take(&mut waited.unwrap_or_else(PoisonError::into_inner).0.bytes)
    }
}

/// Writes in a separate thread: a child that never reads must not block the test.
fn feed(mut pipe: ChildStdin, bytes: Vec<u8>) {
    std::thread::spawn(move || {
        // A child may end before it has read everything.
        pipe.write_all(&bytes).ok();
    });
}

/// Watches the child's peak memory, in bytes. The kernel drops the number when the process ends, so
/// it is sampled. The latest sample counts, because an `exec` starts the count again.
fn sample_memory(process: u32, ended: Arc<AtomicBool>) -> JoinHandle<Option<u64>> {
    std::thread::spawn(move || {
        let file = format!("/proc/{process}/status");
        let mut peak = None;
        while cfg!(target_os = "linux") && !ended.load(Ordering::Relaxed) {
            peak = std::fs::read_to_string(&file).ok().and_then(|text| peak_of(&text)).or(peak);
            std::thread::sleep(TICK);
        }
        peak
    })
}

fn peak_of(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(unix)]
fn signal_of(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(not(unix))]
fn signal_of(_: ExitStatus) -> Option<i32> {
    None
}
