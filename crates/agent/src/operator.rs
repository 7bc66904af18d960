//! The user as seen through the event stream: a question is sent as an event, and its reply arrives
//! as an operation.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use pollux_protocol::{
    Event, Operator, Origin, Question, QuestionId, QuestionOutcome, QuestionReply,
};
use tokio::sync::oneshot;

use crate::outlet::Outlet;

/// Operator of a session with a frontend. There is one for all agents of the session: anything that
/// runs in it may ask. The events about a question have the origin that the question names.
pub struct EventOperator {
    outlet: Outlet,
    open: Mutex<HashMap<QuestionId, oneshot::Sender<QuestionReply>>>,
}

impl EventOperator {
    /// Creates the operator of the session that this outlet belongs to.
    pub fn new(outlet: Outlet) -> Self {
        Self { outlet, open: Mutex::default() }
    }

    /// Delivers a reply to its question. A reply without an open question is dropped.
    pub(crate) fn reply(&self, reply: QuestionReply) {
        if let Some(asked) = self.open().remove(&reply.question) {
            drop(asked.send(reply));
        }
    }

    fn open(&self) -> MutexGuard<'_, HashMap<QuestionId, oneshot::Sender<QuestionReply>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Guard that withdraws a question if its future is dropped before the reply arrives.
struct OpenQuestion<'a> {
    operator: &'a EventOperator,
    id: QuestionId,
    from: Arc<Origin>,
}

impl Drop for OpenQuestion<'_> {
    fn drop(&mut self) {
        if self.operator.open().remove(&self.id).is_some() {
            let withdrawn = Event::QuestionWithdrawn(self.id);
            self.operator.outlet.emit_at_once(Arc::clone(&self.from), withdrawn);
        }
    }
}

#[async_trait]
impl Operator for EventOperator {
    async fn ask(&self, question: Question) -> QuestionReply {
        let refusal = question.reply(QuestionOutcome::Cancel);
        let (id, from) = (question.id, Arc::clone(&question.from));
        let (sender, receiver) = oneshot::channel();
        self.open().insert(id, sender);
        let _open = OpenQuestion { operator: self, id, from: Arc::clone(&from) };
        self.outlet.emit_from(from, Event::Question(Box::new(question))).await;
        receiver.await.unwrap_or(refusal)
    }
}
