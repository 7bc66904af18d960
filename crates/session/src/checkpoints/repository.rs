//! The Git repository with the snapshots of one project.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pollux_fs::{AppendLog, WriteOptions};
use pollux_protocol::CancellationToken;
use pollux_shell::{ChildSpec, Ended, PipedCommand, PipedOutcome, Program, run_piped};

/// Name and address of the author of snapshots, as in Gemini CLI.
const IDENTITY: &str =
    "[user]\n  name = Gemini CLI\n  email = gemini-cli@google.com\n[commit]\n  gpgsign = false\n";
/// Attributes that keep all bytes of the files, whatever the project's attributes say.
const ATTRIBUTES: &str = "* -text -filter -ident -working-tree-encoding\n";
/// Settings of each command: no program of the user or the project runs, and no byte is converted.
const SETTINGS: [&str; 9] = [
    "core.autocrlf=false",
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.quotePath=false",
    "core.untrackedCache=false",
    "advice.addEmbeddedRepo=false",
    "gc.autoDetach=false",
    "init.defaultBranch=main",
    "maintenance.auto=false",
];

/// Longest time that one command of Git may take.
const TIMEOUT: Duration = Duration::from_mins(2);
/// Maximum size of the output of a command, in bytes.
const OUTPUT: usize = 16 << 20;
/// Time that is waited for another process with the repository.
const PATIENCE: Duration = Duration::from_secs(30);
/// Time in which a command that was cancelled has ended.
const DYING: Duration = Duration::from_secs(3);
/// Pause between two attempts to lock the repository.
const PAUSE: Duration = Duration::from_millis(50);

/// Failure of the repository.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RepositoryError {
    /// Git cannot be started.
    #[error(
        "Checkpointing is enabled, but Git is not installed. Please install Git or disable checkpointing to continue."
    )]
    NoGit,
    /// A command of Git failed.
    #[error("git {command} failed: {message}")]
    Git {
        /// Subcommand.
        command: String,
        /// Message of Git.
        message: String,
    },
    /// Another process works with the repository.
    #[error("Another process uses the repository of checkpoints.")]
    Busy,
    /// The name of a snapshot is not one.
    #[error("\"{0}\" is not the name of a snapshot.")]
    Invalid(String),
    /// A file of the repository cannot be written.
    #[error("{0}")]
    Files(String),
}

impl From<pollux_fs::Error> for RepositoryError {
    fn from(error: pollux_fs::Error) -> Self {
        Self::Files(error.to_string())
    }
}

/// Difference of a file between the present state and a snapshot, as a restore changes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileChange {
    /// The file exists now, and did not exist in the snapshot: it is removed.
    Removed,
    /// The file does not exist now: it is created again.
    Created,
    /// The file has other content or another mode.
    Changed,
}

/// File that a restore changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedFile {
    /// Path in the project.
    pub path: String,
    /// The change.
    pub change: FileChange,
}

/// Repository with snapshots of a project. Its work tree is the project; the project's own
/// repository is not touched. Files that the project's `.gitignore` names are not part of a
/// snapshot, and a restore does not touch them.
#[derive(Debug, Clone)]
pub struct ShadowRepository {
    folder: PathBuf,
    project: PathBuf,
    /// Value of `PATH`, with which Git is found.
    path: OsString,
}

impl ShadowRepository {
    /// Creates the repository in `folder` for the files of `project`. Changes nothing.
    pub fn new(folder: PathBuf, project: PathBuf, path: OsString) -> Self {
        Self { folder, project, path }
    }

    /// Checks that Git can be started.
    ///
    /// # Errors
    /// [`RepositoryError::NoGit`].
    pub async fn check(&self) -> Result<(), RepositoryError> {
        self.run(&self.project, &["--version"]).await.map(drop).map_err(|_| RepositoryError::NoGit)
    }

    /// Stores the present files. Returns the name of the snapshot.
    ///
    /// # Errors
    /// All of [`RepositoryError`] except for `Invalid`.
    pub async fn snapshot(&self, message: &str) -> Result<String, RepositoryError> {
        let _lock = self.lock().await?;
        self.prepare().await?;
        self.commit(message).await
    }

