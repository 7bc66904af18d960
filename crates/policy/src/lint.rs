//! Warnings about valid but doubtful rules.

use std::collections::HashMap;

use pollux_protocol::spelling;

use crate::names::{DISCOVERED, KNOWN, current_name};
use crate::problem::{Problem, ProblemKind};
use crate::rule::{Pattern, Rule, Ruling, Tier, ToolPattern};

mod reach;

pub(crate) use reach::starts_sentence;
pub use reach::{RuleReach, rule_reach};

/// Maximum edit distance between a name and a known one for which it may be a misspelling.
const NEAR: usize = 3;

/// Returns the doubt about a name in a rule, and the name that was probably meant.
pub(crate) fn name(number: usize, name: &str) -> Option<(String, Option<String>)> {
    if name.contains('*') || name.starts_with(DISCOVERED) || current_name(name) != name {
        return None;
    }
    if name.contains("__") {
        let message = format!("Rule #{number}: \"{name}\" is the old form of a server's tool.");
        return Some((
            message,
            Some("Use mcpName and toolName, or mcp_<server>_<tool>.".to_owned()),
        ));
    }
    if KNOWN.contains(&name) || name.starts_with("mcp_") {
        return None;
    }
    let near = KNOWN.iter().map(|known| (spelling::distance(name, known), known)).min()?;
    (near.0 <= NEAR).then(|| {
        let message = format!("Rule #{number}: Unrecognized tool name \"{name}\".");
        (message, Some(format!("Did you mean \"{}\"?", near.1)))
    })
}

/// Returns the doubts about valid rules.
pub(crate) fn doubts(rules: &[Rule]) -> Vec<Problem> {
    let mut problems = shadowed(rules);
    problems.extend(rules.iter().filter_map(gives_up));
    // One line of a file may produce many rules.
    problems.dedup_by(|a, b| a.path == b.path && a.position == b.position);
    problems
}

/// Returns the problem of a pattern whose search may reach the limit of steps.
fn gives_up(rule: &Rule) -> Option<Problem> {
    let (Pattern::Command(expression) | Pattern::Arguments(expression)) = rule.pattern.as_ref()?
    else {
        return None;
    };
    let becomes = if rule.ruling == Ruling::Allow { "not found" } else { "found" };
    let message = format!(
        "The pattern of this rule ({}) uses look-around or back-references and nested repetitions. On some texts its search is aborted, and the pattern counts as {becomes}.",
        rule.in_words()
    );
    if expression.may_give_up() { problem(rule, message) } else { None }
}

/// Returns the problems of rules that never apply, because an earlier rule matches all their calls.
fn shadowed(rules: &[Rule]) -> Vec<Problem> {
    let mut order: Vec<&Rule> = rules.iter().collect();
    order.sort_by_key(|rule| std::cmp::Reverse(rule.priority));
    let mut takers: Vec<&Rule> = Vec::new();
    let mut beginnings: HashMap<String, Vec<&Rule>> = HashMap::new();
    let mut problems: Vec<Problem> = Vec::new();
    for rule in order {
        let prefix = plain_prefix(rule);
        if let Some(taker) = takers.iter().find(|taker| takes_all_of(taker, rule)) {
            let message = format!(
                "This rule ({}) never applies: {} comes first and matches every call.",
                rule.in_words(),
                taker.source
            );
            problems.extend(problem(rule, message));
        } else if let Some(taker) = prefix.and_then(|words| taker_of(words, rule, &beginnings)) {
            let message = format!(
                "This rule ({}) almost never applies: {} comes first and matches the commands that begin like this.",
                rule.in_words(),
                taker.source
            );
            problems.extend(problem(rule, message));
        }
        if let Some(words) = prefix.filter(|_| has_only_a_pattern(rule)) {
            beginnings.entry(words.join(" ")).or_default().push(rule);
        }
        if rule.pattern.is_none() && has_only_a_pattern(rule) {
            takers.push(rule);
        }
    }
    problems
}

/// Returns true for a rule without conditions on server, caller or annotations.
fn has_only_a_pattern(rule: &Rule) -> bool {
    rule.server.is_none() && rule.subagent.is_none() && rule.annotations.is_empty()
}

/// Returns the words of a prefix that a shell leaves unchanged.
fn plain_prefix(rule: &Rule) -> Option<&[String]> {
    match &rule.pattern {
        Some(Pattern::Prefix(prefix)) if prefix.is_plain() => Some(prefix.words()),
        _ => None,
    }
}

/// Returns an earlier rule that matches commands which begin with these words, or with the first of
/// them.
fn taker_of<'r>(
    words: &[String],
    rule: &Rule,
    beginnings: &HashMap<String, Vec<&'r Rule>>,
) -> Option<&'r Rule> {
    let shorter = (1..=words.len()).filter_map(|count| beginnings.get(&words[..count].join(" ")));
    shorter.flatten().copied().find(|taker| takes_all_of(taker, rule))
}

