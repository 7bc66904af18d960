//! Side calls: requests of tools to models outside the conversation.

use std::sync::Arc;

use pollux_protocol::{
    CancellationToken, Content, HistoryEntry, ModelError, ModelRequest, ModelRole, Part,
    ResponseChunk, RunContext, SideModels,
};

/// The call on whose behalf a model is asked.
#[derive(Clone)]
pub(crate) struct Caller {
    pub(crate) prompt_id: String,
    pub(crate) models: Arc<dyn SideModels>,
    pub(crate) cancel: CancellationToken,
}

impl From<RunContext> for Caller {
    fn from(run: RunContext) -> Self {
        Self { prompt_id: run.prompt_id, models: run.models, cancel: run.cancel }
    }
}

/// Asks the model of a configuration, with the system instruction of the conversation, and waits
/// for the whole answer.
///
/// # Errors
/// The errors of the model.
pub(crate) async fn ask(
    configuration: &str,
    parts: Vec<Part>,
    caller: &Caller,
) -> Result<ResponseChunk, ModelError> {
    let choice = caller.models.select(configuration).await?;
    let request = ModelRequest {
        entries: vec![HistoryEntry::detached(Content::user(parts))],
        system: caller.models.instruction(),
        prompt_id: caller.prompt_id.clone(),
        role: ModelRole::UtilityTool,
        ..ModelRequest::default()
    };
    choice.model.generate(request, caller.cancel.clone()).await
}
