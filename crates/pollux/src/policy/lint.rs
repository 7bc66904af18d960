//! `pollux policy lint`: errors and doubts about the rules, and how many calls they match.

use pollux_policy::{PolicyFile, Problem, RuleReach, RuleSource, rule_reach};
use pollux_protocol::plain_text::visible;
use serde_json::{Value, json};

/// Returns one line for each finding, or a JSON object.
pub(super) fn report(rules: &PolicyFile, as_json: bool) -> String {
    let reach = rule_reach(&rules.rules);
    if as_json {
        let problems = rules.problems.iter().map(problem_in_json);
        let findings: Vec<Value> = problems.chain(reach.iter().map(reach_in_json)).collect();
        return format!("{:#}\n", json!({ "findings": findings }));
    }
    let problems = rules.problems.iter().map(problem_in_words);
    let reach = reach.iter().map(|reach| format!("{}: {}", place(&reach.source), reach.message()));
    let lines: Vec<String> = problems.chain(reach).collect();
    if lines.is_empty() {
        return "No errors and no warnings.\n".to_owned();
    }
    lines.iter().map(|line| visible(line) + "\n").collect()
}

fn place(source: &RuleSource) -> String {
    match &source.file {
        Some(file) => format!("{}:{}", file.display(), source.line),
        None => source.label.clone(),
    }
}

fn problem_in_words(problem: &Problem) -> String {
    let severity = if problem.is_error() { "error" } else { "warning" };
    let line = problem.position.map(|(line, _)| format!(":{line}")).unwrap_or_default();
    let suggestion = problem.suggestion.as_ref().map(|text| format!(" {text}")).unwrap_or_default();
    let message = problem.message.replace('\n', " ");
    format!("{}{line}: {severity}: {message}{suggestion}", problem.path.display())
}

fn problem_in_json(problem: &Problem) -> Value {
    json!({
        "kind": problem.kind.as_str(),
        "isError": problem.is_error(),
        "file": problem.path,
        "line": problem.position.map(|(line, _)| line),
        "message": problem.message,
        "suggestion": problem.suggestion,
    })
}

fn reach_in_json(reach: &RuleReach) -> Value {
    json!({
        "kind": if reach.narrower.is_some() { "broad_rule" } else { "starts_programs" },
        "isError": false,
        "source": reach.source.label,
        "file": reach.source.file,
        "line": (reach.source.line > 0).then_some(reach.source.line),
        "message": reach.message(),
        "suggestion": reach.narrower,
        "starts": reach.starts,
    })
}
