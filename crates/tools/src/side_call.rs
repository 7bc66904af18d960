//! What tools ask models beside the conversation.

use pollux_protocol::{
    CancellationToken, Chunk, Content, Entry, ModelError, ModelErrorKind, ModelRole, Part, Request,
    RunContext, SideModels,
};

use crate::context::ToolContext;

/// The call on whose behalf a model is asked.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    pub(crate) prompt_id: String,
    pub(crate) cancel: CancellationToken,
}

impl From<RunContext> for Caller {
    fn from(run: RunContext) -> Self {
        Self { prompt_id: run.prompt_id, cancel: run.cancel }
    }
}

/// The models for side calls.
///
/// # Errors
/// There are none in this session.
pub(crate) fn models(context: &ToolContext) -> Result<&dyn SideModels, ModelError> {
    let none = || ModelError::new(ModelErrorKind::Config, "no model is there to be asked.");
    context.models.as_deref().ok_or_else(none)
}

/// Asks the model of a configuration, under the instruction of the conversation, and waits for the whole answer.
///
/// # Errors
/// Those of the model.
pub(crate) async fn ask(
    models: &dyn SideModels,
    configuration: &str,
    parts: Vec<Part>,
    caller: &Caller,
) -> Result<Chunk, ModelError> {
    let choice = models.select(configuration).await?;
    let request = Request {
        entries: vec![Entry::detached(Content::user(parts))],
        system: models.instruction(),
        prompt_id: caller.prompt_id.clone(),
        role: ModelRole::UtilityTool,
        ..Request::default()
    };
    choice.model.generate(request, caller.cancel.clone()).await
}
