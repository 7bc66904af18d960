//! The names of a confirmation, and the commands that rules look at one by one.

use super::*;

#[test]
fn confirmations_name_commands_and_constructs() {
    let table: &[(&str, &str, &[&str])] = &[
        ("ls", "ls", &["ls"]),
        ("'ls' x", "ls", &["ls"]),
        ("git add . && git commit", "git, git", &["git"]),
        ("ls > x", "ls, redirection (>)", &["ls"]),
        ("sort < x", "sort, redirection (<)", &["sort"]),
        ("ls 2>&1", "ls, redirection (>)", &["ls"]),
        ("cat <<E\nx\nE", "cat, heredoc (<<)", &["cat"]),
        ("cat <<< x", "cat, herestring (<<<)", &["cat"]),
        ("echo $(ls)", "echo, command substitution, ls", &["echo", "ls"]),
        ("echo `ls`", "echo, backtick substitution", &["echo"]),
        ("diff <(a) b", "diff, process substitution, a", &["diff", "a"]),
        ("(ls)", "subshell, ls", &["ls"]),
        ("export A=1; [ -f x ]", "export, [", &["export", "["]),
        ("[[ -f x ]] && ls", "[[, ls", &["[[", "ls"]),
        ("sudo rm x", "sudo", &["sudo"]),
        ("A=1 ls", "ls", &["ls"]),
        ("$x a", "$x", &["$x"]),
        ("if a; then b; fi", "a, b", &["a", "b"]),
        ("ls )", "ls", &["ls"]),
        ("ls ) > x", "ls, redirection", &["ls"]),
        ("", "", &[]),
    ];
    for (line, root_command, root_commands) in table {
        let analysis = analyse(line);
        assert_eq!(analysis.root_command, *root_command, "{line}");
        assert_eq!(analysis.root_commands, *root_commands, "{line}");
    }
}

#[test]
fn each_command_stands_by_itself() {
    let table: &[(&str, &[&str])] = &[
        ("ls -l; date | sort", &["ls -l", "date", "sort"]),
        ("sudo env rm x", &["sudo env rm x", "env rm x", "rm x"]),
        ("sh -c 'ls; rm x' y", &["sh -c 'ls; rm x' y", "ls", "rm x"]),
        ("echo \"$(rm x)\"", &["echo \"$(rm x)\"", "rm x"]),
        ("f() { rm x; }; f", &["rm x", "f"]),
        ("if a; then b > y; fi", &["a", "b > y"]),
        (
            "find . -exec rm {} \\; -exec ls \\;",
            &["find . -exec rm {} \\; -exec ls \\;", "rm {}", "ls"],
        ),
        ("xargs -n1 rm -f", &["xargs -n1 rm -f", "rm -f"]),
        ("for x in a; do ls; done & (date)", &["ls", "date"]),
        ("A=1", &[]),
        ("A=1 ls", &["A=1 ls"]),
        ("echo `ls x`", &["echo `ls x`", "ls x"]),
    ];
    for (line, texts) in table {
        let analysis = analyse(line);
        let found: Vec<&str> =
            analysis.sub_commands.iter().map(|command| command.text.as_str()).collect();
        assert_eq!(found, *texts, "{line}");
    }
}

#[test]
fn constructs_are_listed_with_their_places() {
    let analysis = analyse("f() { (a) & }; b $(c) `d` <(e) &");
    assert_eq!(analysis.functions, [Function { name: "f".into(), position: 0 }]);
    assert_eq!(analysis.subshells, [6]);
    assert_eq!(analysis.background, [10, 31]);
    let kinds: Vec<_> =
        analysis.substitutions.iter().map(|found| (found.kind, found.position)).collect();
    assert_eq!(
        kinds,
        [
            (SubstitutionKind::Command, 17),
            (SubstitutionKind::Backtick, 22),
            (SubstitutionKind::Process, 26),
        ]
    );
    let a = &analysis.programs[0];
    assert_eq!(a.via, [Via::Function("f".into())]);
}
