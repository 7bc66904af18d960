//! `pollux policy`: the decision of the rules about a command line, and the rules themselves.

use pollux_host::RunOptions;
use pollux_policy::{Judgement, Policy, PolicyVerdict, Query, Rule, Subject};
use pollux_protocol::SessionRequest;
use pollux_protocol::plain_text::visible;
use pollux_protocol::{ApprovalMode, Effects};
use pollux_shell::command_line::{CommandLine, Gap, read};
use pollux_shell::strip_wrapper;
use serde_json::{Value, json};

use pollux_agent::{denied, nobody_to_ask};

use crate::arguments::{PolicyArguments, PolicyVerb, command_line};
use crate::exit::Failure;
use crate::inspection::{set_up, set_up_silently};
use crate::process::Process;

mod lint;

/// Display name of the tool that runs commands.
const SHELL: &str = "Shell";
/// Exit code for a broken policy file, because the result may be incomplete.
const BROKEN: u8 = 52;

/// Returns the result as text, and the exit code.
///
/// # Errors
/// For settings that cannot be read.
pub(crate) fn answer(process: &Process, asked: &PolicyArguments) -> Result<(String, u8), Failure> {
    let flags = asked.flags();
    let options =
        RunOptions { rules: flags.rules.options(), debug: flags.debug, ..RunOptions::default() };
    let request = SessionRequest::new(Process::folder()?);
    let is_lint = matches!(asked.verb, PolicyVerb::Lint(_));
    let setup = if is_lint {
        set_up_silently(process, options, request)?
    } else {
        set_up(process, options, request)?
    };
    let policy = setup.policy("");
    let code = if policy.facts.is_suspended { BROKEN } else { 0 };
    let text = match &asked.verb {
        PolicyVerb::Explain { command, .. } => {
            let mode = flags.mode.unwrap_or(setup.mode);
            explain(&policy, &command_line(command), mode, flags.json)
        }
        PolicyVerb::Lint(_) => lint::report(&setup.rules, flags.json),
        PolicyVerb::List(_) => list(&policy, flags.json),
    };
    Ok((text, code))
}

fn explain(policy: &Policy, command: &str, mode: ApprovalMode, as_json: bool) -> String {
    let line = read(&strip_wrapper(command), policy.facts.dialect);
    let asking = with_person(policy, true);
    let alone = with_person(policy, false);
    let headless = Run::Headless { only_reads: policy.only_reads(mode) };
    let args = json!({ "command": command });
    let effects = Effects::command(command, policy.facts.folder());
    let subject = Subject::named("run_shell_command");
    let query = Query { subject, args: &args, effects: &effects, mode };
    let (asking, alone) = (asking.judge(query), alone.judge(query));
    if as_json {
        let reported = json!({
            "command": command,
            "mode": mode.flag(),
            "interactive": judgement(&asking, Run::Interactive),
            "headless": judgement(&alone, headless),
            "analysis": in_json(&line),
        });
        return format!("{reported:#}\n");
    }
    let mut lines =
        vec![format!("Command: {}", visible(command)), format!("Mode: {}", mode.flag())];
    lines.extend(in_words(&line));
    lines.push("With a user:".to_owned());
    lines.extend(reported(&asking, Run::Interactive));
    lines.push("Headless:".to_owned());
    lines.extend(reported(&alone, headless));
    lines.join("\n") + "\n"
}

/// Returns the same rules for an interactive or a headless run.
fn with_person(policy: &Policy, interactive: bool) -> Policy {
    let mut policy = policy.clone();
    policy.facts.interactive = interactive;
    policy
}

fn in_words(line: &CommandLine) -> Vec<String> {
    let mut lines = Vec::new();
    let mut add = |label: &str, found: Vec<String>| {
        if !found.is_empty() {
            lines.push(format!("{label}: {}", visible(&found.join(", "))));
        }
    };
    add("Runs", line.programs());
    add("Writes", line.writes());
    add("Not parsed", line.beyond.map(gap).into_iter().collect());
    add("May hide commands", line.hidden.map(gap).into_iter().collect());
    lines
}

fn in_json(line: &CommandLine) -> Value {
    json!({
        "runs": line.programs(),
        "writes": line.writes(),
        "beyond": line.beyond.map(gap),
        "hidden": line.hidden.map(gap),
    })
}

fn gap(gap: Gap) -> String {
    format!("{} (at byte {})", gap.construct.describe(), gap.position)
}

