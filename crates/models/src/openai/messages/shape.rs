//! Capabilities of the service and the model that determine the form of messages.

use super::super::reasoning::ReasoningReturn;
use crate::catalog::CallIds;

/// Capabilities of the service and the model; the form of messages depends on nothing else.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(in crate::openai) struct Shape {
    /// True if calls and results are sent as text.
    pub(in crate::openai) emulated: bool,
    pub(in crate::openai) vision: bool,
    pub(in crate::openai) documents: bool,
    pub(in crate::openai) audio: bool,
    pub(in crate::openai) call_ids: CallIds,
    pub(in crate::openai) reasoning: ReasoningReturn,
    pub(in crate::openai) user_after_tool: bool,
}
