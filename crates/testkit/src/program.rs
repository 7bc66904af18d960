//! The built program, run in a temporary home with a time limit.

mod finished;
mod running;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

pub use finished::Finished;
pub use running::RunningProgram;

use crate::{ModelServer, Terminal, TestHome, TinyDisk};

/// Builder for a run of a program: command line, folder, environment and input. Tests of the
/// program itself pass `env!("CARGO_BIN_EXE_pollux")`.
///
/// The environment contains only the variables of [`TestHome::environment`] and those set by the
/// methods below. An explicit [`env`](Self::env) or [`env_remove`](Self::env_remove) has precedence
/// in any order of calls.
#[derive(Debug, Clone)]
#[must_use = "nothing runs before run(), spawn() or in_terminal()"]
pub struct Pollux {
    program: PathBuf,
    arguments: Vec<OsString>,
    defaults: BTreeMap<OsString, OsString>,
    environment: BTreeMap<OsString, Option<OsString>>,
    directory: Option<PathBuf>,
    prefix: Vec<OsString>,
    stdin: Stdin,
    stdout_limit: Option<usize>,
    measures_memory: bool,
    timeout: Duration,
}

/// Standard input of the child.
#[derive(Debug, Clone)]
enum Stdin {
    Closed,
    Bytes(Vec<u8>),
    HeldOpen,
}

impl Pollux {
    /// Creates a run of this program with closed standard input and a time limit of 30 seconds.
    pub fn new(program: impl AsRef<Path>) -> Self {
        Self {
            program: program.as_ref().to_owned(),
            arguments: Vec::new(),
            defaults: BTreeMap::new(),
            environment: BTreeMap::new(),
            directory: None,
            prefix: Vec::new(),
            stdin: Stdin::Closed,
            stdout_limit: None,
            measures_memory: false,
            timeout: Duration::from_secs(30),
        }
    }

    /// Runs in this home's project, with this home's environment. Every run needs a home, so that
    /// no test can touch the home of the user who runs the tests.
    pub fn home(mut self, home: &TestHome) -> Self {
        self.defaults.extend(home.environment());
        self.directory.get_or_insert_with(|| home.project());
        self
    }

    /// Uses this server as the model service (`GOOGLE_GEMINI_BASE_URL`).
    pub fn server(mut self, server: &ModelServer) -> Self {
        self.defaults.insert("GOOGLE_GEMINI_BASE_URL".into(), server.url().into());
        self
    }

    /// Adds arguments.
    pub fn args<A: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.arguments.extend(arguments.into_iter().map(|argument| argument.as_ref().to_owned()));
        self
    }

    /// Sets a variable of the child's environment.
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.environment.insert(name.as_ref().to_owned(), Some(value.as_ref().to_owned()));
        self
    }

    /// Removes a variable from the child's environment.
    pub fn env_remove(mut self, name: impl AsRef<OsStr>) -> Self {
        self.environment.insert(name.as_ref().to_owned(), None);
        self
    }

    /// Runs in this directory instead of the home's project.
    pub fn directory(mut self, directory: impl AsRef<Path>) -> Self {
        self.directory = Some(directory.as_ref().to_owned());
        self
    }

    /// Runs on this file system: only the child can see the mount.
    pub fn on_disk(mut self, disk: &TinyDisk) -> Self {
        self.prefix = disk.prefix();
        self
    }

    /// Runs as this user id, which becomes the owner of the home's files. Needs root.
    pub fn as_user(mut self, user: u32, home: &TestHome) -> Self {
        let given = Command::new("chown").arg("-R").arg(user.to_string()).arg(home.root()).status();
        assert!(given.is_ok_and(|status| status.success()), "cannot give the home to {user}");
        let [user, group] = [format!("--reuid={user}"), format!("--regid={user}")];
        self.prefix = ["setpriv", &user, &group, "--clear-groups"].map(OsString::from).to_vec();
        self
    }

    /// Sends these bytes to standard input and closes it.
    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = Stdin::Bytes(bytes.into());
        self
    }

    /// Leaves standard input open, as a pipe without data until [`RunningProgram::write_stdin`].
    pub fn stdin_held_open(mut self) -> Self {
        self.stdin = Stdin::HeldOpen;
        self
    }

    /// Closes the read end of standard output after this many bytes, as `head` does.
    pub fn close_stdout_after(mut self, bytes: usize) -> Self {
        self.stdout_limit = Some(bytes);
        self
    }

    /// Samples the program's memory, for [`Finished::peak_rss`].
    pub fn measure_memory(mut self) -> Self {
        self.measures_memory = true;
        self
    }

    /// Sets the time limit. After it, the program's process group is killed and the test fails.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }
}

impl Pollux {
    /// Runs the program to its end. Fails the test, with the output so far, after the time limit.
    #[must_use]
    pub fn run(self) -> Finished {
        self.spawn().wait()
    }

    /// Starts the program and returns immediately.
    #[must_use]
    pub fn spawn(self) -> RunningProgram {
        let (program, arguments) = self.command_line();
        let mut command = Command::new(program);
        command.args(arguments).env_clear().envs(self.child_environment());
        command.current_dir(self.child_directory());
        let stdin = match self.stdin {
            Stdin::Closed => None,
            Stdin::Bytes(bytes) => Some((bytes, false)),
            Stdin::HeldOpen => Some((Vec::new(), true)),
        };
        let Self { stdout_limit, measures_memory, timeout, .. } = self;
        RunningProgram::start(command, stdin, stdout_limit, measures_memory, timeout)
    }

    /// Starts the program in a pseudo-terminal of this size. The standard input and the time limit
    /// set on the builder do not apply; `NO_COLOR` applies unless it was removed.
    #[must_use]
    pub fn in_terminal(self, rows: u16, columns: u16) -> Terminal {
        let (program, arguments) = self.command_line();
        let mut command = portable_pty::CommandBuilder::new(program);
        command.args(arguments);
        command.env_clear();
        command.env("TERM", "xterm-256color");
        for (name, value) in self.child_environment() {
            command.env(name, value);
        }
        command.cwd(self.child_directory());
        Terminal::start(command, rows, columns)
    }

    fn command_line(&self) -> (OsString, Vec<OsString>) {
        let mut words = self.prefix.clone();
        words.push(self.program.clone().into());
        words.extend(self.arguments.iter().cloned());
        let program = words.remove(0);
        (program, words)
    }

    fn child_environment(&self) -> BTreeMap<OsString, OsString> {
        assert!(!self.defaults.is_empty(), "give the program a home() before you run it");
        let mut environment = self.defaults.clone();
        for (name, value) in &self.environment {
            match value {
                Some(value) => environment.insert(name.clone(), value.clone()),
                None => environment.remove(name),
            };
        }
        environment
    }

    fn child_directory(&self) -> &Path {
        self.directory.as_deref().expect("give the program a home() before you run it")
    }
}
