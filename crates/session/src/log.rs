//! Log of one session: a journal over an append-only file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;
use pollux_fs::AppendLog;
use pollux_protocol::{History, Journal, JournalError, Record, TranscriptFrom, TranscriptPage};
use tokio::sync::{Mutex, OwnedMutexGuard};

use crate::encoder::{Encoder, Lines};
use crate::resume::SessionData;
use crate::transcript::Transcript;

#[cfg(test)]
mod tests;

/// Log that writes the durable events of one session. When [`Journal::append`] returns, the event
/// survives a crash of the process; [`Journal::sync`] also protects it from a failure of the
/// system. After the first failure, every further append fails with the same error and writes
/// nothing, so that the file never has a gap.
///
/// Cheap to clone; clones write to the same file, in the order of their requests. The file is
/// locked by this process until the last clone is dropped.
#[derive(Clone)]
pub struct SessionLog {
    session_id: Arc<str>,
    path: Arc<Path>,
    state: Arc<Mutex<State>>,
    transcript: Arc<Mutex<Transcript>>,
}

/// Maximum number of bytes of lines that are collected before they are written, except for the last
/// line.
const TOGETHER: usize = 256 * 1024;

struct State {
    file: AppendLog,
    encoder: Encoder,
    failure: Option<JournalError>,
}

impl SessionLog {
    pub(crate) fn new(session_id: &str, file: AppendLog, is_fresh: bool) -> Self {
        Self {
            session_id: session_id.into(),
            path: file.path().into(),
            state: Arc::new(Mutex::new(State {
                file,
                encoder: Encoder::new(is_fresh),
                failure: None,
            })),
            transcript: Arc::default(),
        }
    }

    /// Returns the id of the session.
    pub fn session_id(&self) -> &str {
        &self.session_id
    }

    /// Returns the path of the session file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads a page of the transcript with the items of at most `count` messages. The first page
    /// scans the whole file, later pages only new lines.
    ///
    /// # Errors
    /// [`JournalError::Unreadable`].
    pub async fn transcript(
        &self,
        from: TranscriptFrom,
        count: usize,
    ) -> Result<TranscriptPage, JournalError> {
        let (path, transcript) = (Arc::clone(&self.path), Arc::clone(&self.transcript));
        self.reading(move || {
            let mut source = pollux_fs::open_to_read(&path)?;
            let page = transcript.blocking_lock().page(&mut source, from, count);
            page.map_err(|error| pollux_fs::Error::from_io(&*path, error))
        })
        .await
    }

    /// Reads from the file on a blocking thread.
    async fn reading<T: Send + 'static, E: std::fmt::Display + Send + 'static>(
        &self,
        read: impl FnOnce() -> Result<T, E> + Send + 'static,
    ) -> Result<T, JournalError> {
        let message = match tokio::task::spawn_blocking(read).await {
            Ok(Ok(read)) => return Ok(read),
            Ok(Err(error)) => error.to_string(),
            Err(error) => error.to_string(),
        };
        Err(JournalError::Unreadable { path: display(&self.path), message })
    }

    /// Runs `work` on a blocking thread, with the log locked: if the caller is cancelled in the
    /// meantime, no line is left half written and the order does not change.
    async fn claimed(
        &self,
        work: impl FnOnce(&mut State) -> Result<(), JournalError> + Send + 'static,
    ) -> Result<(), JournalError> {
        let mut state: OwnedMutexGuard<State> = Arc::clone(&self.state).lock_owned().await;
        if let Some(failure) = &state.failure {
            return Err(failure.clone());
        }
        let task = tokio::task::spawn_blocking(move || {
            let outcome = work(&mut state);
            state.failure = outcome.as_ref().err().cloned();
            outcome
        });
        task.await.unwrap_or_else(|error| Err(self.failed(&error)))
    }

    fn failed(&self, error: &dyn std::fmt::Display) -> JournalError {
        JournalError::Failed { path: display(&self.path), message: error.to_string() }
    }
}

impl State {
    /// Writes records, several together if they are small.
    fn add(&mut self, records: &[Arc<Record>], path: &Path) -> Result<(), JournalError> {
        let fresh_id = || uuid::Uuid::new_v4().to_string();
        let mut lines = Lines::new();
        for record in records {
            let encoded = self.encoder.encode(record, &timestamp(Timestamp::now()), fresh_id);
            lines.extend(encoded.map_err(|error| JournalError::Failed {
                path: display(path),
                message: error.to_string(),
            })?);
            if lines.iter().map(Vec::len).sum::<usize>() > TOGETHER {
                self.write(std::mem::take(&mut lines))?;
            }
        }
        self.write(lines)
    }

    fn write(&mut self, lines: Lines) -> Result<(), JournalError> {
        self.file.append_all(lines).map_err(journal_error(&self.file))
    }

    fn sync(&mut self) -> Result<(), JournalError> {
        self.file.sync().map_err(journal_error(&self.file))
    }
}

#[async_trait]
impl Journal for SessionLog {
    async fn append(&self, records: &[Arc<Record>]) -> Result<(), JournalError> {
        let records = records.to_vec();
        let path = Arc::clone(&self.path);
        self.claimed(move |state| state.add(&records, &path)).await
    }

    async fn sync(&self) -> Result<(), JournalError> {
        self.claimed(State::sync).await
    }

    async fn recall(&self) -> Result<History, JournalError> {
        let path = Arc::clone(&self.path);
        let read = move || SessionData::read(&path, &mut pollux_fs::open_to_read(&path)?);
        Ok(self.reading(read).await?.whole_history().0)
    }
}

/// Formats a time as in session files: `2026-01-31T12:00:00.000Z`.
pub(crate) fn timestamp(time: Timestamp) -> String {
    format!("{time:.3}")
}

fn journal_error(file: &AppendLog) -> impl FnOnce(pollux_fs::Error) -> JournalError + use<> {
    let path: PathBuf = file.path().into();
    move |error| match error {
        pollux_fs::Error::NoSpace { .. } => JournalError::NoSpace { path: display(&path) },
        error => JournalError::Failed { path: display(&path), message: error.to_string() },
    }
}

fn display(path: &Path) -> String {
    path.display().to_string()
}
