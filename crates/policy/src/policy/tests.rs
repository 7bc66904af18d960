use std::path::Path;

use pollux_protocol::ApprovalMode;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::*;
use crate::facts::workspace;
use crate::rule::Tier;

fn policy(interactive: bool, text: &str) -> Policy {
    let facts = Facts {
        interactive,
        plans_directory: "/plans".into(),
        workspace: workspace(["/p"]),
        ..Facts::default()
    };
    let file = crate::file::read(Tier::User, Path::new("my.toml"), text);
    assert_eq!(file.problems, Vec::new());
    Policy::new(facts, file)
}

fn decide(policy: &Policy, tool: &str, args: &Value, mode: ApprovalMode) -> &'static str {
    let text = |key: &str| args.get(key).and_then(Value::as_str);
    let folder = &policy.facts.folder();
    let effects = match (text("file_path"), text("command")) {
        (Some(path), _) => Effects::write(crate::paths::lexical(folder, path)),
        (None, Some(command)) => Effects::command(command, folder),
        (None, None) => Effects::default(),
    };
    let query = Query { subject: Subject::named(tool), args, effects: &effects, mode };
    policy.decide(query).as_str()
}

#[test]
fn what_pollux_brings_along() {
    use ApprovalMode::{AutoEdit, Default, Plan, Yolo};
    let args = json!({"file_path": "a.rs"});
    let table = [
        ("read_file", ["allow"; 4], ["allow"; 4]),
        ("read_many_files", ["allow"; 4], ["allow"; 4]),
        ("grep_search", ["allow"; 4], ["allow"; 4]),
        ("google_web_search", ["allow"; 4], ["allow"; 4]),
        ("update_topic", ["allow"; 4], ["allow"; 4]),
        ("tracker_create_task", ["allow"; 4], ["allow"; 4]),
        ("write_file", ["ask_user", "allow", "deny", "allow"], ["deny", "allow", "deny", "allow"]),
        (
            "run_shell_command",
            ["ask_user", "ask_user", "deny", "allow"],
            ["deny", "deny", "deny", "allow"],
        ),
        (
            "web_fetch",
            ["ask_user", "allow", "ask_user", "allow"],
            ["deny", "allow", "deny", "allow"],
        ),
        (
            "activate_skill",
            ["ask_user", "ask_user", "ask_user", "allow"],
            ["deny", "deny", "deny", "allow"],
        ),
        (
            "stop_background_process",
            ["allow", "allow", "deny", "allow"],
            ["deny", "deny", "deny", "allow"],
        ),
        ("write_todos", ["allow", "allow", "deny", "allow"], ["deny", "deny", "deny", "allow"]),
        ("save_memory", ["ask_user", "allow", "deny", "allow"], ["deny", "allow", "deny", "allow"]),
        ("ask_user", ["ask_user"; 4], ["deny"; 4]),
        (
            "enter_plan_mode",
            ["ask_user", "ask_user", "deny", "allow"],
            ["allow", "allow", "deny", "allow"],
        ),
        ("exit_plan_mode", ["deny", "deny", "ask_user", "deny"], ["deny", "deny", "allow", "deny"]),
        ("invoke_agent", ["allow", "allow", "deny", "allow"], ["allow", "allow", "deny", "allow"]),
        (
            "unheard_of",
            ["ask_user", "ask_user", "deny", "allow"],
            ["deny", "deny", "deny", "allow"],
        ),
    ];
    for (tool, interactive, headless) in table {
        for (person, expected) in [(true, interactive), (false, headless)] {
            let policy = policy(person, "");
            for (mode, expected) in [Default, AutoEdit, Plan, Yolo].into_iter().zip(expected) {
                let said = decide(&policy, tool, &args, mode);
                assert_eq!(said, expected, "{tool} {mode} person: {person}");
                let is_edit = tool == "write_file" && mode == Plan;
                let is_agent = tool == "invoke_agent" && mode == Plan;
                let declared = policy.declares(Subject::named(tool), mode);
                assert_eq!(declared, expected != "deny" || is_edit || is_agent, "{tool} {mode}");
            }
        }
    }
}

