use std::path::Path;

use pollux_protocol::ApprovalMode;
use pretty_assertions::assert_eq;

use super::*;

fn read_user(text: &str) -> PolicyFile {
    read(Tier::User, Path::new("/h/.gemini/policies/my.toml"), text)
}

fn reported(text: &str) -> Vec<String> {
    read_user(text)
        .problems
        .iter()
        .map(|problem| problem.to_string().replace("/h/.gemini/policies/", ""))
        .collect()
}

const RULE: &str = "[[rule]]\ntoolName = \"x\"\ndecision = \"allow\"\npriority = 1\n";

#[test]
fn every_field() {
    let file = read_user(
        r#"
        [[rule]]
        name = "passed over"
        toolName = ["a", "b"]
        mcpName = "s"
        subagent = "n"
        argsPattern = "x+"
        toolAnnotations = { readOnlyHint = true, depth = 2 }
        decision = "deny"
        priority = 7
        modes = ["default", "autoEdit"]
        interactive = false
        deny_message = "old"
        denyMessage = "new"
        allow_redirection = true
        [[rule]]
        toolName = "run_shell_command"
        commandPrefix = ["git", "ls"]
        decision = "ask_user"
        priority = 999.0
        [[safety_checker]]
        toolName = "*"
        priority = -5
        [safety_checker.checker]
        type = "external"
        name = "mine"
        required_context = ["history"]
        config = { included_args = ["x"] }
        "#,
    );
    assert_eq!(file.problems, Vec::new());
    assert_eq!(file.rules.len(), 4);
    let rule = &file.rules[1];
    assert_eq!(rule.tool, ToolPattern::Tool("mcp_s_b".into()));
    assert_eq!((rule.server.as_deref(), rule.subagent.as_deref()), (Some("s"), Some("n")));
    assert_eq!(rule.priority.to_string(), "4.007");
    assert_eq!(rule.deny_message.as_deref(), Some("new"));
    assert_eq!((rule.interactive, rule.allow_redirection), (Some(false), true));
    assert_eq!(
        rule.modes.named().collect::<Vec<_>>(),
        [ApprovalMode::Default, ApprovalMode::AutoEdit]
    );
    assert_eq!(rule.annotations.len(), 2);
    assert_eq!(rule.source.to_string(), "User: my.toml:2");
    assert_eq!(file.checkers[0].checker.name, "mine");
    assert_eq!(file.checkers[0].priority, -5);
}

#[test]
fn faults_are_reported_with_line_and_column() {
    let table = [
        ("[[rule]\n", "my.toml:1:"),
        (
            "[[rule]]\ntoolName = \"x\"\ndecision = \"allow\"\n",
            "my.toml:1:1:\n  priority is required",
        ),
        (
            "[[rule]]\ntoolName = \"x\"\ndecision = \"allow\"\npriority = \"1\"\n",
            "my.toml:4:12:\n  priority must be a number",
        ),
        (
            "[[rule]]\ntoolName = \"x\"\ndecision = \"allow\"\npriority = 1.5\n",
            "priority must be an integer",
        ),
        (
            "[[rule]]\ntoolName = \"x\"\ndecision = \"allow\"\npriority = -1\n",
            "priority must be >= 0",
        ),
        (
            "[[rule]]\ntoolName = \"x\"\ndecision = \"allow\"\npriority = 1000\n",
            "priority must be <= 999 to prevent tier overflow.",
        ),
        (
            "[[rule]]\ntoolName = \"x\"\ndecision = \"maybe\"\npriority = 1\n",
            "my.toml:3:12:\n  decision must be",
        ),
        ("[[rule]]\ndecision = \"allow\"\npriority = 1\n", "toolName is required"),
        (
            "[[rule]]\ntoolName = \"\"\ndecision = \"allow\"\npriority = 1\n",
            "toolName must not be empty",
        ),
        (
            "[[rule]]\ntoolName = 3\ndecision = \"allow\"\npriority = 1\n",
            "toolName must be a string",
        ),
        ("rule = 1\n", "rule must be written as [[rule]]"),
        ("[[safety_checker]]\ntoolName = \"*\"\n", "checker is required"),
    ];
    for (text, expected) in table {
        let reported = reported(text);
        assert_eq!(reported.len(), 1, "{text}: {reported:?}");
        assert!(reported[0].contains(expected), "{text}: {}", reported[0]);
        assert!(reported[0].starts_with("[USER] Policy file error in my.toml:"), "{}", reported[0]);
    }
    for (field, expected) in [
        ("modes = [\"auto_edit\"]", "modes must be an array"),
        ("interactive = 1", "interactive must be true or false"),
        ("commandPrefix = \"x\"", "need toolName = \"run_shell_command\""),
        (
            "argsPattern = \"(\"",
            "my.toml:5:15:\n  argsPattern is not a valid pattern: there is a ( without a matching )",
        ),
        ("toolAnnotations = 1", "toolAnnotations must be a table"),
    ] {
        let reported = reported(&format!("{RULE}{field}\n"));
        assert!(reported.len() == 1 && reported[0].contains(expected), "{field}: {reported:?}");
    }
}

#[test]
fn a_pattern_may_not_be_longer_than_in_gemini_cli() {
    let rule = |length| format!("{RULE}argsPattern = \"{}\"\n", "a".repeat(length));
    assert!(reported(&rule(MAX_PATTERN_LENGTH)).is_empty());
    assert!(reported(&rule(MAX_PATTERN_LENGTH + 1))[0].contains("it is longer than 2048 bytes"));
}

#[test]
fn sound_rules_of_a_broken_file_still_count() {
    let text = format!("{RULE}[[rule]]\ntoolName = \"y\"\n{RULE}");
    assert_eq!(read_user(&text).rules.len(), 2);
}

#[test]
fn the_pattern_that_gemini_cli_saves_is_read_as_it_was_meant() {
    assert_eq!(repaired(r#"\\0"file_path":"a"\\0"#), r#"\x00"file_path":"a"\x00"#);
    assert_eq!(repaired("plain"), "plain");
}

#[test]
fn only_what_pollux_brings_along_speaks_of_plans() {
    let file = read_user(&format!("{RULE}writes = \"plans\"\n"));
    assert!(file.rules[0].pattern.is_none());
}
