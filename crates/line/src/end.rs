//! End of a conversation.

/// Reason why a conversation has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConversationEnd {
    /// The user has ended it.
    Finished,
    /// The agent has ended by itself, which is a bug.
    AgentGone,
    /// The terminal was closed.
    HungUp,
    /// A signal has ended the program, with this exit code.
    Signalled(i32),
}
