//! Time of a subagent's work, without the time in which the user answers its questions.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use pollux_protocol::{Operator, Question, QuestionReply};
use tokio::sync::watch;
use tokio::time::Instant;

/// Clock that stands still while a question waits for its answer.
pub(super) struct Clock {
    /// Number of open questions.
    open: watch::Sender<usize>,
}

impl Default for Clock {
    fn default() -> Self {
        Self { open: watch::Sender::new(0) }
    }
}

impl Clock {
    /// Waits until this time has passed.
    pub(super) async fn passed(&self, limit: Duration) {
        let mut open = self.open.subscribe();
        let mut left = limit;
        loop {
            // Waiting fails only if the clock is gone.
            drop(open.wait_for(|open| *open == 0).await);
            let began = Instant::now();
            tokio::select! {
                () = tokio::time::sleep(left) => return,
                _ = open.wait_for(|open| *open > 0) => {
                    left = left.saturating_sub(began.elapsed());
                }
            }
        }
    }
}

/// Operator that stops the clock during questions.
pub(super) struct TimedOperator {
    inner: Arc<dyn Operator>,
    clock: Arc<Clock>,
}

impl TimedOperator {
    pub(super) fn new(inner: Arc<dyn Operator>, clock: &Arc<Clock>) -> Self {
        Self { inner, clock: Arc::clone(clock) }
    }
}

/// Counts a question until it is dropped.
struct Open<'a>(&'a Clock);

impl<'a> Open<'a> {
    fn new(clock: &'a Clock) -> Self {
        clock.open.send_modify(|open| *open += 1);
        Self(clock)
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.open.send_modify(|open| *open -= 1);
    }
}

#[async_trait]
impl Operator for TimedOperator {
    async fn ask(&self, question: Question) -> QuestionReply {
        let _open = Open::new(&self.clock);
        self.inner.ask(question).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_time_of_questions_does_not_count() {
        let clock = Clock::default();
        let began = Instant::now();
        let asking = async {
            tokio::time::sleep(Duration::from_secs(4)).await;
            let first = Open::new(&clock);
            let second = Open::new(&clock);
            tokio::time::sleep(Duration::from_secs(100)).await;
            drop(first);
            tokio::time::sleep(Duration::from_secs(100)).await;
            drop(second);
        };
        tokio::join!(clock.passed(Duration::from_secs(10)), asking);
        assert_eq!(began.elapsed().as_secs(), 210);
    }
}
