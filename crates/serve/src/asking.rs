//! Questions of an agent that wait for the answers of the client.

use std::collections::HashMap;

use futures::future::{AbortHandle, Abortable, Aborted, BoxFuture};
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use pollux_protocol::{QuestionId, QuestionReply};

/// Questions that wait for answers. Dropping it withdraws them.
#[derive(Default)]
pub(crate) struct Asking {
    answers: FuturesUnordered<BoxFuture<'static, (QuestionId, Result<QuestionReply, Aborted>)>>,
    withdrawals: HashMap<QuestionId, AbortHandle>,
}

impl Asking {
    /// Adds a question, with the work that asks it.
    pub(crate) fn ask(&mut self, id: QuestionId, asking: BoxFuture<'static, QuestionReply>) {
        let (withdrawal, registration) = AbortHandle::new_pair();
        self.withdrawals.insert(id, withdrawal);
        let asking = Abortable::new(asking, registration);
        self.answers.push(asking.map(move |answer| (id, answer)).boxed());
    }

    /// Withdraws a question.
    pub(crate) fn withdraw(&mut self, id: QuestionId) {
        if let Some(withdrawal) = self.withdrawals.remove(&id) {
            withdrawal.abort();
        }
    }

    /// Withdraws all questions.
    pub(crate) fn clear(&mut self) {
        self.answers.clear();
        self.withdrawals.clear();
    }

    /// Waits for the next question that is done. Returns its answer, or `None` if it was withdrawn.
    /// Waits forever if there is no question.
    pub(crate) async fn next(&mut self) -> Option<QuestionReply> {
        match self.answers.next().await {
            Some((id, answer)) => {
                self.withdrawals.remove(&id);
                answer.ok()
            }
            None => std::future::pending().await,
        }
    }
}
