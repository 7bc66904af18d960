//! Ending of the processes of children: SIGTERM, a grace period, SIGKILL.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::model::{Force, Leader};
use super::orphans::reap_orphans;
use super::registry::registry;
use super::system::{self, Members};

/// Time between SIGTERM and SIGKILL (Gemini CLI 0.61).
const GRACE: Duration = Duration::from_millis(200);
/// Maximum time to wait for killed processes. Processes that take longer are stuck in the kernel.
const KILL_LIMIT: Duration = Duration::from_secs(1);
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Children that are to be ended in the background.
struct EndingQueue {
    waiting: Vec<Leader>,
    /// True if the thread runs.
    is_served: bool,
}

static QUEUE: Mutex<EndingQueue> =
    Mutex::new(EndingQueue { waiting: Vec::new(), is_served: false });

/// Ends a child and all its descendants, without waiting for their end.
pub(super) fn end_in_background(leader: Leader) {
    // The process group gets the signal immediately, even if the thread is busy.
    system::ask(leader);
    let mut queue = QUEUE.lock().unwrap_or_else(PoisonError::into_inner);
    queue.waiting.push(leader);
    if queue.is_served {
        return;
    }
    // A thread is used instead of a task, because this must work while the runtime shuts down. One
    // thread serves all children, because each check reads the whole process table.
    let thread = std::thread::Builder::new().name("pollux-end".into()).spawn(serve_queue);
    queue.is_served = thread.is_ok();
    if thread.is_err() {
        Members::of(&std::mem::take(&mut queue.waiting)).signal(Force::Kill);
    }
}

/// Ends children until the queue is empty.
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

    /// Returns true if there is still a process to wait for. Sends SIGKILL after the grace period.
    fn is_left(&mut self) -> bool {
        self.members.refresh();
        if !self.members.alive() {
            registry().forget(self.leaders.iter().copied());
            reap_orphans();
            return false;
        }
        let waited = self.asked.elapsed();
        if waited >= GRACE {
            // The signal is repeated in every round, because a member may be starting another
            // process.
            self.members.signal(Force::Kill);
        }
        waited < GRACE + KILL_LIMIT
    }
}

/// Ends the members and returns true if all of them are gone. Blocks.
pub(super) fn end(mut members: Members) -> bool {
    members.signal(Force::Ask);
    wait(&mut members, GRACE, |_| {}) || {
        members.signal(Force::Kill);
        // The signal is repeated in every round, because a member may be starting another process.
        wait(&mut members, KILL_LIMIT, |members| members.signal(Force::Kill))
    }
}

/// Returns true if all members are gone within `limit`.
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