fn takes_all_of(taker: &Rule, rule: &Rule) -> bool {
    (taker.tool == ToolPattern::All || taker.tool == rule.tool)
        && taker.modes.covers(rule.modes)
        && taker.interactive.is_none_or(|wanted| rule.interactive == Some(wanted))
        // A rule with the same ruling does no harm.
        && taker.ruling != rule.ruling
}

/// Returns a problem of a rule; `None` for a rule that is not in a file.
fn problem(rule: &Rule, message: String) -> Option<Problem> {
    let path = rule.source.file.as_deref()?;
    let tier = if rule.source.label.starts_with("Admin") {
        Tier::Admin
    } else if rule.source.label.starts_with("Workspace") {
        Tier::Workspace
    } else {
        Tier::User
    };
    let mut problem = Problem::new(path, tier, ProblemKind::Doubtful, message);
    problem.position = Some((rule.source.line, 1));
    Some(problem)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::file::read;

    #[test]
    fn names() {
        assert_eq!(name(1, "write_file"), None);
        assert_eq!(name(1, "mcp_x_*"), None);
        assert_eq!(name(1, "something_else_entirely"), None);
        let (message, suggestion) = name(2, "writ_file").unwrap();
        assert_eq!(message, "Rule #2: Unrecognized tool name \"writ_file\".");
        assert_eq!(suggestion.unwrap(), "Did you mean \"write_file\"?");
        assert!(name(1, "server__tool").unwrap().0.contains("old form"));
    }

    #[test]
    fn rules_that_nothing_comes_to() {
        let rule = |tool: &str, decision: &str, priority: u16, more: &str| {
            format!(
                "[[rule]]\ntoolName = \"{tool}\"\ndecision = \"{decision}\"\npriority = {priority}\n{more}\n"
            )
        };
        let reported = |text: String| {
            let file = read(Tier::User, Path::new("a.toml"), &text);
            doubts(&file.rules).iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        let all = rule("*", "allow", 9, "");
        let problems = reported(all.clone() + &rule("glob", "deny", 8, ""));
        assert_eq!(problems.len(), 1);
        assert!(problems[0].starts_with("[USER] Policy file warning in a.toml:6:1:\n  This rule (deny glob) never applies: User: a.toml:1"), "{problems:?}");
        for lower in [rule("glob", "allow", 8, ""), rule("glob", "deny", 10, "")] {
            assert_eq!(reported(all.clone() + &lower), Vec::<String>::new());
        }
        let half = rule("*", "allow", 9, "modes = [\"yolo\"]");
        assert_eq!(reported(half + &rule("glob", "deny", 8, "")), Vec::<String>::new());
        let shell = |decision: &str, priority: u16, words: &str| {
            rule("run_shell_command", decision, priority, &format!("commandPrefix = \"{words}\""))
        };
        let push = shell("deny", 8, "git push");
        let problems = reported(shell("allow", 9, "git") + &push);
        assert!(problems[0].contains("almost never applies: User: a.toml:1"), "{problems:?}");
        for other in [
            shell("allow", 7, "git"),
            shell("deny", 9, "git"),
            shell("allow", 9, "gi"),
            shell("allow", 9, "git pull"),
        ] {
            assert_eq!(reported(other + &push), Vec::<String>::new());
        }
        // A shell does not read these words as they are written.
        for (shorter, longer) in [("A=1", "A=1 git"), ("'my'", "'my' tool"), ("$x", "$x y")] {
            let rules = shell("allow", 9, shorter) + &shell("deny", 8, longer);
            assert_eq!(reported(rules), Vec::<String>::new(), "{shorter}");
        }
    }

    #[test]
    fn patterns_whose_search_may_be_given_up() {
        for (pattern, is_reported) in [
            ("(?=(a+)+b)x", true),
            ("(a+)+b", false),
            ("(?!git push)git", false),
            ("(x|y)\\\\1", false),
        ] {
            let text = format!(
                "[[rule]]\ntoolName = \"run_shell_command\"\ndecision = \"deny\"\npriority = 1\ncommandRegex = \"{pattern}\""
            );
            let file = read(Tier::User, Path::new("a.toml"), &text);
            assert_eq!(file.rules.len(), 1, "{pattern}");
            assert_eq!(!doubts(&file.rules).is_empty(), is_reported, "{pattern}");
        }
    }

    #[test]
    fn each_rule_is_reported_once() {
        let rule = |tools: &str| {
            format!(
                "[[rule]]\ntoolName = {tools}\ndecision = \"deny\"\npriority = 1\nargsPattern = \"(?=(a+)+b)x\"\n"
            )
        };
        for (text, expected) in [
            (rule(r#""glob""#), 1),
            (rule(r#"["glob", "read_file"]"#), 1),
            (rule(r#""glob""#) + &rule(r#""read_file""#), 2),
        ] {
            let file = read(Tier::User, Path::new("a.toml"), &text);
            assert_eq!(doubts(&file.rules).len(), expected, "{text}");
        }
    }
}
