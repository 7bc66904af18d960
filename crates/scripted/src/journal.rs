//! A journal in memory.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use pollux_protocol::{History, Journal, JournalError, Record};

/// A journal in memory that keeps all records. Appending fails after a number of records that the
/// test chooses.
#[derive(Debug, Default)]
pub struct MemoryJournal {
    state: Mutex<JournalState>,
}

#[derive(Debug, Default)]
struct JournalState {
    records: Vec<Record>,
    /// Number of records that fit on the disk; `None` for no limit.
    room: Option<usize>,
    /// Number of records at the last sync.
    synced: usize,
    /// Duration of a sync.
    sync_time: Duration,
}

impl MemoryJournal {
    /// Creates a journal whose disk is full after this many records.
    pub fn with_room(room: usize) -> Self {
        let state = JournalState { room: Some(room), ..JournalState::default() };
        Self { state: Mutex::new(state) }
    }

    /// Sets the size of the disk: from now on it holds this many records in total, or any number
    /// with `None`.
    pub fn set_room(&self, room: Option<usize>) {
        self.state.lock().unwrap().room = room;
    }

    /// Makes the device slow: from now on, a sync takes this long.
    pub fn set_sync_time(&self, sync_time: Duration) {
        self.state.lock().unwrap().sync_time = sync_time;
    }

    /// Returns all records so far.
    pub fn records(&self) -> Vec<Record> {
        self.state.lock().unwrap().records.clone()
    }

    /// Returns the number of records that were on the device at the last sync.
    pub fn synced(&self) -> usize {
        self.state.lock().unwrap().synced
    }

    /// Returns the conversation that results from the records.
    pub fn history(&self) -> History {
        replay(&self.records())
    }
}

/// Builds the conversation that results from the records.
pub fn replay(records: &[Record]) -> History {
    let mut history = History::new();
    for record in records {
        match record {
            Record::Context { id, parts } | Record::User { id, parts, .. } => {
                history.push_user(id.clone(), parts.clone());
            }
            Record::Model(message) if message.interrupted => {
                history.push_interrupted(message.id.clone(), message.parts.clone());
            }
            Record::Model(message) => {
                history.push_model(message.id.clone(), message.parts.clone());
            }
            Record::Responses { id, parts, .. } => {
                history.push_responses(id.clone(), parts.clone());
            }
            Record::Cleared => history = History::new(),
            Record::Rewound { to } => {
                history.rewind(to);
            }
            Record::Compressed(compression) => {
                history.compress(compression);
            }
            Record::Uncompressed => {
                history.uncompress();
            }
            Record::CallStarted { call_id, effects, .. } => {
                history.note_effects(call_id.as_str(), effects.clone());
            }
            Record::Decided { .. }
            | Record::CallFinished(_)
            | Record::Notice { .. }
            | Record::PromptEnded { .. } => {}
        }
    }
    history
}

#[async_trait]
impl Journal for MemoryJournal {
    async fn append(&self, added: &[Arc<Record>]) -> Result<(), JournalError> {
        let mut state = self.state.lock().unwrap();
        for record in added {
            if state.room.is_some_and(|room| state.records.len() >= room) {
                return Err(JournalError::NoSpace { path: "log".into() });
            }
            state.records.push(Record::clone(record));
        }
        Ok(())
    }

    async fn sync(&self) -> Result<(), JournalError> {
        let sync_time = self.state.lock().unwrap().sync_time;
        tokio::time::sleep(sync_time).await;
        let mut state = self.state.lock().unwrap();
        state.synced = state.records.len();
        Ok(())
    }

    async fn recall(&self) -> Result<History, JournalError> {
        let mut history = self.history();
        history.uncompress();
        Ok(history)
    }
}
