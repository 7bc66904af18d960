//! MCP servers that a subagent brings. They run only while it works, and only it has their tools.

use std::sync::Arc;

use futures::FutureExt as _;
use pollux_agent::{Loading, Outlet, Toolset};
use pollux_extensions::agents::AgentDefinition;
use pollux_mcp::{ServerChange, Servers, ServersOptions};
use pollux_protocol::{Event, Live, Severity, Tool, ToolSource};

use super::SubagentSession;
use crate::servers;

/// Servers of a subagent that works.
pub(super) struct OwnServers {
    pub(super) servers: Servers,
    /// Wait of the subagent's first request for the servers.
    pub(super) loading: Loading,
}

impl SubagentSession {
    /// Starts the servers of a subagent, whose tools join `toolset`. The conditions are those for
    /// servers of the settings. Returns `None` if it brings none.
    pub(super) fn start_servers(
        &self,
        agent: &AgentDefinition,
        toolset: &Live<Toolset>,
        outlet: &Outlet,
    ) -> Option<OwnServers> {
        if agent.servers.is_empty() {
            return None;
        }
        let lists = self.setup.tool_lists();
        let toolset = toolset.clone();
        let sink = move |change| {
            // Commands and context belong to the conversation.
            if let ServerChange::Tools { server, tools } = change {
                let tools: Vec<Arc<dyn Tool>> =
                    tools.into_iter().filter(|tool| lists.keeps_of_server(tool.name())).collect();
                toolset.update(|set| set.replace_source(&ToolSource::Server(server), tools));
            }
        };
        let options = ServersOptions {
            operator: Arc::clone(&self.services.operator),
            origin: outlet.origin(),
            ..self.setup.servers_options(&self.id)
        };
        let servers = Servers::new(options, Arc::new(sink));
        for (name, entry) in &agent.servers {
            servers::start(&servers, self.setup.server_of_subagent(name, entry));
        }
        let limit = servers::wait_limit(&self.setup.loaded.settings);
        let (waiting, outlet) = (servers.clone(), outlet.clone());
        let waiting = tokio::spawn(async move {
            waiting.settled(limit).await;
            for text in servers::complaints(&waiting) {
                outlet.emit(Event::Notice { severity: Severity::Warning, text }).await;
            }
        });
        // If the task panics, there are simply no tools of servers.
        Some(OwnServers { servers, loading: waiting.map(drop).boxed().shared() })
    }
}
