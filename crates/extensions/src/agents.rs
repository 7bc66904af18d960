//! Subagents: Markdown files whose front matter says what an agent may do, and whose text says how
//! it works.
//!
//! | module | contents |
//! |---|---|
//! | `definition` | [`AgentDefinition`]: one agent, read from its file |
//! | `fields` | strict reading of front matter, with each fault |
//! | `built_in` | the agents that come with Pollux |
//! | `set` | [`AgentSet`]: the agents of a session |
//!
//! A definition is data. It gives an agent nothing that the session does not have.

mod built_in;
mod definition;
mod fields;
mod set;

pub use definition::{
    AgentDefinition, AgentModel, AgentOwner, DefinitionError, Report, ReportText, agent_definition,
};
pub use set::{AgentFolder, AgentOverride, AgentSet};
