//! The process sessions that commands run in: which are alive, and how they end.
//!
//! Every command leads a session of its own, so everything it starts can be found again and ended
//! together: the process group, other groups of the session (`set -m`), and on Linux also
//! descendants that left the session. A daemon that left *and* whose parent is gone cannot be told
//! from that of another command; on Linux it becomes our own child instead of that of init, and ends with
//! the program. On other systems it is out of reach.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

#[cfg_attr(target_os = "linux", path = "sessions/linux.rs")]
#[cfg_attr(all(unix, not(target_os = "linux")), path = "sessions/unix.rs")]
#[cfg_attr(windows, path = "sessions/windows.rs")]
mod system;

pub(crate) use system::{is_running, lead_session};

/// Between asking and killing (Gemini CLI 0.61).
const GRACE: Duration = Duration::from_millis(200);
/// How long the killed may take to be gone. Past it they are stuck in the kernel.
const KILL_LIMIT: Duration = Duration::from_secs(1);
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// Commands that have ended and are remembered before it is looked up which of them left nothing running.
const REMEMBERED: usize = 64;

/// How hard to ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Force {
    Ask,
    Kill,
}

/// A session as it is found again: the leader's process number and, where the system tells, the
/// leader's start time, which guards against numbers given away again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Leader {
    id: u32,
    started: Option<u64>,
}

/// What is known about a session that was started.
#[derive(Debug, Clone, Copy)]
struct Entry {
    leader: Leader,
    /// The command itself has ended; whatever is left runs in the background.
    released: bool,
}

/// Sessions that were started and are not known to be gone.
static SESSIONS: Mutex<BTreeMap<u32, Entry>> = Mutex::new(BTreeMap::new());

/// Sessions whose leader has ended and whose members are nobody's business but their own.
static FREE: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

/// Held while a child is started, until it is listed: a child of ours that is not listed is an orphan of
/// some command.
static STARTING: Mutex<()> = Mutex::new(());

fn sessions() -> MutexGuard<'static, BTreeMap<u32, Entry>> {
    SESSIONS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends everything that commands left running, daemons included, and waits until it is gone: SIGTERM, up to
/// 200 ms, SIGKILL, up to one second. Returns at once when nothing is left. To be called before the
/// program exits; it blocks.
pub fn reap_all() {
    let left: Vec<Leader> = sessions().values().map(|entry| entry.leader).collect();
    if (!left.is_empty() || system::has_adopted()) && end(system::Members::everyone(&left)) {
        forget(left);
    }
}

/// Takes the exit status of orphans that have ended, so that the system can forget them.
fn bury_orphans() {
    let _starting = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
    system::bury(|id| sessions().contains_key(&id));
}

/// Forgets the sessions that have ended by themselves, so that a number which the system gives away
/// again is not taken for ours.
fn forget_ended() {
    let released: Vec<Leader> = {
        let sessions = sessions();
        sessions.values().filter(|entry| entry.released).map(|entry| entry.leader).collect()
    };
    let living = system::living(&released);
    forget(released.into_iter().filter(|leader| !living.contains(&leader.id)));
}

fn forget(leaders: impl IntoIterator<Item = Leader>) {
    let mut sessions = sessions();
    for leader in leaders {
        // The number may lead another command of ours by now.
        if sessions.get(&leader.id).is_some_and(|entry| entry.leader == leader) {
            sessions.remove(&leader.id);
        }
    }
}

/// The session of one running command. Dropping it before [`Session::release`] ends it, so a `run`
/// that is dropped half-way leaves nothing running.
#[derive(Debug)]
pub(crate) struct Session {
    leader: Leader,
    /// Whether nothing is left to do here.
    settled: bool,
}

impl Session {
    /// Starts a child that leads a session of its own, and takes charge of that.
    pub(crate) fn start(
        mut command: tokio::process::Command,
    ) -> io::Result<(tokio::process::Child, Self)> {
        let _starting = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
        system::adopt_orphans();
        let child = command.spawn()?;
        let session = Self::new(child.id().unwrap_or_default());
        Ok((child, session))
    }

    fn new(id: u32) -> Self {
        let leader = Leader { id, started: system::start_time(id) };
        sessions().insert(id, Entry { leader, released: false });
        Self { leader, settled: false }
    }

    pub(crate) fn id(&self) -> u32 {
        self.leader.id
    }

    pub(crate) fn leader(&self) -> Leader {
        self.leader
    }

    /// The command has ended and been waited for. What it left running goes on, until [`reap_all`].
    /// Must be called inside a tokio runtime.
    pub(crate) fn release(&mut self) {
        self.settled = true;
        let released = {
            let mut sessions = sessions();
            if let Some(entry) = sessions.get_mut(&self.leader.id) {
                entry.released = true;
            }
            sessions.values().filter(|entry| entry.released).count()
        };
        // Looking at every process takes milliseconds on a busy machine: now and then, and behind the
        // caller's back.
        if released > REMEMBERED {
            tokio::task::spawn_blocking(forget_ended);
        }
        if system::has_dead() {
            tokio::task::spawn_blocking(bury_orphans);
        }
    }

