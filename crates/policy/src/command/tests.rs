use pretty_assertions::assert_eq;
use serde_json::json;

use crate::file::read;
use crate::{Facts, Policy, Query, Subject, Tier};
use pollux_protocol::{ApprovalMode, Effects};
use std::path::Path;

fn policy(interactive: bool, rules: &str) -> Policy {
    let facts = Facts {
        interactive,
        folder: "/p".into(),
        workspace: vec!["/p".into()],
        environment: ["PATH", "MY_EXPORTED"].map(str::to_owned).into(),
        ..Facts::default()
    };
    let file = read(Tier::User, Path::new("my.toml"), rules);
    assert_eq!(file.problems, Vec::new());
    Policy::new(facts, file)
}

fn say(policy: &Policy, line: &str, mode: ApprovalMode) -> &'static str {
    let (args, effects) = (json!({"command": line}), Effects::command(line, &policy.facts.folder));
    let subject = Subject::named("run_shell_command");
    policy.decide(Query { subject, args: &args, effects: &effects, mode }).as_str()
}

fn allow(prefixes: &str) -> String {
    format!(
        "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = {prefixes}\ndecision = \"allow\"\npriority = 100\n"
    )
}

#[test]
fn harmless_commands_need_nobody() {
    let policy = policy(true, "");
    for (line, expected) in [
        ("ls -la", "allow"),
        ("cd src && ls | grep x | wc -l", "allow"),
        ("git status", "allow"),
        ("git log -n 3", "allow"),
        ("git branch -a", "allow"),
        ("git branch new", "ask_user"),
        ("git log --output=x", "ask_user"),
        ("git -c core.pager=x log", "ask_user"),
        ("sed -n 3,5p a", "allow"),
        ("sed -n 3p a b", "ask_user"),
        ("sed s/a/b/ a", "ask_user"),
        ("find . -name x", "allow"),
        ("find . -delete", "ask_user"),
        ("cat a > b", "ask_user"),
        ("cat a 2>/dev/null", "allow"),
        ("cat a 2>&1", "allow"),
        ("cat $(rm x)", "ask_user"),
        ("cat < /dev/tcp/h/1", "ask_user"),
        ("A=1 ls", "ask_user"),
        ("./ls", "ask_user"),
        ("rg x", "ask_user"),
        ("/usr/bin/rg x", "allow"),
        ("eval ls", "ask_user"),
        ("ls; rm x", "ask_user"),
        ("ls (", "ask_user"),
        ("sh -c 'ls; pwd'", "ask_user"),
        ("rm -rf x", "ask_user"),
    ] {
        assert_eq!(say(&policy, line, ApprovalMode::Default), expected, "{line}");
    }
}