#[test]
fn plan_mode_writes_plans_and_nothing_else() {
    let policy = policy(false, "");
    let verdict = |path: &str| {
        let (args, effects) = (json!({"file_path": path}), Effects::write(path));
        let subject = Subject::named("write_file");
        policy.decide(Query { subject, args: &args, effects: &effects, mode: ApprovalMode::Plan })
    };
    assert_eq!(verdict("/plans/a.md"), PolicyVerdict::Allow);
    for path in ["/plans/a.rs", "/plans/../src/a.md", "/plansx/a.md", "/src/a.md"] {
        assert!(matches!(verdict(path), PolicyVerdict::Deny { message: Some(_) }), "{path}");
    }
    let args = json!({"file_path": "/plans/a.md"});
    let plan = || Effects::write("/plans/a.md");
    for effects in [
        Effects { deletes: vec!["/src/a.rs".into()], ..plan() },
        plan().or_unknown(),
        Effects::unknown(),
        Effects::default(),
    ] {
        let (subject, mode) = (Subject::named("write_file"), ApprovalMode::Plan);
        let verdict = policy.decide(Query { subject, args: &args, effects: &effects, mode });
        assert!(matches!(verdict, PolicyVerdict::Deny { .. }), "{effects:?}");
    }
}

/// Unknown effects are judged by the rules like any other effects; they only give no guarantee.
#[test]
fn unknown_effects_take_nothing_from_what_allows_a_call() {
    use ApprovalMode::{AutoEdit, Default, Plan, Yolo};
    let lists = crate::ToolLists {
        trusted_servers: vec!["trusted".to_owned()],
        ..crate::ToolLists::default()
    };
    let mut policy = policy(
        true,
        r#"
        [[rule]]
        toolName = "discovered_tool_a"
        decision = "allow"
        priority = 10
        [[rule]]
        toolName = "discovered_tool_b"
        argsPattern = '"path":"docs/'
        decision = "allow"
        priority = 10
        [[rule]]
        toolName = "*"
        mcpName = "hinted"
        toolAnnotations = { readOnlyHint = true }
        decision = "allow"
        priority = 10
        modes = ["autoEdit"]
        "#,
    );
    lists.rules().into_iter().for_each(|rule| policy.add(rule));
    let hint = json!({"readOnlyHint": true});
    let of = |server, tool| Subject {
        server: Some(server),
        annotations: hint.as_object(),
        ..Subject::named(tool)
    };
    let args = json!({"path": "docs/a"});
    let unknown = ["ask_user", "ask_user", "deny", "allow"];
    for (subject, expected) in [
        (Subject::named("discovered_tool_a"), ["allow"; 4]),
        (Subject::named("discovered_tool_b"), ["allow"; 4]),
        (Subject::named("discovered_tool_c"), unknown),
        (of("trusted", "mcp_trusted_x"), ["allow", "allow", "ask_user", "allow"]),
        // A claim matches the rules that require it, and has no other effect.
        (of("hinted", "mcp_hinted_x"), ["ask_user", "allow", "ask_user", "allow"]),
        (of("other", "mcp_other_x"), ["ask_user", "ask_user", "ask_user", "allow"]),
        (Subject { annotations: None, ..of("other", "mcp_other_x") }, unknown),
    ] {
        for effects in [Effects::unknown(), Effects::read("/plans/a.md").or_unknown()] {
            for (mode, expected) in [Default, AutoEdit, Plan, Yolo].into_iter().zip(expected) {
                let query = Query { subject, args: &args, effects: &effects, mode };
                assert_eq!(policy.decide(query).as_str(), expected, "{} {mode}", subject.tool);
            }
        }
    }
}

#[test]
fn a_path_that_is_only_claimed_fits_no_rule_that_allows() {
    let text = "[[rule]]\ntoolName = \"t\"\nargsPattern = '\"path\":\"/p/docs/'\ndecision = \"allow\"\npriority = 9\n";
    let policy = policy(true, text);
    let args = json!({"path": "x"});
    let judge = |effects: Effects| {
        let (subject, mode) = (Subject::named("t"), ApprovalMode::Default);
        policy.decide(Query { subject, args: &args, effects: &effects, mode })
    };
    assert_eq!(judge(Effects::read("/p/docs/x")), PolicyVerdict::Allow);
    assert_eq!(judge(Effects::read("/p/docs/x").or_unknown()), PolicyVerdict::Ask);
}

