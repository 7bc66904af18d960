//! A command that has been started: its process, its session, and the other end of its output.

use std::io;
use std::process::Stdio;
use std::sync::Arc;

use crate::command::ShellCommand;
use crate::error::ShellError;
use crate::jobs::JobList;
use crate::pipe::{PipeReader, Source};
use crate::script::{evaluated, strip_wrapper, with_job_list};
use crate::sessions::{Leader, Session, lead_session};
use crate::shell::{Dialect, Shell};
use crate::terminal::{Terminal, TerminalSize};

/// What a command in a terminal runs first. When the shell ends, the system tells everyone in the terminal that it hung
/// up; what goes on in the background is not to die of it. The command may set a trap of its own.
const IGNORE_HANG_UP: &str = "trap '' HUP; ";

/// The child and what is tied to it.
pub(crate) struct Started {
    pub(crate) child: tokio::process::Child,
    pub(crate) session: Session,
    /// Its output; none once that has ended.
    pub(crate) reader: Option<Source>,
    /// The terminal it runs in.
    pub(crate) terminal: Option<Arc<Terminal>>,
    pub(crate) jobs: Option<JobList>,
}

impl Started {
    pub(crate) fn id(&self) -> u32 {
        self.session.id()
    }

    pub(crate) fn leader(&self) -> Leader {
        self.session.leader()
    }

    pub(crate) fn new(shell: &Shell, command: &ShellCommand) -> Result<Self, ShellError> {
        if command.command.contains('\0') {
            return Err(ShellError::NulCharacter);
        }
        if !command.cwd.is_dir() {
            return Err(ShellError::WorkingDirectory(command.cwd.clone()));
        }
        let in_terminal = command.terminal.filter(|_| shell.dialect != Dialect::PowerShell);
        if let Some(size) = in_terminal
            && let Some(started) = Self::in_terminal(shell, command, size)
        {
            return Ok(started);
        }
        Self::over_pipes(shell, command)
    }

    /// None when no terminal can be had, or none that a command may have for its own.
    fn in_terminal(shell: &Shell, command: &ShellCommand, size: TerminalSize) -> Option<Self> {
        let (script, jobs) = script(shell, &command.command);
        let mut process = process(shell, command, &format!("{IGNORE_HANG_UP}{script}"));
        let terminal = Arc::new(Terminal::attach(&mut process, size).ok()?);
        let (child, session) = Session::start(tokio::process::Command::from(process)).ok()?;
        let reader = Some(Source::Terminal(Arc::clone(&terminal)));
        Some(Self { child, session, reader, terminal: Some(terminal), jobs })
    }

    fn over_pipes(shell: &Shell, command: &ShellCommand) -> Result<Self, ShellError> {
        let (script, jobs) = script(shell, &command.command);
        let (reader, writer) = io::pipe().map_err(ShellError::Pipe)?;
        let reader = PipeReader::new(reader).map_err(ShellError::Pipe)?;
        let mut process = process(shell, command, &script);
        process
            .stdin(Stdio::null())
            .stdout(writer.try_clone().map_err(ShellError::Pipe)?)
            .stderr(writer);
        lead_session(&mut process);
        // The command holds our copies of the writing end: it is dropped with this statement, or the
        // pipe would never end.
        let (child, session) = Session::start(tokio::process::Command::from(process))
            .map_err(|source| ShellError::Spawn { program: shell.program.clone(), source })?;
        Ok(Self { child, session, reader: Some(Source::Pipe(reader)), terminal: None, jobs })
    }
}

fn process(shell: &Shell, command: &ShellCommand, script: &str) -> std::process::Command {
    let mut process = std::process::Command::new(&shell.program);
    process
        .args(shell.arguments(script))
        .current_dir(&command.cwd)
        .env_clear()
        .envs(command.environment.iter().map(|(name, value)| (name, value)));
    process
}

/// The text the shell runs, and where it lists its background jobs.
fn script(shell: &Shell, command: &str) -> (String, Option<JobList>) {
    let command = strip_wrapper(command);
    if shell.dialect == Dialect::PowerShell {
        return (command.into_owned(), None);
    }
    // Without a folder for temporary files the command still runs; only the list is lost.
    let jobs = JobList::new().ok();
    let listed = jobs.as_ref().and_then(|jobs| with_job_list(&command, jobs.path()));
    (listed.unwrap_or_else(|| evaluated(&command)), jobs)
}
