//! The agent, as a frontend sees it.

use std::sync::Arc;

use futures::stream::BoxStream;

use crate::{CommandSet, Envelope, Live, Op};

/// The agent has ended and accepts no more operations.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("the agent has ended")]
pub struct AgentGone;

/// The one way between a frontend and the agent: operations down, events up.
pub trait AgentHandle: Send + Sync {
    /// Sends an operation. Never blocks.
    fn send(&self, op: Op) -> Result<(), AgentGone>;

    /// Returns the events from the first on. There is one reader; a second call yields an ended stream.
    /// A reader that stops reading holds the agent back, so that memory stays bounded.
    fn events(&self) -> BoxStream<'static, Arc<Envelope>>;

    /// Returns the registry of slash commands. It may change at any time.
    fn commands(&self) -> Live<CommandSet>;
}
