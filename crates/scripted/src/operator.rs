//! An operator that replies as the test specifies.

use std::sync::Mutex;

use async_trait::async_trait;
use pollux_protocol::{Operator, Question, QuestionOutcome, QuestionReply};

/// Function that replies to a question; `None` leaves the question open forever.
type Replying = Box<dyn Fn(&Question) -> Option<QuestionReply> + Send + Sync>;

/// An operator that replies to questions and keeps them.
pub struct ScriptedOperator {
    reply: Replying,
    asked: Mutex<Vec<Question>>,
}

impl ScriptedOperator {
    /// Creates an operator that replies to every question with this outcome.
    pub fn answering(outcome: QuestionOutcome) -> Self {
        Self::new(move |asked| Some(asked.reply(outcome)))
    }

    /// Creates an operator that never replies.
    pub fn silent() -> Self {
        Self::new(|_| None)
    }

    /// Creates an operator that calls `reply` for its replies and never replies where `reply`
    /// returns `None`.
    pub fn new(reply: impl Fn(&Question) -> Option<QuestionReply> + Send + Sync + 'static) -> Self {
        Self { reply: Box::new(reply), asked: Mutex::default() }
    }

    /// Returns the questions so far.
    pub fn asked(&self) -> Vec<Question> {
        self.asked.lock().unwrap().clone()
    }
}

#[async_trait]
impl Operator for ScriptedOperator {
    async fn ask(&self, question: Question) -> QuestionReply {
        let reply = (self.reply)(&question);
        self.asked.lock().unwrap().push(question);
        match reply {
            Some(reply) => reply,
            None => std::future::pending().await,
        }
    }
}