#[test]
fn an_argument_that_the_tool_does_not_declare_satisfies_no_rule_that_allows() {
    let rules = |decision: &str| {
        format!(
            r#"
            [[rule]]
            toolName = ["write_file", "run_shell_command"]
            argsPattern = '"(file_path|command)":"(docs/|git )[^"]*"'
            decision = "{decision}"
            priority = 100
            "#
        )
    };
    let schema = json!({"properties": {"file_path": {}, "content": {}, "command": {}}});
    let unknown = json!({"type": "object", "additionalProperties": true});
    let say = |decision: &str, tool: &str, args: &Value, schema: &Value| {
        let policy = policy(true, &rules(decision));
        let effects = match args["command"].as_str() {
            Some(command) => Effects::command(command, "/p"),
            None => Effects::write(Path::new("/p").join(args["file_path"].as_str().unwrap())),
        };
        let subject = Subject { parameters: Some(schema), ..Subject::named(tool) };
        let mode = ApprovalMode::Default;
        policy.decide(Query { subject, args, effects: &effects, mode }).as_str()
    };
    for (tool, args, allows) in [
        ("write_file", json!({"file_path": "docs/a", "content": "x"}), true),
        ("write_file", json!({"file_path": "docs/a", "content": "x", "zz": 1}), true),
        ("write_file", json!({"file_path": "a", "zz": {"file_path": "docs/a"}}), false),
        ("write_file", json!({"file_path": "a", "zz": [{"file_path": "docs/a"}]}), false),
        ("run_shell_command", json!({"command": "git push"}), true),
        ("run_shell_command", json!({"command": "git push", "zz": 1}), true),
        ("run_shell_command", json!({"command": "make", "zz": {"command": "git push"}}), false),
    ] {
        let expected = if allows { "allow" } else { "ask_user" };
        assert_eq!(say("allow", tool, &args, &schema), expected, "{args}");
        assert_eq!(say("allow", tool, &args, &unknown), "ask_user", "{args}");
        // All other rules see everything.
        assert_eq!(say("deny", tool, &args, &schema), "deny", "{args}");
    }
}

#[test]
fn the_highest_rule_that_applies_decides() {
    let policy = policy(
        true,
        r#"
        [[rule]]
        toolName = "write_file"
        decision = "deny"
        priority = 100
        denyMessage = "Not here."
        [[rule]]
        toolName = "write_file"
        argsPattern = '"file_path":"docs/'
        decision = "allow"
        priority = 200
        modes = ["default", "plan"]
        [[rule]]
        toolName = "*"
        decision = "ask_user"
        priority = 50
        interactive = true
        "#,
    );
    for (args, mode, expected) in [
        (json!({"file_path": "docs/a.md"}), ApprovalMode::Default, "allow"),
        (json!({"file_path": "docs/a.md"}), ApprovalMode::Yolo, "deny"),
        (json!({"file_path": "docs/../src/a.rs"}), ApprovalMode::Default, "deny"),
        (json!({"file_path": "src/a.rs"}), ApprovalMode::Default, "deny"),
    ] {
        assert_eq!(decide(&policy, "write_file", &args, mode), expected, "{args} {mode}");
    }
    assert_eq!(decide(&policy, "read_file", &json!({}), ApprovalMode::Yolo), "ask_user");
    let (args, effects) = (json!({}), Effects::default());
    let subject = Subject::named("write_file");
    let query = Query { subject, args: &args, effects: &effects, mode: ApprovalMode::Default };
    assert_eq!(policy.decide(query), PolicyVerdict::Deny { message: Some("Not here.".to_owned()) });
}

#[test]
fn what_is_forbidden_is_forbidden_by_any_name() {
    let policy = policy(
        true,
        r#"
        [[rule]]
        toolName = "write_file"
        argsPattern = '"file_path":"/p/secret/'
        decision = "deny"
        priority = 1
        "#,
    );
    for path in ["/p/secret/a", "secret/a", "./secret/a", "x/../secret/a", "/p/x/../secret/a"] {
        let args = json!({"file_path": path});
        assert_eq!(decide(&policy, "write_file", &args, ApprovalMode::Yolo), "deny", "{path}");
    }
}

