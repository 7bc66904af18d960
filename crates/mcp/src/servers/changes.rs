//! Changes of the servers on their way to the session, with names of tools that are unique among
//! all servers.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pollux_protocol::plain_text::visible;
use pollux_protocol::{Declaration, Severity, Tool};

use super::Server;
use crate::names::UniqueNames;
use crate::status::{EventSink, ServerChange};
use crate::tool::ServerTool;

/// Maximum number of renamed tools in a notice.
const LISTED: usize = 5;

/// Changes of all servers of a session.
pub(crate) struct Changes {
    sink: EventSink,
    /// Tools of the servers, in the order in which the servers were first started. Of two tools
    /// with one name, the tool of the earlier server keeps it, whichever server connects first.
    tools: Mutex<Vec<ToolsOfServer>>,
}

/// Tools of one server.
struct ToolsOfServer {
    server: Arc<str>,
    /// The tools with the names that they have if there are no other servers.
    own: Vec<Arc<ServerTool>>,
    /// The same tools with the names that are used.
    used: Vec<Arc<ServerTool>>,
    /// True if the user knows that tools of this server were renamed.
    is_reported: bool,
}

impl Changes {
    /// Creates a way for changes to `sink`.
    pub(crate) fn new(sink: EventSink) -> Self {
        Self { sink, tools: Mutex::default() }
    }

    /// Passes on a change.
    pub(crate) fn send(&self, change: ServerChange) {
        (self.sink)(change);
    }

    /// Passes on a message for the user.
    pub(crate) fn notify(&self, severity: Severity, text: String) {
        self.send(ServerChange::Notice { severity, text });
    }

    /// Gives a server its place in the order, if it has none.
    pub(crate) fn register(&self, server: &str) {
        let mut tools = self.tools();
        if tools.iter().all(|known| *known.server != *server) {
            let (own, used) = (Vec::new(), Vec::new());
            tools.push(ToolsOfServer { server: server.into(), own, used, is_reported: false });
        }
    }

    /// Replaces the tools of a registered server, and passes on what changes by that. Returns true
    /// if the tools of this server have changed.
    pub(crate) fn set_tools(&self, server: &str, own: Vec<Arc<ServerTool>>) -> bool {
        // The lock is held until everything is passed on, so that no change overtakes another.
        let mut tools = self.tools();
        if let Some(known) = tools.iter_mut().find(|known| *known.server == *server) {
            known.own = own;
        }
        let mut names = UniqueNames::default();
        let changed =
            tools.iter_mut().filter_map(|known| known.renamed(&mut names).then_some(known));
        let mut changed: Vec<&mut ToolsOfServer> = changed.collect();
        // The session replaces tools by name: a tool that loses its name must lose it first.
        changed.sort_by_key(|known| *known.server == *server);
        for known in &mut changed {
            let tools = known.used.iter().map(|tool| Arc::clone(tool) as Arc<dyn Tool>).collect();
            self.send(ServerChange::Tools { server: Arc::clone(&known.server), tools });
            if let Some(text) = known.notice() {
                self.notify(Severity::Warning, text);
            }
        }
        changed.last().is_some_and(|last| *last.server == *server)
    }

    /// Passes on that a server offers nothing any more.
    pub(crate) fn withdraw(&self, name: &str) {
        let server: Arc<str> = name.into();
        self.send(ServerChange::Instructions { server: Arc::clone(&server), text: None });
        self.send(ServerChange::Prompts { server, prompts: Vec::new() });
        self.set_tools(name, Vec::new());
    }

    /// Returns the declarations of the tools of this server. Tools of an earlier server of the same
    /// name are left out.
    pub(crate) fn declarations(&self, server: &Server) -> Vec<Declaration> {
        let tools = self.tools();
        let used = tools.iter().flat_map(|known| &known.used);
        used.filter(|tool| tool.is_of(server)).map(|tool| tool.declaration()).collect()
    }

    fn tools(&self) -> MutexGuard<'_, Vec<ToolsOfServer>> {
        self.tools.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ToolsOfServer {
    /// Names the tools. Returns true if the used tools have changed.
    fn renamed(&mut self, names: &mut UniqueNames) -> bool {
        let named = |tool: &Arc<ServerTool>| {
            let name = names.next(&self.server, tool.original());
            if name == tool.name() { Arc::clone(tool) } else { Arc::new(tool.renamed(name)) }
        };
        let used: Vec<Arc<ServerTool>> = self.own.iter().map(named).collect();
        let is_same = used.len() == self.used.len()
            && used.iter().zip(&self.used).all(|(new, old)| new.is_like(old));
        self.used = used;
        !is_same
    }

    /// Returns the only notice about tools that have other names because of earlier servers.
    fn notice(&mut self) -> Option<String> {
        let pairs = self.own.iter().zip(&self.used);
        let renamed = pairs.filter(|(own, used)| own.name() != used.name());
        let mut renamed =
            renamed.map(|(own, used)| format!("{} ({})", used.name(), visible(own.original())));
        let listed: Vec<String> = renamed.by_ref().take(LISTED).collect();
        let more = renamed.count();
        if listed.is_empty() || std::mem::replace(&mut self.is_reported, true) {
            return None;
        }
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        Some(format!(
            "MCP server '{}': an earlier server has tools of the same names, so these tools are \
             renamed: {}{more}",
            visible(&self.server),
            listed.join(", ")
        ))
    }
}
