use super::*;
use proptest::prelude::*;

#[test]
fn wrappers_come_off() {
    let table = [
        ("ls -la", "ls -la"),
        ("  ls  ", "ls"),
        ("bash -c 'ls -la'", "ls -la"),
        ("bash   -c   \"ls -la\"", "ls -la"),
        ("/bin/sh -c 'a; b'", "a; b"),
        ("zsh -c ls", "ls"),
        (r#"sh -c "echo \"a\" \\ \n""#, r#"echo "a" \ \n"#),
        (r#"sh -c "echo \$HOME""#, "echo $HOME"),
        ("cmd.exe /c dir", "dir"),
        ("cmd.exe /c \"dir /s\"", "dir /s"),
        ("powershell -NoProfile -Command 'Get-Item .'", "Get-Item ."),
        ("pwsh -Command Get-Item .", "Get-Item ."),
        ("PowerShell.exe -command \"x\"", "x"),
    ];
    for (command, expected) in table {
        assert_eq!(strip_wrapper(command), expected, "{command}");
    }
}

#[test]
fn wrappers_stay_where_they_mean_something() {
    let table = [
        "bash script.sh",
        "bash -c",
        "bash -c 'a' && echo 'b'",
        "bash -c 'echo $0' name",
        "bash -c ls -la",
        r#"bash -c "echo $HOME""#,
        r#"bash -c "echo `id`""#,
        r#"bash -c "a" "b""#,
        r#"bash -c "a\""#,
        "bash -lc 'a'",
        "fish -c 'a'",
        "./bash -c 'a'",
        "powershell -File x.ps1",
        "é",
    ];
    for command in table {
        assert_eq!(strip_wrapper(command), command);
    }
}

#[test]
fn a_final_backslash_gets_a_space() {
    assert_eq!(evaluated("a \\"), "eval ' a \\ '");
    assert_eq!(evaluated("it's"), r"eval ' it'\''s'");
}

proptest! {
    #[test]
    fn stripping_never_panics(command in "(bash|sh|cmd.exe|pwsh)? ?(-c|/c|-Command)? ?[\"'\\\\$a é]{0,12}") {
        let _ = strip_wrapper(&command);
    }

    #[test]
    fn a_quoted_script_is_stripped_to_itself(script in "[a-z $;\"\\\\|&]{1,20}") {
        let wrapped = format!("bash -c {}", quote(&script));
        let stripped = strip_wrapper(&wrapped);
        prop_assert_eq!(stripped.as_ref(), script.as_str());
    }
}
