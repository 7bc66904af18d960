//! Checkpoints: the files of the project before calls change them, as snapshots in a Git repository
//! outside of the project. The repository and the records have the form of Gemini CLI.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use jiff::Timestamp;
use pollux_fs::{EntryKind, WriteOptions};
use pollux_protocol::{
    CheckpointError, Checkpoints, EntryId, Envelope, Event, MessageDisplay, Observer, PendingCall,
    Record,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::error::SessionError;

mod repository;

pub use repository::{ChangedFile, FileChange, RepositoryError, ShadowRepository};

/// Maximum number of records that are kept for a project; the oldest are deleted first. The
/// snapshots themselves stay in the repository.
const KEPT: usize = 500;
/// Maximum size of a record, in bytes. Gemini CLI puts the conversation into it.
const LARGEST: u64 = 100 << 20;
/// Tool of the record that a restore itself makes.
const RESTORE: &str = "restore";

/// Call before which a checkpoint was made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CheckpointCall {
    /// Name of the tool.
    pub name: String,
    /// Arguments of the call.
    #[serde(default)]
    pub args: Value,
}

/// Record of a checkpoint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckpointRecord {
    /// Snapshot of the files; `None` in a record of Gemini CLI that has none.
    #[serde(default)]
    pub commit_hash: Option<String>,
    /// The call.
    pub tool_call: CheckpointCall,
    /// Session of the call; `None` in a record of Gemini CLI.
    #[serde(default)]
    pub session_id: Option<String>,
    /// Prompt that led to the call.
    #[serde(default)]
    pub prompt_entry: Option<EntryId>,
}

impl CheckpointRecord {
    /// True for the state before a restore.
    pub fn is_restore(&self) -> bool {
        self.tool_call.name == RESTORE
    }
}

/// Records of the checkpoints of a project. All functions block the thread.
#[derive(Debug, Clone)]
pub struct CheckpointRecords {
    folder: PathBuf,
}

impl CheckpointRecords {
    /// Creates the store for the records in `folder`. Reads nothing.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Returns the names of all records, the oldest first.
    pub fn names(&self) -> Vec<String> {
        let entries = pollux_fs::list_directory(&self.folder).unwrap_or_default();
        let names = entries.into_iter().filter(|entry| entry.kind == EntryKind::File);
        let mut names: Vec<String> =
            names.filter_map(|entry| entry.name.strip_suffix(".json").map(str::to_owned)).collect();
        // A name begins with its time.
        names.sort();
        names
    }

    /// Reads a record by its name, with or without `.json`. `None` if there is none.
    ///
    /// # Errors
    /// [`SessionError::Unreadable`] if the file is not a record.
    pub fn read(&self, name: &str) -> Result<Option<CheckpointRecord>, SessionError> {
        let name = name.strip_suffix(".json").unwrap_or(name);
        if !self.names().iter().any(|known| known == name) {
            return Ok(None);
        }
        let path = self.path(name);
        let bytes = pollux_fs::read_bytes(&path, LARGEST)?;
        match serde_json::from_slice(&bytes) {
            Ok(record) => Ok(Some(record)),
            Err(error) => Err(SessionError::Unreadable { path, message: error.to_string() }),
        }
    }

    /// Stores a record; deletes the oldest ones if there are too many.
    /// Returns the name of the new record.
    fn add(&self, record: &CheckpointRecord) -> Result<String, SessionError> {
        let name = name(record, Timestamp::now());
        let text = format!("{:#}", json!(record));
        pollux_fs::write_atomic(&self.path(&name), text.as_bytes(), &WriteOptions::private())?;
        let names = self.names();
        let old = names.len().saturating_sub(KEPT);
        for old in names.iter().take(old) {
            pollux_fs::remove_file(&self.path(old))?;
        }
        Ok(name)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.json"))
    }
}

