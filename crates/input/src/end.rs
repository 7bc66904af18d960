//! Signals to a conversation, and its end.

/// A signal to the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TerminalSignal {
    /// Ctrl-C: stops the work, or clears the line.
    Interrupt,
    /// Request to end the program with this exit code.
    End(i32),
}

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
