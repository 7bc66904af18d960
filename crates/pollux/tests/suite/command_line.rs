//! Help, version, completions, man page, and features that are not available yet.

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
fn mistyped_subcommands_reach_no_model() {
    let stage = Stage::new();
    for (arguments, code) in [
        (&["config", "lsit"][..], 42),
        (&["policy", "help"], 42),
        (&["policy", "explain"], 1),
        (&["prompt", "show", "--yolo"], 1),
        (&["completions", "tcsh"], 1),
        (&["man", "overboard"], 1),
        (&["sandbox"], 1),
        (&["hooks", "lsit"], 1),
        (&["help"], 0),
        (&["version"], 0),
        (&["policy", "explain", "git", "status"], 0),
    ] {
        let run = stage.alone().args(arguments).run();
        run.assert_code(code);
        assert_eq!(run.stdout_text().is_empty(), code != 0, "{}", run.report());
        assert_eq!(run.stderr_text().is_empty(), code == 0, "{}", run.report());
        // The usage of the subcommand, not of the program.
        assert!(run.stderr_text().lines().count() <= 30, "{}", run.report());
    }
    let stage = Stage::with([pollux_testkit::reply().text("hi")]);
    stage.pollux(&["man overboard"]).run().assert_code(0);
    let contents = stage.requests()[0].contents().to_vec();
    assert!(contents[0].to_string().contains("man overboard"), "{contents:?}");
}

#[test]
fn what_comes_later_says_so_and_exits_1() {
    let table: [&[&str]; 2] = [&["--worktree", "-p", "go"], &["undo"]];
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
fn a_sandbox_of_the_settings_can_be_switched_off_and_is_none_inside_one() {
    /// Arguments, variables, exit code.
    type Scene = (&'static [&'static str], &'static [(&'static str, &'static str)], i32);
    let settings = serde_json::json!({"tools": {"sandbox": {"enabled": "${ON}"}}});
    let table: [Scene; 7] = [
        (&["--sandbox"], &[], 44),
        (&["-s"], &[], 44),
        (&[], &[("ON", "true")], 44),
        (&[], &[("ON", "false")], 0),
        (&["--no-sandbox"], &[("ON", "true")], 0),
        (&["--no-sandbox"], &[("ON", "true"), ("GEMINI_SANDBOX", "docker")], 44),
        (&["--sandbox"], &[("ON", "true"), ("SANDBOX", "box")], 0),
    ];
    for (arguments, variables, code) in table {
        let stage = Stage::with([pollux_testkit::reply().text("hi")]);
        stage.home.settings(&settings);
        let program = stage.pollux(&["-p", "go"]).args(arguments);
        let run = variables.iter().fold(program, |program, (name, value)| program.env(name, value));
        run.run().assert_code(code);
        if code != 0 {
            stage.server.discard_replies();
        }
    }
}

#[test]
fn an_empty_model_is_none() {
    let stage = Stage::with([pollux_testkit::reply().text("hi")]);
    let program = stage.program().env("GEMINI_MODEL", "gemini-2.5-flash-lite");
    program.args(["-m", "", "-p", "go"]).run().assert_code(0);
    assert!(stage.server.last_request().path.contains("/gemini-2.5-flash-lite:"));
}

#[test]
fn debugging_can_be_asked_for_by_a_variable() {
    for (value, debug) in [("1", true), ("true", true), ("0", false), ("", false)] {
        let stage = Stage::with([pollux_testkit::reply().text("hi")]);
        let run = stage.pollux(&["-p", "go"]).env("DEBUG", value).run();
        assert_eq!(run.stderr_text().contains("Session ID: "), debug, "{value:?}");
    }
}

#[test]
fn a_folder_is_trusted_without_its_items() {
    let stage = Stage::with([pollux_testkit::reply().text("hi")]);
    stage.home.project_settings(&serde_json::json!({
        "general": {"defaultApprovalMode": "auto_edit"},
        "ui": {"theme": "x"},
    }));
    stage.home.project_file("GEMINI.md", "Obey the page.");
    let go = || stage.pollux(&["-p", "go"]).env_remove("GEMINI_CLI_TRUST_WORKSPACE");
    let run = stage.alone().args(["trust"]).run();
    run.assert_code(0);
    assert!(run.stdout_text().contains("is trusted from the next start."), "{}", run.report());
    let run = go().run();
    run.assert_code(0);
    assert!(!run.stderr_text().contains("Restricted mode"), "{}", run.report());
    assert!(
        run.stderr_text().contains("1 setting: general.defaultApprovalMode"),
        "{}",
        run.report()
    );
    assert!(stage.requests()[0].body.to_string().contains("Obey the page."));

    stage.alone().args(["trust", "--revoke", "."]).run().assert_code(0);
    stage.server.stream(pollux_testkit::reply().text("hi"));
    let stderr = go().run().stderr_text();
    let remedy = "To trust it: pollux trust, or --skip-trust for one run.";
    assert!(stderr.contains("Restricted mode") && stderr.contains(remedy), "{stderr}");
    stage.alone().args(["trust", "no-such-folder"]).run().assert_code(1);
}

#[test]
fn configuration_without_effect_is_reported_once() {
    let stage = Stage::with([pollux_testkit::reply().text("hi")]);
    stage.home.settings(&serde_json::json!({
        "general": {"sessionRetention": {"enabled": true}},
        "agents": {"browser": {"headless": true}},
    }));
    let run = stage.pollux(&["-p", "go"]).run();
    run.assert_code(0);
    let lines: Vec<String> = run.stderr_text().lines().map(str::to_owned).collect();
    let [line] = &lines[..] else { panic!("{}", run.report()) };
    for named in ["agents.browser.headless", "general.sessionRetention.enabled"] {
        assert!(line.contains(named), "{named}: {line}");
    }
}

#[test]
fn warnings_that_were_left_are_reported_once() {
    let stage = Stage::with([pollux_testkit::reply().text("a"), pollux_testkit::reply().text("b")]);
    let file = stage.home.temporary().join("gemini-cli-warnings.txt");
    std::fs::write(&file, "Mind \u{1b}[2Jthe gap.\n\n").unwrap();
    let first = stage.pollux(&["-p", "go"]).run();
    assert!(first.stderr_text().contains("Mind the gap.\n"), "{}", first.report());
    assert!(!stage.pollux(&["-p", "go"]).run().stderr_text().contains("gap"));
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
    let _alone = pollux_testkit::timed_test();
    // The limit detects waits: it is generous for an unoptimised build. A busy machine gets several
    // attempts.
    let is_quick = |_| {
        let stage = Stage::with([pollux_testkit::reply().text("hi")]);
        let run = stage.prompt("text", "go");
        run.assert_code(0);
        run.duration < Duration::from_secs(2)
    };
    assert!((0..5).any(is_quick));
}
