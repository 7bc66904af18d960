//! Lists of a connected server, and their use in the session.

use std::sync::Arc;

use super::Server;
use super::changes::Changes;
use crate::connection::Connection;
use crate::handler::ServerLists;
use crate::listing::{Listed, NamedTools};
use crate::prompts::ServerPrompt;
use crate::resources::ServerResource;
use crate::status::ServerChange;
use crate::tool::ServerTool;

/// Index of a list in [`Facts::problems`].
const TOOLS: usize = 0;
const PROMPTS: usize = 1;
const RESOURCES: usize = 2;

impl Server {
    /// Reads lists of the server, at the same time, and passes them on.
    pub(super) async fn list(
        self: &Arc<Self>,
        connection: &Connection,
        lists: ServerLists,
        changes: &Changes,
    ) {
        let limit = self.config.timeout;
        let tools = wanted(lists.tools, connection.tools(limit));
        let prompts = wanted(lists.prompts, connection.prompts(limit));
        let resources = wanted(lists.resources, connection.resources(limit));
        let (tools, prompts, resources) = tokio::join!(tools, prompts, resources);
        if let Some(resources) = resources {
            let listed = self.usable(RESOURCES, resources);
            let resource = |resource| ServerResource::new(&self.config.name, resource);
            self.facts().resources = listed.into_iter().map(resource).collect();
        }
        if let Some(prompts) = prompts {
            let listed = self.usable(PROMPTS, prompts);
            self.use_prompts(ServerPrompt::all(self, listed), changes);
        }
        if let Some(tools) = tools {
            match tools.map(|listed| listed.named(&self.config)) {
                Ok(named) => self.use_tools(named, changes),
                Err(problem) => self.facts().problems[TOOLS] = vec![problem],
            }
        }
        let has_tools = !changes.declarations(self).is_empty();
        let mut facts = self.facts();
        let is_empty = !has_tools && facts.prompts.is_empty() && facts.resources.is_empty();
        if is_empty && facts.problems.iter().all(Vec::is_empty) && lists == ServerLists::ALL {
            let problem = "No prompts, tools, or resources found on the server.";
            facts.problems[TOOLS].push(problem.to_owned());
        }
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

    fn use_tools(self: &Arc<Self>, named: NamedTools, changes: &Changes) {
        self.facts().problems[TOOLS] = named.problems;
        let tool = |(name, tool)| Arc::new(ServerTool::new(self, name, tool));
        changes.set_tools(&self.config.name, named.tools.into_iter().map(tool).collect());
    }
}

/// Runs a request for a list that is wanted.
async fn wanted<T>(is_wanted: bool, request: impl Future<Output = T>) -> Option<T> {
    if is_wanted { Some(request.await) } else { None }
}
