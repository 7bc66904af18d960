//! The only place that starts a child process.

use std::io;
use std::process::{Command, Stdio};
use std::sync::Arc;

use tempfile::TempDir;
use tokio::task::JoinHandle;

use crate::error::ShellError;
use crate::jobs::JobList;
use crate::pipe::{PipeReader, Source};
use crate::sandbox::{ConfinedStart, confine};
use crate::sessions::{Leftovers, Owner, Session, SessionKind};
use crate::spec::{ChildSpec, ChildStdio, Confinement, Invocation};
use crate::terminal::Terminal;

#[cfg_attr(unix, path = "child/unix.rs")]
#[cfg_attr(windows, path = "child/windows.rs")]
mod entry;

/// A running child process and the handles that belong to it. Dropping it ends the process and its
/// descendants, unless [`Session::release`] was called before.
pub(crate) struct ChildProcess {
    pub(crate) process: tokio::process::Child,
    pub(crate) session: Session,
    /// Output of [`ChildStdio::Merged`] and [`ChildStdio::Terminal`]; `None` after its end.
    pub(crate) output: Option<Source>,
    /// Terminal of [`ChildStdio::Terminal`].
    pub(crate) terminal: Option<Arc<Terminal>>,
    /// Removed with this value.
    pub(crate) files: ChildFiles,
}

impl ChildProcess {
    /// Starts and registers the process. Must be called inside a tokio runtime.
    pub(crate) fn start(
        spec: &ChildSpec,
        stdio: ChildStdio,
        leftovers: Leftovers,
    ) -> Result<Self, ShellError> {
        if !spec.folder.is_dir() {
            return Err(ShellError::WorkingDirectory(spec.folder.clone()));
        }
        let Invocation { program, arguments, jobs } = spec.invocation(stdio)?;
        // All kinds of children are confined here: the command runs a helper, which confines itself
        // and then executes the program.
        let (mut command, confined) = match &spec.confinement {
            Confinement::None => {
                let mut command = Command::new(&program);
                command.args(arguments);
                (command, None)
            }
            Confinement::Level(sandbox) => {
                let job_list = jobs.as_ref().map(JobList::path);
                let (command, start) = confine(sandbox, &program, &arguments, job_list)?;
                (command, Some(start))
            }
        };
        command
            .current_dir(&spec.folder)
            .env_clear()
            .envs(spec.environment.iter().map(|(name, value)| (name, value)));
        if let Some(confined) = &confined {
            command.envs(confined.variables());
        }
        let (output, terminal) = connect(&mut command, stdio).map_err(ShellError::Streams)?;
        let kind = match stdio {
            ChildStdio::Merged | ChildStdio::Separate => SessionKind::Own,
            ChildStdio::Terminal(_) => SessionKind::OwnWithTerminal,
            ChildStdio::Inherited => SessionKind::Shared,
        };
        let owner = Owner::new(leftovers);
        let inherited = confined.as_ref().map(ConfinedStart::inherited).unwrap_or_default();
        entry::prepare(&mut command, kind, owner, inherited);
        // The command holds our copies of the write ends of the pipes, so a pipe reaches its end
        // only after the command is dropped.
        let (process, session) = Session::start(command, kind, owner)
            .map_err(|source| ShellError::Spawn { program, source })?;
        let files = ChildFiles { jobs, temporary: None };
        let mut child = Self { process, session, output, terminal, files };
        if let Some(confined) = confined {
            // On an error the child is dropped; it has ended already, or dropping ends it.
            child.files.temporary = confined.wait()?;
        }
        Ok(child)
    }
}

/// The private files of a child.
pub(crate) struct ChildFiles {
    /// Background jobs of a command line.
    jobs: Option<JobList>,
    /// Private folder of a confined child.
    temporary: Option<TempDir>,
}

impl ChildFiles {
    /// Removes the files, and returns the listed background jobs that still run. Elsewhere than on
    /// this thread, which may serve many sessions: beside the writes of other commands a removal
    /// can take tens of milliseconds.
    pub(crate) fn remove(self) -> JoinHandle<Vec<u32>> {
        tokio::task::spawn_blocking(move || {
            drop(self.temporary);
            self.jobs.and_then(|jobs| jobs.read().ok()).unwrap_or_default()
        })
    }
}

/// Gives the command its standard streams. Returns our end of the output, and the terminal.
fn connect(
    command: &mut Command,
    stdio: ChildStdio,
) -> io::Result<(Option<Source>, Option<Arc<Terminal>>)> {
    match stdio {
        ChildStdio::Merged => {
            let (reader, writer) = io::pipe()?;
            command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
            Ok((Some(Source::Pipe(PipeReader::new(reader)?)), None))
        }
        ChildStdio::Terminal(size) => {
            let terminal = Arc::new(Terminal::attach(command, size)?);
            Ok((Some(Source::Terminal(Arc::clone(&terminal))), Some(terminal)))
        }
        ChildStdio::Separate => {
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
            Ok((None, None))
        }
        ChildStdio::Inherited => {
            command.stdin(Stdio::inherit()).stdout(Stdio::inherit()).stderr(Stdio::inherit());
            Ok((None, None))
        }
    }
}
