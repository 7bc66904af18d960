//! The agent, as a frontend sees it.

use std::sync::Arc;

use futures::stream::BoxStream;

use crate::{Event, Op};

/// The agent has ended and takes no more wishes.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("the agent has ended")]
pub struct AgentGone;

/// The one way between a frontend and the agent: wishes down, events up.
pub trait AgentHandle: Send + Sync {
    /// Sends a wish. Never blocks.
    fn send(&self, op: Op) -> Result<(), AgentGone>;

    /// The events from the first on. There is one reader; a second call yields an ended stream.
    /// A reader that stops reading holds the agent back, so that memory stays bounded.
    fn events(&self) -> BoxStream<'static, Arc<Event>>;
}
