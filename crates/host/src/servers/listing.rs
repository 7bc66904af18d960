//! MCP servers for a list. Pure.

use pollux_mcp::{ServerState, ServerStatus};
use pollux_protocol::{
    PromptCommand as _, ServerItem, ServerItemKind, ServerListing, ServerStanding,
};

/// Returns a server as the user sees it.
pub(crate) fn server_listing(server: ServerStatus) -> ServerListing {
    let standing = match server.state {
        ServerState::Connecting => ServerStanding::Starting,
        ServerState::Connected => ServerStanding::Ready,
        ServerState::Disconnected(reason) => ServerStanding::Unavailable(reason),
        ServerState::NeedsSignIn => ServerStanding::NeedsSignIn,
        ServerState::Disabled => ServerStanding::Disabled,
        ServerState::Blocked(reason) => ServerStanding::Blocked(reason),
    };
    let introduction = (!server.introduction.is_empty())
        .then(|| format!("{}, protocol {}", server.introduction, server.protocol));
    let item = |kind, name: &str, description: &str| ServerItem {
        kind,
        name: name.to_owned(),
        description: description.to_owned(),
    };
    let tools = server.tools.iter();
    let tools = tools.map(|tool| item(ServerItemKind::Tool, &tool.name, &tool.description));
    let prompts = server.prompts.iter();
    let prompts =
        prompts.map(|prompt| item(ServerItemKind::Prompt, prompt.name(), prompt.description()));
    let resources = server.resources.iter().map(|resource| {
        item(ServerItemKind::Resource, &resource.reference(), &resource.description)
    });
    ServerListing {
        items: tools.chain(prompts).chain(resources).collect(),
        name: server.name,
        transport: server.transport.to_owned(),
        standing,
        details: server.description.into_iter().chain(introduction).collect(),
        problems: server.problems,
        log: server.log,
    }
}
