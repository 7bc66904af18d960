//! The index omits no matching rule: decisions with it and without it are the same.

use std::fmt::Write as _;
use std::path::Path;

use pollux_protocol::{ApprovalMode, Effects};
use proptest::prelude::*;
use serde_json::json;

use crate::facts::workspace;
use crate::{Facts, Judgement, Policy, Query, Subject, Tier};

const CONDITIONS: &[&str] = &[
    r#"commandPrefix = "git""#,
    r#"commandPrefix = "git push --force""#,
    r#"commandPrefix = "rm -rf""#,
    r#"commandPrefix = ["/usr/bin/make", "FOO=1 make"]"#,
    r#"commandPrefix = "\"my tool\" x""#,
    r#"commandPrefix = "'git'""#,
    r#"commandPrefix = "é""#,
    r#"commandPrefix = "make > log""#,
    r#"commandRegex = "git (log|push)""#,
    r#"commandRegex = "(npm|yarn) (ci|run)""#,
    r#"commandRegex = "rm\\b""#,
    r#"commandRegex = ".*--force""#,
    r#"commandRegex = "(?!git)[a-z]+""#,
    r#"commandRegex = "make$""#,
    r#"commandRegex = "[a-z]+ x""#,
    r#"argsPattern = "\"command\":\"git""#,
    r#"argsPattern = "force""#,
    r#"argsPattern = "rm.*x\"""#,
    r#"argsPattern = "\\x00\"command\":\"npm ci\"\\x00""#,
    r#"argsPattern = "dir_path""#,
    r#"argsPattern = "a|b""#,
    "",
];

const COMMANDS: &[&str] = &[
    "git log",
    "git push --force",
    "git -C . push origin -f",
    "/usr/bin/git push",
    "'git' log",
    "g\"i\"t log",
    "git",
    "gitk",
    "rm -r -f x",
    "rm x",
    "rm\"\" x",
    "$x -rf y",
    "rm $x",
    "sudo rm -rf x",
    "sh -c 'rm -rf x; git log'",
    "npm ci",
    "npm   run a",
    "yarn run",
    "make",
    "make > log",
    "FOO=1 make all",
    "/usr/bin/make x",
    "\"my tool\" x",
    "é x",
    "xargs rm -rf",
    "echo $(rm x)",
    "ls -la",
    "cd a && cat b",
    "timeout 5 git push",
    "eval git push",
];

fn policy(rules: &[(usize, usize, usize)], interactive: bool) -> Policy {
    let mut text = String::new();
    for (condition, ruling, priority) in rules {
        let (condition, ruling) = (CONDITIONS[*condition], ["allow", "deny", "ask_user"][*ruling]);
        writeln!(
            text,
            "[[rule]]\ntoolName = \"run_shell_command\"\ndecision = \"{ruling}\"\npriority = {priority}\n{condition}"
        )
        .unwrap();
    }
    let file = crate::file::read(Tier::User, Path::new("r.toml"), &text);
    assert!(file.problems.iter().all(|problem| !problem.is_error()), "{:?}", file.problems);
    let facts = Facts { interactive, workspace: workspace(["/p"]), ..Facts::default() };
    Policy::new(facts, file)
}

fn reported(judgement: &Judgement<'_>) -> String {
    let mut reported = format!("{:?} {:?}\n", judgement.verdict, judgement.reason);
    let rule = judgement.rule.map(|rule| rule.source.to_string());
    writeln!(reported, "{rule:?} {:?}", judgement.assumes).unwrap();
    for part in &judgement.parts {
        let rule = part.rule.map(|rule| rule.source.to_string());
        writeln!(reported, "{} {:?} {rule:?} {:?}", part.text, part.ruling, part.reason).unwrap();
    }
    reported
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn every_decision_is_the_same_without_it(
        rules in prop::collection::vec((0..CONDITIONS.len(), 0..3_usize, 1..999_usize), 0..8),
        line in prop::collection::vec((prop::sample::select(COMMANDS), prop::sample::select(vec![" && ", "; ", " | ", "\n"])), 1..5),
        mode in prop::sample::select(vec![
            ApprovalMode::Default,
            ApprovalMode::AutoEdit,
            ApprovalMode::Yolo,
        ]),
        interactive: bool,
    ) {
        let indexed = policy(&rules, interactive);
        let asked = indexed.clone().without_index();
        let line: String = line.into_iter().flat_map(|(command, joint)| [command, joint]).collect();
        let line = line.trim_end_matches([' ', '&', ';', '|', '\n']);
        let args = json!({"command": line, "dir_path": "."});
        let effects = Effects::command(line, "");
        let subject = Subject::named("run_shell_command");
        let query = Query { subject, args: &args, effects: &effects, mode };
        prop_assert_eq!(reported(&indexed.judge(query)), reported(&asked.judge(query)), "{}", line);
    }
}

#[test]
fn a_rule_that_is_added_later_is_found() {
    let mut policy = policy(&[], true);
    let (args, effects) = (json!({"command": "cargo test"}), Effects::command("cargo test", ""));
    let subject = Subject::named("run_shell_command");
    let query = Query { subject, args: &args, effects: &effects, mode: ApprovalMode::Default };
    assert_eq!(policy.decide(query).as_str(), "ask_user");
    let file = "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"cargo\"\ndecision = \"allow\"\npriority = 5";
    for rule in crate::file::read(Tier::User, Path::new("r.toml"), file).rules {
        policy.add(rule);
    }
    assert_eq!(policy.decide(query).as_str(), "allow");
}
