//! The user as seen through the event stream: a question is sent as an event, and its reply arrives
//! as an operation.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use pollux_protocol::{Event, Operator, Question, QuestionId, QuestionOutcome, QuestionReply};
use tokio::sync::oneshot;

use crate::outlet::Outlet;

/// Operator of a session with a frontend.
pub(crate) struct EventOperator {
    outlet: Outlet,
    open: Mutex<HashMap<QuestionId, oneshot::Sender<QuestionReply>>>,
}

impl EventOperator {
    pub(crate) fn new(outlet: Outlet) -> Self {
        Self { outlet, open: Mutex::default() }
    }

    /// Delivers a reply to its question. A reply without an open question is dropped.
    pub(crate) fn reply(&self, reply: QuestionReply) {
        if let Some(asked) = self.open().remove(&reply.question) {
            drop(asked.send(reply));
        }
    }

    fn open(
        &self,
    ) -> std::sync::MutexGuard<'_, HashMap<QuestionId, oneshot::Sender<QuestionReply>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Guard that closes a question when its future is dropped.
struct OpenQuestion<'a>(&'a EventOperator, QuestionId);

impl Drop for OpenQuestion<'_> {
    fn drop(&mut self) {
        self.0.open().remove(&self.1);
    }
}

#[async_trait]
impl Operator for EventOperator {
    async fn ask(&self, question: Question) -> QuestionReply {
        let refusal = question.reply(QuestionOutcome::Cancel);
        let (sender, receiver) = oneshot::channel();
        self.open().insert(question.id, sender);
        let _open = OpenQuestion(self, question.id);
        self.outlet.emit(Event::Question(Box::new(question))).await;
        receiver.await.unwrap_or(refusal)
    }
}
