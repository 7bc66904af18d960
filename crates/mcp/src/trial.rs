//! Connection to a server for a report: what it offers, how long each step takes, what is wrong.

use std::time::{Duration, Instant};

use pollux_protocol::Declaration;
use rmcp::model::{self, ClientRequest, ServerResult};
use rmcp::service::PeerRequestOptions;

use crate::config::ServerConfig;
use crate::connection::{ConnectError, Connection, Surroundings};
use crate::log::Log;
use crate::request_error;
use crate::status::{ServersOptions, surroundings};

/// Result of [`probe`].
#[derive(Debug)]
pub struct Probed {
    /// The steps, in order. After a failed step there are no others.
    pub steps: Vec<ProbedStep>,
    /// Name and version that the server gives itself.
    pub introduction: String,
    /// Version of the protocol.
    pub protocol: String,
    /// Instructions of the server for the model.
    pub instructions: Option<String>,
    /// Declarations of the tools that would be used.
    pub tools: Vec<Declaration>,
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
    /// True if all steps succeeded.
    pub fn is_usable(&self) -> bool {
        self.steps.iter().all(|step| step.error.is_none())
    }
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

/// Connects to a server, lists its tools, and closes the connection.
pub async fn probe(config: &ServerConfig, options: ServersOptions) -> Probed {
    let surroundings: Surroundings = surroundings(options);
    let log = Log::default();
    let mut probed = Probed {
        steps: Vec::new(),
        introduction: String::new(),
        protocol: String::new(),
        instructions: None,
        tools: Vec::new(),
        left_out: Vec::new(),
        problems: Vec::new(),
        log: Vec::new(),
        needs_sign_in: false,
    };
    let began = Instant::now();
    let opened = Connection::open(config, &surroundings, &log.sink()).await;
    let mut step = |name, began: Instant, error: Option<String>| {
        probed.steps.push(ProbedStep { name, duration: began.elapsed(), error });
    };
    match opened {
        Err(error) => {
            step("connect", began, Some(error.to_string()));
            probed.needs_sign_in = error == ConnectError::Unauthorized;
        }
        Ok(connection) => {
            step("connect", began, None);
            let began = Instant::now();
            let listed = connection.tools(config.timeout).await;
            step("list tools", began, listed.as_ref().err().cloned());
            let began = Instant::now();
            let error = ping(&connection, config.timeout).await.err();
            step("ping", began, error);
            probed.introduction.clone_from(&connection.introduction);
            probed.protocol.clone_from(&connection.protocol);
            probed.instructions.clone_from(&connection.instructions);
            if let Ok(listed) = listed {
                let named = listed.named(config);
                (probed.problems, probed.left_out) = (named.problems, named.left_out);
                let declared = |(name, tool): (String, model::Tool)| Declaration {
                    name,
                    description: tool.description.map(Into::into).unwrap_or_default(),
                    parameters: serde_json::Value::Object((*tool.input_schema).clone()),
                };
                probed.tools = named.tools.into_iter().map(declared).collect();
            }
            for line in connection.errors().lines() {
                log.push(line);
            }
            connection.close().await;
        }
    }
    probed.log = log.lines();
    probed
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
