//! `mcp test`.

use std::time::Duration;

use pollux_host::{Probed, ProbedPrompt, ProbedStep, ServerResource, Setup};
use pollux_protocol::plain_text::visible;
use serde_json::{Value, json};

use super::Answer;
use super::change::named;
use super::found::{Finding, FoundServer};
use crate::exit::Failure;

/// Time limit of each step, if the entry sets none. The first start of a server may download it.
const LIMIT: Duration = Duration::from_mins(1);
/// Maximum number of tools, and of problems, in the text.
const LISTED: usize = 20;
/// Number of the last lines of the log in the text.
const LOG_LINES: usize = 10;
/// Maximum length of a tool's description in the text, in characters.
const LONGEST_DESCRIPTION: usize = 70;

/// Starts a server and reports what it offers. The exit code is 1 if it cannot be used.
pub(super) async fn test(setup: &Setup, name: &str) -> Result<Answer, Failure> {
    let server = named(setup, name)?;
    let reason = server.finding.reason(&setup.input.called_as);
    let Finding::Open(config) = &server.finding else {
        let reason = reason.unwrap_or_default();
        let text = format!("{}\nThe server was not started. {reason}", heading(&server));
        let json = json!({ "name": server.name, "usable": false, "reason": reason });
        return Ok(Answer { json, code: 1, ..Answer::of_text(text) });
    };
    let probed = setup.probe_server(config, LIMIT).await;
    let usable = probed.is_usable();
    Ok(Answer {
        json: in_json(&server, &probed),
        code: u8::from(!usable),
        ..Answer::of_text(in_words(&server, &probed, &setup.input.called_as))
    })
}

fn heading(server: &FoundServer) -> String {
    let scope = server.scope().unwrap_or_default();
    let (name, target) = (visible(&server.name), visible(&server.target));
    format!("{name}: {target} ({}), {scope} settings", server.transport)
}

fn in_words(server: &FoundServer, probed: &Probed, called_as: &str) -> String {
    let mut lines = vec![heading(server)];
    lines.extend(probed.steps.iter().map(step));
    if !probed.introduction.is_empty() {
        lines.push(format!("Server: {}, protocol {}", probed.introduction, probed.protocol));
    }
    if probed.steps.len() > 1 {
        lines.push(format!("Tools: {}", probed.tools.len()));
        lines.extend(limited(&probed.tools, |tool| described(&tool.name, &tool.description)));
    }
    if !probed.prompts.is_empty() {
        lines.push(format!("Prompts: {}", probed.prompts.len()));
        lines.extend(limited(&probed.prompts, |one| described(&one.name, &one.description)));
    }
    if !probed.resources.is_empty() {
        lines.push(format!("Resources: {}", probed.resources.len()));
        lines.extend(limited(&probed.resources, |one| described(&one.uri, &one.description)));
    }
    if !probed.left_out.is_empty() {
        lines.push(format!("Left out by the settings: {}", visible(&probed.left_out.join(", "))));
    }
    if let Some(instructions) = &probed.instructions {
        let first = instructions.lines().next().unwrap_or_default();
        lines.push(format!("Instructions: {}", visible(first)));
    }
    let problems = [server.problems.as_slice(), &probed.problems].concat();
    lines.extend(limited(&problems, |problem| format!("! {}", visible(problem))));
    let skipped = probed.log.len().saturating_sub(LOG_LINES);
    if !probed.log.is_empty() {
        lines.push("Last lines of its log:".to_owned());
        lines.extend(probed.log[skipped..].iter().map(|line| format!("  | {}", visible(line))));
    }
    lines.push(verdict(probed, &visible(&server.name), called_as));
    lines.join("\n")
}

fn verdict(probed: &Probed, name: &str, called_as: &str) -> String {
    match (probed.is_usable(), probed.needs_sign_in) {
        (true, _) => "The server can be used.".to_owned(),
        (false, true) => {
            format!("The server cannot be used without signing in: {called_as} mcp auth {name}")
        }
        (false, false) => "The server cannot be used.".to_owned(),
    }
}

fn step(step: &ProbedStep) -> String {
    let (icon, error) = match &step.error {
        None => ("✓", String::new()),
        Some(error) => ("✗", format!(": {}", visible(error))),
    };
    format!("  {icon} {:<14} {:>6} ms{error}", step.name, step.duration.as_millis())
}

fn described(name: &str, description: &str) -> String {
    let description = visible(description.lines().next().unwrap_or_default());
    let short: String = description.chars().take(LONGEST_DESCRIPTION).collect();
    let rest = if short.len() < description.len() { "…" } else { "" };
    format!("  {}  {short}{rest}", visible(name)).trim_end().to_owned()
}

/// Returns the first items as lines, and how many more there are.
fn limited<T>(items: &[T], line: impl Fn(&T) -> String) -> Vec<String> {
    let mut lines: Vec<String> = items.iter().take(LISTED).map(line).collect();
    let more = items.len().saturating_sub(LISTED);
    lines.extend((more > 0).then(|| format!("  and {more} more; --json shows all")));
    lines
}

fn in_json(server: &FoundServer, probed: &Probed) -> Value {
    let steps: Vec<Value> = probed
        .steps
        .iter()
        .map(|step| {
            json!({
                "name": step.name,
                "duration_ms": step.duration.as_millis() as u64,
                "error": step.error,
            })
        })
        .collect();
    let tools: Vec<Value> = probed
        .tools
        .iter()
        .map(|tool| {
            json!({
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.parameters,
            })
        })
        .collect();
    let prompt = |one: &ProbedPrompt| json!({"name": one.name, "description": one.description});
    let prompts: Vec<Value> = probed.prompts.iter().map(prompt).collect();
    let resource = |one: &ServerResource| json!({"uri": one.uri, "name": one.name, "description": one.description});
    let resources: Vec<Value> = probed.resources.iter().map(resource).collect();
    let problems = [server.problems.as_slice(), &probed.problems].concat();
    json!({
        "name": server.name,
        "usable": probed.is_usable(),
        "needs_sign_in": probed.needs_sign_in,
        "steps": steps,
        "server": probed.introduction,
        "protocol": probed.protocol,
        "instructions": probed.instructions,
        "tools": tools,
        "prompts": prompts,
        "resources": resources,
        "left_out": probed.left_out,
        "problems": problems,
        "log": probed.log,
    })
}
