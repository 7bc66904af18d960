//! Linux: start of a confined child, in the parent process.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd, RawFd};
use std::path::{Path, PathBuf};
use std::process::Command;

use pollux_protocol::ConfinementLevel;
use rustix::pipe::{PipeFlags, pipe_with};
use tempfile::TempDir;

use super::survey::WorkspaceSurvey;
use super::{SandboxPlan, SandboxSpec, SandboxSupport};
use crate::error::ShellError;
use crate::{helper_process, temporary};

mod capabilities;
mod confined_child;
mod landlock;
mod namespace;
mod other_mounts;
mod probe;
mod system_calls;

pub(crate) use confined_child::confined_child;
pub(super) use other_mounts::OtherMounts;
pub(super) use probe::probe;

/// Maximum length of a helper's report, in bytes.
const REPORT_BYTES: usize = 64 * 1024;
/// First byte of every report, which shows that the program is really a helper.
const READY: u8 = b'r';
/// Second byte of a report: the confinement could not be set up; the reason follows.
const SETUP_FAILED: u8 = b's';
/// Second byte of a report: the program could not be started; the error number follows.
const EXEC_FAILED: u8 = b'x';

/// Returns true if there is a program that confines children.
pub(super) fn has_helper() -> bool {
    helper_process::program().is_some()
}

/// A confined child during its start, in the parent process. The child is started while the plan is
/// being made: the plan is sent through a pipe after the helper was started.
pub(crate) struct ConfinedStart {
    spec: SandboxSpec,
    program: PathBuf,
    job_list: Option<PathBuf>,
    /// The two ends of the pipe for the plan.
    plan: (OwnedFd, OwnedFd),
    /// The two ends of the pipe for the report.
    report: (OwnedFd, OwnedFd),
    temporary: Option<TempDir>,
}

/// Returns the command that confines itself and then runs the program.
pub(crate) fn confine(
    spec: &SandboxSpec,
    program: &Path,
    arguments: &[OsString],
    job_list: Option<&Path>,
) -> Result<(Command, ConfinedStart), ShellError> {
    let refuse = |reason: String| ShellError::Confinement { level: spec.level, reason };
    if let Some(reason) = SandboxSupport::probe().unavailable_reason(spec.level) {
        return Err(refuse(reason.trim_end_matches('.').to_owned()));
    }
    let temporary = if spec.level == ConfinementLevel::Inspect {
        let folder = temporary::private_folder(temporary::INSPECT)
            .map_err(|error| refuse(format!("no private folder: {error}")))?;
        Some(folder)
    } else {
        None
    };
    let pipe = || pipe_with(PipeFlags::CLOEXEC).map_err(|error| refuse(error.to_string()));
    let start = ConfinedStart {
        spec: spec.clone(),
        program: program.to_owned(),
        job_list: job_list.map(Path::to_owned),
        plan: pipe()?,
        report: pipe()?,
        temporary,
    };
    let mut command =
        Command::new(helper_process::program().unwrap_or(Path::new("/proc/self/exe")));
    command
        .arg(helper_process::CONFINE)
        .arg(start.plan.0.as_raw_fd().to_string())
        .arg(start.report.1.as_raw_fd().to_string())
        .arg(program)
        .args(arguments);
    Ok((command, start))
}

impl ConfinedStart {
    /// Returns the open files that the child inherits.
    pub(crate) fn inherited(&self) -> Vec<RawFd> {
        vec![self.plan.0.as_raw_fd(), self.report.1.as_raw_fd()]
    }

    /// Returns the variables that are added to the child's environment.
    pub(crate) fn variables(&self) -> Vec<(&'static str, &OsStr)> {
        let Some(folder) = &self.temporary else { return Vec::new() };
        let folder = folder.path().as_os_str();
        let mut variables: Vec<_> =
            ["TMPDIR", "TMP", "TEMP"].map(|name| (name, folder)).into_iter().collect();
        // Without these, Git would rewrite the index, fetch objects and start a pager.
        let git = [("GIT_OPTIONAL_LOCKS", "0"), ("GIT_NO_LAZY_FETCH", "1"), ("GIT_PAGER", "cat")];
        variables.extend(git.map(|(name, value)| (name, OsStr::new(value))));
        variables
    }

    /// Sends the plan to the helper and waits until the helper has become the program. Returns the
    /// temporary folder, which must live as long as the child.
    ///
    /// # Errors
    /// Fails if the confinement cannot be set up, or if the program cannot be started.
    pub(crate) fn wait(self) -> Result<Option<TempDir>, ShellError> {
        let Self { spec, program, job_list, plan: (plan_end, plan), report, temporary } = self;
        let (reader, report_end) = report;
        drop((plan_end, report_end));
        let level = spec.level;
        let mut made = SandboxPlan::new(&spec, &WorkspaceSurvey::of(spec.level, &spec.places));
        made.job_list = job_list;
        made.shielded = own_processes();
        made.temporary = temporary.as_ref().map(|folder| folder.path().to_owned());
        // An error means that the helper has ended. Its report, or the lack of a report, shows the
        // reason.
        write_all(&plan, &made.encode()).ok();
        drop(plan);
        let read = read_all(&reader, REPORT_BYTES);
        let refuse = |reason| Err(ShellError::Confinement { level, reason });
        let bytes = match read {
            Ok(bytes) => bytes,
            Err(error) => return refuse(format!("the helper's report cannot be read: {error}")),
        };
        match bytes.as_slice() {
            [READY] => Ok(temporary),
            [READY, EXEC_FAILED, number @ ..] => {
                let number = number.try_into().map_or(0, i32::from_le_bytes);
                Err(ShellError::Spawn { program, source: io::Error::from_raw_os_error(number) })
            }
            [READY, SETUP_FAILED, reason @ ..] => {
                refuse(String::from_utf8_lossy(reason).into_owned())
            }
            _ => refuse("the helper did not report".to_owned()),
        }
    }
}

/// Returns the numbers of this process, its threads, its process group and its supervisor.
fn own_processes() -> Vec<u32> {
    let threads = pollux_fs::list_directory(Path::new("/proc/self/task")).unwrap_or_default();
    let threads = threads.iter().filter_map(|entry| entry.name.parse().ok());
    let processes = [std::process::id(), process_group()];
    threads.chain(processes).chain(crate::sessions::supervisor_id()).collect()
}

/// Returns the number of this process group; 0 if the group is outside of this namespace, which
/// rustix does not allow.
#[expect(unsafe_code, reason = "see above")]
fn process_group() -> u32 {
    // SAFETY: the call has no arguments and touches no memory.
    unsafe { libc::getpgrp() }.unsigned_abs()
}

fn write_all(file: &OwnedFd, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let written = rustix::io::retry_on_intr(|| rustix::io::write(file, bytes))?;
        bytes = bytes.get(written..).unwrap_or_default();
    }
    Ok(())
}

/// Reads to the end of the file, at most `limit` bytes.
fn read_all(file: &OwnedFd, limit: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 16 * 1024];
    while bytes.len() < limit {
        let read = rustix::io::retry_on_intr(|| rustix::io::read(file, &mut buffer))?;
        if read == 0 {
            break;
        }
        bytes.extend_from_slice(&buffer[..read]);
    }
    Ok(bytes)
}
