//! Saves approvals in the same way as the agent, and prints Pollux's decisions about the approved
//! calls and about similar calls.
//!
//! `cargo run -p pollux-policy --example saved_approvals FILE` reads the calls from a TOML file and
//! prints JSON: for each approval the text of the saved file, and probes with the decisions.
//! `interop/saved-approvals` compares the output with the decisions of Gemini CLI.
#![allow(clippy::print_stdout, missing_docs)]

use std::error::Error;
use std::path::Path;

use pollux_fs::Workspace;
use pollux_policy::{
    APPROVALS_FILE, Approval, ApprovalScope, Facts, Policy, PolicyFile, Query, Subject, Tier, read,
};
use pollux_protocol::{ApprovalMode, Effects, Live, SubjectArgument, ToolFacts};
use pollux_shell::sandbox::{SandboxMechanisms, SandboxSupport};
use serde_json::{Value, json};

/// Folder of the project. It does not need to exist.
const PROJECT: &str = "/p";

/// Modes in which the decisions are compared.
const MODES: [ApprovalMode; 3] =
    [ApprovalMode::Default, ApprovalMode::AutoEdit, ApprovalMode::Plan];

/// One call.
#[derive(Clone)]
struct Call {
    tool: String,
    server: Option<String>,
    args: Value,
}

impl Call {
    fn of_line(line: &str) -> Self {
        Self { tool: "run_shell_command".to_owned(), server: None, args: json!({"command": line}) }
    }

