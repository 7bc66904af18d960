//! What the other side of a conversation takes.

use crate::catalog::{CallIds, ReasoningKey};

/// What the other side takes; messages depend on nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::openai) struct Shape {
    /// Calls and results are text.
    pub(in crate::openai) emulated: bool,
    pub(in crate::openai) vision: bool,
    pub(in crate::openai) documents: bool,
    pub(in crate::openai) audio: bool,
    pub(in crate::openai) call_ids: CallIds,
    pub(in crate::openai) reasoning: Option<ReasoningKey>,
    pub(in crate::openai) user_after_tool: bool,
}
