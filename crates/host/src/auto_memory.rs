//! What old sessions teach, collected in the background of a conversation where the person wants that
//! (`experimental.autoMemory`).
//!
//! A model without tools reads sessions that nobody has worked on for hours and proposes facts and skills; this program
//! writes them where nothing reads them ([`inbox`]), and the person looks at them with `/memory inbox`. [`plan`] says when
//! and which; the question and what is taken of the answer are `pollux_agent::extraction`.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use pollux_agent::extraction::{self, Transcript};
use pollux_agent::{WatchedModels, WeakHandle};
use pollux_config::context::PRIVATE_INDEX;
use pollux_fs::{DirLock, WriteOptions};
use pollux_protocol::{CancellationToken, Op, Report, SideModels};
use pollux_session::{SessionStore, SessionSummary};
use serde_json::json;
use tokio::task::{JoinHandle, spawn_blocking};

use crate::setup::Setup;

mod inbox;
mod patch;
mod plan;

pub(crate) use inbox::Inbox;

use plan::{INDEX, LEAST_PROMPTS, RunRecord, SESSIONS, STALE, State};

/// The model that reads.
const ALIAS: &str = "agent-history-provider-summarizer";
/// The start of the program has the machine to itself.
const HEAD_START: Duration = Duration::from_secs(2);
/// Between two looks whether there is something to do.
const PAUSE: Duration = Duration::from_mins(5);
/// What a model may take for its answer.
const PATIENCE: Duration = Duration::from_mins(10);
/// Bytes of a session that is read.
const LARGEST: u64 = 32 << 20;
/// Bytes of the files of our own.
const LARGEST_STATE: u64 = 4 << 20;
/// What others may take to let go of the lock's own lock.
const SOON: Duration = Duration::from_millis(200);

/// The work in the background. It ends with this value, wherever it is.
pub(crate) struct AutoMemory(JoinHandle<()>);

impl Drop for AutoMemory {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// What the work needs to know of its project.
#[derive(Clone)]
pub(crate) struct Collector {
    store: SessionStore,
    inbox: Inbox,
    /// The session of this conversation.
    session_id: String,
}

/// Makes the models that are asked: those beside the model that the session uses at this moment.
type SideModelsNow = Box<dyn Fn() -> WatchedModels + Send + Sync>;

/// What one run reads.
struct Material {
    transcripts: Vec<Transcript>,
    index: Vec<String>,
    known: String,
    state: State,
    _lock: RunLock,
}

impl Setup {
    /// Where proposals for this project lie, when they are wanted.
    pub(crate) fn inbox(&self) -> Option<Inbox> {
        self.loaded.settings.boolean("experimental.autoMemory").then(|| Inbox {
            memory: self.project.memory_dir(),
            global_file: self.global_memory(),
            skills: self.places.gemini_dir().join("skills"),
        })
    }

    /// Background work of this session, when it is wanted and a person is there to look at what it finds.
    pub(crate) fn collector(&self, session_id: &str) -> Option<Collector> {
        if !self.options.interactive {
            return None;
        }
        let store = SessionStore::new(&self.project);
        self.inbox().map(|inbox| Collector { store, inbox, session_id: session_id.to_owned() })
    }
}

impl Collector {
    /// Begins to work, until the value is dropped or the agent ends. `models` gives those that are asked, `agent` is told of what was found.
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
                agent.send(Op::Report(Report::ForPerson(text.to_owned())));
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// One run, when it is due and there is something to read. True when something new was proposed.
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
                // They are read again another time.
                Some(Err(_)) | None => (Vec::new(), false, Vec::new()),
            };
            let run_at = Timestamp::now().to_string();
            collector.note(state, RunRecord { run_at, session_ids, skills_created });
            drop(lock);
            is_new
        };
        spawn_blocking(keeping).await.ok()
    }

    /// What there is to read, with the lock that keeps other conversations from reading it too.
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
        // Somebody else may have been faster.
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

    /// A session in words; none of one that is too short to teach anything, or that cannot be read.
    fn transcript(&self, session: &SessionSummary) -> Option<Transcript> {
        if pollux_fs::info(&session.path).ok()?.size > LARGEST {
            return None;
        }
        let data = self.store.read(session).ok()?;
        let contents = || data.contents.iter().map(|(id, content)| (id.as_str(), content));
        (extraction::messages(contents()) >= LEAST_PROMPTS)
            .then(|| extraction::transcript(&session.id, contents()))
    }

    /// What is noted already, and what waits to be.
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

    /// What was done; nothing where that cannot be read.
    fn state(&self) -> State {
        let text = pollux_fs::read_text(&self.state_file(), LARGEST_STATE).ok();
        text.and_then(|file| serde_json::from_str(&file.text).ok()).unwrap_or_default()
    }

    fn note(&self, mut state: State, run: RunRecord) {
        state.add(run);
        let text = serde_json::to_string_pretty(&state).unwrap_or_default();
        // Without it the next run reads the same once more, and proposes nothing that waits already.
        drop(pollux_fs::write_atomic(
            &self.state_file(),
            text.as_bytes(),
            &WriteOptions::private(),
        ));
    }
}

/// The lock of a run, `.extraction.lock`: a file, as long as it lives.
struct RunLock(PathBuf);

impl RunLock {
    /// Takes the lock, also from somebody who has left it behind.
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
        // Where that fails it is stale in a while.
        drop(pollux_fs::remove_file(&self.0));
    }
}
