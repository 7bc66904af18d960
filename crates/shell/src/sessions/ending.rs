//! Ends the processes of children: asks, waits, kills.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::model::{Force, Leader};
use super::orphans::reap_orphans;
use super::registry::registry;
use super::system::{self, Members};

/// Between asking and killing (Gemini CLI 0.61).
const GRACE: Duration = Duration::from_millis(200);
/// Longest time until killed processes are gone. Those that take longer are stuck in the kernel.
const KILL_LIMIT: Duration = Duration::from_secs(1);
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Children that wait to be ended in the background.
struct EndingQueue {
    waiting: Vec<Leader>,
    /// Whether the thread runs.
    is_served: bool,
}

static QUEUE: Mutex<EndingQueue> =
    Mutex::new(EndingQueue { waiting: Vec::new(), is_served: false });

/// Ends a child and all its descendants. Does not wait for that.
pub(super) fn end_in_background(leader: Leader) {
    // The process group is asked at once, however busy the thread is.
    system::ask(leader);
    let mut queue = QUEUE.lock().unwrap_or_else(PoisonError::into_inner);
    queue.waiting.push(leader);
    if queue.is_served {
        return;
    }
    // A thread, not a task: this must work while the runtime shuts down. One thread for all: each
    // look reads the whole process table.
    let thread = std::thread::Builder::new().name("pollux-end".into()).spawn(serve_queue);
    queue.is_served = thread.is_ok();
    if thread.is_err() {
        Members::of(&std::mem::take(&mut queue.waiting)).signal(Force::Kill);
    }
}

/// Ends children until none waits any more.
fn serve_queue() {
    let mut batches: Vec<EndingBatch> = Vec::new();
    loop {
        {
            let mut queue = QUEUE.lock().unwrap_or_else(PoisonError::into_inner);
            let waiting = std::mem::take(&mut queue.waiting);
            if !waiting.is_empty() {
                batches.push(EndingBatch::ask(waiting));
            } else if batches.is_empty() {
                queue.is_served = false;
                return;
            }
        }
        batches.retain_mut(EndingBatch::is_left);
        std::thread::sleep(POLL_INTERVAL);
    }
}

/// Children that were asked to end at the same time.
struct EndingBatch {
    leaders: Vec<Leader>,
    members: Members,
    asked: Instant,
}

impl EndingBatch {
    fn ask(leaders: Vec<Leader>) -> Self {
        let members = Members::of(&leaders);
        members.signal(Force::Ask);
        Self { leaders, members, asked: Instant::now() }
    }

    /// Whether there is still a process to wait for. Kills once the grace period is over.
    fn is_left(&mut self) -> bool {
        self.members.refresh();
        if !self.members.alive() {
            registry().forget(self.leaders.iter().copied());
            reap_orphans();
            return false;
        }
        let waited = self.asked.elapsed();
        if waited >= GRACE {
            // In every round: a member may be starting another process right now.
            self.members.signal(Force::Kill);
        }
        waited < GRACE + KILL_LIMIT
    }
}

/// Ends the members and returns whether all of them are gone. Blocks.
pub(super) fn end(mut members: Members) -> bool {
    members.signal(Force::Ask);
    wait(&mut members, GRACE, |_| {}) || {
        members.signal(Force::Kill);
        // In every round: a member may be starting another process right now.
        wait(&mut members, KILL_LIMIT, |members| members.signal(Force::Kill))
    }
}

/// Whether all members are gone within `limit`.
fn wait(members: &mut Members, limit: Duration, each_round: impl Fn(&Members)) -> bool {
    let start = Instant::now();
    loop {
        members.refresh();
        if !members.alive() {
            return true;
        }
        if start.elapsed() >= limit {
            return false;
        }
        each_round(members);
        std::thread::sleep(POLL_INTERVAL);
    }
}
