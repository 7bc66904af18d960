//! Tasks of a session on disk: one file `<id>.json` per task, as in Gemini CLI.

use std::collections::BTreeMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use pollux_fs::{Error, Expectation, WriteOptions};
use pollux_protocol::{ToolError, ToolErrorKind};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::refused;

/// Maximum number of tasks of a session.
pub(super) const MAX_TASKS: usize = 500;
/// Maximum size of a file in bytes; the largest possible task is smaller.
const MAX_FILE: u64 = 256 << 10;
/// Maximum number of attempts to find a free id.
const ATTEMPTS: usize = 20;

/// All tasks by id.
pub(super) type Tasks = BTreeMap<String, Task>;

/// One task, with the field names of its file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Task {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) description: String,
    #[serde(rename = "type")]
    pub(super) kind: Kind,
    pub(super) status: Status,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) parent_id: Option<String>,
    #[serde(default)]
    pub(super) dependencies: Vec<String>,
    /// Other fields, preserved for Gemini CLI.
    #[serde(flatten)]
    pub(super) other: Map<String, Value>,
}

/// Kind of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kind {
    Epic,
    Task,
    Bug,
}

/// Status of a task, in the order in which users want to see tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Status {
    InProgress,
    Open,
    Blocked,
    Closed,
}

impl Kind {
    pub(super) const NAMES: [&str; 3] = ["epic", "task", "bug"];

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Epic => "epic",
            Self::Task => "task",
            Self::Bug => "bug",
        }
    }
}

impl Status {
    pub(super) const NAMES: [&str; 4] = ["open", "in_progress", "blocked", "closed"];

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::InProgress => "in_progress",
            Self::Open => "open",
            Self::Blocked => "blocked",
            Self::Closed => "closed",
        }
    }
}

/// Folder of the tasks.
pub(super) struct Store {
    directory: PathBuf,
    changing: Mutex<()>,
}

impl Store {
    /// Creates a store in this folder, which is created with the first task.
    pub(super) fn new(directory: PathBuf) -> Self {
        Self { directory, changing: Mutex::default() }
    }

    /// Returns the folder of the files.
    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Locks the tasks while they are read, checked and written, because a cancelled call may still
    /// be running.
    pub(super) fn change(&self) -> MutexGuard<'_, ()> {
        self.changing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads all tasks. Files without a valid task are ignored, and so are tasks after
    /// [`MAX_TASKS`].
    ///
    /// # Errors
    /// Fails if the folder cannot be listed.
    pub(super) fn load(&self) -> Result<Tasks, ToolError> {
        let entries = match pollux_fs::list_directory(&self.directory) {
            Ok(entries) => entries,
            Err(error) if error.is_not_found() => return Ok(Tasks::new()),
            Err(error) => return Err(refused(format!("Cannot read the tasks: {error}"))),
        };
        let tasks = entries.iter().filter_map(|entry| {
            let id = entry.name.strip_suffix(".json").filter(|id| is_id(id))?;
            let bytes = pollux_fs::read_bytes(&entry.path, MAX_FILE).ok()?;
            let task: Task = serde_json::from_slice(&bytes).ok()?;
            (task.id == id).then(|| (id.to_owned(), task))
        });
        Ok(tasks.take(MAX_TASKS).collect())
    }

    /// Writes a task and replaces the content of its file.
    pub(super) fn keep(&self, task: &Task) -> Result<(), ToolError> {
        self.write(task, None).map_err(|error| not_kept(&error))
    }

    /// Writes a new task with an unused id.
    pub(super) fn add(&self, mut task: Task) -> Result<Task, ToolError> {
        for _ in 0..ATTEMPTS {
            task.id = random_id();
            match self.write(&task, Some(Expectation::Absent)) {
                Ok(()) => return Ok(task),
                Err(Error::ChangedOnDisk { .. }) => {}
                Err(error) => return Err(not_kept(&error)),
            }
        }
        Err(refused("No free ID was found for the task."))
    }

    fn write(&self, task: &Task, expected: Option<Expectation>) -> Result<(), Error> {
        pollux_fs::create_private_directories(&self.directory)?;
        let path = self.directory.join(format!("{}.json", task.id));
        let options = WriteOptions { expected, ..WriteOptions::private() };
        pollux_fs::write_atomic(&path, pretty(task).as_bytes(), &options).map(|_| ())
    }
}

/// Returns a task as the text of its file.
pub(super) fn pretty(task: &Task) -> String {
    // A task contains only texts, lists and JSON values, so this cannot fail.
    serde_json::to_string_pretty(task).unwrap_or_default()
}

fn not_kept(error: &Error) -> ToolError {
    let kind = match error {
        Error::NoSpace { .. } => ToolErrorKind::NoSpaceLeft,
        _ => ToolErrorKind::ExecutionFailed,
    };
    ToolError::new(kind, format!("Cannot save the task: {error}"))
}

/// Returns true for six hexadecimal digits.
fn is_id(text: &str) -> bool {
    text.len() == 6 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Returns a random id. Each new hasher of the standard library is seeded from the system's
/// randomness.
fn random_id() -> String {
    format!("{:06x}", RandomState::new().hash_one(()) & 0x00ff_ffff)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_six_digits_and_differ() {
        let ids: std::collections::HashSet<String> = (0..50).map(|_| random_id()).collect();
        assert!(ids.len() > 45 && ids.iter().all(|id| is_id(id)), "{ids:?}");
        for wrong in ["", "12345", "1234567", "ABCDEF", "../../", "12 456"] {
            assert!(!is_id(wrong), "{wrong}");
        }
    }
}