    /// Calls `judge` with the query about this call.
    fn ask<T>(&self, mode: ApprovalMode, judge: impl FnOnce(&Query<'_>) -> T) -> T {
        let text = |name: &str| self.args.get(name).and_then(Value::as_str);
        let (subject, effects) = if let Some(line) = text("command") {
            let folder = Path::new(PROJECT).join(text("dir_path").unwrap_or_default());
            (None, Effects::command(line, folder))
        } else if let Some(path) = text("file_path") {
            (
                Some(SubjectArgument::Path("file_path")),
                Effects::write(Path::new(PROJECT).join(path)),
            )
        } else {
            (None, Effects::default())
        };
        let facts = ToolFacts { subject, ..ToolFacts::default() };
        let server = self.server.as_deref();
        let subject = Subject { facts, server, ..Subject::named(&self.tool) };
        judge(&Query { subject, args: &self.args, effects: &effects, mode })
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("the file with the calls is missing")?;
    let cases: toml::Table =
        toml::from_str(&pollux_fs::read_text(Path::new(&path), 1 << 20)?.text)?;
    let mut approvals = Vec::new();
    for case in items(&cases, "line") {
        let line = case.get("command").and_then(Value::as_str).ok_or("a line without command")?;
        let probes = lines_like(line);
        approvals.extend(approvals_of(&Call::of_line(line), &probes, case.get("asked"))?);
    }
    for case in items(&cases, "call") {
        let text = |name: &str| case.get(name).and_then(Value::as_str).map(str::to_owned);
        let tool = text("tool").ok_or("a call without tool")?;
        let call = Call { tool, server: text("server"), args: case["args"].clone() };
        approvals.extend(approvals_of(&call, &calls_like(&call), case.get("asked"))?);
    }
    println!("{:#}", Value::Array(approvals));
    Ok(())
}

fn items(cases: &toml::Table, name: &str) -> Vec<Value> {
    let items = cases.get(name).and_then(toml::Value::as_array);
    items.into_iter().flatten().filter_map(|item| serde_json::to_value(item).ok()).collect()
}

/// Saves the call for each scope that its question offers, and judges the probes by the saved file.
fn approvals_of(
    call: &Call,
    probes: &[Call],
    asked: Option<&Value>,
) -> Result<Vec<Value>, Box<dyn Error>> {
    let policy = Policy::new(facts(), PolicyFile::default());
    let mode = ApprovalMode::Default;
    let mut scopes = vec![ApprovalScope::Call];
    call.ask(mode, |query| {
        scopes.extend(Approval::scopes(&policy, query).iter().map(|found| found.0));
    });
    scopes.extend(call.server.as_ref().map(|_| ApprovalScope::Server));
    let mut approvals = Vec::new();
    for scope in scopes {
        let Some(approval) = call.ask(mode, |query| Approval::of(&policy, query, scope)) else {
            return Err(format!("{} cannot be saved", call.args).into());
        };
        let folder = tempfile::tempdir()?;
        let path = folder.path().join(APPROVALS_FILE);
        approval.save(&path)?;
        let text = pollux_fs::read_text(&path, 1 << 20)?.text;
        let saved = Policy::new(facts(), read(Tier::User, &path, &text));
        let judged = std::iter::once(call).chain(probes).flat_map(|probe| {
            MODES.map(|mode| {
                let decision = probe.ask(mode, |query| saved.decide(*query).as_str());
                json!({"tool": probe.tool, "server": probe.server, "args": probe.args, "mode": mode, "decision": decision})
            })
        });
        approvals.push(json!({
            "call": call.args,
            "tool": call.tool,
            "scope": format!("{scope:?}"),
            "asked": asked,
            "file": text,
            "probes": judged.collect::<Vec<_>>(),
        }));
    }
    Ok(approvals)
}

/// A trusted folder, a user, and a system without confinement: in this case both programs allow the
/// same commands without a rule.
fn facts() -> Facts {
    let mut facts = Facts {
        interactive: true,
        trusted: true,
        workspace: Live::new(Workspace::new(PROJECT.into(), "/temporary".into())),
        ..Facts::default()
    };
    facts.confinement.support = Some(SandboxSupport::from_mechanisms(SandboxMechanisms::default()));
    facts
}

/// Returns lines that a rule for `line` must not cover.
fn lines_like(line: &str) -> Vec<Call> {
    let first = line.split_whitespace().next().unwrap_or(line);
    let shorter: String = line.chars().take(line.chars().count().saturating_sub(1)).collect();
    let fewer = line.rsplit_once(' ').map_or(first, |(words, _)| words);
    let second = line.split_whitespace().nth(1).unwrap_or_default();
    let lines = [
        format!("{line} x"),
        format!("{line}x"),
        format!("{line}\"x\""),
        format!("{line}/../x"),
        format!("{line} --evil=x"),
        format!("{line} -c x"),
        format!("{line} \"x"),
        format!("{line}\""),
        format!("{line}\\"),
        format!("{line}; rm -rf x"),
        format!("{line} && touch C"),
        format!("{line} || touch C"),
        format!("{line} | sh"),
        format!("{line} & touch C"),
        format!("{line}\nrm -rf x"),
        format!("{line} > C"),
        format!("{line} >> ~/.bashrc"),
        format!("{line} < /etc/passwd"),
        format!("{line} $(touch C)"),
        format!("{line} `touch C`"),
        format!("{line} $x"),
        format!("{line} <(touch C)"),
        format!("rm -rf x; {line}"),
        format!("sudo {line}"),
        format!("A=1 {line}"),
        format!("cd / && {line}"),
        format!("sh -c '{line}'"),
        format!(" {line} "),
        line.replacen(' ', "  ", 1),
        line.replace(['"', '\''], ""),
        line.to_uppercase(),
        shorter,
        fewer.to_owned(),
        first.to_owned(),
        format!("{first} other"),
        format!("{first} --evil"),
        format!("{first} -c core.pager=x {second}"),
        format!("{first} {second} --exec=x --upload-pack=x"),
        format!("{first} {second} --receive-pack=x"),
        format!("{first} bisect run x"),
        format!("{first} -rf src"),
        format!("{first}\"\" x"),
        format!("{first}-evil"),
        format!("./{first}"),
        "rm -rf src".to_owned(),
        "touch C".to_owned(),
    ];
    let others = lines.iter().filter(|other| *other != line);
    others.map(|line| Call::of_line(line)).chain(calls_that_name(line)).collect()
}

/// Returns calls that have the line as another argument, with other arguments, or for another tool.
fn calls_that_name(line: &str) -> Vec<Call> {
    let evil = "rm -rf src";
    let quoted = format!("\"command\":{}", Value::from(line));
    let with = |more: Value| Call { args: more, ..Call::of_line("") };
    vec![
        with(json!({"command": evil, "additional_permissions": {"command": line}})),
        with(json!({"command": evil, "description": quoted})),
        with(json!({"command": evil, "additional": [{"command": line}], "z": 1})),
        with(json!({"command": evil, "description": line})),
        with(json!({"command": line, "description": "as approved", "is_background": true})),
        Call { tool: "discovered_tool_x".to_owned(), ..Call::of_line(line) },
        Call { tool: "mcp_s_run".to_owned(), server: Some("s".to_owned()), ..Call::of_line(line) },
    ]
}

/// Returns calls of other tools that a rule for `call` must not cover.
fn calls_like(call: &Call) -> Vec<Call> {
    let mut calls: Vec<Call> = Vec::new();
    if let Some(path) = call.args.get("file_path").and_then(Value::as_str) {
        let paths = [
            format!("{path}x"),
            format!("{path}/x"),
            format!("/x{path}"),
            format!("{path}\""),
            format!("{path}/../b.txt"),
            path.to_uppercase(),
            path.replacen('.', "x", 1),
            path[1..].to_owned(),
            path[..path.len() - 1].to_owned(),
            "/p/.gemini/settings.json".to_owned(),
            "/etc/passwd".to_owned(),
        ];
        for other in paths {
            let mut changed = call.clone();
            changed.args["file_path"] = Value::from(other);
            calls.push(changed);
        }
        let smuggled = json!({"file_path": "/etc/passwd", "more": {"file_path": path}});
        calls.push(Call { args: smuggled, ..call.clone() });
        let quoted = format!("\"file_path\":{}", Value::from(path));
        let smuggled = json!({"file_path": "/etc/passwd", "content": quoted});
        calls.push(Call { args: smuggled, ..call.clone() });
        calls.push(Call { tool: "other_tool".to_owned(), ..call.clone() });
    }
    for (tool, server) in [
        ("web_fetch", None),
        ("write_file", None),
        ("run_shell_command", None),
        ("mcp_notes_add", Some("notes")),
        ("mcp_notes_add", Some("other")),
        ("mcp_notes_addx", Some("notes")),
        ("mcp_notes_remove", Some("notes")),
        ("mcp_notesx_add", Some("notesx")),
        ("mcp_my-notes_add_one", Some("my-notes")),
        ("mcp_my-notes_add", Some("my-notes")),
        ("mcp_my_notes_add", Some("my_notes")),
        ("mcp_my_notes_add", Some("my")),
        ("mcp_my_other", Some("my")),
        ("add", Some("notes")),
        ("add", None),
        ("MCP_NOTES_ADD", Some("NOTES")),
    ] {
        let other = Call {
            tool: tool.to_owned(),
            server: server.map(str::to_owned),
            args: json!({"command": "frob x", "file_path": "/p/z", "prompt": "https://example.com", "text": "y"}),
        };
        calls.push(other);
    }
    calls
}
