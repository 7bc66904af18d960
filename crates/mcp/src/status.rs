//! Servers as the rest of the program sees them: states, changes and surroundings.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use pollux_net::ClientOptions;
use pollux_protocol::{Declaration, Operator, Origin, Severity, Tool};

use crate::connection::Surroundings;
use crate::oauth::Authorization;
use crate::prompts::ServerPrompt;
use crate::resources::ServerResource;
use crate::sampling::Sampler;
use crate::starts::Starts;

/// State of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerState {
    /// The connection is being made.
    Connecting,
    /// The server can be used.
    Connected,
    /// The server cannot be used, for this reason.
    Disconnected(String),
    /// The server wants the user to sign in.
    NeedsSignIn,
    /// The user has disabled the server.
    Disabled,
    /// The settings do not let the server start, for this reason.
    Blocked(String),
}

/// A server and its state.
#[derive(Debug, Clone)]
pub struct ServerStatus {
    /// Name of the server.
    pub name: String,
    /// State of the server.
    pub state: ServerState,
    /// Name and version that the server gives itself.
    pub introduction: String,
    /// Version of the protocol.
    pub protocol: String,
    /// Command line or address.
    pub target: String,
    /// `stdio`, `http` or `sse`; empty for a server with an unusable entry.
    pub transport: &'static str,
    /// Text of the settings.
    pub description: Option<String>,
    /// Declarations of its tools.
    pub tools: Vec<Declaration>,
    /// Its prompts.
    pub prompts: Vec<Arc<ServerPrompt>>,
    /// Its resources.
    pub resources: Vec<ServerResource>,
    /// Messages for the user about items that cannot be used.
    pub problems: Vec<String>,
    /// Instructions of the server for the model.
    pub instructions: Option<String>,
    /// Last lines of its log.
    pub log: Vec<String>,
}

/// Change of a server.
#[derive(Clone)]
pub enum ServerChange {
    /// The server has these tools now, in place of its earlier ones.
    Tools {
        /// Name of the server.
        server: Arc<str>,
        /// The tools.
        tools: Vec<Arc<dyn Tool>>,
    },
    /// The server has these prompts now, in place of its earlier ones.
    Prompts {
        /// Name of the server.
        server: Arc<str>,
        /// The prompts.
        prompts: Vec<Arc<ServerPrompt>>,
    },
    /// The server has these instructions for the model now; `None` if it has none.
    Instructions {
        /// Name of the server.
        server: Arc<str>,
        /// The text, as the server wrote it.
        text: Option<String>,
    },
    /// A message for the user about a change.
    Notice {
        /// Importance of the message.
        severity: Severity,
        /// The message.
        text: String,
    },
}

/// Receives changes of the servers; never blocks.
pub type EventSink = Arc<dyn Fn(ServerChange) + Send + Sync>;

/// Surroundings of the servers of a session.
pub struct ServersOptions {
    /// Folder of the project.
    pub folder: PathBuf,
    /// Environment of the servers' programs.
    pub environment: Vec<(OsString, OsString)>,
    /// Options of the HTTP client.
    pub client: ClientOptions,
    /// Version of Pollux.
    pub version: String,
    /// Folders of the workspace.
    pub roots: Arc<dyn Fn() -> Vec<PathBuf> + Send + Sync>,
    /// User of the session, whom servers may ask questions.
    pub operator: Arc<dyn Operator>,
    /// Session, as the sender of questions.
    pub origin: Arc<Origin>,
    /// Model of the session, which servers may use if the user permits it; `None` for no model.
    pub sampler: Option<Sampler>,
    /// Number of characters from which on a result is shortened; 0 for no limit.
    pub truncate_threshold: usize,
    /// Folder for whole results.
    pub spill_directory: PathBuf,
    /// Sign-ins to servers.
    pub authorization: Arc<Authorization>,
}

/// Returns what a connection needs to know.
pub(crate) fn surroundings(options: ServersOptions) -> Surroundings {
    Surroundings {
        folder: options.folder,
        environment: options.environment,
        client: options.client,
        version: options.version,
        roots: options.roots,
        operator: options.operator,
        origin: options.origin,
        sampler: options.sampler,
        authorization: options.authorization,
        starts: Starts::new(),
    }
}
