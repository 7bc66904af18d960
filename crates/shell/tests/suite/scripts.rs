//! Commands that must run as if there were no wrapper around them.

use super::{command, outcome, sh, sh_in, shells};

#[tokio::test]
async fn exit_codes_are_the_commands_own() {
    for shell in shells() {
        let table = [
            ("true", 0),
            ("false", 1),
            ("exit 3", 3),
            ("(exit 4)", 4),
            ("exec false", 1),
            ("exec sh -c 'exit 5'", 5),
            ("set -e; false; exit 9", 1),
            ("true | false", 1),
            ("this-command-does-not-exist", 127),
            ("trap 'exit 6' EXIT; exit 7", 6),
            ("trap 'true' EXIT; exit 7", 7),
            ("false # comment", 1),
            ("sh -c 'exit 8'", 8),
            ("set -o noclobber 2>/dev/null; sleep 0 & wait; exit 2", 2),
            ("", 0),
        ];
        for (line, code) in table {
            let outcome = sh_in(&shell, line).await;
            assert_eq!(outcome.exit_code, Some(code), "{line} in {shell:?}");
            assert_eq!(outcome.signal, None, "{line}");
        }
    }
}

#[tokio::test]
async fn odd_ends_do_not_reach_the_wrapper() {
    for shell in shells() {
        let table = [
            ("echo hi # a comment", "hi"),
            ("echo hi \\", "hi"),
            ("echo hi \\\\", "hi \\"),
            ("cat <<EOF\nhi\nEOF", "hi"),
            ("cat <<'EOF'\n$hi `x`\nEOF\n", "$hi `x`"),
            ("echo \"it's\"", "it's"),
            ("echo one\n\n\necho two", "one\ntwo"),
            ("for i in 1 2; do\n echo $i\ndone", "1\n2"),
            ("echo $#", "0"),
            ("bash -c 'echo inner'", "inner"),
        ];
        for (line, text) in table {
            let output = sh_in(&shell, line).await.text();
            assert_eq!(output, text, "{line} in {shell:?}");
        }
    }
}

#[tokio::test]
async fn an_open_here_document_ends_with_the_command() {
    for shell in shells() {
        let outcome = sh_in(&shell, "cat <<EOF\nhi").await;
        assert_eq!(outcome.exit_code, Some(0));
        assert!(outcome.text().starts_with("hi") || outcome.text().ends_with("hi"));
    }
}

#[tokio::test]
async fn syntax_errors_fail_and_say_so() {
    for shell in shells() {
        for line in ["echo (", "if true", "echo 'open", ") ; echo escaped", "}; echo escaped"] {
            let outcome = sh_in(&shell, line).await;
            assert!(matches!(outcome.exit_code, Some(1..=2)), "{line}: {outcome:?}");
            let text = outcome.text();
            assert!(!text.is_empty() && !text.lines().any(|shown| shown == "escaped"), "{text}");
        }
    }
}

#[tokio::test]
async fn bash_words_mean_the_same_everywhere() {
    let mut command =
        command("shopt nullglob extglob dotglob nocaseglob promptvars; echo *.nothing");
    command.child.environment.push(("BASHOPTS".into(), "nullglob".into()));
    let text = outcome(command).await.text();
    assert!(!text.contains("\ton"), "{text}");
    assert!(text.ends_with("*.nothing"));
}

#[tokio::test]
async fn standard_input_is_closed() {
    assert_eq!(sh("cat; echo done").await.text(), "done");
    assert_eq!(sh("read line; echo $?").await.text(), "1");
}

#[tokio::test]
async fn there_is_no_terminal_to_ask_on() {
    let outcome = sh("cat </dev/tty").await;
    assert_eq!(outcome.exit_code, Some(1));
}

#[tokio::test]
async fn a_long_command_line_works() {
    let long = "x".repeat(100_000);
    assert_eq!(sh(&format!("echo {long} | wc -c")).await.text(), "100001");
}
