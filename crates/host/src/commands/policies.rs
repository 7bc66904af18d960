//! `/policies`: the rules of the session.

use async_trait::async_trait;
use pollux_policy::Policy;
use pollux_protocol::plain_text::visible;
use pollux_protocol::{ApprovalMode, Command, CommandContext, CommandError, Live, Op};

use super::continuations;

const USAGE: &str = "Usage: /policies list";
/// `/policies`, with the rules of the session.
pub(super) struct Policies(pub(super) Live<Policy>);

#[async_trait]
impl Command for Policies {
    fn name(&self) -> &'static str {
        "policies"
    }

    fn description(&self) -> &'static str {
        "list the rules that decide which calls may run"
    }

    fn arguments(&self) -> Option<&str> {
        Some("list")
    }

    fn runs_while_working(&self) -> bool {
        true
    }

    fn needs_user(&self) -> bool {
        true
    }

    async fn complete(&self, partial: &str) -> Vec<String> {
        continuations(partial, ["list"])
    }

    async fn run(&self, context: CommandContext) -> Result<Option<Op>, CommandError> {
        match context.arguments.trim() {
            "" | "list" => context.say(list(&self.0.get())),
            _ => return Err(CommandError(USAGE.to_owned())),
        }
        Ok(None)
    }
}

/// Lists the rules for a session with a user, grouped by their modes. Each group has the order in
/// which the rules are applied.
fn list(policy: &Policy) -> String {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for rule in policy.rules().iter().filter(|rule| rule.interactive != Some(false)) {
        let modes: Vec<&str> = rule.modes.named().map(ApprovalMode::as_str).collect();
        let (title, suffix) = if modes.is_empty() {
            ("In every mode".to_owned(), String::new())
        } else {
            let modes = modes.join(", ");
            (format!("Only in mode {modes}"), format!(" [{modes}]"))
        };
        let words = rule.in_words();
        let words = words.strip_suffix(&suffix).unwrap_or(&words);
        let priority = rule.priority.to_string();
        let line = visible(&format!("  {priority:<6} {words}  ({})", rule.source));
        match groups.iter_mut().find(|(known, _)| *known == title) {
            Some((_, lines)) => lines.push(line),
            None => groups.push((title, vec![line])),
        }
    }
    let checkers = policy
        .checkers()
        .iter()
        .map(|checker| visible(&format!("  {} by {}", checker.rule.tool, checker.checker.name)));
    let checkers: Vec<String> = checkers.collect();
    if !checkers.is_empty() {
        groups.push(("Checkers".to_owned(), checkers));
    }
    let sections = groups.iter().map(|(title, lines)| format!("{title}\n{}", lines.join("\n")));
    let sections = sections.collect::<Vec<_>>().join("\n\n");
    format!(
        "{sections}\n\nA rule with a higher number comes first. `policy explain` judges a command line."
    )
}