    /// The same for a program of the person's own: what it left running outlives this program, as far as it has
    /// stayed in the session.
    pub(crate) fn set_free(&mut self) {
        self.release();
        sessions().remove(&self.leader.id);
        FREE.lock().unwrap_or_else(PoisonError::into_inner).insert(self.leader.id);
    }

    /// Ends everything in the session behind the caller's back.
    pub(crate) fn end(&mut self) {
        if !std::mem::replace(&mut self.settled, true) {
            end_behind(self.leader);
        }
    }
}

/// Whether programs of a session wait for somebody to type, as far as the system tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    /// One of them is reading a terminal and gets nothing.
    Blocked,
    /// All of them sleep, for whatever reason.
    Asleep,
    /// Some of them work.
    Busy,
    /// The system does not tell, or not of all of them.
    Unknown,
}

/// Looks at the programs of a session. Reads the whole process table.
pub(crate) fn reading(leader: Leader) -> Reading {
    system::reading(leader)
}

/// Sessions that are left alone.
fn free() -> BTreeSet<u32> {
    FREE.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Whether the session is not known to be gone.
pub(crate) fn is_known(leader: Leader) -> bool {
    sessions().get(&leader.id).is_some_and(|entry| entry.leader == leader)
}

/// Ends what the command of a released session left running, behind the caller's back.
pub(crate) fn end_rest(leader: Leader) {
    if is_known(leader) {
        end_behind(leader);
    }
}

fn end_behind(leader: Leader) {
    // The leader's own group hears of it now, however much the thread has to do.
    system::ask_group(leader);
    let mut ending = ENDING.lock().unwrap_or_else(PoisonError::into_inner);
    ending.waiting.push(leader);
    if ending.is_served {
        return;
    }
    // A thread, not a task: this must work while the runtime is going down. One for all: each look
    // around reads the whole process table.
    let thread = std::thread::Builder::new().name("pollux-end".into()).spawn(end_all);
    ending.is_served = thread.is_ok();
    if thread.is_err() {
        system::Members::of(&std::mem::take(&mut ending.waiting)).signal(Force::Kill);
    }
}

/// Sessions that are to end behind their callers' backs.
struct Ending {
    waiting: Vec<Leader>,
    /// The thread is there.
    is_served: bool,
}

static ENDING: Mutex<Ending> = Mutex::new(Ending { waiting: Vec::new(), is_served: false });

/// Ends sessions until none waits any more.
fn end_all() {
    let mut batches: Vec<Batch> = Vec::new();
    loop {
        {
            let mut ending = ENDING.lock().unwrap_or_else(PoisonError::into_inner);
            let waiting = std::mem::take(&mut ending.waiting);
            if !waiting.is_empty() {
                batches.push(Batch::ask(waiting));
            } else if batches.is_empty() {
                ending.is_served = false;
                return;
            }
        }
        batches.retain_mut(Batch::is_left);
        std::thread::sleep(LOOK_AGAIN);
    }
}

/// Sessions that were asked to end at the same time.
struct Batch {
    leaders: Vec<Leader>,
    members: system::Members,
    asked: Instant,
}

impl Batch {
    fn ask(leaders: Vec<Leader>) -> Self {
        let members = system::Members::of(&leaders);
        members.signal(Force::Ask);
        Self { leaders, members, asked: Instant::now() }
    }

    /// Whether there is still someone to wait for. Kills once the grace is over.
    fn is_left(&mut self) -> bool {
        self.members.refresh();
        if !self.members.alive() {
            forget(self.leaders.iter().copied());
            return false;
        }
        let waited = self.asked.elapsed();
        if waited >= GRACE {
            // Again each time round: a member may be starting another one right now.
            self.members.signal(Force::Kill);
        }
        waited < GRACE + KILL_LIMIT
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.end();
    }
}

/// Asks, kills, and says whether everyone is gone.
fn end(mut members: system::Members) -> bool {
    members.signal(Force::Ask);
    wait(&mut members, GRACE, |_| {}) || {
        // Again each time round: a member may be starting another one right now.
        members.signal(Force::Kill);
        wait(&mut members, KILL_LIMIT, |members| members.signal(Force::Kill))
    }
}

/// Whether everyone was gone within `limit`.
fn wait(members: &mut system::Members, limit: Duration, again: impl Fn(&system::Members)) -> bool {
    let start = Instant::now();
    loop {
        members.refresh();
        if !members.alive() {
            return true;
        }
        if start.elapsed() >= limit {
            return false;
        }
        again(members);
        std::thread::sleep(LOOK_AGAIN);
    }
}
