//! Models for side calls outside the conversation.

use std::sync::Arc;

use async_trait::async_trait;

use crate::{Choice, ModelError};

/// Provider of models for side calls: a search, the correction of an edit, a check. The models
/// belong to the agent: observers receive events for every call, as for those of the conversation.
/// A request without a `prompt_id` gets that of the current prompt.
#[async_trait]
pub trait SideModels: Send + Sync {
    /// Returns the model that a configuration names (`web-search`, `edit-corrector`, …); the
    /// conversation's own model if its vendor has no model for that configuration. Set
    /// [`ModelRequest::role`](crate::Request::role) to the purpose of the call.
    ///
    /// # Errors
    /// The same as of [`Models::select`](crate::Models::select).
    async fn select(&self, alias: &str) -> Result<Choice, ModelError>;

    /// Returns the system instruction of the conversation's last request.
    fn instruction(&self) -> Option<Arc<str>>;
}
