use std::fs;

use pollux_protocol::{Effects, SubjectArgument, ToolFacts};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;
use crate::facts::workspace;
use crate::rule::APPROVALS_FILE;
use crate::{Facts, PolicyVerdict, Subject};

fn asking() -> Policy {
    let facts = Facts { interactive: true, workspace: workspace(["/p"]), ..Facts::default() };
    Policy::new(facts, PolicyFile::default())
}

fn query<'a>(args: &'a Value, effects: &'a Effects) -> Query<'a> {
    let subject = Subject::named("run_shell_command");
    Query { subject, args, effects, mode: ApprovalMode::Default }
}

/// Checks which other lines a saved approval of `given` covers, and that it covers `given` itself.
fn after(given: &str, scope: ApprovalScope, lines: &[(&str, bool)]) {
    let policy = asking();
    let (args, effects) = (json!({ "command": given }), Effects::command(given, "/p"));
    let approval = Approval::of(&policy, &query(&args, &effects), scope).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("policies").join(APPROVALS_FILE);
    approval.save(&path).unwrap();
    approval.save(&path).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(text.matches("[[rule]]").count(), 1, "{text}");
    let file = file::read(Tier::User, &path, &text);
    assert_eq!(file.problems, Vec::new(), "{text}");
    let saved = Policy::new(policy.facts.clone(), file);
    for (line, allowed) in lines.iter().copied().chain([(given, true)]) {
        let (args, effects) = (json!({ "command": line }), Effects::command(line, "/p"));
        let expected = if allowed { PolicyVerdict::Allow } else { PolicyVerdict::Ask };
        assert_eq!(saved.decide(query(&args, &effects)), expected, "{given} then {line}\n{text}");
        let mut session = policy.clone();
        approval.rules().rules.into_iter().for_each(|rule| session.add(rule));
        assert_eq!(
            session.decide(query(&args, &effects)),
            expected,
            "{given} then {line} in the session"
        );
    }
}

#[test]
fn an_approval_of_a_line_is_for_this_line() {
    for (given, other) in [
        ("git push origin", "git push"),
        ("rm a", "rm b"),
        ("rm a", "rm -rf src"),
        ("make a", "make a SHELL=./x"),
        ("cp a b", "cp a ~/.bashrc"),
        ("python -c 'print(1)'", "python -c 'print(2)'"),
        ("rm -rf build", "rm -rf build x"),
        ("echo \"a\\n\" > out.txt", "echo \"a\\n\" > out.txt; rm x"),
        ("eval $x", "eval $y"),
        ("A=1 mkdir x", "mkdir x"),
        ("rm -rf a b", "rm -rf 'a b'"),
        ("echo a > b", "echo a '>' b > c"),
        ("echo '>'", "echo '>' > c"),
        ("frob a", "frob a > b"),
        ("frob a\\ ", "frob a\\"),
        ("eval $x ", "eval $x y"),
        ("eval $x\n", "eval $y\n"),
        ("git commit -m \"$(cat <<'E'\na (b)* c\nE\n)\"", "git commit -m x"),
    ] {
        after(given, ApprovalScope::Call, &[(other, false)]);
    }
}

#[test]
fn white_space_around_a_line_means_nothing() {
    after("frob a", ApprovalScope::Call, &[("frob a ", true), ("\n frob a\n", true)]);
    after(" frob a  ", ApprovalScope::Call, &[("frob a", true), ("frob a   ", true)]);
    after("eval $x ", ApprovalScope::Call, &[("eval $x", true), (" eval $x  ", true)]);
}

/// Approvals of lines, as saved by an earlier version.
#[test]
fn patterns_without_the_nul_are_for_one_line_too() {
    let text = "[[rule]]\ntoolName = \"run_shell_command\"\ndecision = \"allow\"\npriority = 950\n\
                commandRegex = 'eval\\ \\$x\"'\n";
    let file = file::read(Tier::User, Path::new(APPROVALS_FILE), text);
    let saved = Policy::new(asking().facts.clone(), file);
    for (line, expected) in [("eval $x", PolicyVerdict::Allow), ("eval $xy", PolicyVerdict::Ask)] {
        let (args, effects) = (json!({ "command": line }), Effects::command(line, "/p"));
        assert_eq!(saved.decide(query(&args, &effects)), expected, "{line}");
    }
}

