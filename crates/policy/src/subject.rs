//! Subject of a decision: the tool of a call, and its caller.

use std::borrow::Cow;

use pollux_protocol::{Effects, Tool, ToolFacts};
use serde_json::{Map, Value};

use crate::names::{AGENT_ARGUMENT, INVOKE_AGENT, current_name};

/// Tool of a call, with its caller.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// Name of the tool as the model calls it.
    pub tool: &'a str,
    /// Server of the tool, if it belongs to one.
    pub server: Option<&'a str>,
    /// The server's own name of the tool. The model's name is made from it, but not always
    /// reversibly.
    pub server_tool: Option<&'a str>,
    /// Facts that the tool declares about itself.
    pub facts: ToolFacts,
    /// Claims of a server about its tool (`readOnlyHint` …). They are compared only with rules
    /// that have `toolAnnotations`, and are not trusted for anything else.
    pub annotations: Option<&'a Map<String, Value>>,
    /// JSON schema of the arguments, as the tool declares it; `None` if the tool is not at hand, as
    /// in `policy explain`. Rules that allow calls see no arguments that the schema does not name.
    pub parameters: Option<&'a Value>,
    /// Subagent that makes the call, `parent/child` for a nested one; `None` for the main agent.
    pub subagent: Option<&'a str>,
    /// Agent to which the call delegates work.
    pub agent: Option<&'a str>,
}

impl<'a> Subject<'a> {
    /// Creates a subject for a tool that belongs to no server, called by the main agent.
    pub fn named(tool: &'a str) -> Self {
        Self {
            tool,
            server: None,
            server_tool: None,
            facts: ToolFacts::default(),
            annotations: None,
            parameters: None,
            subagent: None,
            agent: None,
        }
    }

    /// Creates a subject for this tool, called by the main agent.
    pub fn of(tool: &'a dyn Tool) -> Self {
        Self {
            server: tool.server(),
            server_tool: tool.server_tool(),
            facts: tool.facts(),
            annotations: tool.annotations(),
            ..Self::named(tool.name())
        }
    }

    /// Adds the agent that the arguments name.
    pub(crate) fn with_arguments(self, args: &'a Value) -> Self {
        let agent = args.get(AGENT_ARGUMENT).and_then(Value::as_str);
        Self { agent: agent.filter(|_| self.tool == INVOKE_AGENT), ..self }
    }

    /// True if `name` means this tool: its own name, an old one, the short name of a server's tool,
    /// or the agent to be called.
    pub(crate) fn is_called(&self, name: &str) -> bool {
        name == self.tool
            || current_name(name) == self.tool
            || self.agent == Some(name)
            || self.qualified().is_some_and(|own| own == name)
    }

    /// Returns `mcp_<server>_<tool>` for a tool of a server.
    fn qualified(&self) -> Option<Cow<'a, str>> {
        let prefix = format!("mcp_{}_", self.server?);
        Some(if let Some(own) = self.server_tool {
            Cow::Owned(prefix + own)
        } else if self.tool.starts_with(&prefix) {
            Cow::Borrowed(self.tool)
        } else {
            Cow::Owned(prefix + self.tool)
        })
    }

    /// Returns the names of the tool without its server.
    pub(crate) fn bare_names(&self) -> impl Iterator<Item = &'a str> {
        let bare = self.server.and_then(|server| {
            self.tool.strip_prefix("mcp_")?.strip_prefix(server)?.strip_prefix('_')
        });
        [Some(self.tool), self.server_tool.or(bare)].into_iter().flatten()
    }
}

/// One call to decide about.
#[derive(Debug, Clone, Copy)]
pub struct Query<'a> {
    /// Tool and caller.
    pub subject: Subject<'a>,
    /// Arguments with which the call will run.
    pub args: &'a Value,
    /// Declared effects of the call.
    pub effects: &'a Effects,
    /// Current approval mode.
    pub mode: pollux_protocol::ApprovalMode,
}

impl Query<'_> {
    /// Returns the arguments that the tool declares, if there are others. The others have no effect
    /// on the call, so they must not satisfy a rule that allows it.
    pub(crate) fn declared_args(&self) -> Option<Value> {
        let (schema, args) = (self.subject.parameters?, self.args.as_object()?);
        let is_declared = |name: &str| schema["properties"].get(name).is_some();
        let declared = args.iter().filter(|(name, _)| is_declared(name));
        let declared: Map<String, Value> =
            declared.map(|(name, value)| (name.clone(), value.clone())).collect();
        (declared.len() < args.len()).then(|| declared.into())
    }

    /// Returns true in the mode that allows everything not covered by a rule.
    pub(crate) fn is_yolo(&self) -> bool {
        self.mode == pollux_protocol::ApprovalMode::Yolo
    }
}
