//! Policy files, settings and flags, tested from outside.

use std::time::Duration;

use pollux_testkit::{Finished, Key, reply};
use serde_json::{Value, json};

use crate::suite::stage::Stage;

const DENIED: &str = "Tool execution denied by policy.";

fn rule(tool: &str, decision: &str, more: &str) -> String {
    format!("[[rule]]\ntoolName = \"{tool}\"\ndecision = \"{decision}\"\npriority = 100\n{more}\n")
}

/// Creates a stage whose model runs these command lines one by one.
fn running(commands: &[&str]) -> Stage {
    let calls = commands
        .iter()
        .map(|command| reply().call("run_shell_command", json!({ "command": command })));
    Stage::with(calls.chain([reply().text("Done.")]))
}

/// Returns the response to each call.
fn answers(stage: &Stage) -> Vec<String> {
    let requests = stage.requests();
    let contents = requests.last().unwrap().contents().to_vec();
    let parts = contents.iter().flat_map(|content| content["parts"].as_array().unwrap());
    let text = |part: &Value| {
        let response = part.get("functionResponse")?.get("response")?;
        let text = response.get("output").or(response.get("error")).unwrap();
        Some(text.as_str().unwrap().to_owned())
    };
    parts.filter_map(text).collect()
}

#[test]
fn a_file_of_the_person_allows_and_denies() {
    let stage =
        running(&["mkdir one", "mkdir two && touch x", "mkdir deep/er", "cd . && mkdir four"]);
    let file = rule("run_shell_command", "allow", "commandPrefix = [\"mkdir\", \"cd\"]")
        + &rule("run_shell_command", "deny", "commandPrefix = \"mkdir deep/er\"")
            .replace("100", "200");
    stage.home.user_file(
        "policies/my.toml",
        file.replace("priority = 200", "priority = 200\ndenyMessage = \"Too deep.\""),
    );
    stage.prompt("text", "go").assert_code(0);
    let reported = answers(&stage);
    assert!(reported[0].contains("(empty)"), "{reported:?}");
    assert!(reported[1].contains("may only run commands that read"), "{reported:?}");
    assert_eq!(reported[2], format!("{DENIED} Too deep."));
    for (folder, there) in [("one", true), ("two", false), ("deep", false), ("four", true)] {
        assert_eq!(stage.home.project().join(folder).exists(), there, "{folder}");
    }
}

