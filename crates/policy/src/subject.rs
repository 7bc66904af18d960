//! What a rule is asked about: the tool, and who calls it.

use std::borrow::Cow;

use pollux_protocol::{Effects, Tool, ToolFacts};
use serde_json::{Map, Value};

use crate::names::{AGENT_ARGUMENT, INVOKE_AGENT, current_name};

/// The tool of a call and who calls it.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// The tool's name, as the model calls it.
    pub tool: &'a str,
    /// The server that it belongs to, when it is one of a server's.
    pub server: Option<&'a str>,
    /// Facts that the tool declares of itself.
    pub facts: ToolFacts,
    /// Claims of a server about its tool (`readOnlyHint` …). Rules with `toolAnnotations` match them;
    /// nothing else believes them.
    pub annotations: Option<&'a Map<String, Value>>,
    /// The subagent that calls, `parent/child` when it is nested; none for the main agent.
    pub subagent: Option<&'a str>,
    /// The agent that the call hands work to.
    pub agent: Option<&'a str>,
}

impl<'a> Subject<'a> {
    /// A tool of this name that belongs to no server, called by the main agent.
    pub fn named(tool: &'a str) -> Self {
        Self {
            tool,
            server: None,
            facts: ToolFacts::default(),
            annotations: None,
            subagent: None,
            agent: None,
        }
    }

    /// This tool, called by the main agent.
    pub fn of(tool: &'a dyn Tool) -> Self {
        Self {
            server: tool.server(),
            facts: tool.facts(),
            annotations: tool.annotations(),
            ..Self::named(tool.name())
        }
    }

    /// With what the arguments say about whom the call speaks of.
    pub(crate) fn with_arguments(self, args: &'a Value) -> Self {
        let agent = args.get(AGENT_ARGUMENT).and_then(Value::as_str);
        Self { agent: agent.filter(|_| self.tool == INVOKE_AGENT), ..self }
    }

    /// True when `name` means this tool: its own name, an old one, the short name of a server's tool, or the agent that is
    /// to be called.
    pub(crate) fn is_called(&self, name: &str) -> bool {
        name == self.tool
            || current_name(name) == self.tool
            || self.agent == Some(name)
            || self.qualified().is_some_and(|own| own == name)
    }

    /// `mcp_<server>_<tool>`, for a tool of a server.
    fn qualified(&self) -> Option<Cow<'a, str>> {
        let prefix = format!("mcp_{}_", self.server?);
        Some(if self.tool.starts_with(&prefix) {
            Cow::Borrowed(self.tool)
        } else {
            Cow::Owned(prefix + self.tool)
        })
    }

    /// The names of the tool without its server.
    pub(crate) fn bare_names(&self) -> impl Iterator<Item = &'a str> {
        let bare = self.server.and_then(|server| {
            self.tool.strip_prefix("mcp_")?.strip_prefix(server)?.strip_prefix('_')
        });
        [Some(self.tool), bare].into_iter().flatten()
    }
}

/// One call in question.
#[derive(Debug, Clone, Copy)]
pub struct Query<'a> {
    /// The tool, and who calls it.
    pub subject: Subject<'a>,
    /// The arguments as they will run.
    pub args: &'a Value,
    /// What the call will do.
    pub effects: &'a Effects,
    /// The mode at this moment.
    pub mode: pollux_protocol::ApprovalMode,
}
