//! Registry of tools: search, declarations, suggestions, and changes during a session.

use std::sync::Arc;

use pollux_policy::{Policy, Subject};
use pollux_protocol::{
    ApprovalMode, Declaration, Directive, Effects, FunctionCall, FunctionResponse, Invocation,
    ModelLimits, Tool, ToolFacts, ToolSource, spelling,
};

/// Maximum length of a name in the search for similar names. A longer name is not similar to any
/// tool.
const LONGEST_COMPARED: usize = 64;

/// Tools for a model. The order is the order of declaration: built-in tools, discovered tools, then
/// tools of servers by the server's name. Within each source the order is unchanged. Copies are
/// cheap, so that each subagent can have its own. The toolset of a session is a
/// [`Live`](pollux_protocol::Live) value.
#[derive(Clone, Default)]
pub struct Toolset {
    tools: Vec<Arc<dyn Tool>>,
}

impl Toolset {
    /// Creates a set of these tools, in this order.
    pub fn new(tools: Vec<Arc<dyn Tool>>) -> Self {
        let mut set = Self::default();
        set.extend(tools);
        set
    }

    /// Adds a tool. It replaces a tool of the same name at the same position.
    pub fn insert(&mut self, tool: Arc<dyn Tool>) {
        self.extend([tool]);
    }

    fn extend(&mut self, tools: impl IntoIterator<Item = Arc<dyn Tool>>) {
        for tool in tools {
            match self.tools.iter_mut().find(|known| known.name() == tool.name()) {
                Some(known) => *known = tool,
                None => self.tools.push(tool),
            }
        }
        self.tools.sort_by_cached_key(|tool| place(&tool.source()));
    }

    /// Removes a tool. Returns true if it was present.
    pub fn remove(&mut self, name: &str) -> bool {
        let before = self.tools.len();
        self.tools.retain(|tool| tool.name() != name);
        self.tools.len() < before
    }

    /// Replaces all tools of a source: tools that are not in the list are removed, new tools are
    /// added.
    pub fn replace_source(&mut self, source: &ToolSource, tools: Vec<Arc<dyn Tool>>) {
        let stays = |tool: &dyn Tool| {
            tool.source() != *source || tools.iter().any(|new| new.name() == tool.name())
        };
        self.retain(stays);
        self.extend(tools);
    }

    /// Keeps only the tools for which `keep` returns true.
    pub fn retain(&mut self, keep: impl Fn(&dyn Tool) -> bool) {
        self.tools.retain(|tool| keep(tool.as_ref()));
    }

    /// Returns the tools to offer to a model: those that suit the model, and that the policy allows
    /// in this mode. `caller` is the subagent that the model works for.
    #[must_use]
    pub fn offered(
        &self,
        policy: &Policy,
        caller: Option<&str>,
        mode: ApprovalMode,
        (model, limits): (&str, ModelLimits),
    ) -> Self {
        let mut offered = self.clone();
        offered.retain(|tool| {
            let subject = Subject { subagent: caller, ..Subject::of(tool) };
            tool.is_offered_to(model, limits) && policy.declares(subject, mode)
        });
        offered
    }

    /// Returns the tool with this name, or with this name in older versions.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        let found = |name: &str| self.tools.iter().find(|tool| tool.name() == name);
        found(name).or_else(|| found(pollux_policy::renamed(name)?))
    }

    /// Returns the facts about the tool with this name; the default facts for an unknown tool.
    pub fn facts(&self, name: &str) -> ToolFacts {
        self.get(name).map(|tool| tool.facts()).unwrap_or_default()
    }

    /// Returns the effects that a call recorded by another program would have here; `None` if no
    /// tool accepts the call.
    pub fn effects_of(&self, call: &FunctionCall) -> Option<Effects> {
        let tool = self.get(&call.name)?;
        let invocation = tool.prepare(call.args.as_object()?).ok()?;
        Some(declared_effects(tool.as_ref(), invocation.as_ref()))
    }

    /// Returns the lasting change of the session that an answered call has made.
    pub fn recall(&self, call: &FunctionCall, answer: &FunctionResponse) -> Option<Directive> {
        if answer.response.get("error").is_some() {
            return None;
        }
        self.get(&call.name)?.recall(&call.args, &answer.response)
    }

    /// Returns all tools in order.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Tool>> {
        self.tools.iter()
    }

    /// Returns the declarations in order.
    pub fn declarations(&self) -> Arc<[Declaration]> {
        self.tools.iter().map(|tool| tool.declaration()).collect()
    }

    /// Returns the error message for the model about an unknown tool, with the three most similar
    /// names.
    pub fn not_found(&self, name: &str) -> String {
        let mut names: Vec<(usize, &str)> = self
            .tools
            .iter()
            .filter(|_| name.len() <= LONGEST_COMPARED)
            .map(|tool| (spelling::distance(name, tool.name()), tool.name()))
            .collect();
        names.sort_by_key(|(distance, _)| *distance);
        let nearest: Vec<String> =
            names.iter().take(3).map(|(_, name)| format!("\"{name}\"")).collect();
        let shown: String = name.chars().take(LONGEST_COMPARED).collect();
        match nearest.as_slice() {
            [] => format!("Tool \"{shown}\" not found."),
            [one] => format!("Tool \"{shown}\" not found. Did you mean {one}?"),
            several => {
                format!("Tool \"{shown}\" not found. Did you mean one of: {}?", several.join(", "))
            }
        }
    }
}

/// Returns the effects of a call. A tool that is not built in may have any effect, whatever it
/// declares.
pub(crate) fn declared_effects(tool: &dyn Tool, invocation: &dyn Invocation) -> Effects {
    match tool.source() {
        ToolSource::BuiltIn => invocation.effects(),
        ToolSource::Discovered | ToolSource::Server(_) => invocation.effects().or_unknown(),
    }
}

/// Returns the sort key for the tools of a source.
fn place(source: &ToolSource) -> (u8, String) {
    match source {
        ToolSource::BuiltIn => (0, String::new()),
        ToolSource::Discovered => (1, String::new()),
        ToolSource::Server(name) => (2, name.to_lowercase()),
    }
}

#[cfg(test)]
mod tests;
