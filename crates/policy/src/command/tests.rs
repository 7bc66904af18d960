use pollux_shell::sandbox::{SandboxMechanisms, SandboxSupport};
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::facts::workspace;
use crate::file::read;
use crate::{ConfinementFacts, Facts, Policy, Query, Subject, Tier};
use pollux_protocol::{ApprovalMode, ConfinementLevel, Effects};
use std::path::Path;

/// All mechanisms of a current kernel, for a user who is not root.
const MECHANISMS: SandboxMechanisms = SandboxMechanisms {
    landlock: 7,
    seccomp: true,
    mount_namespace: false,
    user_namespace: true,
    mount_attributes: true,
    processor: true,
    root: false,
    helper: true,
};

fn policy(interactive: bool, rules: &str) -> Policy {
    let support = Some(SandboxSupport::from_mechanisms(MECHANISMS));
    let facts = Facts {
        confinement: ConfinementFacts { support, ..ConfinementFacts::default() },
        interactive,
        workspace: workspace(["/p"]),
        environment: ["PATH", "MY_EXPORTED"].map(str::to_owned).into(),
        ..Facts::default()
    };
    let file = read(Tier::User, Path::new("my.toml"), rules);
    assert_eq!(file.problems, Vec::new());
    Policy::new(facts, file)
}

fn say(policy: &Policy, line: &str, mode: ApprovalMode) -> &'static str {
    let (args, effects) = (json!({"command": line}), Effects::command(line, policy.facts.folder()));
    let subject = Subject::named("run_shell_command");
    policy.decide(Query { subject, args: &args, effects: &effects, mode }).as_str()
}

fn level(policy: &Policy, line: &str, mode: ApprovalMode) -> ConfinementLevel {
    let (args, effects) = (json!({"command": line}), Effects::command(line, policy.facts.folder()));
    let subject = Subject::named("run_shell_command");
    policy.judge(Query { subject, args: &args, effects: &effects, mode }).level
}

fn rule(condition: &str, decision: &str) -> String {
    format!(
        "[[rule]]\ntoolName = \"run_shell_command\"\n{condition}\ndecision = \"{decision}\"\npriority = 100\n"
    )
}

fn allow(prefixes: &str) -> String {
    format!(
        "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = {prefixes}\ndecision = \"allow\"\npriority = 100\n"
    )
}

#[test]
fn parsed_lines_of_known_commands_that_read_need_nobody() {
    let policy = policy(true, "");
    for (line, expected) in [
        ("ls -la", "allow"),
        ("ls src | grep x | cat", "allow"),
        ("git status", "allow"),
        ("git log -n 3", "allow"),
        ("git log --output=x", "ask_user"),
        ("git -c core.pager=x log", "ask_user"),
        ("env -C bare git diff --no-index x y", "ask_user"),
        ("sed -n 3,5p a", "allow"),
        ("sed 's/a/b/w c' a", "ask_user"),
        ("find . -name x", "allow"),
        ("find . -delete", "ask_user"),
        ("find . -name x -exec grep y {} +", "allow"),
        ("find . -name x -exec canary {} +", "ask_user"),
        ("cat a > b", "ask_user"),
        ("cat a 2>/dev/null", "allow"),
        ("cat a 2>&1", "allow"),
        ("cat $(rm x)", "ask_user"),
        ("cat < /dev/tcp/h/1", "ask_user"),
        ("A=1 ls", "ask_user"),
        ("./ls", "ask_user"),
        ("eval ls", "ask_user"),
        ("ls; rm x", "ask_user"),
        ("ls (", "ask_user"),
        ("sh -c 'ls; cat x'", "allow"),
        ("sh -c 'ls; canary'", "ask_user"),
        ("timeout 5 ls", "allow"),
        ("ls | xargs grep x", "allow"),
        ("ls | xargs canary", "ask_user"),
        ("rm -rf x", "ask_user"),
        ("<&-eval ls '; touch C'", "ask_user"),
        ("echo x {PATH}</dev/null; ls", "ask_user"),
        ("echo $((PATH=1)); ls", "ask_user"),
        ("echo $((1+1))", "ask_user"),
        ("for i in 1 2; do ls; done", "ask_user"),
        ("(", "ask_user"),
        ("# nothing", "ask_user"),
    ] {
        assert_eq!(say(&policy, line, ApprovalMode::Default), expected, "{line}");
    }
}