#[test]
fn an_approval_of_programs_names_the_line_for_gemini_cli() {
    let policy = asking();
    let long = format!("git push {}", "x".repeat(3000));
    for (line, regex) in
        [("git push origin", r#""git\\ push\\ origin\"\\x00""#), (long.as_str(), r#""\\x00""#)]
    {
        let (args, effects) = (json!({ "command": line }), Effects::command(line, "/p"));
        let approval =
            Approval::of(&policy, &query(&args, &effects), ApprovalScope::Program).unwrap();
        let fields = format!("commandRegex = {regex}\npolluxPrefix = [ \"git\" ]\n");
        assert!(approval.text.contains(&fields), "{}", approval.text);
    }
}

#[test]
fn an_approval_of_programs_covers_what_their_tables_know() {
    use ApprovalScope::{Program, Subcommand};
    after(
        "git push origin",
        Subcommand,
        &[
            ("git push", true),
            ("git push --tags", true),
            ("git bisect run x", false),
            ("git push; frob x", false),
        ],
    );
    after("git push origin", Program, &[("git push", true), ("git bisect run x", false)]);
    after("rm a", Program, &[("rm b", true), ("rm -rf src", false), ("rmdir a", false)]);
    after("frob a\nrm b | cat", Program, &[("frob c; rm d", true), ("frob > x", false)]);
    after("timeout 5 frob x", Program, &[("frob y", true), ("timeout 6 frob", true)]);
    after("./gradlew test", Program, &[("./gradlew build", true), ("./other", false)]);
}

#[test]
fn a_scope_is_offered_only_where_its_rule_covers_the_line() {
    let policy = asking();
    let scopes = |line: &str| {
        let (args, effects) = (json!({ "command": line }), Effects::command(line, "/p"));
        Approval::scopes(&policy, &query(&args, &effects))
    };
    let text = |text: &str| text.to_owned();
    assert_eq!(
        scopes("git push origin | cat"),
        [(ApprovalScope::Subcommand, text("git push")), (ApprovalScope::Program, text("git"))]
    );
    assert_eq!(scopes("frob x; rm y"), [(ApprovalScope::Program, text("frob, rm"))]);
    for line in [
        "rm -rf x",
        "git $x",
        "frob > x",
        "eval $x",
        "git push && frob $(x)",
        "sh -c x > y",
        "'my tool' x",
        "'my*' x",
    ] {
        assert_eq!(scopes(line), [], "{line}");
    }
}

/// A tool whose calls are identified by the file in an argument.
fn named_by_path(tool: &str) -> Subject<'_> {
    let subject = Some(SubjectArgument::Path("file_path"));
    Subject { facts: ToolFacts { subject, ..ToolFacts::default() }, ..Subject::named(tool) }
}

#[test]
fn an_approval_holds_for_the_value_of_the_argument_that_a_call_is_about() {
    let policy = asking();
    let subject = Some(SubjectArgument::Value("pattern"));
    let facts = ToolFacts { subject, ..ToolFacts::default() };
    let effects = Effects::search(["/p"]);
    let query = |args| Query {
        subject: Subject { facts, ..Subject::named("look") },
        args,
        effects: &effects,
        mode: ApprovalMode::Default,
    };
    let [given, other, none] =
        [json!({"pattern": "*.rs", "dir_path": "src"}), json!({"pattern": "*"}), json!({})];
    let approval = Approval::of(&policy, &query(&given), ApprovalScope::Call).unwrap();
    assert_eq!(Approval::of(&policy, &query(&none), ApprovalScope::Call), None);
    let mut session = policy;
    approval.rules().rules.into_iter().for_each(|rule| session.add(rule));
    assert_eq!(session.decide(query(&given)), PolicyVerdict::Allow);
    assert_eq!(session.decide(query(&other)), PolicyVerdict::Ask);
}

#[test]
fn an_approval_of_a_file_does_not_rest_on_the_claim_of_an_outside_tool() {
    let policy = asking();
    let args = json!({"file_path": "../b.txt"});
    let claimed = Effects::write("/p/a.txt").or_unknown();
    let mode = ApprovalMode::Default;
    let query = Query { subject: named_by_path("t"), args: &args, effects: &claimed, mode };
    let approval = Approval::of(&policy, &query, ApprovalScope::Call).unwrap();
    assert!(approval.text.contains("b\\\\.txt"), "{}", approval.text);
}

#[test]
fn approvals_of_files_hold_for_the_file_however_it_is_called() {
    let policy = asking();
    let judge = |policy: &Policy, given: &str, path: &str| {
        let (args, effects) = (json!({"file_path": given}), Effects::write(path));
        let subject = named_by_path("write_file");
        policy.decide(Query {
            subject,
            args: &args,
            effects: &effects,
            mode: ApprovalMode::Default,
        })
    };
    let (args, effects) = (json!({"file_path": "a (1).txt"}), Effects::write("/p/a (1).txt"));
    let subject = named_by_path("write_file");
    let query = Query { subject, args: &args, effects: &effects, mode: ApprovalMode::Default };
    let approval = Approval::of(&policy, &query, ApprovalScope::Call).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(APPROVALS_FILE);
    fs::write(&path, "broken [").unwrap();
    approval.save(&path).unwrap();
    assert_eq!(fs::read_to_string(path.with_extension("toml.bak")).unwrap(), "broken [");
    let file = file::read(Tier::User, &path, &fs::read_to_string(&path).unwrap());
    let saved = Policy::new(policy.facts.clone(), file);
    for given in ["a (1).txt", "/p/a (1).txt", "./x/../a (1).txt"] {
        assert_eq!(judge(&saved, given, "/p/a (1).txt"), PolicyVerdict::Allow, "{given}");
    }
    assert_eq!(judge(&saved, "a (1).txt", "/other/a (1).txt"), PolicyVerdict::Ask);
    assert_eq!(judge(&saved, "b.txt", "/p/b.txt"), PolicyVerdict::Ask);
}

#[test]
fn tools_of_servers_and_tools_as_a_whole() {
    let policy = asking();
    let (args, effects) = (json!({}), Effects::default());
    let mode = ApprovalMode::AutoEdit;
    let of = |subject, scope| {
        let query = Query { subject, args: &args, effects: &effects, mode };
        Approval::of(&policy, &query, scope).map(|approval| approval.text)
    };
    let server = Subject { server: Some("s"), ..Subject::named("mcp_s_t") };
    assert!(
        of(server, ApprovalScope::Call).unwrap().contains("toolName = \"t\"\nmcpName = \"s\"\n")
    );
    assert!(
        of(server, ApprovalScope::Server).unwrap().contains("toolName = \"*\"\nmcpName = \"s\"\n")
    );
    let whole = of(Subject::named("web_fetch"), ApprovalScope::Call).unwrap();
    assert!(
        whole.ends_with("toolName = \"web_fetch\"\nmodes = [ \"autoEdit\", \"yolo\" ]\n"),
        "{whole}"
    );
    assert_eq!(of(named_by_path("write_file"), ApprovalScope::Call), None);
    // Such a name would match all servers or tools.
    let any = Subject { server: Some("*"), ..Subject::named("mcp_*_t") };
    assert_eq!(of(any, ApprovalScope::Call), None);
    assert_eq!(of(any, ApprovalScope::Server), None);
}

/// Returns the approval of a command line in a mode.
fn approved(line: &str, mode: ApprovalMode) -> Approval {
    let (args, effects) = (json!({ "command": line }), Effects::command(line, ""));
    let subject = Subject::named("run_shell_command");
    let query = Query { subject, args: &args, effects: &effects, mode };
    Approval::of(&asking(), &query, ApprovalScope::Call).unwrap()
}

#[test]
fn approvals_that_are_saved_at_once_are_all_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("policies").join(APPROVALS_FILE);
    let names: Vec<String> = (0..16).map(|number| format!("tool{number}")).collect();
    std::thread::scope(|scope| {
        for name in &names {
            let path = &path;
            scope.spawn(move || approved(name, ApprovalMode::Default).save(path).unwrap());
        }
    });
    let text = fs::read_to_string(&path).unwrap();
    for name in &names {
        assert!(
            text.contains(&format!("commandRegex = \"{name}\\\"\\\\x00\"")),
            "{name} in {text}"
        );
    }
    assert_eq!(fs::read_dir(folder.path().join("policies")).unwrap().count(), 1, "no lock is left");
}