#[test]
fn servers_annotations_and_agents() {
    let policy = policy(
        true,
        r#"
        [[rule]]
        mcpName = "git"
        toolName = "push"
        decision = "deny"
        priority = 900
        [[rule]]
        toolName = "mcp_git_*"
        decision = "allow"
        priority = 800
        [[rule]]
        toolName = "*"
        mcpName = "*"
        toolAnnotations = { readOnlyHint = true }
        decision = "allow"
        priority = 700
        [[rule]]
        toolName = "helper"
        decision = "deny"
        priority = 600
        [[rule]]
        toolName = "read_file"
        subagent = "helper/inner"
        decision = "deny"
        priority = 500
        "#,
    );
    let hint = json!({"readOnlyHint": true});
    let no_hint = json!({"readOnlyHint": "true"});
    let say = |subject: Subject<'_>, args: Value| {
        let effects = Effects::default();
        let mode = ApprovalMode::Default;
        policy.decide(Query { subject, args: &args, effects: &effects, mode }).as_str()
    };
    let of = |server, tool| Subject { server: Some(server), ..Subject::named(tool) };
    assert_eq!(say(of("git", "mcp_git_push"), json!({})), "deny");
    assert_eq!(say(of("git", "push"), json!({})), "deny");
    assert_eq!(say(of("git", "mcp_git_log"), json!({})), "allow");
    assert_eq!(say(of("other", "mcp_git_x"), json!({})), "ask_user");
    assert_eq!(
        say(Subject { annotations: hint.as_object(), ..of("o", "mcp_o_x") }, json!({})),
        "allow"
    );
    let other = Subject { annotations: no_hint.as_object(), ..of("o", "mcp_o_x") };
    assert_eq!(say(other, json!({})), "ask_user", "strictly equal");
    let agent = Subject::named("invoke_agent");
    assert_eq!(say(agent, json!({"agent_name": "helper"})), "deny");
    assert_eq!(say(agent, json!({"agent_name": "other"})), "allow");
    let inner = Subject { subagent: Some("helper/inner"), ..Subject::named("read_file") };
    assert_eq!(say(inner, json!({})), "deny");
}

#[test]
fn a_tool_of_any_server_is_not_the_tool_without_a_server() {
    let rule =
        "[[rule]]\nmcpName = \"*\"\ntoolName = \"glob\"\ndecision = \"deny\"\npriority = 900";
    let policy = policy(true, rule);
    let (args, effects, mode) = (json!({}), Effects::default(), ApprovalMode::Default);
    let of = |server, tool| Subject { server: Some(server), ..Subject::named(tool) };
    for (subject, expected) in [
        (of("s", "mcp_s_glob"), "deny"),
        (of("other", "glob"), "deny"),
        (of("s", "mcp_s_list"), "ask_user"),
        (Subject::named("glob"), "allow"),
    ] {
        let query = Query { subject, args: &args, effects: &effects, mode };
        assert_eq!(policy.decide(query).as_str(), expected, "{subject:?}");
    }
}

#[test]
fn a_broken_file_suspends_yolo_and_approvals() {
    let mut policy = policy(
        true,
        r#"
        [[rule]]
        toolName = "write_file"
        decision = "allow"
        priority = 950
        [[rule]]
        toolName = "replace"
        decision = "deny"
        priority = 950
        "#,
    );
    let said = |policy: &Policy, tool| decide(policy, tool, &json!({}), ApprovalMode::Yolo);
    assert_eq!(said(&policy, "write_file"), "allow");
    policy.facts.is_suspended = true;
    assert_eq!(said(&policy, "write_file"), "ask_user");
    assert_eq!(said(&policy, "replace"), "deny");
}

/// `security.disableAlwaysAllow` and the secure mode of an administrator.
#[test]
fn saved_approvals_are_void_where_they_may_not_be_given() {
    let mut policy = policy(
        true,
        r#"
        [[rule]]
        toolName = "run_shell_command"
        commandPrefix = "mkdir"
        decision = "allow"
        priority = 950
        [[rule]]
        toolName = "write_file"
        decision = "allow"
        priority = 100
        [[rule]]
        toolName = "replace"
        decision = "deny"
        priority = 950
        "#,
    );
    let said = |policy: &Policy| {
        let args = [("run_shell_command", "mkdir a"), ("write_file", ""), ("replace", "")];
        args.map(|(tool, command)| match command {
            "" => decide(policy, tool, &json!({}), ApprovalMode::Default),
            _ => decide(policy, tool, &json!({ "command": command }), ApprovalMode::Default),
        })
    };
    assert_eq!(said(&policy), ["allow", "allow", "deny"]);
    policy.facts.without_approvals = true;
    assert_eq!(said(&policy), ["ask_user", "allow", "deny"]);
}

#[test]
fn a_required_confirmation_holds_in_yolo_too() {
    let lists = crate::ToolLists {
        confirmation_required: vec!["ShellTool".to_owned()],
        ..crate::ToolLists::default()
    };
    let added = PolicyFile { rules: lists.rules(), ..PolicyFile::default() };
    let mut policy = Policy::new(Facts { interactive: true, ..Facts::default() }, added);
    let args = json!({"command": "ls"});
    assert_eq!(decide(&policy, "run_shell_command", &args, ApprovalMode::Yolo), "ask_user");
    policy.facts.interactive = false;
    assert_eq!(decide(&policy, "run_shell_command", &args, ApprovalMode::Yolo), "ask_user");
    assert!(policy.declares(Subject::named("run_shell_command"), ApprovalMode::Yolo));
}
