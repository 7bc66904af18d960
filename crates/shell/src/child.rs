//! The one place where a child process starts.

use std::io;
use std::process::{Command, Stdio};
use std::sync::Arc;

use crate::error::ShellError;
use crate::jobs::JobList;
use crate::pipe::{PipeReader, Source};
use crate::sessions::{Leftovers, Owner, Session, SessionKind};
use crate::spec::{ChildSpec, ChildStdio, Confinement, Invocation};
use crate::terminal::Terminal;

#[cfg_attr(unix, path = "child/unix.rs")]
#[cfg_attr(windows, path = "child/windows.rs")]
mod entry;

/// A child process that runs, and the handles that belong to it. Dropping it ends the process and
/// its descendants, unless [`Session::release`] was called before.
pub(crate) struct ChildProcess {
    pub(crate) process: tokio::process::Child,
    pub(crate) session: Session,
    /// Output of [`ChildStdio::Merged`] and [`ChildStdio::Terminal`]; `None` after its end.
    pub(crate) output: Option<Source>,
    /// Terminal of [`ChildStdio::Terminal`].
    pub(crate) terminal: Option<Arc<Terminal>>,
    /// Background jobs of a command line.
    pub(crate) jobs: Option<JobList>,
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
        // Every confinement acts here, for all kinds of children: around the program in this
        // statement, or inside the child in `entry::prepare`.
        let mut command = match spec.confinement {
            Confinement::None => Command::new(&program),
        };
        command
            .args(arguments)
            .current_dir(&spec.folder)
            .env_clear()
            .envs(spec.environment.iter().map(|(name, value)| (name, value)));
        let (output, terminal) = connect(&mut command, stdio).map_err(ShellError::Streams)?;
        let kind = match stdio {
            ChildStdio::Merged | ChildStdio::Separate => SessionKind::Own,
            ChildStdio::Terminal(_) => SessionKind::OwnWithTerminal,
            ChildStdio::Inherited => SessionKind::Shared,
        };
        let owner = Owner::new(leftovers);
        entry::prepare(&mut command, kind, owner);
        // The command holds our copies of the writing ends of the pipes: a pipe ends only after the
        // command is dropped.
        let (process, session) = Session::start(command, kind, owner)
            .map_err(|source| ShellError::Spawn { program, source })?;
        Ok(Self { process, session, output, terminal, jobs })
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
