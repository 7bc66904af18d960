//! Extraction of facts and skills from old sessions, in the background of a conversation
//! (`experimental.autoMemory`).
//!
//! A model without tools reads sessions that have been idle for hours and proposes facts and
//! skills. Pollux writes the proposals to files that nothing loads ([`inbox`]), and the user
//! reviews them with `/memory inbox`. [`plan`] decides when to run and which sessions to read; the
//! request to the model and the parser of its answer are in `pollux_agent::extraction`.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use pollux_agent::extraction::{self, Transcript};
use pollux_agent::{WatchedModels, WeakHandle};
use pollux_config::context::PRIVATE_INDEX;
use pollux_fs::{DirLock, WriteOptions};
use pollux_protocol::{CancellationToken, CommandReport, Op, SideModels};
use pollux_session::{SessionStore, SessionSummary};
use serde_json::json;
use tokio::task::{JoinHandle, spawn_blocking};

use crate::setup::Setup;

mod inbox;
mod patch;
mod plan;

pub(crate) use inbox::Inbox;

use plan::{INDEX, LEAST_PROMPTS, RunRecord, SESSIONS, STALE, State};

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

/// Handle of the background task; dropping it ends the task.
pub(crate) struct AutoMemory(JoinHandle<()>);

impl Drop for AutoMemory {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Data that the background task needs about its project.
#[derive(Clone)]
pub(crate) struct Collector {
    store: SessionStore,
    inbox: Inbox,
    /// Id of this conversation's session.
    session_id: String,
}

/// Returns the models for side calls, given the model that the session uses at this moment.
type SideModelsNow = Box<dyn Fn() -> WatchedModels + Send + Sync>;

/// Input of one run.
struct Material {
    transcripts: Vec<Transcript>,
    index: Vec<String>,
    known: String,
    state: State,
    _lock: RunLock,
}

impl Setup {
    /// Returns the inbox for proposals of this project if the setting is on.
    pub(crate) fn inbox(&self) -> Option<Inbox> {
        self.loaded.settings.boolean("experimental.autoMemory").then(|| Inbox {
            memory: self.project.memory_dir(),
            global_file: self.global_memory(),
            skills: self.places.gemini_dir().join("skills"),
        })
    }

    /// Returns the background work of this session if the setting is on and a user can review its
    /// results.
    pub(crate) fn collector(&self, session_id: &str) -> Option<Collector> {
        if !self.options.interactive {
            return None;
        }
        let store = SessionStore::new(&self.project);
        self.inbox().map(|inbox| Collector { store, inbox, session_id: session_id.to_owned() })
    }
}

impl Collector {
    /// Starts the task, which runs until the returned value is dropped or the agent ends. `models`
    /// returns the models to ask; `agent` receives a report about new proposals.
    pub(crate) fn start(self, models: SideModelsNow, agent: WeakHandle) -> AutoMemory {
        AutoMemory(tokio::spawn(async move {
            tokio::select! {
                () = agent.gone() => {}
                () = self.work(&models, &agent) => {}
            }
        }))
    }

    async fn work(&self, models: &SideModelsNow, agent: &WeakHandle) {
        tokio::time::sleep(HEAD_START).await;
        loop {
            if self.run(&models()).await == Some(true) {
                let text = "Earlier sessions led to proposals for your notes: /memory inbox";
                agent.send(Op::Report(CommandReport::ForPerson(text.to_owned())));
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Runs the extraction once if it is due and there are sessions to read. Returns true if there
    /// are new proposals.
    async fn run(&self, models: &dyn SideModels) -> Option<bool> {
        let collector = self.clone();
        let material = spawn_blocking(move || collector.gather(Timestamp::now())).await.ok()??;
        let Material { transcripts, index, known, state, _lock: lock } = material;
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
        if !self.state().is_due(now) {
            return None;
        }
        let sessions = self.store.list().ok()?;
        let is_idle = |session: &&SessionSummary| {
            !session.is_damaged
                && session.id != self.session_id
                && plan::is_idle(&session.last_updated, now)
        };
        let mut idle: Vec<&SessionSummary> = sessions.iter().filter(is_idle).collect();
        idle.sort_by(|one, other| other.last_updated.cmp(&one.last_updated));
        idle.truncate(INDEX);
        let state = self.state();
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
        Some(Material { transcripts, index, known: self.known(), state, _lock: lock })
    }

    /// Returns the text of a session; `None` if it is too short to be useful or cannot be read.
    fn transcript(&self, session: &SessionSummary) -> Option<Transcript> {
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
