//! Changes of protected files that a command made hard to undo.

use std::fs;

use pollux_testkit::reply;
use pretty_assertions::assert_eq;
use serde_json::json;

use super::sandbox::holds_here;
use super::stage::Stage;

/// Returns a stage whose model runs this line in the next prompt.
fn stage_with(line: &str) -> Stage {
    let stage = Stage::new();
    stage.server.stream(reply().call("run_shell_command", json!({ "command": line })));
    stage
}

#[test]
fn a_change_that_cannot_be_undone_ends_the_run_in_every_format() {
    if !holds_here("protect") {
        return;
    }
    for format in ["text", "json", "stream-json"] {
        let stage = stage_with("echo evil > ~/.zshenv");
        // Nothing can be moved aside.
        stage.home.user_file("pollux/sandbox", "");
        let run = stage.pollux(&["--yolo", "-o", format, "-p", "go"]).spawn().wait();
        run.assert_code(54);
        let (out, error) = (run.stdout.clone(), String::from_utf8_lossy(&run.stderr).into_owned());
        assert!(error.contains("/.zshenv") && error.contains("cannot undo"), "{format}: {error}");
        let out = String::from_utf8_lossy(&out).into_owned();
        assert_eq!(out.contains("cannot undo"), format != "text", "{format}: {out}");
    }
}

#[test]
fn a_file_in_a_folder_without_permissions_is_taken_away_and_the_person_reads_it() {
    if !holds_here("protect") {
        return;
    }
    let stage = stage_with("echo evil > ~/.zshenv; chmod a-w ~/.zshenv ~; chattr +i ~/.zshenv");
    stage.server.stream(reply().text("done"));
    let run = stage.pollux(&["--yolo", "-p", "go"]).spawn().wait();
    run.assert_code(0);
    let error = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(error.contains(".zshenv is new, and protected; moved to"), "{error}");
    let file = stage.home.home().join(".zshenv");
    assert_eq!(fs::read_to_string(&file).unwrap_or_default(), "");
}
