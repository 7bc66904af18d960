//! Models for whoever asks something beside the conversation.

use std::sync::Arc;

use async_trait::async_trait;

use crate::{Choice, ModelError};

/// Hands out models for side calls: a search, the mending of an edit, a check. They are the agent's: every call is told
/// to the observers as those of the conversation are. A request without a `prompt_id` gets that of the prompt under
/// way.
#[async_trait]
pub trait SideModels: Send + Sync {
    /// The model that a configuration names (`web-search`, `edit-corrector`, …); the conversation's own model where
    /// its vendor has none for it. Set [`Request::role`](crate::Request::role) to what the call is for.
    ///
    /// # Errors
    /// Those of [`Models::select`](crate::Models::select).
    async fn select(&self, alias: &str) -> Result<Choice, ModelError>;

    /// The system instruction of the conversation, as its last request had it.
    fn instruction(&self) -> Option<Arc<str>>;
}
