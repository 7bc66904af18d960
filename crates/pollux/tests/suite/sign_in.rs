//! Sign-in methods of settings files that are shared with Gemini CLI, and a missing key.

use std::time::Duration;

use pollux_testkit::{Key, Pollux, Terminal, reply};
use serde_json::{Value, json};

use super::stage::Stage;

/// Timeout for all steps whose time is not measured.
const SOON: Duration = Duration::from_secs(10);

#[test]
fn a_key_works_although_the_settings_select_a_sign_in_that_is_not_complete() {
    for selected in ["oauth-personal", "vertex-ai", "cloud-shell"] {
        let stage = Stage::with([reply().text("Hello.")]);
        stage.home.settings(&json!({"security": {"auth": {"selectedType": selected}}}));
        let run = stage.pollux(&["-p", "go"]).run();
        run.assert_code(0);
        assert_eq!(run.stdout_text(), "Hello.\n");
        let stderr = run.stderr_text();
        assert!(stderr.ends_with("GEMINI_API_KEY is used instead.\n"), "{}", run.report());
        assert_eq!(stderr.lines().count(), 1, "{}", run.report());
    }
}

#[test]
fn a_service_that_a_key_alone_selects_is_named_once_and_when_it_changes() {
    let stage = Stage::with([(); 4].map(|()| reply().text("Hello.")));
    stage.server.message(reply().text("Hello."));
    let gemini = || stage.pollux(&["-o", "json", "-p", "go"]);
    let both = || gemini().env("ANTHROPIC_API_KEY", "k");
    let said = |program: Pollux| {
        let run = program.run();
        run.assert_code(0);
        assert_eq!(run.json()["response"], "Hello.", "standard output is the answer alone");
        run.stderr_text()
    };
    assert_eq!(said(gemini()), "", "one key is no choice");
    let text = said(both());
    assert!(
        text.starts_with("Using Gemini API with a key, because GEMINI_API_KEY is set"),
        "{text}"
    );
    assert!(text.contains("(also set: ANTHROPIC_API_KEY)") && text.lines().count() == 1, "{text}");
    assert_eq!(said(both()), "", "only once");
    let anthropic = stage.alone().args(["-m", "claude-x", "-o", "json", "-p", "go"]);
    let anthropic = anthropic.env_remove("GEMINI_API_KEY").env("ANTHROPIC_API_KEY", "k");
    let text = said(anthropic.env("ANTHROPIC_BASE_URL", stage.server.url()));
    assert!(text.starts_with("Using Anthropic, because ANTHROPIC_API_KEY is set"), "{text}");
    assert!(said(gemini()).starts_with("Using Gemini API"), "the choice has changed");
}

#[test]
fn an_enforced_sign_in_is_not_replaced() {
    for enforced in ["oauth-personal", "gemini-api-key"] {
        let stage = Stage::new();
        let auth = json!({"selectedType": "oauth-personal", "enforcedType": enforced});
        stage.home.settings(&json!({"security": {"auth": auth}}));
        let run = stage.pollux(&["-p", "go"]).env("NO_GCE_CHECK", "true").run();
        run.assert_code(41);
        // Another method is enforced, or nobody is signed in.
        let expected = if enforced == "gemini-api-key" { "enforced" } else { "not signed in" };
        assert!(run.stderr_text().contains(expected), "{}", run.report());
    }
}

#[test]
fn the_remedies_for_a_missing_key_work() {
    let stage = Stage::new();
    let program = || stage.pollux(&["-p", "go"]).env_remove("GEMINI_API_KEY");
    // Without the address of a server, which alone would select a gateway.
    let run = program().env_remove("GOOGLE_GEMINI_BASE_URL").run();
    run.assert_code(41);
    let path = stage.home.gemini().join(".env");
    let remedy = format!("write the line GEMINI_API_KEY=KEY to {}", path.display());
    assert!(run.stderr_text().contains(&remedy), "{}", run.report());

    std::fs::write(path, "GEMINI_API_KEY=KEY\n").unwrap();
    stage.server.stream(reply().text("Hello."));
    let run = program().run();
    run.assert_code(0);
    let key = stage.server.last_request().header("x-goog-api-key").map(str::to_owned);
    assert_eq!(key.as_deref(), Some("KEY"));
}

/// Starts a conversation without a key and without an answer about the trust in the folder.
fn first_start(stage: &Stage) -> Terminal {
    let program = stage.pollux(&[]).env_remove("GEMINI_API_KEY");
    let program = program.env_remove("GOOGLE_GEMINI_BASE_URL");
    program.env_remove("GEMINI_CLI_TRUST_WORKSPACE").in_terminal(40, 100)
}

#[test]
fn a_missing_key_is_reported_before_the_question_about_trust() {
    let stage = Stage::new();
    let mut terminal = first_start(&stage);
    assert_eq!(terminal.wait_exit(SOON).exit_code(), 41, "{}", terminal.screen());
    let screen = terminal.screen();
    assert!(screen.contains("GEMINI_API_KEY") && !screen.contains("Choose 1-"), "{screen}");
}

#[test]
fn a_project_whose_variables_may_hold_the_key_is_asked_about_first() {
    let stage = Stage::new();
    stage.home.project_file(".env", "GEMINI_API_KEY=KEY\n");
    let mut terminal = first_start(&stage);
    terminal.wait_for_text("Choose 1-", SOON);
    terminal.send_key(Key::Ctrl('c'));
    terminal.wait_exit(SOON);
}

#[test]
fn what_is_not_available_is_reported_once() {
    let stage = Stage::new();
    let run = |count: usize, text: &str| {
        stage.server.stream(reply().text("Hello."));
        let run = stage.pollux(&["-p", "go"]).run();
        run.assert_code(0);
        assert_eq!(run.stderr_text().matches(text).count(), count, "{}", run.report());
    };
    let settings = |browser: Value| {
        stage.home.settings(&json!({
            "ui": {"theme": "x"}, "general": {"vimMode": true}, "agents": {"browser": browser}
        }));
    };
    settings(json!({}));
    run(0, "ignored");
    settings(json!({"headless": true}));
    run(1, "ignored: settings (agents.browser.headless).");
    run(0, "ignored");
    settings(json!({"headless": true, "profilePath": "/p"}));
    run(1, "ignored: settings (agents.browser.headless, agents.browser.profilePath).");
}

#[test]
fn names_of_tools_that_do_not_exist_are_reported() {
    let stage = Stage::with([reply().text("Hello.")]);
    stage.home.settings(&json!({"tools": {"core": ["read_fil", "glob"]}}));
    let run = stage.pollux(&["-p", "go"]).run();
    let message = "tools.core names no known tool: \"read_fil\" (did you mean \"read_file\"?)";
    assert!(run.stderr_text().contains(message), "{}", run.report());
    let run = stage.alone().args(["config", "report"]).run();
    assert!(run.stdout_text().contains(message), "{}", run.report());
}

#[test]
fn a_run_that_may_only_read_says_so() {
    let change = json!({"file_path": "a.txt", "content": "x"});
    let reason = "[INFO] This run may only read. --approval-mode auto_edit allows changes of files";
    for (mode, count) in [("default", 1), ("plan", 0)] {
        let call = || reply().call("write_file", change.clone());
        let stage = Stage::with([call(), call(), reply().text("Done.")]);
        let run = stage.pollux(&["--approval-mode", mode, "-p", "go"]).run();
        run.assert_code(0);
        assert_eq!(run.stderr_text().matches(reason).count(), count, "{}", run.report());
    }
}
