//! Direct fetch: returns the page at one address unchanged (`experimental.directWebFetch`).

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use http::HeaderMap;
use pollux_net::Reach;
use pollux_protocol::{
    CallId, Confirmation, Display, Effects, Invocation, Part, RunContext, SideModels, ToolError,
    ToolErrorKind, ToolOutput,
};
use url::Url;

use super::{Shared, addresses, confirmation, processing_error};
use crate::side_call::Caller;
use crate::validation::invalid;
use crate::web_page::{Content, Fetched, TEXT_LIMIT, cut, cut_with};
use pollux_protocol::untrusted;

/// Preferred media types: text formats that models read best come first.
const ACCEPT: &str = "text/markdown, text/plain;q=0.9, application/json;q=0.9, text/html;q=0.8, application/pdf;q=0.7, video/*;q=0.7, */*;q=0.5";

/// Maximum number of characters of an error response that are reported.
const REFUSAL_LIMIT: usize = 10_000;
const REFUSAL_CUT: &str = "\n\n... [Error response truncated] ...";

/// A fetch of one address.
pub(super) struct DirectFetch {
    shared: Arc<Shared>,
    url: Url,
}

impl DirectFetch {
    /// Creates a fetch of an address.
    ///
    /// # Errors
    /// `invalid_tool_params` if the text is not an address.
    pub(super) fn new(shared: Arc<Shared>, written: &str) -> Result<Self, ToolError> {
        if written.is_empty() {
            return Err(invalid("The 'url' parameter is required."));
        }
        let url =
            Url::parse(written).map_err(|_| invalid(format!("Invalid URL: \"{written}\"")))?;
        Ok(Self { shared, url: addresses::raw(&url) })
    }

    async fn fetch(&self, caller: &Caller) -> Result<ToolOutput, ToolError> {
        let url = &self.url;
        let private =
            || processing_error(format!("Access to blocked or private host {url} is not allowed."));
        let web = self.shared.web()?;
        if !matches!(url.scheme(), "http" | "https") || web.pages.reach(url).await == Reach::Private
        {
            return Err(private());
        }
        if !self.shared.admits(url) {
            return Err(processing_error(format!("Rate limit exceeded for host: {url}")));
        }
        let fetched = web.fetch(url, ACCEPT, &caller.cancel).await.map_err(|error| {
            if error.is_private() {
                return private();
            }
            let message = format!("Error during experimental fetch for {url}: {error}");
            ToolError::new(ToolErrorKind::WebFetchFallbackFailed, message)
        })?;
        let name = url.to_string();
        // Decoding a large page takes some time.
        crate::blocking::blocking(&caller.cancel, move |_| Ok(result(&fetched, &name))).await
    }
}

/// Returns the result for a page.
fn result(fetched: &Fetched, url: &str) -> ToolOutput {
    if fetched.status >= 400 {
        let status = fetched.status;
        let body = cut_with(fetched.raw_text(), REFUSAL_LIMIT, REFUSAL_CUT);
        let headers = shown(&fetched.headers);
        let reported =
            format!("Request failed with status {status}\nHeaders: {headers}\nResponse: {body}");
        return ToolOutput::quiet(untrusted::wrap(&reported))
            .display(Display::Text(format!("Failed to fetch {url} (Status: {status})")));
    }
    let kind = fetched.media_type();
    let is_html = fetched.is_html();
    let name = if kind.is_empty() { "unknown" } else { fetched.content_type() };
    match fetched.content(true, is_html) {
        Content::Media(data) => ToolOutput {
            content: vec![Part::inline(&kind, data.as_str())],
            display: Some(Display::Text(format!("Fetched {name} from {url}"))),
            ..ToolOutput::default()
        },
        Content::Text(text) => {
            let shown = if is_html {
                format!("Fetched and converted HTML content from {url}")
            } else {
                format!("Fetched {name} content from {url}")
            };
            ToolOutput::quiet(untrusted::wrap(&cut(text, TEXT_LIMIT))).display(Display::Text(shown))
        }
    }
}

/// Formats headers as JSON, sorted by name.
fn shown(headers: &HeaderMap) -> String {
    let mut by_name: BTreeMap<&str, String> = BTreeMap::new();
    for (name, value) in headers {
        let value = String::from_utf8_lossy(value.as_bytes());
        by_name
            .entry(name.as_str())
            .and_modify(|so_far| *so_far = format!("{so_far}, {value}"))
            .or_insert_with(|| value.into_owned());
    }
    serde_json::to_string_pretty(&by_name).unwrap_or_default()
}

#[async_trait]
impl Invocation for DirectFetch {
    fn effects(&self) -> Effects {
        Effects::network(self.url.host_str())
    }

    fn describe(&self) -> String {
        format!("Fetching content from: {}", self.url)
    }

    async fn confirmation(
        &self,
        call_id: &CallId,
        _side_models: &Arc<dyn SideModels>,
    ) -> Result<Confirmation, ToolError> {
        Ok(confirmation(call_id, &format!("Fetch {}", self.url), std::slice::from_ref(&self.url)))
    }

    async fn run(&self, run: RunContext) -> ToolOutput {
        self.fetch(&run.into()).await.unwrap_or_else(super::refused)
    }
}
