//! Runs of calls that belong together: none of them runs unless all of them may.

use std::collections::VecDeque;

use pollux_protocol::{Call, CallStatus, JournalError};

use super::{Batch, OVER_BUDGET, Queued, STOPPED, Scheduler};

impl Scheduler<'_> {
    /// Runs calls one after the other, once all of them are approved. If one of them cannot run,
    /// none does. A call that fails is the last one that runs.
    pub(crate) async fn run_if_all_may(&self, calls: Vec<Call>) -> Result<Batch, JournalError> {
        let (mut batch, count) = (Batch::default(), calls.len());
        let mut queue: VecDeque<Queued> =
            calls.into_iter().map(|call| Queued { call, continues: None }).collect();
        let over_budget = queue.split_off(self.services.budget.take_calls(count).await);
        let mut approved = Vec::with_capacity(count);
        let mut may_run = over_budget.is_empty();
        while may_run && !queue.is_empty() {
            let group = self.next_group(&mut queue).await;
            approved.extend(self.approve_group(group, &mut batch).await?);
            may_run = approved.len() + queue.len() == count && !self.cancel.is_cancelled();
        }
        // The mode may have changed while a question waited.
        let mut approved = VecDeque::from(self.approve_stale(approved, &mut batch).await?);
        may_run &= approved.len() == count;
        while may_run && let Some(ready) = approved.pop_front() {
            self.run_group(vec![ready], &mut queue, &mut batch).await?;
            // A hook may have answered with another call in the place of this one.
            while !queue.is_empty() && !self.cancel.is_cancelled() {
                let group = self.next_group(&mut queue).await;
                let group = self.approve_group(group, &mut batch).await?;
                self.run_group(group, &mut queue, &mut batch).await?;
            }
            may_run = batch.finished.iter().all(|call| call.status == CallStatus::Success);
        }
        for ready in &approved {
            self.finish_cancelled(&mut batch, &ready.queued, Some(ready), STOPPED).await?;
        }
        for queued in &queue {
            self.finish_cancelled(&mut batch, queued, None, STOPPED).await?;
        }
        if !over_budget.is_empty() {
            batch.exceeded = self.services.budget.exceeded();
        }
        for queued in &over_budget {
            self.finish_cancelled(&mut batch, queued, None, OVER_BUDGET).await?;
        }
        Ok(batch)
    }
}
