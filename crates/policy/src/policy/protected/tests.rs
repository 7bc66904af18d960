use std::path::Path;

use pollux_config::protected::ProtectedPlaces;
use pollux_protocol::{ApprovalMode, ToolFacts};
use serde_json::json;

use super::*;
use crate::facts::workspace;
use crate::{Approval, ApprovalScope, Facts, Subject, Tier};

const PATH: &str = "/home/me/.gemini/settings.json";

fn policy(interactive: bool, rules: &str) -> Policy {
    let homes = vec!["/home/me".into()];
    let facts = Facts {
        interactive,
        workspace: workspace(["/home/me"]),
        protected: ProtectedPlaces { homes, ..ProtectedPlaces::default() },
        ..Facts::default()
    };
    let file = crate::read(Tier::User, Path::new("my.toml"), rules);
    assert_eq!(file.problems, Vec::new());
    Policy::new(facts, file)
}

fn finding(policy: &Policy, path: &str, mode: ApprovalMode) -> CheckerFinding {
    let args = json!({"file_path": path, "content": "{}"});
    let (subject, effects) = (Subject::named("write_file"), Effects::write(path));
    policy.protected_files(&Query { subject, args: &args, effects: &effects, mode })
}

fn allow(pattern: &str) -> String {
    format!(
        "[[rule]]\ntoolName = \"write_file\"\ndecision = \"allow\"\npriority = 100\n{pattern}\n"
    )
}

#[test]
fn every_mode_asks_and_without_a_person_every_mode_denies() {
    use ApprovalMode::{AutoEdit, Default, Yolo};
    for mode in [Default, AutoEdit, Yolo] {
        let asks = |finding: &CheckerFinding| match finding {
            CheckerFinding::Ask(text) => text.contains(PATH),
            _ => false,
        };
        assert!(asks(&finding(&policy(true, ""), PATH, mode)), "{mode}");
        assert!(
            matches!(finding(&policy(false, ""), PATH, mode), CheckerFinding::Deny(_)),
            "{mode}"
        );
        assert_eq!(finding(&policy(false, ""), "/home/me/a.txt", mode), CheckerFinding::ALLOW);
    }
}

#[test]
fn only_a_rule_that_names_the_path_allows() {
    let names = r#"argsPattern = '"file_path":"/home/me/\.gemini/settings\.json"'"#;
    for (rules, is_allowed) in [
        (allow(names), true),
        (allow(r"argsPattern = '/\.gemini/'"), true),
        (allow(""), false),
        (allow("argsPattern = '.*'"), false),
        (allow(r#"argsPattern = '"content":"\{\}"'"#), false),
        (allow(r"argsPattern = '/home/me/'"), false),
        (allow(r"argsPattern = 'settings\.json'"), false),
        // After a rule that allows everything, the rule still counts; after a rule that asks, it
        // does not.
        (allow("").replace("100", "200") + &allow(names), true),
        (allow("").replace("100", "200").replace("allow", "ask_user") + &allow(names), false),
        // Another tool, another path.
        (allow(names).replace("write_file", "replace"), false),
        (allow(r"argsPattern = '/\.gemini/keybindings'"), false),
    ] {
        let found = finding(&policy(false, &rules), PATH, ApprovalMode::Yolo);
        assert_eq!(found == CheckerFinding::ALLOW, is_allowed, "{rules}");
    }
    let project = crate::read(Tier::Workspace, Path::new("/p/a.toml"), &allow(names));
    let of_project = Policy::new(policy(true, "").facts, project);
    assert!(matches!(finding(&of_project, PATH, ApprovalMode::Yolo), CheckerFinding::Ask(_)));
}

#[test]
fn an_approval_for_good_of_the_file_counts_from_now_on() {
    let mut policy = policy(true, "");
    let args = json!({"file_path": PATH, "content": "{}"});
    let argument = pollux_protocol::SubjectArgument::Path("file_path");
    let facts = ToolFacts { subject: Some(argument), ..ToolFacts::default() };
    let subject = Subject { facts, ..Subject::named("write_file") };
    let (effects, mode) = (Effects::write(PATH), ApprovalMode::Default);
    let query = Query { subject, args: &args, effects: &effects, mode };
    let approval = Approval::of(&policy, &query, ApprovalScope::Call).unwrap();
    approval.rules().rules.into_iter().for_each(|rule| policy.add(rule));
    assert_eq!(policy.protected_files(&query), CheckerFinding::ALLOW);
    assert!(matches!(finding(&policy, "/home/me/.bashrc", mode), CheckerFinding::Ask(_)));
}

#[test]
fn the_arguments_of_a_call_do_not_hide_what_it_changes() {
    let (args, mode) = (json!({"target": "x"}), ApprovalMode::Yolo);
    let effects = Effects { deletes: vec![PATH.into()], ..Effects::write("/home/me/a.txt") };
    let query = Query { subject: Subject::named("move"), args: &args, effects: &effects, mode };
    let rules = allow("argsPattern = 'x'").replace("write_file", "move");
    assert!(matches!(policy(true, &rules).protected_files(&query), CheckerFinding::Ask(_)));
}
