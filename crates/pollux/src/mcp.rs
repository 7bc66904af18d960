//! `pollux mcp`: adds, removes, shows and tests MCP servers, and signs in to them. Only `serve`,
//! with which Pollux itself is a server, starts sessions and calls models.

use pollux_host::{RuleOptions, RunOptions, Setup};
use pollux_protocol::SessionRequest;
use pollux_protocol::plain_text::harmless;
use serde_json::{Value, json};

use crate::arguments::{McpArguments, McpVerb};
use crate::exit::Failure;
use crate::inspection::set_up_silently;
use crate::process::Process;
use crate::signals::until_signal;
use crate::stderr::stderr_line;

mod add;
mod auth;
mod change;
mod found;
mod reference;
mod serve;
mod show;
mod trial;

pub(crate) use show::check_servers;

/// Result of a verb.
struct Answer {
    /// Text for standard output, without the last line end.
    text: String,
    /// Same result as JSON.
    json: Value,
    /// Remarks for the user on standard error.
    notes: Vec<String>,
    code: u8,
}

impl Answer {
    /// Returns the result of a verb that has no JSON form.
    fn of_text(text: String) -> Self {
        Self { text, json: Value::Null, notes: Vec::new(), code: 0 }
    }
}

pub(crate) use serve::serve;

/// Runs a verb. Returns the text for standard output, and the exit code.
pub(crate) async fn answer(process: &Process, arguments: &McpArguments) -> (String, u8) {
    // A signal ends the servers that were started, too.
    let stopped = |code| Answer { code, ..Answer::of_text(String::new()) };
    let answer = until_signal(Box::pin(run(process, arguments)), stopped).await;
    let as_json = arguments.flags().json;
    match answer {
        Ok(answer) => {
            answer.notes.iter().for_each(|note| stderr_line(note));
            let text = if as_json { format!("{:#}", answer.json) } else { answer.text };
            let text = harmless(&text).into_owned();
            (if text.is_empty() { text } else { text + "\n" }, answer.code)
        }
        Err(failure) => {
            stderr_line(&failure.message);
            let error = json!({ "error": failure.to_json() });
            let text = if as_json { format!("{error:#}\n") } else { String::new() };
            (text, failure.exit_code(false))
        }
    }
}

async fn run(process: &Process, arguments: &McpArguments) -> Result<Answer, Failure> {
    let setup = || set_up(process, arguments);
    match &arguments.verb {
        McpVerb::Add(wanted) => add::add(process, wanted, &setup),
        McpVerb::Remove { server, scope, .. } => change::remove(process, server, *scope),
        McpVerb::Enable(wanted) => change::switch(&setup()?, wanted, true),
        McpVerb::Disable(wanted) => change::switch(&setup()?, wanted, false),
        McpVerb::Auth { server, .. } => auth::sign_in(&setup()?, server).await,
        McpVerb::Logout { server, .. } => auth::sign_out(&setup()?, server).await,
        McpVerb::List(_) => Ok(show::list(&setup()?).await),
        McpVerb::Get { server, .. } => show::get(&setup()?, server),
        McpVerb::Test { server, .. } => trial::test(&setup()?, server).await,
        // It has no text: `serve` runs it.
        McpVerb::Serve(_) => Ok(Answer::of_text(String::new())),
    }
}

/// Reads the settings as a run in this folder has them.
fn set_up(process: &Process, arguments: &McpArguments) -> Result<Setup, Failure> {
    let flags = arguments.flags();
    let rules = RuleOptions { skip_trust: flags.skip_trust, ..RuleOptions::default() };
    let options = RunOptions { rules, debug: flags.debug.debug, ..RunOptions::default() };
    set_up_silently(process, options, SessionRequest::new(Process::folder()?))
}