#[test]
fn an_approval_in_another_mode_widens_the_rule_where_it_stands() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(APPROVALS_FILE);
    let before = "# mine\n[[rule]]\ntoolName = \"glob\"\ndecision = \"deny\"\npriority = 1\n\n";
    fs::write(&path, before).unwrap();
    approved("make all", ApprovalMode::AutoEdit).save(&path).unwrap();
    approved("mkdir x", ApprovalMode::Default).save(&path).unwrap();
    approved("make all", ApprovalMode::Default).save(&path).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    approved("make all", ApprovalMode::AutoEdit).save(&path).unwrap();
    approved("make all", ApprovalMode::Yolo).save(&path).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), text, "narrower modes change nothing");
    let rule = |name: &str| {
        format!(
            "[[rule]]\ndecision = \"allow\"\npriority = 950\ntoolName = \"run_shell_command\"\n\
             commandRegex = \"{name}\\\"\\\\x00\"\nmodes = [ \"default\", \"autoEdit\", \"yolo\" ]\n"
        )
    };
    assert_eq!(text, format!("{before}\n{}\n{}", rule("make\\\\ all"), rule("mkdir\\\\ x")));
    // A rule of the user with other conditions stays unchanged.
    let denied = rule("make\\\\ all").replace("allow", "deny");
    fs::write(&path, &denied).unwrap();
    approved("make all", ApprovalMode::Default).save(&path).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(text, format!("{denied}\n{}", rule("make\\\\ all")));
}

#[test]
fn a_lock_that_is_held_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(APPROVALS_FILE);
    let held = DirLock::acquire(&path, LOCK_WAIT).unwrap();
    let error = approved("make all", ApprovalMode::Default).save(&path).unwrap_err();
    assert!(error.to_string().starts_with("Failed to persist policy for run_shell_command: "));
    drop(held);
    approved("make all", ApprovalMode::Default).save(&path).unwrap();
}
