//! Background work: reading of old sessions, and the record of what was read.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use pollux_config::context::PRIVATE_INDEX;
use pollux_fs::{DirLock, WriteOptions};
use pollux_protocol::{CancellationToken, SessionEntry, SideModels};
use pollux_session::SessionStore;
use serde_json::json;
use tokio::task::spawn_blocking;

use crate::MemoryInbox;
use crate::extraction::{self, Transcript};
use crate::plan::{self, INDEX, LEAST_PROMPTS, RunRecord, SESSIONS, STALE, State};

/// Alias of the model that reads the sessions.
const ALIAS: &str = "agent-history-provider-summarizer";
/// Delay before the first run, so that the start of the program is not slowed down.
const HEAD_START: Duration = Duration::from_secs(2);
/// Delay between two checks for work.
const PAUSE: Duration = Duration::from_mins(5);
/// Maximum time for an answer of the model.
const PATIENCE: Duration = Duration::from_mins(10);
/// Maximum size, in bytes, of a session that is read.
const LARGEST: u64 = 32 << 20;
/// Maximum size, in bytes, of the context files and state files that are read.
const LARGEST_STATE: u64 = 4 << 20;
/// Maximum wait for the short-lived lock that guards the lock file of a run.
const SOON: Duration = Duration::from_millis(200);

/// Collector of proposals from the old sessions of one project.
#[derive(Clone)]
pub struct MemoryCollector {
    /// Sessions of the project.
    pub store: SessionStore,
    /// Inbox that receives the proposals.
    pub inbox: MemoryInbox,
    /// Id of the current session, which is not read.
    pub session_id: String,
}

/// Input of one run.
struct Material {
    transcripts: Vec<Transcript>,
    index: Vec<String>,
    known: String,
    state: State,
    lock: RunLock,
}

