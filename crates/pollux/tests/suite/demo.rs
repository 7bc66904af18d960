//! `pollux demo`: the agent at work without an API key.

use std::path::PathBuf;

use pollux_testkit::{Finished, Pollux, Tree};
use serde_json::json;

use super::stage::{Stage, lines_of, spoken, terminal_result};

/// Returns the demonstration without a key and without a network.
fn demo(stage: &Stage, arguments: &[&str]) -> Pollux {
    let program = stage.alone().env_remove("GEMINI_API_KEY");
    // All network requests must go through this address, which does not answer.
    let program =
        program.env("HTTPS_PROXY", "http://127.0.0.1:9").env("HTTP_PROXY", "http://127.0.0.1:9");
    program.env_remove("GEMINI_CLI_TRUST_WORKSPACE").args(["demo"]).args(arguments)
}

fn assert_nothing_left(stage: &Stage) {
    assert_eq!(Tree::of(stage.home.temporary()), Tree::default(), "in TMPDIR");
    assert_eq!(Tree::of(stage.home.project()), Tree::default(), "in the project");
    let home = Tree::of(stage.home.home());
    assert_eq!(home.entries.keys().collect::<Vec<_>>(), [".gemini"], "in the home");
}

/// Asserts that the text contains the change which the demonstration makes.
fn assert_diff(text: &str) {
    assert!(text.contains("--- a/till.sh\n+++ b/till.sh\n"), "{text}");
    assert!(
        text.contains("\n-if [ \"$total\" -gt ") && text.contains("\n+if [ \"$total\" -ge "),
        "{text}"
    );
}

/// Asserts that every user learns that the model is recorded, and how to continue.
fn assert_reported(run: &Finished) {
    let reported = run.stderr_text();
    assert!(reported.contains("recorded"), "{reported}");
    assert!(reported.contains("GEMINI_API_KEY"), "{reported}");
}

#[test]
fn text_shows_the_work_and_the_change() {
    let stage = Stage::new();
    let run = demo(&stage, &[]).run();
    run.assert_code(0);
    assert_diff(&run.stdout_text());
    assert!(run.stdout_text().contains("All checks pass."), "{}", run.report());
    assert_reported(&run);
    assert_nothing_left(&stage);
}

#[test]
fn json_is_one_object() {
    let stage = Stage::new();
    let run = demo(&stage, &["-o", "json"]).run();
    run.assert_code(0);
    let answer = run.json();
    assert!(answer["response"].as_str().unwrap().contains("All checks pass."), "{answer}");
    let tools = &answer["stats"]["tools"];
    assert!(tools["byName"]["replace"]["success"] == 1, "{tools}");
    assert!(tools["byName"]["run_shell_command"]["success"].as_u64().unwrap() >= 2, "{tools}");
    assert_eq!(answer["stats"]["files"], json!({"totalLinesAdded": 1, "totalLinesRemoved": 1}));
    assert_diff(&run.stderr_text());
    assert_reported(&run);
    assert_nothing_left(&stage);
}

#[test]
fn stream_json_ends_with_its_result() {
    let stage = Stage::new();
    let run = demo(&stage, &["-o", "stream-json"]).run();
    run.assert_code(0);
    assert_eq!(terminal_result(&run)["status"], "success");
    assert!(spoken(&run).contains("All checks pass."));
    // The tools are real: the check fails before the change and passes after it.
    let results = lines_of(&run, "tool_result");
    let outputs: Vec<&str> = results.iter().filter_map(|line| line["output"].as_str()).collect();
    let checks: Vec<&&str> =
        outputs.iter().filter(|output| output.contains("till 10000 = ")).collect();
    assert!(checks[0].contains("wrong till 10000 = 10000, expected 9000"), "{checks:?}");
    assert!(
        !checks[1].contains("wrong") && checks[1].contains("ok    till 10000 = 9000"),
        "{checks:?}"
    );
    assert_nothing_left(&stage);
}

#[test]
fn the_folder_is_kept_when_asked_for() {
    let stage = Stage::new();
    let run = demo(&stage, &["--keep"]).run();
    run.assert_code(0);
    let reported = run.stderr_text();
    let kept = reported.lines().find_map(|line| line.strip_prefix("Kept: ")).unwrap();
    let script = std::fs::read_to_string(PathBuf::from(kept).join("till/till.sh"));
    assert!(script.unwrap().contains("-ge"), "{kept}");
}

#[test]
fn no_home_is_needed() {
    for home in ["/nonexistent/home", "/dev/null", ""] {
        let stage = Stage::new();
        let run = demo(&stage, &[]).env("HOME", home).run();
        assert_eq!(run.code, Some(0), "{home}\n{}", run.report());
        assert_diff(&run.stdout_text());
        assert_nothing_left(&stage);
    }
}

#[test]
fn the_persons_own_settings_play_no_part() {
    let stage = Stage::new();
    stage.home.user_file("settings.json", "broken {");
    let run = demo(&stage, &[])
        .env("GEMINI_SANDBOX", "docker")
        .env("GEMINI_MODEL", "evil")
        .env("GOOGLE_GEMINI_BASE_URL", "http://127.0.0.1:9")
        .env("GEMINI_SYSTEM_MD", "/nonexistent")
        .run();
    run.assert_code(0);
    assert_diff(&run.stdout_text());
}

#[test]
fn a_place_that_cannot_be_written_is_named() {
    let stage = Stage::new();
    let run = demo(&stage, &["-o", "json"]).env("TMPDIR", "/nonexistent/place").run();
    run.assert_code(1);
    let message = run.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("/nonexistent/place") && message.contains("TMPDIR"), "{message}");
}

#[test]
fn an_interrupt_leaves_nothing_behind() {
    let stage = Stage::new();
    let mut running = demo(&stage, &["-o", "stream-json"]).spawn();
    running.stdout_until("tool_use");
    running.signal(pollux_testkit::Signal::TERM);
    let run = running.wait();
    // The run may have ended before the signal arrived.
    assert!(matches!(run.code, Some(0 | 143)), "{}", run.report());
    terminal_result(&run);
    assert_nothing_left(&stage);
}
