//! Description of a child process: its program, folder, environment and confinement.

use std::ffi::OsString;
use std::path::PathBuf;

use pollux_protocol::ConfinementLevel;

use crate::error::ShellError;
use crate::jobs::JobList;
use crate::sandbox::SandboxSpec;
use crate::script::{evaluated, strip_wrapper, with_job_list};
use crate::shell::{Dialect, Shell};
use crate::terminal::TerminalSize;

/// First statement of a command line in a terminal. When the shell ends, the system sends SIGHUP to
/// every process in the terminal, which must not end background jobs. The command line may replace
/// this trap.
const IGNORE_HANG_UP: &str = "trap '' HUP; ";

/// Program that a child process runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Program {
    /// Command line in the language of the shell. A needless `bash -c '…'` around it is removed,
    /// see [`strip_wrapper`](crate::strip_wrapper), and the background jobs that it leaves are
    /// listed.
    CommandLine(String),
    /// Script that the shell runs unchanged.
    Script(String),
    /// Program file; no shell interprets the arguments.
    File {
        /// Path of the file.
        path: PathBuf,
        /// Arguments, without the name of the program.
        arguments: Vec<OsString>,
    },
}

impl Program {
    /// Returns the text of the command line or script, or the path of the program file.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::CommandLine(text) | Self::Script(text) => text.clone(),
            Self::File { path, .. } => path.display().to_string(),
        }
    }

    fn has_nul(&self) -> bool {
        match self {
            Self::CommandLine(text) | Self::Script(text) => text.contains('\0'),
            Self::File { arguments, .. } => {
                arguments.iter().any(|argument| argument.as_encoded_bytes().contains(&0))
            }
        }
    }
}

/// Restrictions that the operating system applies to a child process and all its descendants.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Confinement {
    /// No restrictions.
    #[default]
    None,
    /// Restrictions of a level.
    Level(SandboxSpec),
}

impl Confinement {
    /// Creates the restrictions of a level; no restrictions at [`ConfinementLevel::None`].
    pub fn of(spec: SandboxSpec) -> Self {
        if spec.level == ConfinementLevel::None { Self::None } else { Self::Level(spec) }
    }

    /// Returns the level of the restrictions.
    pub fn level(&self) -> ConfinementLevel {
        match self {
            Self::None => ConfinementLevel::None,
            Self::Level(spec) => spec.level,
        }
    }
}

/// Standard streams of a child process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChildStdio {
    /// No input; one pipe carries both outputs, so that their order is exact.
    Merged,
    /// A new pseudo-terminal of this size carries everything.
    Terminal(TerminalSize),
    /// One pipe for each stream.
    Separate,
    /// The streams and the terminal of this program.
    Inherited,
}

/// Complete description of a child process, except for the standard streams, which the starting
/// function adds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChildSpec {
    /// Program to run.
    pub program: Program,
    /// Shell for command lines and scripts; `None` for [`Shell::current`].
    pub shell: Option<Shell>,
    /// Working directory.
    pub folder: PathBuf,
    /// Complete environment; see [`child_environment`](crate::child_environment).
    pub environment: Vec<(OsString, OsString)>,
    /// Restrictions on the process.
    pub confinement: Confinement,
}

impl ChildSpec {
    /// Creates an unconfined child process that runs `program`, with the user's shell if it needs
    /// one.
    pub fn new(
        program: Program,
        folder: impl Into<PathBuf>,
        environment: Vec<(OsString, OsString)>,
    ) -> Self {
        let folder = folder.into();
        Self { program, shell: None, folder, environment, confinement: Confinement::None }
    }

    /// Resolves the program to a file and its arguments.
    pub(crate) fn invocation(&self, stdio: ChildStdio) -> Result<Invocation, ShellError> {
        if self.program.has_nul() {
            return Err(ShellError::NulCharacter);
        }
        let shell = || match &self.shell {
            Some(shell) => Ok(shell),
            None => Shell::current(),
        };
        Ok(match &self.program {
            Program::CommandLine(line) => command_line(shell()?, line, stdio),
            Program::Script(script) => {
                let shell = shell()?;
                Invocation::of_shell(shell, shell.passing_exit_code(script), None)
            }
            Program::File { path, arguments } => {
                Invocation { program: path.clone(), arguments: arguments.clone(), jobs: None }
            }
        })
    }
}

/// Program file and arguments as passed to the operating system.
pub(crate) struct Invocation {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<OsString>,
    /// File in which the shell lists its background jobs.
    pub(crate) jobs: Option<JobList>,
}

impl Invocation {
    fn of_shell(shell: &Shell, script: String, jobs: Option<JobList>) -> Self {
        Self { program: shell.program.clone(), arguments: shell.arguments(script), jobs }
    }
}

fn command_line(shell: &Shell, line: &str, stdio: ChildStdio) -> Invocation {
    let line = strip_wrapper(line);
    if shell.dialect == Dialect::PowerShell {
        return Invocation::of_shell(shell, line.into_owned(), None);
    }
    // Without a folder for temporary files the command still runs, but the list of jobs is lost.
    let jobs = JobList::new().ok();
    let listed = jobs.as_ref().and_then(|jobs| with_job_list(&line, jobs.path()));
    let script = listed.unwrap_or_else(|| evaluated(&line));
    let trap = match stdio {
        ChildStdio::Terminal(_) => IGNORE_HANG_UP,
        ChildStdio::Merged | ChildStdio::Separate | ChildStdio::Inherited => "",
    };
    Invocation::of_shell(shell, format!("{}{trap}{script}", shell.settings()), jobs)
}