#[test]
fn a_rule_covers_parsed_lines_of_known_commands() {
    let policy = policy(
        true,
        &allow(r#"["git", "frob test", "sh build.sh", "rm", "FOO=1 frob", "sed -n 1e"]"#),
    );
    for (line, expected) in [
        ("git push origin", "allow"),
        ("'git' push", "allow"),
        ("gi\\t push", "allow"),
        ("git -C src push", "allow"),
        ("timeout 5 git push", "allow"),
        ("sh -c 'git push'", "allow"),
        ("ls; git push | cat", "allow"),
        ("frob test -- --x 'a b'", "allow"),
        ("sh build.sh a", "allow"),
        ("rm a b", "allow"),
        ("FOO=1 frob", "allow"),
        ("sed -n 1e f", "allow"),
        ("git push > /dev/null 2>&1", "allow"),
        ("gitk", "ask_user"),
        ("frob install", "ask_user"),
        ("frob test $x", "ask_user"),
        ("FOO=1 frob x", "ask_user"),
        ("rm -rf src", "ask_user"),
        ("rm $x", "ask_user"),
        ("git push; canary", "ask_user"),
        ("git push\ncanary", "ask_user"),
        ("git push & canary", "ask_user"),
        ("git push | canary", "ask_user"),
        ("git push > out", "ask_user"),
        ("git $(canary)", "ask_user"),
        ("git -c core.pager=canary log", "ask_user"),
        ("git canary", "ask_user"),
        ("git bisect run touch x", "ask_user"),
        ("git -C . bisect run touch x", "ask_user"),
        ("git $x", "ask_user"),
        ("PAGER=canary git push", "ask_user"),
        ("export GIT_PAGER=canary; git push", "ask_user"),
        ("sh -c canary", "ask_user"),
        ("sh -c 'git push; git x'", "ask_user"),
        ("sh -c 'rm -rf x'", "ask_user"),
        ("git() { canary; }; git push", "ask_user"),
        ("alias git=canary; git push", "ask_user"),
        ("eval git push", "ask_user"),
        ("echo canary | sh", "ask_user"),
        ("git push {a,-c}", "ask_user"),
        ("<&-eval git push '; touch C'", "ask_user"),
        ("git log <&---output=C", "ask_user"),
        ("sed -n '1e touch C' f", "ask_user"),
    ] {
        assert_eq!(say(&policy, line, ApprovalMode::Default), expected, "{line}");
    }
}

#[test]
fn a_rule_that_names_an_option_or_subcommand_covers_it() {
    let policy =
        policy(true, &allow(r#"["git bisect run", "git -c", "rm -rf", "timeout 5 frob"]"#));
    for (line, expected) in [
        ("git bisect run make test", "allow"),
        ("git -c core.pager=x log", "allow"),
        ("rm -rf build", "allow"),
        ("timeout 5 frob x", "allow"),
        ("git bisect start", "ask_user"),
        ("git push", "ask_user"),
        ("rm -r build", "ask_user"),
        ("timeout 6 frob x", "ask_user"),
    ] {
        assert_eq!(say(&policy, line, ApprovalMode::Default), expected, "{line}");
    }
}

#[test]
fn a_rule_without_a_condition_covers_every_line() {
    let policy = policy(false, &rule("", "allow"));
    for line in ["eval $x", "rm x", "( ", "a > /dev/null", "source x", "<&-eval x"] {
        assert_eq!(say(&policy, line, ApprovalMode::Default), "allow", "{line}");
    }
}

#[test]
fn a_rule_without_a_condition_does_not_cover_dangerous_commands() {
    let general = policy(false, &rule("", "allow"));
    let named = rule("commandPrefix = \"rm -rf x\"", "allow").replace("100", "900");
    let named = policy(false, &(rule("", "allow") + &named));
    assert_eq!(say(&named, "rm -rf x", ApprovalMode::Default), "allow");
    for (line, is_dangerous) in [
        ("rm -rf ~", true),
        ("rm -f a", true),
        ("rm -v -R a", true),
        ("rm --recurs a", true),
        ("/bin/RM -fr a", true),
        ("make; rm -rf a", true),
        ("for x in a b; do rm -r $x; done", true),
        ("env rm -rf /", true),
        ("timeout 5 sh -c 'rm -rf a'", true),
        ("find . -name x -delete", true),
        ("find . -exec rm {} +", true),
        ("rg --pre=cat x", true),
        ("rg -nz x", true),
        ("git -c core.pager=x log", true),
        ("git diff --output=x", true),
        ("git log --ext-diff", true),
        ("base64 -o x y", true),
        ("rm a", false),
        ("rm -i a", false),
        ("rm -- -rf", false),
        ("find . -name -delete.txt", false),
        ("git commit -c HEAD", false),
        ("git push origin main", false),
        ("rg -n x", false),
        ("touch x", false),
    ] {
        for (mode, asks) in [
            (ApprovalMode::Default, is_dangerous),
            (ApprovalMode::AutoEdit, is_dangerous),
            (ApprovalMode::Yolo, false),
        ] {
            let expected = if asks { "ask_user" } else { "allow" };
            assert_eq!(say(&general, line, mode), expected, "{mode} {line}");
        }
    }
}

#[test]
fn levels_follow_from_who_allowed_the_line() {
    use ConfinementLevel::{Inspect, None, Protect, WorkspaceWrite};
    let rules = allow(r#"["git push", "frob"]"#)
        + &rule("commandPrefix = \"loose\"\nconfinement = \"none\"", "allow")
        + &rule("commandPrefix = \"tight\"\nconfinement = \"inspect\"", "allow");
    let held = policy(true, &rules);
    for (line, mode, expected) in [
        ("ls | grep x", ApprovalMode::Default, Inspect),
        ("git push", ApprovalMode::Default, Protect),
        ("ls; git push", ApprovalMode::Default, Protect),
        ("loose x", ApprovalMode::Default, None),
        ("loose x; frob", ApprovalMode::Default, Protect),
        ("tight x; loose y", ApprovalMode::Default, Inspect),
        ("unknown x", ApprovalMode::Default, Protect),
        ("unknown x", ApprovalMode::Yolo, Protect),
        ("ls", ApprovalMode::Yolo, Protect),
        ("echo x > src/a", ApprovalMode::AutoEdit, WorkspaceWrite),
    ] {
        assert_eq!(level(&held, line, mode), expected, "{mode} {line}");
    }
    let mut free = policy(true, &rules);
    free.facts.confinement.yolo = None;
    assert_eq!(level(&free, "unknown x", ApprovalMode::Yolo), None);
}

#[test]
fn a_setting_lets_every_line_run_where_it_can_only_read() {
    let ask = rule("commandPrefix = \"careful\"", "ask_user");
    let mut policy = policy(true, &ask);
    policy.facts.confinement.auto_inspect = true;
    for line in ["python3 x.py", "ls > f", "ls *.rs"] {
        assert_eq!(say(&policy, line, ApprovalMode::Default), "allow", "{line}");
        let level = level(&policy, line, ApprovalMode::Default);
        assert_eq!(level, ConfinementLevel::Inspect, "{line}");
    }
    assert_eq!(say(&policy, "careful x", ApprovalMode::Default), "ask_user");
    assert_eq!(say(&policy, "ls; careful x", ApprovalMode::Default), "ask_user");
    assert_eq!(say(&policy, "ls $(careful x)", ApprovalMode::Default), "ask_user");
}

#[test]
fn without_confinement_only_the_safe_list_needs_nobody() {
    let mut policy = policy(true, "");
    let mechanisms = SandboxMechanisms { landlock: 0, ..MECHANISMS };
    policy.facts.confinement.support = Some(SandboxSupport::from_mechanisms(mechanisms));
    for (line, expected) in [
        ("ls -l", "allow"),
        ("git status", "allow"),
        ("timeout 5 ls", "allow"),
        ("ls | xargs grep x", "allow"),
    ] {
        assert_eq!(say(&policy, line, ApprovalMode::Default), expected, "{line}");
    }
}

#[test]
fn what_is_denied_is_denied_whatever_its_case_and_wrappers() {
    let deny = rule("commandPrefix = [\"rm -rf\", \"canary\"]", "deny");
    let policy = policy(true, &deny);
    for line in [
        "canary",
        "/bin/canary x",
        "CANARY x",
        "ls; canary",
        "ls && (canary)",
        "timeout 5 timeout 6 canary",
        "ls | xargs canary",
        "sh -c 'ls; canary'",
        "sh -c \"sh -c 'canary'\"",
        "bash -c 'canary x'",
        "CMD.EXE /C canary X",
        "PWSH -Command canary",
        "find . -exec canary {} +",
        "'can'ary",
        "c\\anary",
        "if true; then canary; fi",
        "for f in a b; do canary \"$f\"; done",
        "{ canary; }",
        "! canary",
        "a & canary",
        "A=1 canary",
        "cat <<E | canary\nx\nE",
        "canary <<< x",
        "rm -r -f x",
        "rm -fr x",
        "RM -fr x",
        "rm x --recursive --force",
    ] {
        for mode in [ApprovalMode::Default, ApprovalMode::AutoEdit, ApprovalMode::Yolo] {
            assert_eq!(say(&policy, line, mode), "deny", "{mode} {line}");
        }
    }
}

#[test]
fn what_may_hide_a_denied_command_is_asked_about_in_yolo_mode() {
    let policy = policy(true, &rule("commandPrefix = [\"rm -rf\", \"canary\"]", "deny"));
    for line in [
        "eval $x",
        "$x",
        "rm $x",
        "echo $(canary)",
        "cat <(canary)",
        "f() { canary; }; f",
        "case a in a) canary;; esac",
        "<&-canary ls",
        "x=canary; $x",
        "can{a,}ry x",
        "python3 -c 'import os; os.system(\"canary\")'",
        "python3 <<< 'canary'",
        "ssh-agent canary X",
        "sg root -c 'canary'",
        "logsave /dev/null canary",
        "git -c alias.x='!can\"\"ary X' x",
        "X='!canary' git --config-env=alias.x=X x",
        "unknown <<E\ncanary\nE",
        "echo canary | sh",
        "echo canary | xargs sh -c",
        "cat x | bash /dev/stdin",
        "cat x | fish",
        "cat x | . /proc/self/fd/0",
        "cat x | unshare",
        "cat x | docker exec -i c sh",
        "unknown < x",
        "env X='canary;' unknown",
        "X='canary;' unknown",
        "exec \"$0\"",
    ] {
        assert_eq!(say(&policy, line, ApprovalMode::Yolo), "ask_user", "{line}");
    }
    for line in [
        "ls",
        "rm x",
        "echo rm -rf canary",
        "python3 -c 'print(1)'",
        "make > x",
        "a | wc; c &",
        "cat x | ./tool | python3 x.py",
        "cat <<'E'\ncanary\nE",
        "echo $((1+1))",
    ] {
        assert_eq!(say(&policy, line, ApprovalMode::Yolo), "allow", "{line}");
    }
}

#[test]
fn a_setting_restores_the_reading_of_denials_that_the_original_has() {
    let mut policy = policy(true, &rule("commandPrefix = \"canary\"", "deny"));
    assert_eq!(say(&policy, "echo $(x)", ApprovalMode::Yolo), "ask_user");
    policy.facts.original_denials = true;
    assert_eq!(say(&policy, "echo $(x)", ApprovalMode::Yolo), "allow");
    assert_eq!(say(&policy, "ls; canary", ApprovalMode::Yolo), "deny");
}

#[test]
fn a_denial_that_does_not_outrank_the_allow_rule_asks_nothing() {
    let rules = rule("commandPrefix = \"canary\"", "deny").replace("100", "1") + &rule("", "allow");
    let policy = policy(true, &rules);
    assert_eq!(say(&policy, "echo $(x)", ApprovalMode::Default), "allow");
    let mode = "modes = [\"plan\"]\ncommandPrefix = \"canary\"";
    let policy = self::policy(true, &rule(mode, "deny"));
    assert_eq!(say(&policy, "echo $(x)", ApprovalMode::Yolo), "allow");
}

#[test]
fn without_reservations_yolo_allows_everything() {
    for line in ["eval $x", "rm -rf x", "( ", "a > b", "source x"] {
        assert_eq!(say(&policy(false, ""), line, ApprovalMode::Yolo), "allow", "{line}");
    }
}

#[test]
fn git_is_asked_about_in_a_folder_that_is_not_trusted() {
    let mut policy = policy(true, &allow("[\"git\", \"ls\"]"));
    policy.facts.trusted = false;
    for (line, expected) in [("git status", "ask_user"), ("git push", "ask_user"), ("ls", "allow")]
    {
        assert_eq!(say(&policy, line, ApprovalMode::Default), expected, "{line}");
    }
}

#[test]
fn programs_that_need_privileges_are_asked_about_where_confinement_takes_them() {
    let mut policy = policy(true, &allow("[\"sudo\", \"canary\"]"));
    assert_eq!(say(&policy, "sudo canary", ApprovalMode::Default), "ask_user");
    let mechanisms = SandboxMechanisms { mount_namespace: true, root: true, ..MECHANISMS };
    policy.facts.confinement.support = Some(SandboxSupport::from_mechanisms(mechanisms));
    assert_eq!(say(&policy, "sudo canary", ApprovalMode::Default), "allow");
}

#[test]
fn configuration_of_the_person_is_asked_about_where_confinement_protects_it() {
    let line = "git config --global user.name A";
    let policy = policy(true, &allow("\"git config\""));
    assert_eq!(say(&policy, line, ApprovalMode::Default), "ask_user");
    assert_eq!(say(&policy, line, ApprovalMode::Yolo), "ask_user");
    assert_eq!(say(&policy, "git config user.name A", ApprovalMode::Default), "allow");
}

#[test]
fn a_part_beyond_any_count_is_still_judged() {
    let policy = policy(true, &allow("[\"true\", \"git\"]"));
    let mut line = vec!["git push"; 60].join(" && ");
    assert_eq!(say(&policy, &line, ApprovalMode::Default), "allow");
    line.push_str(" && canary");
    assert_eq!(say(&policy, &line, ApprovalMode::Default), "ask_user");
}

#[test]
fn redirections_are_writes() {
    let rules = allow("[\"frob\"]") + "allowRedirection = true\n" + &allow("[\"brof\"]");
    let policy = policy(true, &rules);
    for (line, mode, expected) in [
        ("frob > log", ApprovalMode::Default, "allow"),
        ("brof > log", ApprovalMode::Default, "ask_user"),
        ("frob > log; brof > log", ApprovalMode::Default, "ask_user"),
        ("echo x > log", ApprovalMode::AutoEdit, "allow"),
        ("echo x > /p/src/log", ApprovalMode::AutoEdit, "allow"),
        ("echo x > ../log", ApprovalMode::AutoEdit, "ask_user"),
        ("echo x > ~/.bashrc", ApprovalMode::AutoEdit, "ask_user"),
        ("echo x > .git/hooks/pre-commit", ApprovalMode::AutoEdit, "ask_user"),
        ("cd /; echo x > log", ApprovalMode::AutoEdit, "ask_user"),
        ("echo x > $x", ApprovalMode::AutoEdit, "ask_user"),
        ("{ echo; } > log", ApprovalMode::Default, "ask_user"),
    ] {
        assert_eq!(say(&policy, line, mode), expected, "{mode} {line}");
    }
}

#[test]
fn a_rule_that_is_the_line_itself_allows_it() {
    let policy = policy(true, &allow(r#"["make > log && ls $x", "eval x"]"#));
    assert_eq!(say(&policy, "make > log && ls $x", ApprovalMode::Default), "allow");
    assert_eq!(say(&policy, "eval x", ApprovalMode::Default), "allow");
    assert_eq!(say(&policy, "eval x; y", ApprovalMode::Default), "ask_user");
}

#[test]
fn a_rule_of_higher_priority_asks_about_a_command_of_an_allowed_line() {
    let line = "frob x > log && brof $y";
    let exactly = allow(&format!("[\"{line}\"]"));
    let asks = rule("commandPrefix = \"frob\"", "ask_user");
    let allows = allow("[\"brof\"]");
    for (other, priority, expected) in
        [(&asks, 200, "ask_user"), (&asks, 50, "allow"), (&allows, 200, "allow")]
    {
        let other = other.replace("priority = 100", &format!("priority = {priority}"));
        let policy = policy(true, &format!("{exactly}{other}"));
        assert_eq!(say(&policy, line, ApprovalMode::Default), expected, "{other}");
    }
}

#[test]
fn a_rule_that_names_two_wrappers_covers_the_command_in_them() {
    let policy = policy(true, &allow("[\"timeout 5 nice git push\"]"));
    for (line, expected) in [
        ("timeout 5 nice git push origin", "allow"),
        ("timeout 5 nice git fetch", "ask_user"),
        ("timeout 5 git push", "ask_user"),
    ] {
        assert_eq!(say(&policy, line, ApprovalMode::Default), expected, "{line}");
    }
}

#[test]
fn a_pattern_names_the_words_that_it_matches_to_their_end() {
    let policy = policy(true, &rule("commandRegex = 'git push'", "allow"));
    for (line, expected) in
        [("git push", "allow"), ("git push origin", "allow"), ("git", "ask_user")]
    {
        assert_eq!(say(&policy, line, ApprovalMode::Default), expected, "{line}");
    }
}

#[test]
fn a_pattern_does_not_name_the_word_in_which_its_match_ends() {
    for (pattern, expected) in [
        ("uniq -c --two", "allow"),
        ("uniq -c --tw", "ask_user"),
        ("uniq -c ", "ask_user"),
        ("uni", "ask_user"),
    ] {
        let policy = policy(true, &rule(&format!("commandRegex = '{pattern}'"), "allow"));
        let mode = ApprovalMode::Default;
        assert_eq!(say(&policy, "uniq -c --two", mode), expected, "{pattern}");
    }
}

#[test]
fn the_reason_of_a_question_is_that_of_the_command_in_question() {
    let policy = policy(true, &allow("[\"cat\", \"frob\"]"));
    let reason = |line: &str| {
        let (args, effects) = (json!({"command": line}), Effects::command(line, "/p"));
        let subject = Subject::named("run_shell_command");
        let mode = ApprovalMode::Default;
        policy.judge(Query { subject, args: &args, effects: &effects, mode }).reason
    };
    assert_eq!(
        reason("cat x && frob && uniq --odd").as_deref(),
        Some("the effects of uniq --odd are not known")
    );
    assert_eq!(reason("cat x && frob"), None);
}

#[test]
fn a_wrapper_of_a_command_that_reads_has_its_level() {
    let policy = policy(true, "");
    for line in ["cat x", "timeout 5 cat x", "env timeout 5 cat x"] {
        let level = level(&policy, line, ApprovalMode::Default);
        assert_eq!(level, ConfinementLevel::Inspect, "{line}");
    }
}

#[test]
fn only_a_line_that_changes_the_configuration_of_a_repository_may_do_it() {
    let policy = policy(true, &allow("[\"git\"]"));
    let configures = |line: &str| {
        let effects = Effects::command(line, policy.facts.folder());
        let (args, subject) = (json!({"command": line}), Subject::named("run_shell_command"));
        let mode = ApprovalMode::Default;
        policy.judge(Query { subject, args: &args, effects: &effects, mode }).configures_git
    };
    for (line, expected) in [
        ("git branch -d x", true),
        ("ls && git branch -d x", true),
        ("git status", false),
        ("ls", false),
        ("git branch -d x; for", false),
    ] {
        assert_eq!(configures(line), expected, "{line}");
    }
}

#[test]
fn patterns_of_commands_and_of_arguments() {
    let rules = rule("commandRegex = 'frob (ci|install)\\b'", "allow")
        + &rule("commandRegex = '.*--force'", "deny")
        + &rule("argsPattern = '\"command\":\"brof '", "allow");
    let policy = policy(true, &rules);
    for (line, expected) in [
        ("frob ci", "allow"),
        ("frob install x", "allow"),
        ("'frob ci' x", "ask_user"),
        ("frob run x", "ask_user"),
        ("frob ci; canary", "ask_user"),
        ("frob install --force", "allow"),
        ("git push --force", "deny"),
        ("ls; git push \"--force\"", "deny"),
        ("brof all", "allow"),
        ("xbrof all", "ask_user"),
    ] {
        assert_eq!(say(&policy, line, ApprovalMode::Default), expected, "{line}");
    }
}

#[test]
fn headless_what_would_be_asked_is_refused() {
    let policy = policy(false, &allow("[\"git\"]"));
    for (line, expected) in [("git push", "allow"), ("git push > x", "ask_user"), ("ls", "deny")] {
        assert_eq!(say(&policy, line, ApprovalMode::Default), expected, "{line}");
    }
}
