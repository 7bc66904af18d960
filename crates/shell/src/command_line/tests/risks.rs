//! Clauses about commands that destroy data.

use pretty_assertions::assert_eq;

use super::super::table::Usage;
use super::super::*;

#[test]
fn a_message_says_what_a_command_destroys() {
    let folders = "removes folders and everything in them";
    let discards = "discards changes that are not committed";
    for (line, expected) in [
        ("rm -rf build", format!("rm -rf {folders}")),
        ("rm -f --recursive build", format!("rm --recursive {folders}")),
        ("/bin/rm -vr build", format!("/bin/rm -vr {folders}")),
        ("rm -f -- -r", "rm -f removes files without a question".to_owned()),
        ("find . -name x -delete", "find -delete removes the files that it finds".to_owned()),
        ("git -C x reset --hard HEAD~1", format!("git reset --hard {discards}")),
        ("git checkout -qf .", format!("git checkout -qf {discards}")),
        (
            "git push --force-with-lease=main origin",
            "git push --force-with-lease=main can remove commits from the remote repository"
                .to_owned(),
        ),
        ("git clean -fdx", "git clean removes files that Git does not track".to_owned()),
        ("git stash clear", "git stash clear removes all stashed changes".to_owned()),
        ("rm --weird -r x", "the effects of rm --weird are not known".to_owned()),
        ("uniq --odd", "the effects of uniq --odd are not known".to_owned()),
        ("frob -r", "the effects of frob are not known".to_owned()),
    ] {
        let read = read(line, Dialect::Bash);
        let command = &read.commands[0];
        let reason = command.known(0).unwrap_err();
        assert_eq!(command.explain(&reason), expected, "{line}");
    }
}

/// A risk of a word that the table lists would never be shown.
#[test]
fn words_with_a_risk_are_not_listed() {
    fn check(before: &str, usage: &Usage) {
        for word in usage.risks.iter().flat_map(|risk| &risk.words) {
            let line = read(&format!("{before} {word} x"), Dialect::Bash);
            let command = &line.commands[0];
            let reason = command.known(0).expect_err(before);
            let explained = command.explain(&reason);
            assert!(explained.starts_with(&format!("{before} {word} ")), "{explained}");
        }
        for (name, inner) in &usage.subcommands {
            check(&format!("{before} {name}"), inner);
        }
        if let Some(other) = &usage.otherwise {
            assert!(other.risks.is_empty(), "{before}: not read there");
        }
    }
    for (program, text) in tables::TABLES {
        check(program, &Usage::parse(text).unwrap());
    }
}
