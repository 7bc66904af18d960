//! `web_fetch`: reads pages of the web.
//!
//! By default a prompt names the pages and a model answers from them ([`prompted`]); with
//! `experimental.directWebFetch` the page itself is returned ([`direct`]). In both cases only
//! public addresses are reached, unless `pollux.web.privateHosts` lists the host.

use std::sync::Arc;
use std::time::Instant;

use pollux_protocol::{
    Args, CallId, Confirmation, ConfirmationKind, Declaration, Invocation, Tool, ToolError,
    ToolErrorKind, ToolKind, ToolOutput,
};
use serde::Deserialize;
use serde_json::json;
use url::Url;

use crate::context::{ToolContext, failed};
use crate::validation::Schema;
use crate::web_page::WebAccess;

mod addresses;
mod direct;
mod prompted;
mod rate;

use direct::DirectFetch;
use prompted::PromptedFetch;
use rate::RateLimit;

/// Name of the tool for models and policies.
const NAME: &str = "web_fetch";

/// The tool `web_fetch`.
pub(crate) struct WebFetchTool {
    shared: Arc<Shared>,
    schema: Schema,
}

/// State that all calls share.
struct Shared {
    context: Arc<ToolContext>,
    rate: RateLimit,
}

impl Shared {
    /// Returns the access to the web.
    fn web(&self) -> Result<&WebAccess, ToolError> {
        let none = || processing_error("Web access is not available in this session.".to_owned());
        self.context.web.as_ref().ok_or_else(none)
    }

    /// Counts a fetch from the host of `url`; returns false if there were too many.
    fn admits(&self, url: &Url) -> bool {
        self.rate.admit(url.host_str().unwrap_or_default(), Instant::now())
    }
}

impl WebFetchTool {
    /// Creates the tool for a session.
    pub(crate) fn new(context: Arc<ToolContext>) -> Self {
        let schema = if context.options.direct_web_fetch {
            json!({
                "type": "object",
                "properties": {
                    "url": {"type": "string", "description": "The http or https URL of the page."}
                },
                "required": ["url"]
            })
        } else {
            json!({
                "type": "object",
                "properties": {
                    "prompt": {
                        "type": "string",
                        "description": "Up to 20 complete URLs (http:// or https://), and what to do with the pages: \
                                        'Summarize https://example.com/a and compare it with \
                                        https://example.com/b'."
                    }
                },
                "required": ["prompt"]
            })
        };
        Self {
            shared: Arc::new(Shared { context, rate: RateLimit::default() }),
            schema: Schema::new(schema),
        }
    }
}

#[derive(Debug, Deserialize)]
struct Params {
    #[serde(default)]
    prompt: String,
    #[serde(default)]
    url: String,
}

impl Tool for WebFetchTool {
    fn name(&self) -> &'static str {
        NAME
    }

    fn display_name(&self) -> &'static str {
        "WebFetch"
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Fetch
    }

    fn declaration(&self) -> Declaration {
        let description = if self.shared.context.options.direct_web_fetch {
            "Fetches one web page. Returns text unchanged, HTML as Markdown, and images and PDF as media. \
             To fetch several pages, call it several times. Addresses of this machine and of private \
             networks are refused."
        } else {
            "Fetches web pages and processes them as the prompt says, for example to summarize or compare \
             them. Files on GitHub are fetched as text. Addresses of this machine and of private \
             networks are refused."
        };
        Declaration {
            name: NAME.to_owned(),
            description: description.to_owned(),
            parameters: self.schema.document().clone(),
        }
    }

    fn prepare(&self, args: &Args) -> Result<Box<dyn Invocation>, ToolError> {
        let Params { prompt, url } = self.schema.read(args)?;
        let shared = Arc::clone(&self.shared);
        if self.shared.context.options.direct_web_fetch {
            Ok(Box::new(DirectFetch::new(shared, &url)?))
        } else {
            Ok(Box::new(PromptedFetch::new(shared, prompt)?))
        }
    }
}

/// Returns the confirmation that the user is shown before pages are fetched.
fn confirmation(call_id: &CallId, prompt: &str, urls: &[Url]) -> Confirmation {
    let kind = ConfirmationKind::Information {
        prompt: prompt.to_owned(),
        urls: urls.iter().map(ToString::to_string).collect(),
    };
    Confirmation { call_id: call_id.clone(), title: "Confirm Web Fetch".to_owned(), kind }
}

fn processing_error(message: String) -> ToolError {
    ToolError::new(ToolErrorKind::WebFetchProcessingError, message)
}

fn cancelled() -> ToolError {
    processing_error("The fetch was cancelled.".to_owned())
}

/// Returns the result of a failed fetch, for model and user.
fn refused(error: ToolError) -> ToolOutput {
    let shown = format!("Error: {}", error.message);
    failed(error, shown)
}
