mod background;
mod duplex;
mod endings;
mod environment;
#[cfg(target_os = "linux")]
mod foreign;
mod jobs;
mod output;
mod piped;
mod reaping;
mod scripts;
#[cfg(unix)]
mod terminal;

use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pollux_shell::{
    ChildSpec, OutputChunk, Program, Shell, ShellCommand, ShellError, ShellOutcome, run,
};
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::net::unix::pipe;
use tokio_util::sync::CancellationToken;

/// Maximum time in which a cancelled command returns. This limit can only be tested with a clock,
/// in a [`timed_test`](pollux_testkit::timed_test): 100 ms are guaranteed, the rest is a margin for
/// a busy machine.
pub(crate) const PROMPT: Duration = Duration::from_secs(3);

/// Returns a program in an existing folder, with the environment of the tests.
pub(crate) fn child(program: Program) -> ChildSpec {
    ChildSpec::new(program, std::env::temp_dir(), std::env::vars_os().collect())
}

pub(crate) fn command(line: &str) -> ShellCommand {
    ShellCommand::new(child(Program::CommandLine(line.to_owned())))
}

pub(crate) async fn outcome(command: ShellCommand) -> ShellOutcome {
    run(command, CancellationToken::new(), |_| {}).await.unwrap()
}

/// Runs a command to its end in the best shell.
pub(crate) async fn sh(line: &str) -> ShellOutcome {
    outcome(command(line)).await
}

/// Runs a command that leaves a daemon: a process in a separate session whose parent is gone. The
/// daemon prints its number and then runs the program. Returns that number.
pub(crate) async fn daemon(program: &str) -> u32 {
    let line = format!("(setsid sh -c 'echo $$; {program} >/dev/null' &) | (read id; echo id=$id)");
    number(&sh(&line).await.text(), "id")
}

/// Returns all shells of this computer that commands may run in.
pub(crate) fn shells() -> Vec<Shell> {
    let path = std::env::var_os("PATH").unwrap_or_else(|| OsString::from("/usr/bin:/bin"));
    let best = Shell::find_on(&path).unwrap();
    // A folder that only contains `sh` simulates a computer without bash.
    let folder = tempfile::tempdir().unwrap();
    let sh = Path::new("/bin/sh").canonicalize().unwrap();
    std::os::unix::fs::symlink(sh, folder.path().join("sh")).unwrap();
    let posix = Shell::find_on(folder.path().as_os_str()).unwrap();
    assert_ne!(best, posix);
    vec![best, Shell { program: "/bin/sh".into(), ..posix }]
}

pub(crate) async fn sh_in(shell: &Shell, line: &str) -> ShellOutcome {
    let mut command = command(line);
    command.child.shell = Some(shell.clone());
    outcome(command).await
}

/// Runs a command and cancels it after it has printed `signal`. Also returns the time from the
/// cancel to the return of `run`.
pub(crate) async fn cancelled_after(line: &str, signal: &str) -> (ShellOutcome, Duration) {
    let cancel = CancellationToken::new();
    let mut seen = String::new();
    let mut cancelled_at = None;
    let result: Result<ShellOutcome, ShellError> = run(command(line), cancel.clone(), |chunk| {
        if let OutputChunk::Text(text) = chunk {
            seen.push_str(text);
        }
        if cancelled_at.is_none() && seen.contains(signal) {
            cancelled_at = Some(Instant::now());
            cancel.cancel();
        }
    })
    .await;
    (result.unwrap(), cancelled_at.expect("the command never printed the signal").elapsed())
}

/// Returns true if the process runs; a zombie does not.
pub(crate) fn is_running(id: u32) -> bool {
    if !Path::new("/proc/self/stat").exists() {
        let mut ps = std::process::Command::new("ps");
        let state = ps.args(["-o", "state=", "-p", &id.to_string()]).output().unwrap().stdout;
        return !state.is_empty() && state[0] != b'Z';
    }
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{id}/stat")) else { return false };
    !stat.rsplit(')').next().unwrap().trim_start().starts_with(['Z', 'X'])
}

/// Sends SIGTERM to a process.
pub(crate) fn end(id: u32) {
    let process = rustix::process::Pid::from_raw(id.cast_signed()).unwrap();
    rustix::process::kill_process(process, rustix::process::Signal::TERM).unwrap();
}

/// Waits until a process has ended. A zombie counts as ended.
pub(crate) async fn wait_until_gone(id: u32) {
    let gone = tokio::task::spawn_blocking(move || has_ended(id));
    assert!(gone.await.unwrap(), "process {id} is still running");
}

/// Blocks until the process has ended; returns false after a time limit.
#[cfg(target_os = "linux")]
fn has_ended(id: u32) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::process::{Pid, PidfdFlags, pidfd_open};

    let Ok(process) = pidfd_open(Pid::from_raw(id.cast_signed()).unwrap(), PidfdFlags::empty())
    else {
        return true;
    };
    let limit = Timespec { tv_sec: 20, tv_nsec: 0 };
    // The signal of another test's child may interrupt it.
    let poll = || poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&limit));
    rustix::io::retry_on_intr(poll).unwrap() > 0
}

/// Does the same by polling, because only Linux has an event for processes that are not our
/// children.
#[cfg(not(target_os = "linux"))]
fn has_ended(id: u32) -> bool {
    (0..2000).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        !is_running(id)
    })
}

/// Returns the number after `name=` in the output.
pub(crate) fn number(text: &str, name: &str) -> u32 {
    let (_, rest) = text.split_once(&format!("{name}=")).unwrap_or_else(|| panic!("{text}"));
    rest.split(|letter: char| !letter.is_ascii_digit()).next().unwrap().parse().unwrap()
}

/// A named pipe, with which a test and a process wait for each other.
pub(crate) struct Fifo {
    path: PathBuf,
    reader: tokio::sync::Mutex<Lines<BufReader<pipe::Receiver>>>,
    sender: std::fs::File,
}

impl Fifo {
    /// Creates the pipe. Must be called inside a runtime.
    pub(crate) fn new(path: PathBuf) -> Self {
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RWXU).unwrap();
        // Both ends are open here, so that opening the pipe never waits.
        let receiver = pipe::OpenOptions::new().read_write(true).open_receiver(&path).unwrap();
        let sender = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        let reader = tokio::sync::Mutex::new(BufReader::new(receiver).lines());
        Self { path, reader, sender }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the next line that a process has written.
    pub(crate) async fn line(&self) -> String {
        self.reader.lock().await.next_line().await.unwrap().unwrap()
    }

    /// Lets a process that waits for a line continue.
    pub(crate) fn go(&self) {
        (&self.sender).write_all(b"\n").unwrap();
    }
}