impl MemoryCollector {
    /// Collects proposals whenever this is due, until the future is dropped. `models` returns the
    /// models for side calls of this moment; `notify` receives a message for the user when there
    /// are new proposals.
    pub async fn work<M: SideModels>(&self, models: impl Fn() -> M, notify: impl Fn(String)) {
        tokio::time::sleep(HEAD_START).await;
        loop {
            if self.run(&models()).await == Some(true) {
                notify(
                    "Earlier sessions produced proposals for your notes. Show them with /memory inbox".to_owned(),
                );
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Runs the extraction once if it is due and there are sessions to read. Returns true if there
    /// are new proposals.
    async fn run(&self, models: &dyn SideModels) -> Option<bool> {
        let collector = self.clone();
        let material = spawn_blocking(move || collector.gather(Timestamp::now())).await.ok()??;
        let Material { transcripts, index, known, state, lock } = material;
        let asked = async {
            let choice = models.select(ALIAS).await.ok()?;
            let request = extraction::request(&transcripts, &index, &known);
            let (answer, _) =
                choice.model.generate_json(request, CancellationToken::new()).await.ok()?;
            Some(extraction::read(&answer))
        };
        let proposals = tokio::time::timeout(PATIENCE, asked).await.ok().flatten();
        let collector = self.clone();
        let ids: Vec<String> = transcripts.into_iter().map(|transcript| transcript.id).collect();
        let keeping = move || {
            let kept = proposals.map(|proposals| collector.inbox.propose(&proposals));
            let (skills_created, is_new, session_ids) = match kept {
                Some(Ok((skills, is_new))) => (skills, is_new, ids),
                // A later run reads these sessions again.
                Some(Err(_)) | None => (Vec::new(), false, Vec::new()),
            };
            let run_at = Timestamp::now().to_string();
            collector.note(state, RunRecord { run_at, session_ids, skills_created });
            drop(lock);
            is_new
        };
        spawn_blocking(keeping).await.ok()
    }

    /// Returns the sessions to read, with the lock that keeps other conversations from reading them
    /// too.
    fn gather(&self, now: Timestamp) -> Option<Material> {
        let state = self.state();
        if !state.is_due(now) {
            return None;
        }
        let sessions = self.store.list().ok()?;
        let is_idle = |session: &&SessionEntry| {
            !session.is_damaged
                && session.id != self.session_id
                && plan::is_idle(&session.last_updated, now)
        };
        let mut idle: Vec<&SessionEntry> = sessions.iter().filter(is_idle).collect();
        idle.sort_by(|one, other| other.last_updated.cmp(&one.last_updated));
        idle.truncate(INDEX);
        if idle.iter().all(|session| state.knows(&session.id)) {
            return None;
        }
        let lock = RunLock::take(&self.inbox.memory)?;
        // Another process may have finished a run before the lock was taken.
        let state = self.state();
        let new = idle.iter().filter(|session| !state.knows(&session.id));
        let (mut transcripts, mut short) = (Vec::new(), Vec::new());
        for session in new {
            match self.transcript(session) {
                Some(transcript) if transcripts.len() < SESSIONS => transcripts.push(transcript),
                Some(_) => break,
                None => short.push(session.id.clone()),
            }
        }
        if transcripts.is_empty() || !state.is_due(now) {
            return None;
        }
        let index = idle
            .iter()
            .filter(|session| !short.contains(&session.id))
            .map(|session| format!("{} {}", session.last_updated, session.title()))
            .collect();
        Some(Material { transcripts, index, known: self.known(), state, lock })
    }

    /// Returns the text of a session; `None` if it is too short to be useful or cannot be read.
    fn transcript(&self, session: &SessionEntry) -> Option<Transcript> {
        if pollux_fs::info(&session.path).ok()?.size > LARGEST {
            return None;
        }
        let data = self.store.read(session).ok()?;
        let contents = || data.contents.iter().map(|(id, content)| (id.as_str(), content));
        (extraction::messages(contents()) >= LEAST_PROMPTS)
            .then(|| extraction::transcript(&session.id, contents()))
    }

    /// Returns the existing notes and the pending proposals.
    fn known(&self) -> String {
        let files = [self.inbox.memory.join(PRIVATE_INDEX), self.inbox.global_file.clone()];
        let texts = files.iter().filter_map(|file| pollux_fs::read_text(file, LARGEST_STATE).ok());
        let mut known: Vec<String> = texts.map(|file| file.text).collect();
        known.extend(self.inbox.names().iter().filter_map(|name| self.inbox.show(name).ok()));
        known.join("\n\n")
    }

    fn state_file(&self) -> PathBuf {
        self.inbox.memory.join(".extraction-state.json")
    }

    /// Returns the record of earlier runs; empty if it cannot be read.
    fn state(&self) -> State {
        let text = pollux_fs::read_text(&self.state_file(), LARGEST_STATE).ok();
        text.and_then(|file| serde_json::from_str(&file.text).ok()).unwrap_or_default()
    }

    fn note(&self, mut state: State, run: RunRecord) {
        state.add(run);
        let text = serde_json::to_string_pretty(&state).unwrap_or_default();
        // After a failed write the next run reads the same sessions again. It proposes nothing that
        // is already pending.
        drop(pollux_fs::write_atomic(
            &self.state_file(),
            text.as_bytes(),
            &WriteOptions::private(),
        ));
    }
}

/// Lock of a run: the file `.extraction.lock`, which exists as long as this value.
struct RunLock(PathBuf);

impl RunLock {
    /// Takes the lock. An abandoned lock is replaced.
    fn take(memory: &Path) -> Option<Self> {
        pollux_fs::create_private_directories(memory).ok()?;
        let file = memory.join(".extraction.lock");
        let _gate = DirLock::acquire(&file, SOON).ok()?;
        let is_held = pollux_fs::link_info(&file).is_ok_and(|info| {
            let age = info.modified.and_then(|time| SystemTime::now().duration_since(time).ok());
            age.is_none_or(|age| age < STALE)
        });
        if is_held {
            return None;
        }
        let started = Timestamp::now().to_string();
        let text = json!({"pid": std::process::id(), "startedAt": started}).to_string();
        pollux_fs::write_atomic(&file, text.as_bytes(), &WriteOptions::private()).ok()?;
        Some(Self(file))
    }
}

impl Drop for RunLock {
    fn drop(&mut self) {
        // A file that cannot be removed becomes stale after a while.
        drop(pollux_fs::remove_file(&self.0));
    }
}
