//! Lists of a connected server, and their use in the session.

use std::sync::Arc;

use rmcp::model::Tool;

use super::Server;
use super::changes::Changes;
use crate::connection::Connection;
use crate::handler::ServerLists;
use crate::listing::{Listed, OTHER_LISTS};
use crate::prompts::ServerPrompt;
use crate::resources::ServerResource;
use crate::status::{ServerChange, ServerState};
use crate::tool::ServerTool;

/// Index of a list in [`Facts::problems`].
const TOOLS: usize = 0;
const PROMPTS: usize = 1;
const RESOURCES: usize = 2;

impl Server {
    /// Reads lists of the server, at the same time, and passes on each one as soon as it is known.
    /// The server counts as connected once its tools are known. Returns true if its tools have
    /// changed.
    pub(super) async fn list(
        self: &Arc<Self>,
        connection: &Connection,
        lists: ServerLists,
        changes: &Changes,
    ) -> bool {
        let limit = self.config.timeout;
        let tools = async {
            if !lists.tools {
                return false;
            }
            let is_changed = self.use_tools(connection.tools(limit).await, changes);
            self.state.send_replace(ServerState::Connected);
            is_changed
        };
        let prompts = async {
            if lists.prompts {
                let listed = connection.prompts(limit.min(OTHER_LISTS)).await;
                let listed = self.usable(PROMPTS, listed);
                self.use_prompts(ServerPrompt::all(self, listed), changes);
            }
        };
        let resources = async {
            if lists.resources {
                let listed = connection.resources(limit.min(OTHER_LISTS)).await;
                let listed = self.usable(RESOURCES, listed);
                let resource = |resource| ServerResource::new(&self.config.name, resource);
                self.facts().resources = listed.into_iter().map(resource).collect();
            }
        };
        let (is_changed, (), ()) = tokio::join!(tools, prompts, resources);
        let has_tools = !changes.declarations(self).is_empty();
        let mut facts = self.facts();
        let is_empty = !has_tools && facts.prompts.is_empty() && facts.resources.is_empty();
        if is_empty && facts.problems.iter().all(Vec::is_empty) && lists == ServerLists::ALL {
            let problem = "No prompts, tools, or resources found on the server.";
            facts.problems[TOOLS].push(problem.to_owned());
        }
        is_changed
    }

    /// Returns the items of a list, and records what is wrong with it. A list that cannot be read
    /// is empty.
    fn usable<T>(&self, list: usize, listed: Result<Listed<T>, String>) -> Vec<T> {
        let (items, problems) = match listed {
            Ok(listed) => (listed.items, listed.problems),
            Err(problem) => (Vec::new(), vec![problem]),
        };
        self.facts().problems[list] = problems;
        items
    }

    fn use_prompts(&self, prompts: Vec<Arc<ServerPrompt>>, changes: &Changes) {
        let is_changed = {
            let mut facts = self.facts();
            let same = |(one, other): (&Arc<ServerPrompt>, &Arc<ServerPrompt>)| one.is_like(other);
            let is_same = facts.prompts.len() == prompts.len()
                && facts.prompts.iter().zip(&prompts).all(same);
            facts.prompts.clone_from(&prompts);
            !is_same
        };
        if is_changed {
            let server = self.config.name.as_str().into();
            changes.send(ServerChange::Prompts { server, prompts });
        }
    }

    /// Passes on the tools; those that are known stay if they cannot be listed. Returns true if
    /// they have changed.
    fn use_tools(
        self: &Arc<Self>,
        listed: Result<Listed<Tool>, String>,
        changes: &Changes,
    ) -> bool {
        let named = match listed {
            Ok(listed) => listed.named(&self.config),
            Err(problem) => {
                self.facts().problems[TOOLS] = vec![problem];
                return false;
            }
        };
        self.facts().problems[TOOLS] = named.problems;
        let tool = |(name, tool)| Arc::new(ServerTool::new(self, name, tool));
        changes.set_tools(&self.config.name, named.tools.into_iter().map(tool).collect())
    }
}
