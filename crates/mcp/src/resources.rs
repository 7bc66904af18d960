//! Resources of the servers, and their contents.

use std::fmt::Write as _;
use std::time::Duration;

use pollux_protocol::Part;
use pollux_protocol::untrusted;
use rmcp::model::{
    ClientRequest, ReadResourceRequest, ReadResourceRequestParams, ReadResourceResult, Resource,
    ResourceContents, ServerResult,
};
use rmcp::service::PeerRequestOptions;

use crate::request_error;
use crate::servers::Connected;

/// Type of a resource that names none.
const UNKNOWN_TYPE: &str = "application/octet-stream";

/// Resource of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerResource {
    /// Name of the server.
    pub server: String,
    /// Address within the server.
    pub uri: String,
    /// Name, for display.
    pub name: String,
    /// Explanation, possibly empty.
    pub description: String,
}

impl ServerResource {
    pub(crate) fn new(server: &str, resource: Resource) -> Self {
        Self {
            server: server.to_owned(),
            uri: resource.uri,
            name: resource.name,
            description: resource.description.unwrap_or_default(),
        }
    }

    /// Returns the name by which prompts and models refer to the resource: `server:uri`.
    pub fn reference(&self) -> String {
        format!("{}:{}", self.server, self.uri)
    }
}

/// One block of a resource's contents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResourceBlock {
    /// Text.
    Text(String),
    /// Data that are not text.
    Binary {
        /// MIME type.
        mime_type: String,
        /// Number of bytes.
        bytes: usize,
    },
}

impl ResourceBlock {
    /// Returns the part of a prompt that refers to the resource.
    pub fn prompt_part(&self) -> Part {
        match self {
            Self::Text(text) => Part::text(untrusted::wrap(text)),
            Self::Binary { mime_type, bytes } => {
                Part::text(format!("[Binary resource content {mime_type}, {bytes} bytes]"))
            }
        }
    }
}

/// Returns blocks as the text of a tool's result.
pub(crate) fn tool_text(blocks: &[ResourceBlock]) -> String {
    let mut text = String::new();
    for block in blocks {
        // Writing to a String cannot fail.
        match block {
            ResourceBlock::Text(block) => writeln!(text, "{block}"),
            ResourceBlock::Binary { mime_type, .. } => {
                writeln!(text, "[Binary Data ({mime_type})]")
            }
        }
        .unwrap_or_default();
    }
    text
}

impl Connected {
    /// Reads a resource.
    ///
    /// # Errors
    /// A message for the user.
    pub(crate) async fn read(
        &self,
        uri: &str,
        limit: Duration,
    ) -> Result<Vec<ResourceBlock>, String> {
        let request = ReadResourceRequest::new(ReadResourceRequestParams::new(uri));
        let request = ClientRequest::ReadResourceRequest(request);
        let options = PeerRequestOptions::with_timeout(limit);
        let sent = self.peer.send_request_with_option(request, options).await;
        let handle = sent.map_err(|error| request_error::message(&error))?;
        let answer = handle.await_response().await;
        match answer.map_err(|error| request_error::message(&error))? {
            ServerResult::ReadResourceResult(ReadResourceResult { contents, .. }) => {
                Ok(contents.into_iter().filter_map(block).collect())
            }
            _ => Err("the answer is not valid".to_owned()),
        }
    }
}

fn block(contents: ResourceContents) -> Option<ResourceBlock> {
    match contents {
        ResourceContents::TextResourceContents { text, .. } => Some(ResourceBlock::Text(text)),
        ResourceContents::BlobResourceContents { mime_type, blob, .. } => {
            Some(ResourceBlock::Binary {
                mime_type: mime_type.unwrap_or_else(|| UNKNOWN_TYPE.to_owned()),
                // Base64 has four characters for three bytes, the last of which are padding.
                bytes: blob.trim_end_matches('=').len() * 3 / 4,
            })
        }
        _ => None,
    }
}
