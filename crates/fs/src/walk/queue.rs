//! Queue of jobs that can add further jobs, shared by threads that end together.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Stack of jobs, and the number of jobs in progress.
pub(super) struct Queue<J> {
    state: Mutex<State<J>>,
    changed: Condvar,
}

struct State<J> {
    jobs: Vec<J>,
    active: usize,
}

/// Job taken from the queue. Dropping it marks it as done, so that the other threads do not wait
/// forever after a panic in one thread.
pub(super) struct Claim<'q, J> {
    queue: &'q Queue<J>,
    pub(super) job: J,
    /// Further jobs added by this one.
    pub(super) more: Vec<J>,
}

impl<J> Queue<J> {
    pub(super) fn new(jobs: Vec<J>) -> Self {
        Self { state: Mutex::new(State { jobs, active: 0 }), changed: Condvar::new() }
    }

    /// Returns the next job; waits while jobs in progress may add one. `None` if all work is done.
    pub(super) fn next(&self) -> Option<Claim<'_, J>> {
        let mut state = self.lock();
        loop {
            if let Some(job) = state.jobs.pop() {
                state.active += 1;
                return Some(Claim { queue: self, job, more: Vec::new() });
            }
            if state.active == 0 {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<J>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<J> Drop for Claim<'_, J> {
    fn drop(&mut self) {
        let mut state = self.queue.lock();
        state.active -= 1;
        let wake = state.active == 0 || !self.more.is_empty();
        state.jobs.append(&mut self.more);
        drop(state);
        if wake {
            self.queue.changed.notify_all();
        }
    }
}
