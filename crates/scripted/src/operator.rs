//! A person who replies as the test says.

use std::sync::Mutex;

use async_trait::async_trait;
use pollux_protocol::{Operator, Outcome, Question, Reply};

/// Reply to a question; `None` waits forever.
type Replying = Box<dyn Fn(&Question) -> Option<Reply> + Send + Sync>;

/// Replies to questions and keeps them.
pub struct ScriptedOperator {
    reply: Replying,
    asked: Mutex<Vec<Question>>,
}

impl ScriptedOperator {
    /// Creates a person who gives this outcome to everything.
    pub fn answering(outcome: Outcome) -> Self {
        Self::new(move |asked| Some(asked.reply(outcome)))
    }

    /// Creates a person who never replies.
    pub fn silent() -> Self {
        Self::new(|_| None)
    }

    /// Creates a person who replies as `reply` says, and never where it gives `None`.
    pub fn new(reply: impl Fn(&Question) -> Option<Reply> + Send + Sync + 'static) -> Self {
        Self { reply: Box::new(reply), asked: Mutex::default() }
    }

    /// Returns the questions so far.
    pub fn asked(&self) -> Vec<Question> {
        self.asked.lock().unwrap().clone()
    }
}

#[async_trait]
impl Operator for ScriptedOperator {
    async fn ask(&self, question: Question) -> Reply {
        let reply = (self.reply)(&question);
        self.asked.lock().unwrap().push(question);
        match reply {
            Some(reply) => reply,
            None => std::future::pending().await,
        }
    }
}