    /// Returns the files that differ between the present state, which was stored as `now`, and a
    /// snapshot.
    ///
    /// # Errors
    /// All of [`RepositoryError`].
    pub async fn changes(
        &self,
        now: &str,
        snapshot: &str,
    ) -> Result<Vec<ChangedFile>, RepositoryError> {
        self.check_snapshot(snapshot).await?;
        let arguments = ["diff-tree", "-r", "-z", "--no-renames", "--name-status", now, snapshot];
        let listed = self.git(&arguments).await?;
        let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
        let mut fields = listed.split('\0').filter(|field| !field.is_empty());
        let mut changes = Vec::new();
        while let (Some(status), Some(path)) = (fields.next(), fields.next()) {
            let change = match status {
                "A" => FileChange::Created,
                "D" => FileChange::Removed,
                _ => FileChange::Changed,
            };
            changes.push(ChangedFile { path: path.to_owned(), change });
        }
        Ok(changes)
    }

    /// Gives all files the content of a snapshot. `now` is a snapshot of the present state: a file
    /// that has changed since then makes the restore fail, and nothing is changed.
    ///
    /// # Errors
    /// All of [`RepositoryError`].
    pub async fn restore(&self, now: &str, snapshot: &str) -> Result<(), RepositoryError> {
        let _lock = self.lock().await?;
        self.check_snapshot(snapshot).await?;
        // Also refreshes what Git knows about the files.
        let present = self.commit("Before a restore").await?;
        if present != now {
            return Err(RepositoryError::Git {
                command: "read-tree".to_owned(),
                message: "files have changed in the meantime; nothing was restored".to_owned(),
            });
        }
        self.git(&["read-tree", "-m", "-u", now, snapshot]).await.map(drop)
    }

    async fn commit(&self, message: &str) -> Result<String, RepositoryError> {
        // Files that cannot be read are not part of the snapshot; a tool cannot change them either.
        let added = self.run(&self.project, &["add", "--all", "--ignore-errors", "."]).await?;
        if !matches!(added.exit_code, Some(0 | 1)) {
            return Err(failed("add", &added));
        }
        let difference = self.run(&self.project, &["diff", "--cached", "--quiet"]).await?;
        if difference.exit_code != Some(0) {
            self.git(&["commit", "--quiet", "--no-verify", "-m", message]).await?;
        }
        self.head().await
    }

    async fn head(&self) -> Result<String, RepositoryError> {
        let head = self.git(&["rev-parse", "--verify", "HEAD"]).await?;
        Ok(String::from_utf8_lossy(&head.stdout).trim().to_owned())
    }

    /// Creates the repository, unless it exists.
    async fn prepare(&self) -> Result<(), RepositoryError> {
        let options = WriteOptions::private();
        pollux_fs::write_atomic(&self.folder.join(".gitconfig"), IDENTITY.as_bytes(), &options)?;
        let system = self.folder.join(".gitconfig_system_empty");
        pollux_fs::write_atomic(&system, b"", &options)?;
        if pollux_fs::info(&self.git_folder().join("HEAD")).is_err() {
            self.git(&["init", "--quiet"]).await?;
        }
        let attributes = self.git_folder().join("info/attributes");
        pollux_fs::write_atomic(&attributes, ATTRIBUTES.as_bytes(), &options)?;
        if self.head().await.is_err() {
            let message = "Initial commit";
            self.git(&["commit", "--quiet", "--no-verify", "--allow-empty", "-m", message]).await?;
        }
        Ok(())
    }

    /// Checks that a name stands for a snapshot of this repository. It may come from a file.
    async fn check_snapshot(&self, name: &str) -> Result<(), RepositoryError> {
        let is_hash =
            matches!(name.len(), 40 | 64) && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        let invalid = || RepositoryError::Invalid(name.to_owned());
        if !is_hash {
            return Err(invalid());
        }
        let object = format!("{name}^{{commit}}");
        self.git(&["cat-file", "-e", &object]).await.map(drop).map_err(|_| invalid())
    }

