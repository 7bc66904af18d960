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

use pollux_shell::{ChildSpec, Chunk, Outcome, Program, Shell, ShellCommand, ShellError, run};
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::net::unix::pipe;
use tokio_util::sync::CancellationToken;

/// Longest time in which a cancelled command returns. A promise about time can only be tested with a
/// clock: the promise is 100 ms, the rest is for a busy machine.
pub(crate) const PROMPT: Duration = Duration::from_millis(600);

/// A program in a folder that exists, with the environment of the tests.
pub(crate) fn child(program: Program) -> ChildSpec {
    ChildSpec::new(program, std::env::temp_dir(), std::env::vars_os().collect())
}

pub(crate) fn command(line: &str) -> ShellCommand {
    ShellCommand::new(child(Program::CommandLine(line.to_owned())))
}

pub(crate) async fn outcome(command: ShellCommand) -> Outcome {
    run(command, CancellationToken::new(), |_| {}).await.unwrap()
}

/// Runs to the end in the best shell.
pub(crate) async fn sh(line: &str) -> Outcome {
    outcome(command(line)).await
}

/// Runs a command that leaves a daemon: a process in a session of its own whose parent is gone. Once
/// its number is told it runs the program. Returns that number.
pub(crate) async fn daemon(program: &str) -> u32 {
    let line = format!("(setsid sh -c 'echo $$; {program} >/dev/null' &) | (read id; echo id=$id)");
    number(&sh(&line).await.text(), "id")
}

/// Every shell of this computer that commands may run in.
pub(crate) fn shells() -> Vec<Shell> {
    let path = std::env::var_os("PATH").unwrap_or_else(|| OsString::from("/usr/bin:/bin"));
    let best = Shell::find_on(&path).unwrap();
    // A folder with nothing but `sh` in it stands for a computer without bash.
    let folder = tempfile::tempdir().unwrap();
    let sh = Path::new("/bin/sh").canonicalize().unwrap();
    std::os::unix::fs::symlink(sh, folder.path().join("sh")).unwrap();
    let posix = Shell::find_on(folder.path().as_os_str()).unwrap();
    assert_ne!(best, posix);
    vec![best, Shell { program: "/bin/sh".into(), ..posix }]
}

pub(crate) async fn sh_in(shell: &Shell, line: &str) -> Outcome {
    let mut command = command(line);
    command.child.shell = Some(shell.clone());
    outcome(command).await
}

/// Runs a command and cancels it once it has printed `signal`. Also says how long `run` took to
/// return after that.
pub(crate) async fn cancelled_after(line: &str, signal: &str) -> (Outcome, Duration) {
    let cancel = CancellationToken::new();
    let mut seen = String::new();
    let mut cancelled_at = None;
    let result: Result<Outcome, ShellError> = run(command(line), cancel.clone(), |chunk| {
        if let Chunk::Text(text) = chunk {
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

/// Whether the process runs; a zombie does not.
pub(crate) fn is_running(id: u32) -> bool {
    if !Path::new("/proc/self/stat").exists() {
        let mut ps = std::process::Command::new("ps");
        let state = ps.args(["-o", "state=", "-p", &id.to_string()]).output().unwrap().stdout;
        return !state.is_empty() && state[0] != b'Z';
    }
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{id}/stat")) else { return false };
    !stat.rsplit(')').next().unwrap().trim_start().starts_with(['Z', 'X'])
}

/// Asks a process to end.
pub(crate) fn end(id: u32) {
    let process = rustix::process::Pid::from_raw(id.cast_signed()).unwrap();
    rustix::process::kill_process(process, rustix::process::Signal::TERM).unwrap();
}

/// Waits until a process has ended. A zombie has.
pub(crate) async fn wait_until_gone(id: u32) {
    let gone = tokio::task::spawn_blocking(move || has_ended(id));
    assert!(gone.await.unwrap(), "process {id} is still running");
}

/// Blocks until the process has ended; false when that does not happen.
#[cfg(target_os = "linux")]
fn has_ended(id: u32) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::process::{Pid, PidfdFlags, pidfd_open};

    let Ok(process) = pidfd_open(Pid::from_raw(id.cast_signed()).unwrap(), PidfdFlags::empty())
    else {
        return true;
    };
    let limit = Timespec { tv_sec: 20, tv_nsec: 0 };
    poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&limit)).unwrap() > 0
}

/// The same without an event to wait for: only Linux has one for processes that are not our children.
#[cfg(not(target_os = "linux"))]
fn has_ended(id: u32) -> bool {
    (0..2000).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        !is_running(id)
    })
}

/// The number behind `name=` in the output.
pub(crate) fn number(text: &str, name: &str) -> u32 {
    let (_, rest) = text.split_once(&format!("{name}=")).unwrap_or_else(|| panic!("{text}"));
    rest.split(|letter: char| !letter.is_ascii_digit()).next().unwrap().parse().unwrap()
}

/// Keeps a paused clock from moving whenever the runtime is idle: only `advance` moves it.
pub(crate) struct StoppedClock(
    #[expect(dead_code, reason = "dropped")] std::sync::mpsc::Sender<()>,
);

impl StoppedClock {
    /// Must be called inside a runtime of one thread with a paused clock.
    pub(crate) fn new() -> Self {
        let (sender, receiver) = std::sync::mpsc::channel();
        // The clock does not move by itself while a blocking task runs.
        tokio::task::spawn_blocking(move || receiver.recv().ok());
        Self(sender)
    }
}

/// A named pipe, on which a test and a process wait for one another.
pub(crate) struct Fifo {
    path: PathBuf,
    reader: tokio::sync::Mutex<Lines<BufReader<pipe::Receiver>>>,
    sender: std::fs::File,
}

impl Fifo {
    /// Must be called inside a runtime.
    pub(crate) fn new(path: PathBuf) -> Self {
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RWXU).unwrap();
        // Both ends are open here, so opening it never waits.
        let receiver = pipe::OpenOptions::new().read_write(true).open_receiver(&path).unwrap();
        let sender = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        let reader = tokio::sync::Mutex::new(BufReader::new(receiver).lines());
        Self { path, reader, sender }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The next line that a process has written.
    pub(crate) async fn line(&self) -> String {
        self.reader.lock().await.next_line().await.unwrap().unwrap()
    }

    /// Lets a process go on that reads a line.
    pub(crate) fn go(&self) {
        (&self.sender).write_all(b"\n").unwrap();
    }
}
