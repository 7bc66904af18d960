mod analysis;
mod background;
mod endings;
mod environment;
mod jobs;
mod output;
mod piped;
mod reaping;
mod scripts;
#[cfg(unix)]
mod terminal;

use std::ffi::OsString;
use std::path::Path;
use std::time::{Duration, Instant};

use pollux_shell::{Chunk, Outcome, Shell, ShellCommand, ShellError, run, run_with};
use tokio_util::sync::CancellationToken;

/// A command in a folder that exists, with the environment of the tests.
pub(crate) fn command(line: &str) -> ShellCommand {
    let mut command = ShellCommand::new(line, std::env::temp_dir());
    command.environment = std::env::vars_os().collect();
    command
}

pub(crate) async fn outcome(command: ShellCommand) -> Outcome {
    run(command, CancellationToken::new(), |_| {}).await.unwrap()
}

/// Runs to the end in the best shell.
pub(crate) async fn sh(line: &str) -> Outcome {
    outcome(command(line)).await
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
    run_with(shell, command(line), CancellationToken::new(), |_| {}).await.unwrap()
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

/// Asks a process to end. No program does it: a child of the test might be buried with the orphans of a command.
pub(crate) fn end(id: u32) {
    let process = rustix::process::Pid::from_raw(id.cast_signed()).unwrap();
    rustix::process::kill_process(process, rustix::process::Signal::TERM).unwrap();
}

/// Waits until a process is gone, three seconds at most.
pub(crate) async fn wait_until_gone(id: u32) {
    for _ in 0..300 {
        if !is_running(id) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("process {id} is still running");
}

/// The number behind `name=` in the output.
pub(crate) fn number(text: &str, name: &str) -> u32 {
    let (_, rest) = text.split_once(&format!("{name}=")).unwrap_or_else(|| panic!("{text}"));
    rest.split(|letter: char| !letter.is_ascii_digit()).next().unwrap().parse().unwrap()
}