    /// Locks the repository for this process, and clears the lock of a command that was killed.
    async fn lock(&self) -> Result<AppendLog, RepositoryError> {
        let file = self.lock_file().await?;
        let index = self.git_folder().join("index.lock");
        let deadline = tokio::time::Instant::now() + DYING;
        // A command that is being ended removes the file itself.
        while pollux_fs::link_info(&index).is_ok() {
            if tokio::time::Instant::now() >= deadline {
                pollux_fs::remove_file(&index)?;
                break;
            }
            tokio::time::sleep(PAUSE).await;
        }
        Ok(file)
    }

    async fn lock_file(&self) -> Result<AppendLog, RepositoryError> {
        pollux_fs::create_private_directories(&self.folder)?;
        let mut file = AppendLog::open(&self.folder.join("pollux.lock"))?;
        let deadline = tokio::time::Instant::now() + PATIENCE;
        loop {
            match file.try_lock() {
                Err(pollux_fs::Error::Locked { .. }) if tokio::time::Instant::now() < deadline => {
                    tokio::time::sleep(PAUSE).await;
                }
                Err(pollux_fs::Error::Locked { .. }) => return Err(RepositoryError::Busy),
                // Some network file systems have no locks.
                Ok(()) | Err(_) => return Ok(file),
            }
        }
    }

    /// Runs a command that must succeed.
    async fn git(&self, arguments: &[&str]) -> Result<PipedOutcome, RepositoryError> {
        let outcome = self.run(&self.project, arguments).await?;
        if outcome.exit_code == Some(0) && !outcome.overflowed {
            return Ok(outcome);
        }
        Err(failed(arguments.first().copied().unwrap_or_default(), &outcome))
    }

    async fn run(&self, folder: &Path, given: &[&str]) -> Result<PipedOutcome, RepositoryError> {
        let settings = SETTINGS.iter().flat_map(|setting| ["-c", setting]);
        let arguments = settings.chain(given.iter().copied()).map(OsString::from).collect();
        let program = Program::File { path: "git".into(), arguments };
        let child = ChildSpec::new(program, folder, self.environment());
        let command = PipedCommand { child, input: Vec::new(), timeout: TIMEOUT, limit: OUTPUT };
        let outcome = run_piped(command, &CancellationToken::new()).await;
        outcome.map_err(|_| RepositoryError::NoGit)
    }

    fn environment(&self) -> Vec<(OsString, OsString)> {
        let name = "Gemini CLI";
        let address = "gemini-cli@google.com";
        let mut environment: Vec<(OsString, OsString)> = [
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_ATTR_NOSYSTEM", "1"),
            ("GIT_AUTHOR_NAME", name),
            ("GIT_AUTHOR_EMAIL", address),
            ("GIT_COMMITTER_NAME", name),
            ("GIT_COMMITTER_EMAIL", address),
            ("LC_ALL", "C"),
        ]
        .map(|(name, value)| (name.into(), value.into()))
        .into();
        environment.extend([
            ("PATH".into(), self.path.clone()),
            // Git finds nothing of the user here.
            ("HOME".into(), self.folder.clone().into()),
            ("XDG_CONFIG_HOME".into(), self.folder.clone().into()),
            ("GIT_DIR".into(), self.git_folder().into()),
            ("GIT_WORK_TREE".into(), self.project.clone().into()),
            ("GIT_CONFIG_GLOBAL".into(), self.folder.join(".gitconfig").into()),
            ("GIT_CONFIG_SYSTEM".into(), self.folder.join(".gitconfig_system_empty").into()),
        ]);
        environment
    }

    fn git_folder(&self) -> PathBuf {
        self.folder.join(".git")
    }
}

fn failed(command: &str, outcome: &PipedOutcome) -> RepositoryError {
    let text = String::from_utf8_lossy(&outcome.stderr);
    let message = match outcome.ended {
        Ended::TimedOut => format!("it took longer than {} s", TIMEOUT.as_secs()),
        _ => text.trim().lines().next_back().unwrap_or("no message").to_owned(),
    };
    RepositoryError::Git { command: command.to_owned(), message }
}