/// Returns the name of a record: `2026-11-27T00-34-48_123Z-main.rs-replace`.
fn name(record: &CheckpointRecord, now: Timestamp) -> String {
    let time = format!("{now:.3}").replace(':', "-").replace('.', "_");
    let file = record.tool_call.args.get("file_path").and_then(Value::as_str);
    let file = file.and_then(|path| Path::new(path).file_name()?.to_str()).unwrap_or("files");
    let safe = |text: &str| -> String {
        let is_safe = |letter: char| letter.is_alphanumeric() || "-_.".contains(letter);
        text.chars().take(60).map(|letter| if is_safe(letter) { letter } else { '_' }).collect()
    };
    format!("{time}-{}-{}", safe(file), safe(&record.tool_call.name))
}

/// Checkpoints of a session, before each group of calls that may change files.
pub struct GitCheckpoints {
    repository: ShadowRepository,
    records: CheckpointRecords,
    session: String,
    /// Last prompt of the user.
    prompt: Mutex<Option<EntryId>>,
}

impl GitCheckpoints {
    /// Creates the checkpoints of a session. Changes nothing before the first call.
    pub fn new(repository: ShadowRepository, records: CheckpointRecords, session: &str) -> Self {
        Self { repository, records, session: session.to_owned(), prompt: Mutex::default() }
    }

    /// Returns the repository of the snapshots.
    pub fn repository(&self) -> &ShadowRepository {
        &self.repository
    }

    /// Returns the records of the checkpoints.
    pub fn records(&self) -> &CheckpointRecords {
        &self.records
    }

    /// Records a snapshot of the state before a restore, so that the restore can itself be undone.
    /// Returns the name of the record.
    ///
    /// # Errors
    /// The message for the user.
    pub async fn record_restore(
        &self,
        checkpoint: &str,
        snapshot: &str,
    ) -> Result<String, CheckpointError> {
        let args = json!({ "checkpoint": checkpoint });
        self.record(CheckpointCall { name: RESTORE.to_owned(), args }, snapshot.to_owned()).await
    }

    async fn record(
        &self,
        tool_call: CheckpointCall,
        commit: String,
    ) -> Result<String, CheckpointError> {
        let prompt = self.prompt.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let record = CheckpointRecord {
            commit_hash: Some(commit),
            tool_call,
            session_id: Some(self.session.clone()),
            prompt_entry: prompt,
        };
        let records = self.records.clone();
        let added = tokio::task::spawn_blocking(move || records.add(&record)).await;
        let added = added.map_err(|error| CheckpointError(error.to_string()))?;
        added.map_err(|error| CheckpointError(error.to_string()))
    }
}

/// True for a call that may change files of the project.
fn may_change_files(call: &PendingCall) -> bool {
    let effects = &call.effects;
    // A command line may start programs that do more than it seems.
    let runs = effects.command.is_some();
    runs || effects.unknown || !effects.writes.is_empty() || !effects.deletes.is_empty()
}

#[async_trait]
impl Checkpoints for GitCheckpoints {
    async fn before(&self, calls: &[PendingCall]) -> Result<(), CheckpointError> {
        let Some(call) = calls.iter().find(|call| may_change_files(call)) else { return Ok(()) };
        let snapshot = self.repository.snapshot(&format!("Snapshot for {}", call.name)).await;
        let commit = snapshot.map_err(|error| CheckpointError(error.to_string()))?;
        let call = CheckpointCall { name: call.name.clone(), args: call.args.clone() };
        self.record(call, commit).await.map(drop)
    }
}

impl Observer for GitCheckpoints {
    fn observe(&self, envelope: &Envelope) {
        if let Event::Recorded(record) = &envelope.event
            && envelope.origin.agent.is_main()
            && let Record::User { id, display, .. } = &**record
            && *display != MessageDisplay::Hidden
        {
            *self.prompt.lock().unwrap_or_else(PoisonError::into_inner) = Some(id.clone());
        }
    }
}

/// Checkpoints that commands and the agent share.
pub type SharedCheckpoints = Arc<GitCheckpoints>;

#[cfg(test)]
mod tests;
