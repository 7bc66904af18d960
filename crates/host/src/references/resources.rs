//! Resources of MCP servers that a prompt names.

use std::collections::BTreeMap;

use pollux_mcp::{ResourceBlock, ServerResource};
use pollux_protocol::{Part, SessionFailure};

use super::Expander;
use super::at_path::tokens;

/// Maximum number of resources of one prompt.
const MOST_RESOURCES: usize = 50;

/// Contents of resources, by the reference in the prompt.
pub(super) type ResourceParts = BTreeMap<String, Vec<Part>>;

impl Expander {
    /// Reads the resources that the prompt names.
    ///
    /// # Errors
    /// [`SessionFailure::Input`] for a resource that cannot be read.
    pub(super) async fn resources(&self, prompt: &str) -> Result<ResourceParts, SessionFailure> {
        let Some(servers) = self.servers.as_ref().filter(|servers| servers.has_resources()) else {
            return Ok(ResourceParts::new());
        };
        let mut wanted: BTreeMap<String, ServerResource> = BTreeMap::new();
        for token in tokens(prompt) {
            // An address alone could be part of any text.
            if token.path.contains(':')
                && wanted.len() < MOST_RESOURCES
                && let Some(resource) = servers.resource(&token.path)
                && resource.reference() == token.path
            {
                wanted.insert(token.path, resource);
            }
        }
        let reads = wanted.into_iter().map(|(reference, resource)| async move {
            let blocks = servers.read(&resource).await;
            blocks.map(|blocks| (reference, parts(&blocks))).map_err(|problem| {
                let uri = &resource.uri;
                SessionFailure::Input(format!(
                    "Exiting due to an error processing the @ command: Error reading resource \
                     {uri}: {problem}"
                ))
            })
        });
        futures::future::try_join_all(reads).await.map(|read| read.into_iter().collect())
    }
}

fn parts(blocks: &[ResourceBlock]) -> Vec<Part> {
    blocks.iter().map(ResourceBlock::prompt_part).collect()
}
