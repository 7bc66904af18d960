//! Tools, prompts and resources of a server: all pages of its lists, and the tools that are used.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use rmcp::model::{
    self, ClientRequest, MetaObject, PaginatedRequestParams, Prompt, Resource, ServerResult, Tool,
};
use rmcp::service::{PeerRequestOptions, ServiceError};

use crate::config::ServerConfig;
use crate::connection::Connection;
use crate::incoming::DROPPED;
use crate::names::UniqueNames;
use crate::request_error;

/// Maximum number of pages of a list.
const MOST_PAGES: usize = 1000;
/// Maximum number of items of a list.
const MOST_ITEMS: usize = 10_000;
/// Time limit of the lists of prompts and resources. A server that does not answer these requests
/// must not hold up its tools.
pub(crate) const OTHER_LISTS: Duration = Duration::from_secs(10);
/// Time limit for one page of a list.
const PAGE_LIMIT: Duration = Duration::from_mins(1);

/// Items that a server lists.
#[derive(Debug)]
pub(crate) struct Listed<T> {
    /// Usable items.
    pub(crate) items: Vec<T>,
    /// Messages for the user about items that cannot be used.
    pub(crate) problems: Vec<String>,
}

impl<T> Default for Listed<T> {
    fn default() -> Self {
        Self { items: Vec::new(), problems: Vec::new() }
    }
}

/// Page of a list.
struct Page<T> {
    items: Vec<T>,
    next: Option<String>,
    meta: Option<MetaObject>,
}

/// Tools of a server with their names for models.
#[derive(Debug, Default)]
pub(crate) struct NamedTools {
    /// Tools that are used.
    pub(crate) tools: Vec<(String, Tool)>,
    /// Names of tools that the settings leave out.
    pub(crate) left_out: Vec<String>,
    /// Messages for the user about items that cannot be used.
    pub(crate) problems: Vec<String>,
}

impl Listed<Tool> {
    /// Chooses the tools that the settings use, and names them.
    pub(crate) fn named(self, config: &ServerConfig) -> NamedTools {
        let mut named = NamedTools { problems: self.problems, ..NamedTools::default() };
        let (mut names, mut seen) = (UniqueNames::default(), HashSet::new());
        for tool in self.items {
            if !config.uses(&tool.name) {
                named.left_out.push(tool.name.into_owned());
            } else if seen.insert(tool.name.clone()) {
                named.tools.push((names.next(&config.name, &tool.name), tool));
            } else {
                named.problems.push(format!("the tool {:?} is listed twice", tool.name));
            }
        }
        named
    }
}

impl Connection {
    /// Lists all tools of the server.
    ///
    /// # Errors
    /// The same as [`Self::all`].
    pub(crate) async fn tools(&self, limit: Duration) -> Result<Listed<Tool>, String> {
        if !self.lists.tools {
            return Ok(Listed::default());
        }
        let request = |params| {
            let request = model::ListToolsRequest { params, ..model::ListToolsRequest::default() };
            ClientRequest::ListToolsRequest(request)
        };
        let page = |result| match result {
            ServerResult::ListToolsResult(page) => {
                Some(Page { items: page.tools, next: page.next_cursor, meta: page.meta })
            }
            _ => None,
        };
        self.all("tools", limit, request, page).await
    }

    /// Lists all prompts of the server.
    ///
    /// # Errors
    /// The same as [`Self::all`].
    pub(crate) async fn prompts(&self, limit: Duration) -> Result<Listed<Prompt>, String> {
        if !self.lists.prompts {
            return Ok(Listed::default());
        }
        let request = |params| {
            let request =
                model::ListPromptsRequest { params, ..model::ListPromptsRequest::default() };
            ClientRequest::ListPromptsRequest(request)
        };
        let page = |result| match result {
            ServerResult::ListPromptsResult(page) => {
                Some(Page { items: page.prompts, next: page.next_cursor, meta: page.meta })
            }
            _ => None,
        };
        self.all("prompts", limit, request, page).await
    }

    /// Lists all resources of the server.
    ///
    /// # Errors
    /// The same as [`Self::all`].
    pub(crate) async fn resources(&self, limit: Duration) -> Result<Listed<Resource>, String> {
        if !self.lists.resources {
            return Ok(Listed::default());
        }
        let request = |params| {
            let request =
                model::ListResourcesRequest { params, ..model::ListResourcesRequest::default() };
            ClientRequest::ListResourcesRequest(request)
        };
        let page = |result| match result {
            ServerResult::ListResourcesResult(page) => {
                Some(Page { items: page.resources, next: page.next_cursor, meta: page.meta })
            }
            _ => None,
        };
        self.all("resources", limit, request, page).await
    }

    /// Reads a list page by page, all of them within `limit`. A page that cannot be read ends the
    /// list; the items before it are usable.
    ///
    /// # Errors
    /// A message for the user if even the first page cannot be read.
    async fn all<T>(
        &self,
        what: &str,
        limit: Duration,
        request: impl Fn(Option<PaginatedRequestParams>) -> ClientRequest,
        read: impl Fn(ServerResult) -> Option<Page<T>>,
    ) -> Result<Listed<T>, String> {
        let began = Instant::now();
        let mut listed = Listed::default();
        let mut cursor: Option<String> = None;
        for number in 1..=MOST_PAGES {
            let params = cursor
                .clone()
                .map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)));
            let left = limit.saturating_sub(began.elapsed());
            let answer = self.answer(request(params), left.min(PAGE_LIMIT)).await;
            let page =
                answer.and_then(|result| read(result).ok_or(ServiceError::UnexpectedResponse));
            let page = match page {
                Ok(page) => page,
                Err(ServiceError::McpError(error))
                    if error.code == model::ErrorCode::METHOD_NOT_FOUND =>
                {
                    return Ok(listed);
                }
                Err(error) if number == 1 => {
                    return Err(format!(
                        "cannot list its {what}: {}",
                        request_error::message(&error)
                    ));
                }
                Err(error) => {
                    let error = request_error::message(&error);
                    listed
                        .problems
                        .push(format!("page {number} of its {what} is missing: {error}"));
                    break;
                }
            };
            listed.items.extend(page.items);
            let dropped = page.meta.as_ref().and_then(|meta| meta.0.get(DROPPED));
            let dropped = dropped.and_then(serde_json::Value::as_array).into_iter().flatten();
            listed.problems.extend(dropped.filter_map(|text| text.as_str()).map(str::to_owned));
            // A server that returns the same page for ever is stopped.
            if page.next.is_none() || page.next == cursor || listed.items.len() >= MOST_ITEMS {
                break;
            }
            cursor = page.next;
        }
        listed.items.truncate(MOST_ITEMS);
        Ok(listed)
    }

    async fn answer(
        &self,
        request: ClientRequest,
        limit: Duration,
    ) -> Result<ServerResult, ServiceError> {
        let options = PeerRequestOptions::with_timeout(limit);
        self.peer().send_request_with_option(request, options).await?.await_response().await
    }
}
