//! `mcp list` and `mcp get`.

use std::time::{Duration, Instant};

use futures::future::join_all;
use pollux_host::{Setup, Unreachable};
use pollux_protocol::plain_text::visible;
use serde_json::{Value, json};

use super::Answer;
use super::change::named;
use super::found::{Finding, FoundServer, found};
use crate::doctor::Check;
use crate::exit::Failure;

/// Time limit of an attempt to connect, if the entry sets none.
const LIMIT: Duration = Duration::from_secs(5);

/// Warning in a folder that is not trusted.
const UNTRUSTED: &str = "Warning: MCP servers are configured but disabled because this folder is \
untrusted.\nUser-level servers are also suppressed in untrusted folders to prevent accidental \
side-effects.\n";

/// State of a server in the list.
struct Reached {
    icon: &'static str,
    status: &'static str,
    reason: Option<String>,
    /// Time until the server was connected.
    duration: Option<Duration>,
}

/// Tries to connect to all servers at the same time, and lists them.
pub(super) async fn list(setup: &Setup) -> Answer {
    let servers = found(setup);
    let states = join_all(servers.iter().map(|server| reach(setup, server))).await;
    let notes: Vec<String> = (!servers.is_empty() && !setup.loaded.trust.is_trusted())
        .then(|| UNTRUSTED.to_owned())
        .into_iter()
        .collect();
    let rows = servers.iter().zip(&states);
    let items: Vec<Value> = rows.clone().map(|(server, state)| item(server, state)).collect();
    let text = if servers.is_empty() {
        "No MCP servers configured.".to_owned()
    } else {
        let lines = rows.flat_map(|(server, state)| lines(server, state));
        ["Configured MCP servers:\n".to_owned()]
            .into_iter()
            .chain(lines)
            .collect::<Vec<_>>()
            .join("\n")
    };
    Answer { text, json: json!({ "servers": items }), notes, code: 0 }
}

/// Connects to all servers that may start, and reports those that fail.
pub(crate) async fn check_servers(setup: &Setup) -> Vec<Check> {
    let servers = found(setup);
    let may_start = |server: &&FoundServer| matches!(server.finding, Finding::Open(_));
    let servers: Vec<&FoundServer> = servers.iter().filter(may_start).collect();
    let states = join_all(servers.iter().map(|server| reach(setup, server))).await;
    let failed = servers.iter().zip(&states).filter_map(|(server, state)| {
        let reason = state.reason.as_ref()?;
        let detail = format!("{}: {reason}", server.name);
        Some(Check::warning("MCP server", detail, "Run mcp test SERVER for the details."))
    });
    let failed: Vec<Check> = failed.collect();
    if failed.is_empty() && !servers.is_empty() {
        return vec![Check::ok("MCP servers", format!("{} connect", servers.len()))];
    }
    failed
}

async fn reach(setup: &Setup, server: &FoundServer) -> Reached {
    let reason = server.finding.reason(&setup.input.called_as);
    let (icon, status) = match &server.finding {
        Finding::Open(config) => {
            let began = Instant::now();
            let result = setup.reach_server(config, LIMIT).await;
            let sign_in = format!("{} mcp auth {}", setup.input.called_as, server.name);
            return reached(result, began.elapsed(), &sign_in);
        }
        Finding::Disabled | Finding::Untrusted | Finding::NotAccepted => ("○", "Disabled"),
        Finding::Blocked(_) => ("⛔", "Blocked"),
        Finding::Unusable(_) => ("✗", "Disconnected"),
    };
    Reached { icon, status, reason, duration: None }
}

/// Returns the state after an attempt to connect. `sign_in` is the command that signs in.
fn reached(result: Result<(), Unreachable>, duration: Duration, sign_in: &str) -> Reached {
    let duration = Some(duration);
    match result {
        Ok(()) => Reached { icon: "✓", status: "Connected", reason: None, duration },
        Err(Unreachable { mut reason, needs_sign_in }) => {
            if needs_sign_in {
                reason.push_str(": ");
                reason.push_str(sign_in);
            }
            Reached { icon: "✗", status: "Disconnected", reason: Some(reason), duration }
        }
    }
}

/// Returns Gemini CLI's line, and the reason and problems on lines of their own.
fn lines(server: &FoundServer, state: &Reached) -> Vec<String> {
    let transport = match server.transport {
        "" => String::new(),
        transport => format!(" ({transport})"),
    };
    let (mut name, target) = (visible(&server.name), visible(&server.target));
    if let Some(extension) = &server.extension {
        name.extend([" (from ", extension, ")"]);
    }
    let line = format!("{} {name}: {target}{transport} - {}", state.icon, state.status);
    let notes = state.reason.iter().chain(&server.problems);
    let notes = notes.map(|note| format!("    {}", visible(note)));
    std::iter::once(line).chain(notes).collect()
}

fn item(server: &FoundServer, state: &Reached) -> Value {
    json!({
        "name": server.name,
        "scope": server.scope(),
        "extension": server.extension,
        "transport": transport(server),
        "target": server.target,
        "status": state.status.to_lowercase(),
        "reason": state.reason,
        "problems": server.problems,
        "duration_ms": state.duration.map(|time| time.as_millis() as u64),
    })
}

/// Returns the transport; `None` if the entry cannot be used.
fn transport(server: &FoundServer) -> Option<&'static str> {
    (!server.transport.is_empty()).then_some(server.transport)
}

/// Shows the entry of a server, and whether it can start.
pub(super) fn get(setup: &Setup, name: &str) -> Result<Answer, Failure> {
    let server = named(setup, name)?;
    let reason = server.finding.reason(&setup.input.called_as);
    let state = server.finding.as_str();
    let file = server.source.as_ref().map(|(_, path)| path.display().to_string());
    let json = json!({
        "name": server.name,
        "scope": server.scope(),
        "file": file,
        "state": state,
        "reason": reason,
        "transport": transport(&server),
        "target": server.target,
        "entry": server.entry,
    });
    let reason = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
    let mut lines = vec![
        format!("Name: {}", visible(&server.name)),
        format!("State: {state}{}", visible(&reason)),
    ];
    if let (Some(scope), Some(file)) = (server.scope(), file) {
        lines.push(format!("Settings: {scope}, {}", visible(&file)));
    }
    lines.push(format!("{:#}", server.entry));
    Ok(Answer { json, ..Answer::of_text(lines.join("\n")) })
}
