//! Connection to a server for a report: what it offers, how long each step takes, what is wrong.

use std::time::{Duration, Instant};

use pollux_protocol::Declaration;
use rmcp::model::{self, ClientRequest, ServerResult};
use rmcp::service::PeerRequestOptions;

use crate::config::ServerConfig;
use crate::connection::{ConnectError, Connection, Surroundings};
use crate::listing::{Listed, OTHER_LISTS};
use crate::log::Log;
use crate::request_error;
use crate::resources::ServerResource;
use crate::status::{ServersOptions, surroundings};

/// Names of steps.
const LIST_TOOLS: &str = "list tools";
const LIST_PROMPTS: &str = "list prompts";
const LIST_RESOURCES: &str = "list resources";

/// Result of [`probe`].
#[derive(Debug, Default)]
pub struct Probed {
    /// The steps, in order. If the first one fails, there are no others.
    pub steps: Vec<ProbedStep>,
    /// Name and version that the server gives itself.
    pub introduction: String,
    /// Version of the protocol.
    pub protocol: String,
    /// Instructions of the server for the model.
    pub instructions: Option<String>,
    /// Declarations of the tools that would be used.
    pub tools: Vec<Declaration>,
    /// The server's prompts.
    pub prompts: Vec<ProbedPrompt>,
    /// The server's resources.
    pub resources: Vec<ServerResource>,
    /// Names of tools that the settings leave out.
    pub left_out: Vec<String>,
    /// Messages for the user about items that cannot be used.
    pub problems: Vec<String>,
    /// Last lines of the server's log.
    pub log: Vec<String>,
    /// True if the user has to sign in first.
    pub needs_sign_in: bool,
}

impl Probed {
    /// True if all steps succeeded that the use of the tools needs.
    pub fn is_usable(&self) -> bool {
        let is_needed = |step: &&ProbedStep| !matches!(step.name, LIST_PROMPTS | LIST_RESOURCES);
        self.steps.iter().filter(is_needed).all(|step| step.error.is_none())
    }
}

/// Prompt of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProbedPrompt {
    /// Name of the prompt.
    pub name: String,
    /// Explanation, possibly empty.
    pub description: String,
}

/// One step of a [`probe`].
#[derive(Debug)]
pub struct ProbedStep {
    /// Name of the step.
    pub name: &'static str,
    /// Duration of the step.
    pub duration: Duration,
    /// Error message, if the step failed.
    pub error: Option<String>,
}

/// Reason for which a server cannot be reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreachable {
    /// Message for the user.
    pub reason: String,
    /// True if the user has to sign in first.
    pub needs_sign_in: bool,
}

/// Connects to a server and closes the connection.
///
/// # Errors
/// [`Unreachable`].
pub async fn reach(config: &ServerConfig, options: ServersOptions) -> Result<(), Unreachable> {
    let surroundings: Surroundings = surroundings(options);
    let opened = Connection::open(config, &surroundings, &Log::default().sink()).await;
    let connection = opened.map_err(|error| Unreachable {
        reason: error.to_string(),
        needs_sign_in: error == ConnectError::Unauthorized,
    })?;
    connection.close().await;
    Ok(())
}

/// Connects to a server, lists what it offers, and closes the connection.
pub async fn probe(config: &ServerConfig, options: ServersOptions) -> Probed {
    let surroundings: Surroundings = surroundings(options);
    let log = Log::default();
    let mut probed = Probed::default();
    let began = Instant::now();
    match Connection::open(config, &surroundings, &log.sink()).await {
        Err(error) => {
            probed.step("connect", began, Some(error.to_string()));
            probed.needs_sign_in = error == ConnectError::Unauthorized;
        }
        Ok(connection) => {
            probed.step("connect", began, None);
            probed.examine(&connection, config).await;
            for line in connection.errors().lines() {
                log.push(line);
            }
            connection.close().await;
        }
    }
    probed.log = log.lines();
    probed
}

impl Probed {
    fn step(&mut self, name: &'static str, began: Instant, error: Option<String>) {
        self.steps.push(ProbedStep { name, duration: began.elapsed(), error });
    }

    /// Records what a connected server offers. Only the lists that the server declares are
    /// requested.
    async fn examine(&mut self, connection: &Connection, config: &ServerConfig) {
        self.introduction.clone_from(&connection.introduction);
        self.protocol.clone_from(&connection.protocol);
        self.instructions.clone_from(&connection.instructions);
        let began = Instant::now();
        let listed = connection.tools(config.timeout).await;
        self.step(LIST_TOOLS, began, listed.as_ref().err().cloned());
        if let Ok(listed) = listed {
            let named = listed.named(config);
            (self.problems, self.left_out) = (named.problems, named.left_out);
            let declared = |(name, tool): (String, model::Tool)| Declaration {
                name,
                description: tool.description.map(Into::into).unwrap_or_default(),
                parameters: serde_json::Value::Object((*tool.input_schema).clone()),
            };
            self.tools = named.tools.into_iter().map(declared).collect();
        }
        let limit = config.timeout.min(OTHER_LISTS);
        if connection.lists.prompts {
            let began = Instant::now();
            let listed = connection.prompts(limit).await;
            let prompts = self.list(LIST_PROMPTS, began, listed).into_iter();
            let prompt = |prompt: model::Prompt| ProbedPrompt {
                name: prompt.name,
                description: prompt.description.unwrap_or_default(),
            };
            self.prompts = prompts.map(prompt).collect();
        }
        if connection.lists.resources {
            let began = Instant::now();
            let listed = connection.resources(limit).await;
            let resources = self.list(LIST_RESOURCES, began, listed).into_iter();
            let resource = |resource| ServerResource::new(&config.name, resource);
            self.resources = resources.map(resource).collect();
        }
        let began = Instant::now();
        let error = ping(connection, config.timeout).await.err();
        self.step("ping", began, error);
    }

    /// Records the step of a list, and returns the usable items.
    fn list<T>(
        &mut self,
        name: &'static str,
        began: Instant,
        listed: Result<Listed<T>, String>,
    ) -> Vec<T> {
        self.step(name, began, listed.as_ref().err().cloned());
        let listed = listed.unwrap_or_default();
        self.problems.extend(listed.problems);
        listed.items
    }
}

async fn ping(connection: &Connection, limit: Duration) -> Result<(), String> {
    let request = ClientRequest::PingRequest(model::PingRequest::default());
    let options = PeerRequestOptions::with_timeout(limit);
    let sent = connection.peer().send_request_with_option(request, options).await;
    let handle = sent.map_err(|error| request_error::message(&error))?;
    match handle.await_response().await {
        // An answer that the server does not know the request shows that it is alive, too.
        Ok(ServerResult::EmptyResult(_)) | Err(rmcp::ServiceError::McpError(_)) => Ok(()),
        Ok(_) => Err("the answer is not valid".to_owned()),
        Err(error) => Err(request_error::message(&error)),
    }
}
