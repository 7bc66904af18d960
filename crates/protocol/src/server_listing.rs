//! List of the MCP servers of a session.

use std::fmt;

/// MCP server of a session, as the user sees it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerListing {
    /// Name in the settings.
    pub name: String,
    /// `stdio`, `http` or `sse`; empty for a server with an unusable entry.
    pub transport: String,
    /// State.
    pub standing: ServerStanding,
    /// Facts about the server, one line each: its description in the settings, and what it says
    /// about itself.
    pub details: Vec<String>,
    /// Its tools, prompts and resources.
    pub items: Vec<ServerItem>,
    /// Messages for the user about items that cannot be used.
    pub problems: Vec<String>,
    /// Last lines of the error output of its program.
    pub log: Vec<String>,
}

/// State of an MCP server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ServerStanding {
    /// The connection is being made.
    #[default]
    Starting,
    /// The server can be used.
    Ready,
    /// The server cannot be used, for this reason.
    Unavailable(String),
    /// The server wants the user to sign in.
    NeedsSignIn,
    /// The user has disabled the server.
    Disabled,
    /// The settings do not let the server start, for this reason.
    Blocked(String),
}

/// Tool, prompt or resource of an MCP server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerItem {
    /// Kind of the item.
    pub kind: ServerItemKind,
    /// Name by which it is used: that of a tool, of a command without the slash, or of a reference
    /// without the `@`.
    pub name: String,
    /// Description, possibly empty.
    pub description: String,
}

/// Kind of an item of an MCP server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerItemKind {
    /// Tool, which the model uses.
    Tool,
    /// Prompt, which is a command.
    Prompt,
    /// Resource, which a prompt can refer to.
    Resource,
}

impl fmt::Display for ServerItemKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Tool => "tool",
            Self::Prompt => "prompt",
            Self::Resource => "resource",
        })
    }
}
