//! Origin of events: two sessions, or an agent and its subagents, can share one stream.

use std::fmt;
use std::sync::Arc;

use crate::Event;

/// Position of an agent in its session: the names of the subagents that lead to it, empty for the
/// main agent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct AgentPath(Arc<[Arc<str>]>);

impl AgentPath {
    /// Returns the path of a subagent of this agent.
    #[must_use]
    pub fn child(&self, name: &str) -> Self {
        Self(self.0.iter().cloned().chain([Arc::from(name)]).collect())
    }

    /// Returns the names of the subagents that lead to the agent, joined as in `review/tests`;
    /// `None` for the main agent.
    pub fn below_main(&self) -> Option<String> {
        (!self.is_main()).then(|| self.0.join("/"))
    }

    /// True for the main agent of a session.
    pub fn is_main(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for AgentPath {
    /// Writes `main`, or the names joined as in `main/review/tests`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("main")?;
        self.0.iter().try_for_each(|name| write!(formatter, "/{name}"))
    }
}

/// Sender of an event: session, agent, and the prompt that it works on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Origin {
    /// Id of the session.
    pub session: Arc<str>,
    /// Agent within the session.
    pub agent: AgentPath,
    /// Id of the prompt or command; `None` for events between them.
    pub prompt: Option<Arc<str>>,
}

/// An event with its origin.
#[derive(Debug, Clone)]
pub struct Envelope {
    /// Sender of the event.
    pub origin: Arc<Origin>,
    /// The event.
    pub event: Event,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_name_every_agent_on_the_way() {
        let main = AgentPath::default();
        assert!(main.is_main());
        assert_eq!(main.to_string(), "main");
        let child = main.child("review").child("tests");
        assert_eq!((child.to_string().as_str(), child.is_main()), ("main/review/tests", false));
        assert_eq!(
            (child.below_main().as_deref(), main.below_main()),
            (Some("review/tests"), None)
        );
    }
}
