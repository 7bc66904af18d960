//! `google_web_search`: asks a model whose vendor searches the web.

use async_trait::async_trait;
use pollux_protocol::{
    Args, Declaration, Display, Effects, Invocation, ModelError, ModelErrorKind, ModelLimits, Part,
    ResponseChunk, RunContext, Tool, ToolError, ToolErrorKind, ToolKind, ToolOutput,
};
use serde::Deserialize;
use serde_json::json;

use crate::citations::{OffsetUnit, cite, source_list};
use crate::context::failed;
use crate::side_call::{self, Caller};
use crate::validation::{Schema, invalid};

/// Name of the tool for models and policies.
const NAME: &str = "google_web_search";

/// Configuration name of the model that searches.
const CONFIGURATION: &str = "web-search";

/// The tool `google_web_search`.
pub(crate) struct GoogleWebSearchTool {
    schema: Schema,
}

impl GoogleWebSearchTool {
    /// Creates the tool.
    pub(crate) fn new() -> Self {
        let schema = json!({
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "The search query."}
            },
            "required": ["query"]
        });
        Self { schema: Schema::new(schema) }
    }
}

#[derive(Debug, Deserialize)]
struct Params {
    query: String,
}

impl Tool for GoogleWebSearchTool {
    fn name(&self) -> &'static str {
        NAME
    }

    fn display_name(&self) -> &'static str {
        "GoogleSearch"
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Search
    }

    fn declaration(&self) -> Declaration {
        Declaration {
            name: NAME.to_owned(),
            description: "Searches the web with Google and returns an answer with numbered sources, such \
                          as [1]. Use it for information that may be newer than your training data, \
                          such as versions, prices, news and error messages. To read a page with a \
                          known URL, use web_fetch."
                .to_owned(),
            parameters: self.schema.document().clone(),
        }
    }

    /// The tool is not offered for vendors that cannot search the web.
    fn is_offered_to(&self, _model: &str, limits: ModelLimits) -> bool {
        limits.web_search
    }

    fn prepare(&self, args: &Args) -> Result<Box<dyn Invocation>, ToolError> {
        let Params { query } = self.schema.read(args)?;
        if query.trim().is_empty() {
            return Err(invalid("The 'query' parameter cannot be empty."));
        }
        Ok(Box::new(Search { query }))
    }
}

struct Search {
    query: String,
}

#[async_trait]
impl Invocation for Search {
    fn effects(&self) -> Effects {
        Effects { network: true, ..Effects::default() }
    }

    fn describe(&self) -> String {
        format!("Searching the web for: \"{}\"", self.query)
    }

    async fn run(&self, run: RunContext) -> ToolOutput {
        match self.ask(&run.into()).await {
            Ok(answer) => self.result(&answer),
            Err(error) if error.kind == ModelErrorKind::Cancelled => {
                ToolOutput::text("Web search was cancelled.")
            }
            Err(error) => {
                let query = &self.query;
                let message = format!("Error during web search for query \"{query}\": {error}");
                let error = ToolError::new(ToolErrorKind::WebSearchFailed, message);
                failed(error, "Error performing web search.")
            }
        }
    }
}

impl Search {
    async fn ask(&self, caller: &Caller) -> Result<ResponseChunk, ModelError> {
        side_call::ask(CONFIGURATION, vec![Part::text(self.query.as_str())], caller).await
    }

    fn result(&self, answer: &ResponseChunk) -> ToolOutput {
        let query = &self.query;
        if answer.text().trim().is_empty() {
            let reported = format!("No search results or information found for query: \"{query}\"");
            let shown = Display::Text("No information found.".to_owned());
            return ToolOutput::quiet(reported).display(shown);
        }
        let grounding = answer.grounding.as_deref().cloned().unwrap_or_default();
        let mut text = cite(&answer.parts, &grounding, OffsetUnit::Bytes);
        if let Some(sources) = source_list(&grounding, "No URI") {
            text = format!("{text}\n\n{sources}");
        }
        ToolOutput::quiet(format!("Web search results for \"{query}\":\n\n{text}"))
            .display(Display::Text(format!("Search results for \"{query}\" returned.")))
    }
}
