//! Tools of a server: all pages of its list, and those that are used.

use std::collections::HashSet;
use std::time::Duration;

use rmcp::model::{self, ClientRequest, PaginatedRequestParams, ServerResult, Tool};
use rmcp::service::{PeerRequestOptions, ServiceError};

use crate::config::ServerConfig;
use crate::connection::Connection;
use crate::incoming::DROPPED;
use crate::names::UniqueNames;

/// Maximum number of pages of a list.
const MOST_PAGES: usize = 1000;
/// Maximum number of tools of a server.
const MOST_TOOLS: usize = 10_000;
/// Time limit for one page of a list.
const PAGE_LIMIT: Duration = Duration::from_mins(1);

/// Tools that a server lists.
#[derive(Debug, Default)]
pub(crate) struct Listed {
    /// Usable tools.
    tools: Vec<Tool>,
    /// Messages for the user about items that cannot be used.
    problems: Vec<String>,
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

impl Listed {
    /// Chooses the tools that the settings use, and names them.
    pub(crate) fn named(self, config: &ServerConfig) -> NamedTools {
        let mut named = NamedTools { problems: self.problems, ..NamedTools::default() };
        let (mut names, mut seen) = (UniqueNames::default(), HashSet::new());
        for tool in self.tools {
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
    /// Lists all tools of the server, page by page. A page that cannot be read ends the list; the
    /// tools before it are usable.
    ///
    /// # Errors
    /// A message for the user if even the first page cannot be read.
    pub(crate) async fn tools(&self, limit: Duration) -> Result<Listed, String> {
        let mut listed = Listed::default();
        if !self.has_tools {
            return Ok(listed);
        }
        let mut cursor: Option<String> = None;
        for number in 1..=MOST_PAGES {
            let page = match self.page(cursor.clone(), limit.min(PAGE_LIMIT)).await {
                Ok(page) => page,
                Err(ServiceError::McpError(error))
                    if error.code == model::ErrorCode::METHOD_NOT_FOUND =>
                {
                    return Ok(listed);
                }
                Err(error) if number == 1 => {
                    return Err(format!("cannot list its tools: {error}"));
                }
                Err(error) => {
                    listed.problems.push(format!("page {number} of its tools is missing: {error}"));
                    break;
                }
            };
            listed.tools.extend(page.tools);
            let dropped = page.meta.as_ref().and_then(|meta| meta.0.get(DROPPED));
            let dropped = dropped.and_then(serde_json::Value::as_array).into_iter().flatten();
            listed.problems.extend(dropped.filter_map(|text| text.as_str()).map(str::to_owned));
            // A server that returns the same page for ever is stopped.
            if page.next_cursor.is_none()
                || page.next_cursor == cursor
                || listed.tools.len() >= MOST_TOOLS
            {
                break;
            }
            cursor = page.next_cursor;
        }
        listed.tools.truncate(MOST_TOOLS);
        Ok(listed)
    }

    async fn page(
        &self,
        cursor: Option<String>,
        limit: Duration,
    ) -> Result<model::ListToolsResult, ServiceError> {
        let params =
            cursor.map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)));
        let request = model::ListToolsRequest { params, ..model::ListToolsRequest::default() };
        let request = ClientRequest::ListToolsRequest(request);
        let options = PeerRequestOptions::with_timeout(limit);
        let handle = self.peer().send_request_with_option(request, options).await?;
        match handle.await_response().await? {
            ServerResult::ListToolsResult(page) => Ok(page),
            _ => Err(ServiceError::UnexpectedResponse),
        }
    }
}