/// Returns the effect of the verdict; in a headless run a question counts as a refusal.
/// Kind of run that a decision is explained for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Run {
    /// A user can be asked.
    Interactive,
    /// Nobody can be asked. `only_reads` is true if commands may only read, unless a rule allows
    /// more.
    Headless { only_reads: bool },
}

fn outcome(verdict: &PolicyVerdict, run: Run) -> &'static str {
    match verdict {
        PolicyVerdict::Allow => "runs",
        PolicyVerdict::Ask if run == Run::Interactive => "asked",
        PolicyVerdict::Ask | PolicyVerdict::Deny { .. } => "refused",
    }
}

/// Returns the message that the model gets for a refused call.
fn refusal(judgement: &Judgement<'_>, run: Run) -> Option<String> {
    match (&judgement.verdict, run) {
        (PolicyVerdict::Deny { message }, _) => Some(denied(message.as_deref())),
        (PolicyVerdict::Ask, Run::Headless { only_reads }) => {
            Some(nobody_to_ask(SHELL, judgement.reason.as_deref(), only_reads))
        }
        (PolicyVerdict::Ask, Run::Interactive) | (PolicyVerdict::Allow, _) => None,
    }
}

fn reported(judgement: &Judgement<'_>, run: Run) -> Vec<String> {
    let mut lines = vec![format!(
        "  {}{}",
        judgement.verdict.as_str(),
        because(judgement.rule, judgement.reason.as_deref())
    )];
    if let Some(words) = refusal(judgement, run) {
        lines.push(format!("  denied, with this message to the model: {}", visible(&words)));
    }
    if !matches!(judgement.verdict, PolicyVerdict::Deny { .. }) {
        lines.push(format!("  confined to: {}", judgement.level.as_str()));
    }
    if judgement.parts.len() > 1 {
        lines.extend(judgement.parts.iter().map(|part| {
            let reason = because(part.rule, part.reason.as_deref());
            format!("    {}: {}{reason}", visible(&part.text), part.ruling.as_str())
        }));
    }
    lines
}

fn because(rule: Option<&Rule>, reason: Option<&str>) -> String {
    let rule = match rule {
        Some(rule) => format!(", by {} with priority {}", rule.source, rule.priority),
        None => ", because no rule applies".to_owned(),
    };
    rule + &reason.map(|reason| format!("; {reason}")).unwrap_or_default()
}

fn judgement(judgement: &Judgement<'_>, run: Run) -> Value {
    let message = match &judgement.verdict {
        PolicyVerdict::Deny { message } => message.as_deref(),
        PolicyVerdict::Allow | PolicyVerdict::Ask => None,
    };
    let parts: Vec<Value> = judgement
        .parts
        .iter()
        .map(|part| {
            json!({
                "command": part.text,
                "decision": part.ruling.as_str(),
                "rule": part.rule.map(rule),
                "reason": part.reason,
            })
        })
        .collect();
    json!({
        "decision": judgement.verdict.as_str(),
        "outcome": outcome(&judgement.verdict, run),
        "refusal": refusal(judgement, run),
        "rule": judgement.rule.map(rule),
        "reason": judgement.reason,
        "confinement": judgement.level.as_str(),
        "message": message,
        "parts": parts,
    })
}

fn rule(rule: &Rule) -> Value {
    json!({
        "source": rule.source.label,
        "file": rule.source.file,
        "line": (rule.source.line > 0).then_some(rule.source.line),
        "priority": rule.priority.to_string(),
        "summary": rule.in_words(),
    })
}

fn list(policy: &Policy, as_json: bool) -> String {
    if as_json {
        let rules: Vec<Value> = policy.rules().iter().map(rule).collect();
        let checkers: Vec<Value> = policy
            .checkers()
            .iter()
            .map(|checker| json!({"name": checker.checker.name, "priority": checker.priority, "rule": rule(&checker.rule)}))
            .collect();
        return format!("{:#}\n", json!({"rules": rules, "checkers": checkers}));
    }
    let mut text = String::new();
    for rule in policy.rules() {
        let line =
            format!("{:<6} {}  ({})\n", rule.priority.to_string(), rule.in_words(), rule.source);
        text.push_str(&visible(line.trim_end()));
        text.push('\n');
    }
    for checker in policy.checkers() {
        let line = format!(
            "check  {} by {}  ({})",
            checker.rule.tool, checker.checker.name, checker.rule.source
        );
        text.push_str(&visible(&line));
        text.push('\n');
    }
    text
}
