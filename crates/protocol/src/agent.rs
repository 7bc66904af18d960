//! The agent as a frontend uses it.

use std::sync::Arc;

use futures::stream::BoxStream;

use crate::{CommandSet, Envelope, Live, Op};

/// Error of sending to an agent that has ended and accepts no more operations.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("the agent has ended")]
pub struct AgentGone;

/// The only connection between a frontend and the agent: operations go in, events come out.
pub trait AgentHandle: Send + Sync {
    /// Sends an operation without blocking.
    fn send(&self, op: Op) -> Result<(), AgentGone>;

    /// Returns the events, starting with the first one. There is one reader: a second call returns
    /// a stream that has ended. A reader that stops reading makes the agent wait, so that memory
    /// use stays bounded.
    fn events(&self) -> BoxStream<'static, Arc<Envelope>>;

    /// Returns the registry of slash commands, which may change at any time.
    fn commands(&self) -> Live<CommandSet>;
}
