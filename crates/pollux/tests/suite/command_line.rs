//! Help, version, completions, man page, and what is not there yet.

use std::time::Duration;

use super::stage::Stage;

#[test]
fn help_and_version_are_for_standard_output() {
    let stage = Stage::new();
    let version = stage.alone().args(["--version"]).run();
    version.assert_code(0);
    assert_eq!(version.stdout_text(), format!("{}\n", env!("CARGO_PKG_VERSION")));
    assert_eq!(stage.alone().args(["-v"]).run().stdout, version.stdout);

    let help = stage.alone().args(["--help"]).run();
    help.assert_code(0);
    let text = help.stdout_text();
    for flag in ["--prompt", "--output-format", "--resume", "--include-directories", "--skip-trust"]
    {
        assert!(text.contains(flag), "{flag}\n{text}");
    }
    assert!(!text.contains("--fake-responses"), "hidden flags stay hidden");
    assert_eq!(help.stderr_text(), "");
    assert_eq!(stage.alone().args(["-h"]).run().stdout, help.stdout);
}

#[test]
fn version_needs_no_home_and_no_settings() {
    let stage = Stage::new();
    stage.home.user_file("settings.json", "broken");
    stage.alone().env("HOME", "/nonexistent").args(["--version"]).run().assert_code(0);
    stage.alone().args(["--version"]).run().assert_code(0);
}

#[test]
fn completions_and_man_page_come_from_the_same_flags() {
    let stage = Stage::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let run = stage.alone().args(["completions", shell]).run();
        run.assert_code(0);
        assert!(run.stdout_text().contains("output-format"), "{shell}\n{}", run.report());
    }
    let man = stage.alone().args(["man"]).run();
    man.assert_code(0);
    let page = man.stdout_text();
    assert!(page.contains(".TH") && page.contains("output\\-format"), "{}", man.report());
}

#[test]
fn a_subcommands_name_in_a_longer_line_is_part_of_a_prompt() {
    let stage = Stage::with([pollux_testkit::reply().text("hi")]);
    let run = stage.pollux(&["man", "overboard"]).run();
    run.assert_code(0);
    let contents = stage.requests()[0].contents().to_vec();
    assert!(contents[0].to_string().contains("man overboard"), "{contents:?}");
}

#[test]
fn what_comes_later_says_so_and_exits_1() {
    let table: [&[&str]; 15] = [
        &["--sandbox", "-p", "go"],
        &["-s", "-p", "go"],
        &["--policy", "p.toml", "-p", "go"],
        &["--admin-policy", "p.toml", "-p", "go"],
        &["--acp"],
        &["--experimental-acp"],
        &["-e", "some", "-p", "go"],
        &["--list-extensions"],
        &["--allowed-tools", "glob", "-p", "go"],
        &["--allowed-mcp-server-names", "a", "-p", "go"],
        &["--worktree", "-p", "go"],
        &["mcp", "list"],
        &["extensions", "list"],
        &["skills", "list"],
        &["undo"],
    ];
    for arguments in table {
        let stage = Stage::new();
        let run = stage.program().args(arguments).run();
        run.assert_code(1);
        assert!(!run.stderr_text().trim().is_empty(), "{arguments:?}");
        assert_eq!(run.stdout_text(), "", "{arguments:?}");
        assert_eq!(stage.server.requests().len(), 0, "{arguments:?} is not ignored");
    }
}

#[test]
fn what_is_switched_off_anyway_needs_no_refusal() {
    for arguments in [["--sandbox=false", "-p", "go"], ["--no-sandbox", "-p", "go"]] {
        let stage = Stage::with([pollux_testkit::reply().text("hi")]);
        stage.pollux(&arguments).run().assert_code(0);
    }
}

#[test]
fn flags_are_read_as_yargs_reads_them() {
    let table: [&[&str]; 5] = [
        &["--outputFormat=json", "-p", "go"],
        &["-o=json", "-pgo"],
        &["-o", "text", "-o", "json", "-p", "go"],
        &["--output-format", "json", "--no-debug", "--", "go"],
        &["-ojson", "g", "o"],
    ];
    for arguments in table {
        let stage = Stage::with([pollux_testkit::reply().text("hi")]);
        let run = stage.pollux(arguments).run();
        run.assert_code(0);
        assert_eq!(run.json()["response"], "hi", "{arguments:?}");
    }
}

#[test]
fn a_first_request_is_on_its_way_soon() {
    let stage = Stage::with([pollux_testkit::reply().text("hi")]);
    let run = stage.prompt("text", "go");
    run.assert_code(0);
    // Generous: an unoptimised build on a busy machine. Hangs and waits are what this finds.
    assert!(run.duration < Duration::from_secs(2), "{:?}", run.duration);
}