#[test]
fn an_undeclared_argument_does_not_satisfy_a_rule_that_allows() {
    let write = |args: Value| reply().call("write_file", args);
    let stage = Stage::with([
        write(json!({ "file_path": "docs/a", "content": "x", "zz": 1 })),
        write(json!({ "file_path": "evil.sh", "content": "x", "zz": { "file_path": "docs/a" } })),
        reply().text("Done."),
    ]);
    let allow = rule("write_file", "allow", r#"argsPattern = '"file_path":"docs/[^"]*"'"#);
    stage.home.user_file("policies/my.toml", &allow);
    stage.prompt("text", "go").assert_code(0);
    assert!(stage.home.project().join("docs/a").exists());
    assert!(!stage.home.project().join("evil.sh").exists(), "{:?}", answers(&stage));
    let lint = stage.program().args(["policy", "lint"]).run();
    let finding = "allows calls with this text anywhere in their arguments";
    assert!(lint.stdout_text().contains(finding), "{}", lint.report());
}

#[test]
fn a_rule_for_the_whole_tool_does_not_allow_dangerous_commands() {
    for (flags, runs) in [(&[][..], false), (&["--yolo"], true)] {
        let stage = running(&["rm -rf sub", "rm notes.md"]);
        stage.home.user_file("policies/my.toml", rule("run_shell_command", "allow", ""));
        stage.home.project_file("sub/a", "a").project_file("notes.md", "n");
        stage.pollux(&[flags, &["-p", "go"]].concat()).run().assert_code(0);
        let reported = answers(&stage);
        let refused = reported[0].contains("Reason: rm -rf is dangerous, and no rule names it.");
        assert_eq!(refused, !runs, "{reported:?}");
        assert_eq!(stage.home.project().join("sub/a").exists(), !runs);
        assert!(!stage.home.project().join("notes.md").exists());
    }
}

#[test]
fn an_explanation_names_the_mode_and_the_reason() {
    let stage = Stage::new();
    for (line, reason) in [
        ("ls", "with priority 1.01; it only reads\n"),
        (
            "echo x > a",
            "with priority 1.01; it only reads, and writes only files of the workspace\n",
        ),
        ("frob", "with priority 1.01; the effects of frob are not known\n"),
        ("rm -rf a", "with priority 1.01; rm -rf removes folders and everything in them\n"),
    ] {
        let explain = ["policy", "explain", "--mode", "auto_edit", line];
        let run = stage.program().args(explain).run();
        run.assert_code(0);
        let text = run.stdout_text();
        assert!(text.contains("\nMode: auto_edit\n"), "{text}");
        assert!(text.contains(", by Default: write.toml:") && text.contains(reason), "{text}");
        let run = stage.program().args([&explain[..4], &["--json", line]].concat()).run();
        assert_eq!(run.json()["mode"], "auto_edit");
        assert!(run.json()["interactive"]["reason"].is_string(), "{}", run.report());
    }
}

#[test]
fn flags_say_which_files_count() {
    let deny = rule("glob", "deny", "");
    for (flag, offered) in [("--policy", true), ("--admin-policy", false)] {
        let stage = Stage::with([reply().text("Done.")]);
        stage.home.user_file("policies/my.toml", rule("list_directory", "deny", ""));
        stage.home.project_file("other.toml", &deny);
        stage.pollux(&[flag, "other.toml", "-p", "go"]).run().assert_code(0);
        let body = stage.requests()[0].body.clone();
        let tools = body["tools"][0]["functionDeclarations"].as_array().unwrap().clone();
        let names: Vec<String> =
            tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect();
        assert!(!names.contains(&"glob".to_owned()), "{flag} {names:?}");
        assert_eq!(names.contains(&"list_directory".to_owned()), offered, "{flag} {names:?}");
    }
}

#[test]
fn a_broken_file_ends_a_headless_run() {
    let stage = Stage::with([]);
    stage
        .home
        .user_file("policies/my.toml", "[[rule]]\ntoolName = \"glob\"\ndecision = \"deny\"\n");
    let run = stage.pollux(&["--yolo", "-p", "go"]).run();
    run.assert_code(52);
    let reported = run.stderr_text();
    assert!(reported.contains("[USER] Policy file error in "), "{reported}");
    assert!(reported.contains("my.toml:1:1:\n  priority is required"), "{reported}");
    assert_eq!(stage.requests().len(), 0);
}

#[test]
fn a_named_file_that_is_missing_is_an_error() {
    for (flag, setting) in [("--policy", "policyPaths"), ("--admin-policy", "adminPolicyPaths")] {
        let stage = Stage::with([]);
        let is_named = |run: &Finished| {
            run.assert_code(52);
            let named = run.stdout_text() + &run.stderr_text();
            assert!(named.contains("cii.toml"), "{}", run.report());
        };
        is_named(&stage.pollux(&[flag, "./cii.toml", "--yolo", "-p", "go"]).run());
        let verbs: [&[&str]; 3] = [&["lint"], &["list"], &["explain", flag, "./cii.toml", "ls"]];
        for verb in &verbs[..2] {
            is_named(
                &stage.program().args([&["policy"], *verb, &[flag, "cii.toml"]].concat()).run(),
            );
        }
        is_named(&stage.program().args([&["policy"], verbs[2]].concat()).run());
        stage.home.settings(&json!({ setting: ["./cii.toml"] }));
        is_named(&stage.pollux(&["--yolo", "-p", "go"]).run());
        is_named(&stage.program().args(["policy", "list", "--json"]).run());
    }
}

#[test]
fn lists_of_older_settings_are_rules() {
    let stage = running(&["mkdir one", "rmdir one", "mkdir two; rmdir two"]);
    stage.home.settings(&json!({"tools": {
        "allowed": ["run_shell_command(mkdir)", "ShellTool(rmdir)"],
        "exclude": ["run_shell_command(rmdir)"],
    }}));
    let run = stage.prompt("text", "go");
    run.assert_code(0);
    assert!(run.stderr_text().contains("tools.allowed are deprecated"));
    assert!(run.stderr_text().contains("tools.exclude is deprecated"));
    let reported = answers(&stage);
    assert_eq!(reported[1..], [DENIED, DENIED]);
    assert!(stage.home.project().join("one").exists());
    let stage = running(&["mkdir one", "touch two"]);
    stage.pollux(&["--allowed-tools", "run_shell_command(mkdir)", "-p", "go"]).run().assert_code(0);
    assert_eq!(answers(&stage)[1], DENIED);
    assert!(stage.home.project().join("one").exists());
}

#[test]
fn files_of_the_project_count_in_a_trusted_folder_only() {
    for (trusted, exists) in [(true, true), (false, false)] {
        let stage = running(&["mkdir one"]);
        stage.home.project_file(
            ".gemini/policies/p.toml",
            rule("run_shell_command", "allow", "commandPrefix = \"mkdir\""),
        );
        let run = if trusted {
            stage.pollux(&["--skip-trust", "-p", "go"])
        } else {
            stage.pollux(&["-p", "go"]).env_remove("GEMINI_CLI_TRUST_WORKSPACE")
        };
        run.run().assert_code(0);
        assert_eq!(stage.home.project().join("one").exists(), exists);
    }
}

#[test]
fn explain_tells_the_parse_the_rules_and_the_verdict() {
    let stage = Stage::with([]);
    stage
        .home
        .user_file("policies/my.toml", rule("run_shell_command", "deny", "commandPrefix = \"rm\""));
    let line = "ls | sort && sudo rm -rf x > $y";
    let run = stage.alone().args(["policy", "explain", line, "--mode", "yolo", "--json"]).run();
    run.assert_code(0);
    let reported: Value = serde_json::from_str(&run.stdout_text()).unwrap();
    assert_eq!(reported["interactive"]["decision"], "deny");
    assert_eq!(reported["headless"]["rule"]["source"], "User: my.toml");
    assert_eq!(reported["analysis"]["runs"], json!(["ls", "sort", "sudo", "rm"]));
    assert_eq!(reported["analysis"]["writes"], json!(["?", "x"]));
    assert_eq!(reported["interactive"]["parts"][3]["decision"], "deny");
    let run = stage.alone().args(["policy", "explain", "ls"]).run();
    run.assert_code(0);
    let words = run.stdout_text();
    assert!(words.contains("Runs: ls"), "{words}");
    assert!(words.contains("With a user:\n  allow, by Default: write.toml"), "{words}");
    assert!(words.contains("Headless:\n  allow, by Default: headless.toml"), "{words}");
    stage.home.user_file(
        "policies/my.toml",
        rule("run_shell_command", "allow", "commandPrefix = \"git\""),
    );
    let asked = ["policy", "explain", "git log > x", "--json"];
    let reported: Value =
        serde_json::from_str(&stage.alone().args(asked).run().stdout_text()).unwrap();
    let of = |who: &str| reported[who].clone();
    assert_eq!(
        (&of("interactive")["decision"], &of("interactive")["outcome"]),
        (&json!("ask_user"), &json!("asked"))
    );
    assert_eq!(
        (&of("headless")["decision"], &of("headless")["outcome"]),
        (&json!("ask_user"), &json!("refused"))
    );
    assert_eq!(
        of("headless")["refusal"],
        "Tool execution for \"Shell\" requires user confirmation, which is not supported in non-interactive mode. Reason: its output or input is redirected: x. Without a rule for it, a headless run may only run commands that read. The user can allow more with a rule in ~/.gemini/policies, with --allowed-tools, or with --yolo."
    );
    let words = stage.alone().args(&asked[..3]).run().stdout_text();
    assert!(words.contains("Headless:\n  ask_user, by User: my.toml"), "{words}");
    stage
        .home
        .user_file("policies/my.toml", rule("run_shell_command", "deny", "commandPrefix = \"rm\""));
    let run = stage.alone().args(["policy", "list"]).run();
    assert!(
        run.stdout_text().starts_with("4.1    deny run_shell_command: rm …  (User: my.toml:1)\n"),
        "{}",
        run.stdout_text()
    );
    stage.home.user_file("policies/broken.toml", "[");
    let run = stage.alone().args(["policy", "list", "--json"]).run();
    run.assert_code(52);
    assert!(serde_json::from_str::<Value>(&run.stdout_text()).is_ok());
}

#[test]
fn saved_approvals_have_no_effect_with_always_allow_disabled() {
    let ran = |settings: Value| {
        let stage = running(&["mkdir one", "touch two"]);
        stage.home.settings(&settings);
        let saved = rule("run_shell_command", "allow", "commandPrefix = \"mkdir\"");
        let saved = saved.replace("priority = 100", "priority = 950");
        stage.home.user_file("policies/auto-saved.toml", saved);
        let own = rule("run_shell_command", "allow", "commandPrefix = \"touch\"");
        stage.home.user_file("policies/own.toml", own);
        stage.prompt("text", "go").assert_code(0);
        ["one", "two"].map(|name| stage.home.project().join(name).exists())
    };
    assert_eq!(ran(json!({})), [true, true]);
    assert_eq!(ran(json!({"security": {"disableAlwaysAllow": true}})), [false, true]);
    assert_eq!(ran(json!({"security": {"disableAlwaysAllow": false}})), [true, true]);
}

#[test]
fn at_the_terminal_a_broken_file_takes_yolo_and_saved_approvals_away() {
    let stage = Stage::new();
    stage.home.settings(&json!({"security": {"enablePermanentToolApproval": true}}));
    let saved = rule("run_shell_command", "allow", "commandPrefix = \"mkdir\"");
    let saved = saved.replace("priority = 100", "priority = 950");
    assert!(saved.contains("950"), "{saved}");
    stage.home.user_file("policies/auto-saved.toml", saved);
    stage.home.user_file("policies/my.toml", "[[rule]]\ntoolName = 5\n");
    stage.server.stream(reply().call("run_shell_command", json!({"command": "mkdir one"})));
    stage.server.stream(reply().text("Done."));
    let mut terminal = stage.pollux(&["--yolo"]).in_terminal(40, 100);
    terminal.wait_for_text("Ctrl-D quits.", Duration::from_secs(10));
    terminal.send("go");
    terminal.send_key(Key::Enter);
    terminal.wait_for_text("Allow execution of [Shell]?", Duration::from_secs(10));
    let reported = String::from_utf8(terminal.transcript()).unwrap();
    assert!(reported.contains("my.toml:2:"), "{reported}");
    assert!(
        reported.contains("Yolo mode and saved approvals have no effect until this is fixed."),
        "{reported}"
    );
    assert!(!reported.contains("for all future sessions"), "{reported}");
    terminal.send("4");
    terminal.send_key(Key::Enter);
    terminal
        .wait_for(|screen| screen.contents().trim_end().ends_with('>'), Duration::from_secs(10));
    terminal.send_key(Key::Ctrl('d'));
    terminal.wait_exit(Duration::from_secs(10));
    assert!(!stage.home.project().join("one").exists());
    stage.server.discard_replies();
}

#[test]
fn a_server_that_one_file_excludes_stays_excluded() {
    let stage = Stage::with([]);
    stage.home.settings(&json!({"mcp": {"excluded": ["mine"]}}));
    stage.home.project_settings(&json!({"mcp": {"excluded": ["theirs"]}}));
    let run = stage.alone().args(["policy", "list", "--json"]).run();
    run.assert_code(0);
    for server in ["mine", "theirs"] {
        assert!(run.stdout_text().contains(server), "{server}: {}", run.stdout_text());
    }
}

#[test]
fn a_question_without_a_person_is_reported_as_one() {
    let stage = running(&["touch a", "touch b"]);
    let file = rule("run_shell_command", "ask_user", "commandPrefix = \"touch a\"")
        + &rule("run_shell_command", "deny", "commandPrefix = \"touch b\"");
    stage.home.user_file("policies/my.toml", file);
    stage.yolo("go");
    let asked = "Tool execution for \"Shell\" requires user confirmation, which is not supported in non-interactive mode.";
    assert_eq!(answers(&stage), [asked, DENIED]);
    assert!(!stage.home.project().join("a").exists());
}

#[test]
fn a_headless_run_reads_in_a_trusted_folder() {
    let stage = running(&["cat note.txt", "touch made", "cat note.txt | tee made"]);
    stage.home.project_file("note.txt", "The needle.");
    stage.prompt("text", "go").assert_code(0);
    let answers = answers(&stage);
    let [read, touched, written] = &answers[..] else { panic!("{answers:?}") };
    // Where the kernel cannot confine a command, nothing runs.
    if crate::suite::sandbox::holds(None, "inspect") {
        assert!(read.contains("The needle."), "{read}");
    }
    for refused in [touched, written] {
        assert!(refused.contains("requires user confirmation"), "{refused}");
        assert!(
            refused
                .contains("Without a rule for it, a headless run may only run commands that read."),
            "{refused}"
        );
    }
    assert!(!stage.home.project().join("made").exists());
}

#[test]
fn the_shell_of_a_headless_run_needs_trust_and_the_setting() {
    let declares = |stage: &Stage, trusted: bool| {
        let program = stage.pollux(&["-p", "go"]);
        let program =
            if trusted { program } else { program.env_remove("GEMINI_CLI_TRUST_WORKSPACE") };
        program.run().assert_code(0);
        stage.requests()[0].declared_tools().contains(&"run_shell_command")
    };
    assert!(declares(&Stage::with([reply().text("hi")]), true));
    assert!(!declares(&Stage::with([reply().text("hi")]), false));
    let stage = Stage::with([reply().text("hi")]);
    stage.home.settings(&json!({"pollux": {"policy": {"headlessReads": false}}}));
    assert!(!declares(&stage, true));
}

#[test]
fn lint_lists_broad_saved_rules_and_what_programs_start() {
    let stage = Stage::with([]);
    let policies = stage.home.gemini().join("policies");
    std::fs::create_dir_all(&policies).unwrap();
    let saved = |condition: &str| {
        format!(
            "[[rule]]\ndecision = \"allow\"\npriority = 950\ntoolName = \"run_shell_command\"\n{condition}\n"
        )
    };
    let text = saved("commandPrefix = [ \"rm\", \"ls\", \"rm a\" ]") + &saved("");
    std::fs::write(policies.join("auto-saved.toml"), text).unwrap();
    let mine = saved("commandPrefix = \"git commit\"").replace("950", "1");
    std::fs::write(policies.join("mine.toml"), mine + &saved("commandPrefix = \"rm\"")).unwrap();
    let run = stage.alone().args(["policy", "lint"]).run();
    run.assert_code(0);
    let folder = policies.display();
    let text = run.stdout_text();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines,
        [
            format!(
                "{folder}/auto-saved.toml:1: allows `rm` with all arguments that its table knows; narrower: commandPrefix = \"rm FIRST-ARGUMENT\""
            ),
            format!(
                "{folder}/auto-saved.toml:6: allows every command line; narrower: commandPrefix = \"PROGRAM SUBCOMMAND\""
            ),
            format!(
                "{folder}/mine.toml:1: allows `git commit …`, which also starts: hooks of the repository, and programs that its configuration names (filters, external diffs, credential helpers)"
            ),
        ]
    );
    let run = stage.alone().args(["policy", "lint", "--json"]).run();
    let findings: Value = serde_json::from_str(&run.stdout_text()).unwrap();
    assert_eq!(findings["findings"][0]["kind"], "broad_rule");
    assert_eq!(findings["findings"][2]["kind"], "starts_programs");
    std::fs::write(policies.join("mine.toml"), "broken [").unwrap();
    let run = stage.alone().args(["policy", "lint"]).run();
    run.assert_code(52);
    let text = run.stdout_text();
    let start = format!("{folder}/mine.toml:1: error: TOML parsing failed: ");
    assert!(text.starts_with(&start), "{text}");
}