#[test]
fn a_rule_allows_what_it_names_and_nothing_that_rides_on_it() {
    let policy = policy(
        true,
        &allow(r#"["git", "npm test", "tar", "awk", "bash build.sh", "sudo apt", "FOO=1 make"]"#),
    );
    for (line, expected) in [
        ("git commit -m 'a b'", "allow"),
        ("'git' push", "allow"),
        ("git commit -m \"$(cat <<'E'\ntext\nE\n)\"", "allow"),
        ("cd x && git push", "allow"),
        ("timeout 5 git push", "allow"),
        ("LC_ALL=C git log", "allow"),
        ("npm test -- --x", "allow"),
        ("bash build.sh", "allow"),
        ("sudo apt update", "allow"),
        ("FOO=1 make all", "allow"),
        ("awk '{print $1}' f", "allow"),
        ("awk '$1 == 2 || $3 { print }' f", "allow"),
        ("tar czf a.tgz src", "allow"),
        ("gitk", "ask_user"),
        ("npm install", "ask_user"),
        ("git log; canary", "ask_user"),
        ("git log\ncanary", "ask_user"),
        ("git log & canary", "ask_user"),
        ("git log | canary", "ask_user"),
        ("git log > out", "ask_user"),
        ("git log > /dev/null 2>&1", "allow"),
        ("git $(canary)", "ask_user"),
        ("git -c core.pager=canary log", "ask_user"),
        ("git canary", "ask_user"),
        ("git config core.pager canary", "ask_user"),
        ("git config user.name Me", "allow"),
        ("git rebase -x canary main", "ask_user"),
        ("git $x", "ask_user"),
        ("PAGER=canary git log", "ask_user"),
        ("PAGER=canary; git log", "ask_user"),
        ("MY_EXPORTED=canary; git log", "ask_user"),
        ("x=1; git log", "allow"),
        ("export GIT_PAGER=canary; git log", "ask_user"),
        ("tar cf a * ", "ask_user"),
        ("tar cf a --checkpoint-act=exec=canary b", "ask_user"),
        ("awk 'BEGIN { system(\"canary\") }'", "ask_user"),
        ("bash other.sh", "ask_user"),
        ("bash -c canary", "ask_user"),
        ("sudo rm x", "ask_user"),
        ("git() { canary; }; git log", "ask_user"),
        ("alias git=canary; git log", "ask_user"),
        ("eval git log", "ask_user"),
        ("PATH=. git log", "ask_user"),
        ("echo canary | sh", "ask_user"),
        ("git log {a,-c}", "ask_user"),
        ("gi\\t log", "allow"),
    ] {
        assert_eq!(say(&policy, line, ApprovalMode::Default), expected, "{line}");
    }
}

#[test]
fn what_is_denied_is_denied_wherever_it_hides() {
    let deny = "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = [\"rm -rf\", \"canary\"]\ndecision = \"deny\"\npriority = 1\n";
    let policy = policy(true, deny);
    for line in [
        "canary",
        "/bin/canary x",
        "ls; canary",
        "ls && (canary)",
        "echo $(canary)",
        "echo `canary`",
        "cat <(canary)",
        "sudo -u x canary",
        "env A=1 canary",
        "timeout 5 nice canary",
        "xargs canary",
        "sh -c 'ls; canary'",
        "bash -c \"eval 'canary'\"",
        "find . -exec canary {} +",
        "'can'ary",
        "c\\anary",
        "f() { canary; }; f",
        "if true; then canary; fi",
        "A=1 canary",
        "rm -r -f x",
        "rm -fr x",
        "rm x --recursive --force",
        "cat <<E\n$(canary)\nE",
    ] {
        for mode in [ApprovalMode::Default, ApprovalMode::AutoEdit, ApprovalMode::Yolo] {
            assert_eq!(say(&policy, line, mode), "deny", "{mode} {line}");
        }
    }
    for line in ["eval $x", "$x", "rm $x", "python -c 'import canary'", "source x", "alias a=b"] {
        assert_eq!(say(&policy, line, ApprovalMode::Yolo), "ask_user", "{line}");
    }
    for line in ["ls", "rm x", "echo rm -rf", "python -c 'print(1)'", "make > x"] {
        assert_eq!(say(&policy, line, ApprovalMode::Yolo), "allow", "{line}");
    }
}

#[test]
fn without_reservations_yolo_allows_everything() {
    for line in ["eval $x", "rm -rf x", "( ", "a > b", "source x"] {
        assert_eq!(say(&policy(false, ""), line, ApprovalMode::Yolo), "allow", "{line}");
    }
}

#[test]
fn a_part_beyond_any_count_is_still_judged() {
    let policy = policy(true, &allow("[\"true\", \"git\"]"));
    let mut line = vec!["git log"; 60].join(" && ");
    assert_eq!(say(&policy, &line, ApprovalMode::Default), "allow");
    line.push_str(" && canary");
    assert_eq!(say(&policy, &line, ApprovalMode::Default), "ask_user");
}

#[test]
fn redirections_are_writes() {
    let rules = allow("[\"make\"]") + "allowRedirection = true\n" + &allow("[\"echo\"]");
    let policy = policy(true, &rules);
    for (line, mode, expected) in [
        ("make > log", ApprovalMode::Default, "allow"),
        ("echo > log", ApprovalMode::Default, "ask_user"),
        ("make > log; echo > log", ApprovalMode::Default, "ask_user"),
        ("echo > log", ApprovalMode::AutoEdit, "allow"),
        ("echo > /p/src/log", ApprovalMode::AutoEdit, "allow"),
        ("echo > ../log", ApprovalMode::AutoEdit, "ask_user"),
        ("echo > ~/.bashrc", ApprovalMode::AutoEdit, "ask_user"),
        ("echo > .git/hooks/pre-commit", ApprovalMode::AutoEdit, "ask_user"),
        ("cd /; echo > log", ApprovalMode::AutoEdit, "ask_user"),
        ("echo > $x", ApprovalMode::AutoEdit, "ask_user"),
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
fn patterns_of_commands_and_of_arguments() {
    let rule = |field: &str, decision: &str| {
        format!(
            "[[rule]]\ntoolName = \"run_shell_command\"\n{field}\ndecision = \"{decision}\"\npriority = 100\n"
        )
    };
    let rules = rule("commandRegex = 'npm (ci|install)\\b'", "allow")
        + &rule("commandRegex = '.*--force'", "deny")
        + &rule("argsPattern = '\"command\":\"make '", "allow");
    let policy = policy(true, &rules);
    for (line, expected) in [
        ("npm ci", "allow"),
        ("npm install x", "allow"),
        ("npm run x", "ask_user"),
        ("npm ci; canary", "ask_user"),
        ("npm install --force", "allow"),
        ("git push --force", "deny"),
        ("ls; git push \"--force\"", "deny"),
        ("make all", "allow"),
        ("xmake all", "ask_user"),
    ] {
        assert_eq!(say(&policy, line, ApprovalMode::Default), expected, "{line}");
    }
}

/// What becomes of a line where nobody can be asked.
fn alone(policy: &Policy, line: &str, mode: ApprovalMode) -> &'static str {
    if say(policy, line, mode) == "allow" { "allow" } else { "refused" }
}

#[test]
fn headless_what_would_be_asked_is_refused() {
    let policy = policy(false, &allow("[\"git\"]"));
    for (line, expected) in [("git log", "allow"), ("git log > x", "refused"), ("ls", "refused")] {
        assert_eq!(alone(&policy, line, ApprovalMode::Default), expected, "{line}");
    }
}

/// Regression: under `--yolo` these started a denied command by an option, a variable or code.
#[test]
fn what_speaks_of_a_denied_command_is_not_run_unseen() {
    let rules = "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = [\"touch\", \"git tag\"]\ndecision = \"deny\"\npriority = 100\n";
    let held = policy(false, rules);
    for (line, expected) in [
        ("git -c alias.x='!touch a' x", "refused"),
        ("git -c alias.x=tag x a", "refused"),
        ("git config alias.x '!touch a'; git x", "refused"),
        ("git fetch --upload-pack='touch a;' .", "refused"),
        ("git difftool -y -x 'touch a;'", "refused"),
        ("git grep -O'touch a;' x", "refused"),
        ("GIT_EXTERNAL_DIFF='touch a;' git diff", "refused"),
        ("x='touch a'; GIT_EXTERNAL_DIFF=\"$x\" git diff", "refused"),
        ("X='!touch a' git --config-env=alias.x=X x", "refused"),
        ("export TAR_OPTIONS='--to-command=/bin/touch a'; tar xf x", "refused"),
        ("tar xf x --to-command='touch a'", "refused"),
        ("tar xf x --to-command=\"$x\"", "refused"),
        ("ssh -o ProxyCommand='touch a' h", "refused"),
        ("split --filter='touch a' words", "refused"),
        ("awk '{ system($0) }' a", "refused"),
        ("awk '{ print | \"sh\" }' a", "refused"),
        ("sed 1e a", "refused"),
        ("perl -e 'system(\"touch a\")'", "refused"),
        ("git -c user.name=a commit -m x", "allow"),
        ("git log \"$x\"", "allow"),
        ("EDITOR=true git rebase --continue", "allow"),
        ("tar xf x -I zstd", "allow"),
        ("awk '/a|b/ && $3 > 5 { print $1 / 2 }' a", "allow"),
        ("awk '{ print > \"b\" }' a", "allow"),
        ("sed 's/a/b/e.me' a; sed -i s/a/b/ key.pem", "refused"),
        ("sed -i s/a/b/ key.pem", "allow"),
        ("python3 -c 'print(1)'", "allow"),
        ("python3 -c 'import touchy'", "allow"),
    ] {
        assert_eq!(alone(&held, line, ApprovalMode::Yolo), expected, "{line}");
    }
    let free = policy(false, "");
    assert_eq!(say(&free, "awk '{ system($0) }' a", ApprovalMode::Yolo), "allow");
}

/// Regression: a rule that allows a program let its code write files, and a pattern of awk counted as a pipe.
#[test]
fn code_of_an_allowed_program_is_read() {
    let policy = policy(false, &allow("[\"awk\", \"sed\", \"uniq\"]"));
    for (line, expected) in [
        ("awk '/a|b/ { print $2 }' a", "allow"),
        ("awk '$3 > 5' a", "allow"),
        ("awk '{ print > \"b\" }' a", "refused"),
        ("awk '{ \"date\" | getline }' a", "refused"),
        ("sed -n '/a/,/e/p' test.me", "allow"),
        ("sed -i s/a/b/ a", "allow"),
        ("sed 'w b' a", "refused"),
        ("sed s/a/b/e a", "refused"),
        ("sed --expression='1e date' a", "refused"),
        ("uniq -c a", "allow"),
        ("uniq a b", "refused"),
    ] {
        assert_eq!(alone(&policy, line, ApprovalMode::Default), expected, "{line}");
    }
}
