//! The verdict about a command line. For any line, a deny rule for everything denies it; and under
//! an allow-list without a user, no command in the line runs that the list does not name.

use std::path::Path;

use pollux_policy::{Facts, Policy, PolicyVerdict, Query, Subject, Tier, read};
use pollux_protocol::{ApprovalMode, Effects};
use pollux_shell::Dialect;
use pollux_shell::command_line::{SimpleCommand, read as read_line};
use pollux_shell::strip_wrapper;
use serde_json::json;

const LISTED: &[&str] = &["echo", "ls", "git"];

fn policy(rule: &str) -> Policy {
    let text = format!("[[rule]]\ntoolName = \"run_shell_command\"\npriority = 500\n{rule}");
    Policy::new(Facts::default(), read(Tier::User, Path::new("own.toml"), &text))
}

fn is_allowed(policy: &Policy, line: &str, mode: ApprovalMode) -> bool {
    let (args, effects) = (json!({"command": line}), Effects::command(line, Path::new("/project")));
    let subject = Subject::named("run_shell_command");
    matches!(
        policy.decide(Query { subject, args: &args, effects: &effects, mode }),
        PolicyVerdict::Allow
    )
}

pub(crate) fn run(line: &str) {
    let denied = policy("decision = \"deny\"");
    let listed = policy("decision = \"allow\"\ncommandPrefix = [\"echo\", \"ls\", \"git\"]");
    let without_touch = policy("decision = \"deny\"\ncommandPrefix = \"touch\"");
    let read = read_line(&strip_wrapper(line), Dialect::Bash);
    let names = || read.commands.iter().map(SimpleCommand::base_name);
    let reads = || read.commands.iter().filter(|command| !command.words.is_empty());
    for mode in
        [ApprovalMode::Default, ApprovalMode::AutoEdit, ApprovalMode::Yolo, ApprovalMode::Plan]
    {
        assert!(!is_allowed(&denied, line, mode), "{mode}: denied for all");
    }
    if is_allowed(&listed, line, ApprovalMode::Default) {
        let is_listed = |name: &str| LISTED.contains(&name);
        let mut outer =
            reads().filter(|command| command.known(0).is_ok_and(|known| known.does.is_some()));
        assert!(outer.all(|command| is_listed(command.base_name())), "not on the list");
        assert!(read.is_parsed(), "not parsed, but allowed");
    }
    if is_allowed(&without_touch, line, ApprovalMode::Yolo) {
        assert!(names().all(|name| !name.eq_ignore_ascii_case("touch")), "denied, but allowed");
        assert!(read.hidden.is_none(), "hidden, but allowed");
    }
}
